package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// checkHooks says when each hook last really fired: configured is not the same
// (openai/codex#35863, #21615: listed, and skipped in silence).
func (d *doctor) checkHooks(context.Context) error {
	sums := d.o.activity().Sums()
	var items []string
	for _, agent := range slices.Sorted(maps.Keys(sums.Fired)) {
		if slices.ContainsFunc(d.findings, func(f finding) bool { return f.Check == "agent "+agent && len(f.Items) > 0 }) {
			continue // said there
		}
		for _, f := range lastFired(sums.Fired[agent]) {
			items = append(items, fmt.Sprintf("%s %s: %s", agent, f.Event, f.Last.UTC().Format(time.RFC3339)))
		}
	}
	if len(items) == 0 {
		if len(sums.Fired) == 0 {
			d.add(finding{Check: "hooks", State: stateOK, Detail: "none has fired yet"})
		}
		return nil
	}
	d.add(finding{Check: "hooks", State: stateOK, Detail: "when each last fired", Items: items})
	return nil
}
