package main

import (
	"testing"
	"time"
)

var testsBegan = time.Now()

func TestSinceStart(t *testing.T) {
	least := time.Since(testsBegan)
	if got := sinceStart(); got < least-20*time.Millisecond || got > least+10*time.Second {
		t.Errorf("started %v ago, tests %v", got, least)
	}
}
