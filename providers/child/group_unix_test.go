//go:build !windows

package child

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
)

func TestEndKillsWhatDoesNotListen(t *testing.T) {
	p := start(t, "deaf", nil)
	if line, err := ReadLine(bufio.NewReader(p.Stdout)); string(line) != "ready" {
		t.Fatalf("got %q %v", line, err)
	}
	began := time.Now()
	p.End(0)
	if took := time.Since(began); p.Exit() != "signal: killed" || took < Grace {
		t.Errorf("%q after %s", p.Exit(), took)
	}
}

func TestTheWholeGroupEnds(t *testing.T) {
	for name, leave := range map[string]string{"killed": "", "left behind": "yes"} {
		t.Run(name, func(t *testing.T) {
			p := start(t, "parent", map[string]string{"LEAVE": leave})
			r := bufio.NewReader(p.Stdout)
			var grandchild int
			for range 2 { // its number, and that it is ready, in any order
				line, err := ReadLine(r)
				if err != nil {
					t.Fatal(err)
				}
				if n, err := strconv.Atoi(string(line)); err == nil {
					grandchild = n
				}
				if grandchild > 0 && leave != "" {
					break // it may be gone before it is ready
				}
			}
			if leave == "" {
				p.Kill()
			}
			<-p.Done()
			for deadline := time.Now().Add(10 * time.Second); alive(grandchild); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%d is alive", grandchild)
				}
			}
		})
	}
}

// alive reports whether pid runs; one that nobody has reaped yet does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !zombie(stat)
}

func zombie(stat []byte) bool {
	var pid int
	var name, state string
	_, _ = fmt.Sscan(string(stat), &pid, &name, &state)
	return state == "Z"
}
