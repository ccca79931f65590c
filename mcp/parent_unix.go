//go:build unix

package mcp

import (
	"context"
	"os"
	"time"
)

// parentWatch notices that the process that started this one is gone: some
// clients die without closing our input, or leave it open in a child.
type parentWatch struct{ pid int }

func watchParent() (parentWatch, error) { return parentWatch{os.Getppid()}, nil }

// wait returns when the parent is gone, which gives us another one, or when
// ctx is done.
func (w parentWatch) wait(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for os.Getppid() == w.pid {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (parentWatch) close() {}
