package conformance

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

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

// environment: the process got nothing that is not in the spec. That is our own
// promise rather than the program's.
func (k *kit) environment(ctx context.Context) error {
	c, err := k.fresh(ctx)
	if err != nil {
		return err
	}
	if k.mode == jsonrpc.OneShot {
		defer c.end(0)
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(c.proc.Pid()) + "/environ")
	if err != nil {
		return skip(err.Error())
	}
	has := map[string]bool{}
	for _, line := range k.spec.Env {
		has[line] = true
	}
	for line := range strings.SplitSeq(strings.TrimRight(string(b), "\x00"), "\x00") {
		if name, _, _ := strings.Cut(line, "="); !has[line] {
			return fmt.Errorf("the program got %s", name)
		}
	}
	return nil
}
