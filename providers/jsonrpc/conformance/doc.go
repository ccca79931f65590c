// Package conformance is the black-box kit that holds a program to
// docs/provider-protocol.md: what it promises in its capabilities is tried, and
// what it does not promise is not. It runs the program in a folder that it makes
// and removes, and never looks inside.
package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"vademecum/providers/child"
	"vademecum/providers/jsonrpc"
)

// Options say what to try.
type Options struct {
	Command string // as in jsonrpc.Config
	Args    []string
	Env     map[string]string
	Mode    jsonrpc.Mode  // Auto: as the program says
	Soak    int           // calls of the last check; 0: 200
	Timeout time.Duration // of an answer, and of whatever takes its time; 0: 10 s
	// Began, if it is there, is told the name of each check before it is made.
	Began func(name string)
}

// Outcome of a check.
type Outcome string

const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped" // not promised, or it cannot be tried here
)

// Check is one thing that was tried.
type Check struct {
	Name    string  `json:"name"`
	Outcome Outcome `json:"outcome"`
	MS      float64 `json:"ms"`
	Reason  string  `json:"reason,omitempty"` // why it failed or was skipped, or what was measured
}

// Report is what became of all of them.
type Report struct {
	Command   string            `json:"command"`
	Mode      jsonrpc.Mode      `json:"mode"`
	Abilities jsonrpc.Abilities `json:"abilities"`
	Checks    []Check           `json:"checks"`
	Passed    int               `json:"passed"`
	Failed    int               `json:"failed"`
	Skipped   int               `json:"skipped"`
}

// OK reports whether nothing failed.
func (r *Report) OK() bool { return r.Failed == 0 }

// Table writes the report for people.
func (r *Report) Table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range r.Checks {
		fmt.Fprintf(t, "%s\t%s\t%.0f ms\t%s\n", c.Outcome, c.Name, c.MS, c.Reason)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	said := strings.TrimSpace(r.Abilities.Name + " " + r.Abilities.Version)
	if r.Mode != "" { // it came as far as being run in one
		said = strings.TrimPrefix(said+", "+string(r.Mode), ", ")
	}
	if said != "" {
		said = " (" + said + ")"
	}
	_, err := fmt.Fprintf(w, "%s%s: %d passed, %d failed, %d skipped\n", r.Command, said, r.Passed, r.Failed, r.Skipped)
	return err
}

// skip is why a check was not made.
type skip string

func (s skip) Error() string { return string(s) }

// measured is what a check that passed has to say.
type measured string

func (m measured) Error() string { return string(m) }

// kit is one run.
type kit struct {
	Options
	able  jsonrpc.Abilities
	spec  child.Spec
	mode  jsonrpc.Mode
	conn  *conn
	noise []string
	words int // that were made up
}

// Run makes all checks, one after the other, within ctx. When the first, the
// handshake, fails, the others are not made.
func Run(ctx context.Context, o Options) Report {
	if o.Soak == 0 {
		o.Soak = 200
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	k := &kit{Options: o, mode: jsonrpc.OneShot}
	r := Report{Command: o.Command, Mode: o.Mode}
	dir, err := os.MkdirTemp("", "vade-eval-")
	if err == nil {
		defer os.RemoveAll(dir)
		k.spec = child.Spec{Args: o.Args, Env: child.Environment(o.Env), Dir: dir}
		k.spec.Path, err = child.Resolve(o.Command)
	}
	if err != nil {
		r.add(Check{Name: "handshake", Outcome: Failed, Reason: err.Error()})
		return r
	}
	defer k.end()
	for _, c := range checks() {
		if ctx.Err() != nil {
			r.add(Check{Name: c.name, Outcome: Failed, Reason: ctx.Err().Error()})
			break
		}
		r.add(k.run(ctx, c))
		if c.name == "handshake" {
			r.Abilities, r.Mode = k.able, k.mode
			if !r.OK() {
				break
			}
		}
	}
	return r
}

// maxReason bounds what is said of one check, in bytes.
const maxReason = 600

func (k *kit) run(ctx context.Context, c check) Check {
	if k.Began != nil {
		k.Began(c.name)
	}
	began := time.Now()
	err := c.try(k, ctx)
	done := Check{Name: c.name, Outcome: Passed, MS: float64(time.Since(began).Microseconds()) / 1000}
	if err != nil {
		done.Reason = child.Brief(k.hide(err.Error()), maxReason)
		if _, ok := errors.AsType[measured](err); ok {
			return done
		}
		done.Outcome = Failed
		if _, ok := errors.AsType[skip](err); ok {
			done.Outcome = Skipped
			return done
		}
		k.end() // whatever state it is in
	}
	return done
}

func (r *Report) add(c Check) {
	r.Checks = append(r.Checks, c)
	switch c.Outcome {
	case Passed:
		r.Passed++
	case Failed:
		r.Failed++
	case Skipped:
		r.Skipped++
	}
}

// result reads the result of a reply into a T.
func result[T any](reply jsonrpc.Reply, err error) (T, error) {
	var v T
	switch {
	case err != nil:
		return v, err
	case reply.Error != nil:
		return v, fmt.Errorf("refused: %d %s", reply.Error.Code, reply.Error.Message)
	}
	if err := json.Unmarshal(reply.Result, &v); err != nil {
		return v, fmt.Errorf("result %.200s: %w", reply.Result, err)
	}
	return v, nil
}
