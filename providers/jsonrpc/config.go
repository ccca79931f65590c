package jsonrpc

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"vademecum/providers/child"
)

// Dialect is which methods a program understands.
type Dialect string

const (
	Vade Dialect = "vade" // vade.search, …; the default
	PAXM Dialect = "paxm" // paxm.search, …: plugins written for PAXM, always one-shot
)

// Mode is how a program is run.
type Mode string

const (
	Auto      Mode = ""           // long-lived if it can be
	OneShot   Mode = "one-shot"   // a process for each request
	LongLived Mode = "long-lived" // one process for many requests
)

// Config says which program a provider is.
type Config struct {
	Name    string // of the provider
	Command string // a path, or a name that is looked up in PATH; never a line for a shell
	Args    []string
	// Env is what the program gets beside child.Environment. Secrets belong here
	// and not in Args, which every user of the machine can read.
	Env map[string]string
	// Dir is the provider's own folder, absolute: the working directory of the
	// program, made on first use.
	Dir     string
	Mode    Mode
	Dialect Dialect
	// Abilities are what the program said before; nil: Open asks it.
	Abilities *Abilities
	// IdleStop is after how long without a request a long-lived program is
	// stopped; 0: 5 min.
	IdleStop time.Duration
	// Client is what we call ourselves, for the program's log; "": vade.
	Client string

	restartPause time.Duration // 0: 10 s
	patience     time.Duration // of a request after its cancel; 0: 5 s
	endPatience  time.Duration // of a program that is to end by itself; 0: 2 s
}

const (
	// startPatience is how long a program may take until it answers vade.initialize.
	startPatience = 30 * time.Second
	// maxInFlight bounds what a program may declare.
	maxInFlight = 32
)

// check fills in what is not given, and says what is wrong.
func (c Config) check() (Config, error) {
	if c.Dialect == "" {
		c.Dialect = Vade
	}
	var err error
	switch {
	case c.Name == "":
		err = errors.New("no name")
	case !filepath.IsAbs(c.Dir):
		err = fmt.Errorf("the data folder %q is not an absolute path", c.Dir)
	case c.Dialect != Vade && c.Dialect != PAXM:
		err = fmt.Errorf("dialect %q is unknown: %s or %s", c.Dialect, Vade, PAXM)
	case c.Mode != Auto && c.Mode != OneShot && c.Mode != LongLived:
		err = fmt.Errorf("mode %q is unknown: %s or %s", c.Mode, OneShot, LongLived)
	case c.Dialect == PAXM && c.Mode == LongLived:
		err = fmt.Errorf("dialect %s has no mode %s", PAXM, LongLived)
	default:
		c.Command, err = child.Resolve(c.Command)
	}
	if err != nil {
		return c, fmt.Errorf("provider %s: %w", c.Name, err)
	}
	c.IdleStop = orDefault(c.IdleStop, 5*time.Minute)
	c.restartPause = orDefault(c.restartPause, 10*time.Second)
	c.patience = orDefault(c.patience, 5*time.Second)
	c.endPatience = orDefault(c.endPatience, 2*time.Second)
	if c.Client == "" {
		c.Client = "vade"
	}
	return c, nil
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// spec is the program to run.
func (c *Config) spec() child.Spec {
	return child.Spec{Path: c.Command, Args: c.Args, Env: child.Environment(c.Env), Dir: c.Dir}
}
