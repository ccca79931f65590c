//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestMCPEndsWithItsClient: a client that dies leaves our input open when one
// of its other children holds it too; the server ends all the same.
func TestMCPEndsWithItsClient(t *testing.T) {
	in, client, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close() // what keeps the input open
	answers, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := newShell(t, "laptop")
	cmd := s.command()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", "vade mcp <&3 >&4 & read -r line"}
	cmd.Err = nil
	cmd.ExtraFiles = []*os.File{in, out}
	stop, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = in.Close(), out.Close()
	start := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	if _, err := io.WriteString(client, start+"\n"); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(answers)
	if line, err := r.ReadString('\n'); err != nil {
		t.Fatalf("%v %s", err, line)
	}
	_ = stop.Close() // the shell, our client, ends
	if err := cmd.Wait(); err != nil {
		if _, ok := err.(*exec.ExitError); !ok {
			t.Fatal(err)
		}
	}
	if err := answers.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(r); err != nil { // its end of the pipe closes with it
		t.Errorf("the server goes on: %v %s", err, rest)
	}
}
