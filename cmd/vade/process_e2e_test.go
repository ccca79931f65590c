//go:build e2e

package main

import "testing"

// TestKilled100Times is TestKilledAtAnyMoment with as many kills as the design
// asks for.
func TestKilled100Times(t *testing.T) { killAtRandom(t, 100) }
