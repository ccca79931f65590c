package hooks

import (
	"fmt"
	"strings"
	"testing"
)

// Lines of a log that differ in ids are one; a question between them is found.
func TestCondense(t *testing.T) {
	var log strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&log, "2026-11-30T12:00:%02dZ INFO worker %d finished request id=%x in %dms\n", i%60, i%7, i*7919, i%900)
		if i == 2000 {
			log.WriteString("Which port is it?\n")
		}
	}
	if got := condense(log.String()); len(got) > 500 || !strings.Contains(got, "Which port is it?") {
		t.Errorf("%d bytes: %.300s", len(got), got)
	}
}
