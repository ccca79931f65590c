//go:build e2e

package providers_test

import "testing"

// TestKilled100Times is TestKilledBetweenAnswerAndMark with as many kills as the
// design asks for.
func TestKilled100Times(t *testing.T) { killDeliverer(t, 100) }
