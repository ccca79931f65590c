package mcp

import (
	"context"
	"os"

	"golang.org/x/sys/windows"
)

// parentWatch notices that the process that started this one is gone: some
// clients die without closing our input, or leave it open in a child.
type parentWatch struct{ process windows.Handle }

func watchParent() (parentWatch, error) {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(os.Getppid()))
	return parentWatch{h}, err
}

// wait returns when the parent is gone or ctx is done.
func (w parentWatch) wait(ctx context.Context) {
	for ctx.Err() == nil {
		if event, err := windows.WaitForSingleObject(w.process, 1000); err != nil || event == windows.WAIT_OBJECT_0 {
			return
		}
	}
}

func (w parentWatch) close() { _ = windows.CloseHandle(w.process) }
