package main

import (
	"testing"
	"time"
)

var testsBegan = time.Now()

// The tests before this one may have taken more than the minute that
// sinceStart believes.
func TestProcessAge(t *testing.T) {
	least := time.Since(testsBegan)
	if got := processAge(); got < least-20*time.Millisecond || got > least+10*time.Second {
		t.Errorf("started %v ago, tests %v", got, least)
	}
}
