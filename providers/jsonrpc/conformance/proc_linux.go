package conformance

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"

	"vademecum/providers/child"
	"vademecum/providers/jsonrpc"
)

// usage of the long-lived process.
func (k *kit) usage() usage {
	if k.mode == jsonrpc.OneShot || k.conn == nil {
		return usage{}
	}
	dir := "/proc/" + strconv.Itoa(k.conn.proc.Pid())
	files, err := os.ReadDir(dir + "/fd")
	statm, err2 := os.ReadFile(dir + "/statm")
	fields := strings.Fields(string(statm))
	if err != nil || err2 != nil || len(fields) < 2 {
		return usage{}
	}
	pages, _ := strconv.Atoi(fields[1])
	return usage{files: len(files), memory: pages * os.Getpagesize()}
}

// canary is a variable of ours that no program may see.
const canary = "VADE_EVAL_CANARY"

// environment: a process gets nothing of ours that it does not need. That is our
// promise rather than the program's.
func (k *kit) environment(ctx context.Context) error {
	if err := os.Setenv(canary, "sings"); err != nil {
		return err
	}
	defer os.Unsetenv(canary)
	proc, err := child.Start(child.Spec{Path: k.spec.Path, Args: k.spec.Args, Env: child.Environment(k.Env), Dir: k.spec.Dir})
	if err != nil {
		return err
	}
	defer proc.End(0)
	b, err := os.ReadFile("/proc/" + strconv.Itoa(proc.Pid()) + "/environ")
	if err != nil {
		return skip(err.Error())
	}
	if strings.Contains(string(b), canary) {
		return errors.New("the program sees variables that are none of its business")
	}
	return nil
}
