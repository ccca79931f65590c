// Vade is a memory for coding agents that its owner can read, edit and keep:
// markdown files in a git repository, recalled by full-text search, synced by
// plain git. Run "vade help" for the commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

func main() { os.Exit(vade()) }

// vade runs the command line of this process and returns its exit code.
func vade() int {
	// Most runs live for milliseconds and stay below 16 MB: collecting garbage
	// in them costs more than it frees.
	debug.SetGCPercent(400)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv}
	return a.run(ctx, os.Args[1:])
}
