package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// printJSON writes v to stdout as one indented document.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printf writes a line of the result to stdout.
func (a *app) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(a.stdout, format, args...); err != nil && a.writeErr == nil {
		a.writeErr = err
	}
}

// unanswered is the error of a result that could not be written out in full:
// whoever reads it must not take the rest for all there is.
func (a *app) unanswered() error {
	if a.writeErr == nil {
		return nil
	}
	return hinted(fmt.Errorf("the answer could not be written: %w", a.writeErr), "what was asked for is done; \"vade history\" and \"vade list\" show it")
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// styles are the few colours that a terminal gets.
const (
	bold  = "1"
	dim   = "2"
	red   = "31"
	green = "32"
	cyan  = "36"
	gold  = "33"
)

// paint colours text for stdout, unless it is no terminal or colours are off
// (https://no-color.org).
func (a *app) paint(style, text string) string { return a.paintFor(a.stdout, style, text) }

func (a *app) paintFor(w io.Writer, style, text string) string {
	if a.flags.noColor || a.env("NO_COLOR") != "" || a.env("TERM") == "dumb" || !terminal(w) {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// printable makes text from a vault safe to show on a terminal: control
// characters, which could move the cursor or worse, become visible.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return -1
		case r < ' ' || r >= 0x7f && r < 0xa0:
			return '�'
		case r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069: // bidi overrides
			return '�'
		}
		return r
	}, text)
}

// oneLine is printable text without line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(printable(text)), " ") }

// shortTime shows a time in the reader's zone, to the minute.
func shortTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04")
}

// count is "1 memory", "2 memories".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
