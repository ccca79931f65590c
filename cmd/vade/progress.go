package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// progress is a bar on stderr for long work. It appears only on a terminal,
// after half a second, and is wiped when the work is done; elsewhere one line
// says that the work began and one that it ended, so that a log shows it.
// (charm's bubbles would do it, at 20 ms of CPU for every start of vade; see
// docs/decisions/0003-start-up.md.)
type progress struct {
	w     io.Writer
	label string
	bar   bool

	mu    sync.Mutex
	start time.Time
	drawn time.Time
	shown bool
	total int
}

const (
	progressDelay = 500 * time.Millisecond
	progressEvery = 80 * time.Millisecond
	barWidth      = 28
)

// progress begins to report work called label; nil, which is silent, under --quiet.
func (a *app) progress(label string) *progress {
	if a.flags.quiet {
		return nil
	}
	return &progress{w: a.stderr, label: label, bar: terminal(a.stderr), start: time.Now()}
}

// update says that done of total steps are done; total 0 means unknown.
func (p *progress) update(done, total int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.total = max(total, done)
	if now.Sub(p.start) < progressDelay || now.Sub(p.drawn) < progressEvery && done < total {
		return
	}
	if !p.bar {
		if !p.shown {
			fmt.Fprintf(p.w, "%s …\n", p.label)
		}
		p.shown, p.drawn = true, now
		return
	}
	p.shown, p.drawn = true, now
	if total == 0 {
		fmt.Fprintf(p.w, "\r\x1b[K%s %d", p.label, done)
		return
	}
	filled := barWidth * done / max(total, 1)
	fmt.Fprintf(p.w, "\r\x1b[K%s %s%s %d/%d", p.label,
		strings.Repeat("━", filled), strings.Repeat("╌", barWidth-filled), done, total)
}

// phase is update for work of several phases, each counted in its own unit.
func (p *progress) phase(label string, done, total int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	if p.label != label {
		p.label, p.total = label, 0
	}
	p.mu.Unlock()
	p.update(done, total)
}

// done ends the report.
func (p *progress) done() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.shown:
	case p.bar:
		fmt.Fprint(p.w, "\r\x1b[K")
	default:
		fmt.Fprintf(p.w, "%s: done after %s\n", p.label, time.Since(p.start).Round(100*time.Millisecond))
	}
	p.shown = false
}
