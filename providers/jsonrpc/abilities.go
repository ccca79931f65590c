package jsonrpc

import (
	"vademecum/providers"
)

// Protocol is what we speak.
const Protocol = "vade.provider/1"

// Abilities are what a program says of itself: the result of vade.initialize.
// They are worth keeping, as JSON, see Config.Abilities.
type Abilities struct {
	Protocol string `json:"protocol,omitempty"` // "" where the program does not know vade.initialize
	Name     string `json:"name,omitempty"`     // of the program
	Version  string `json:"version,omitempty"`
	// OneShot: it ends after each request.
	OneShot      bool         `json:"one_shot,omitempty"`
	Capabilities Capabilities `json:"capabilities"`
}

// Capabilities are the optional methods and the facts of providers.Properties.
// What is absent is false, and for numbers: no bound.
type Capabilities struct {
	PutBatch bool `json:"put_batch,omitempty"`
	Delete   bool `json:"delete,omitempty"`
	Resolve  bool `json:"resolve,omitempty"`
	Find     bool `json:"find,omitempty"`
	List     bool `json:"list,omitempty"`
	Cleanup  bool `json:"cleanup,omitempty"`
	Purge    bool `json:"purge,omitempty"`
	Turns    bool `json:"turns,omitempty"` // wants the turns of a session one by one
	// Filter: search honours workspace. It is sent to nobody else, so that nobody
	// ignores it.
	Filter bool `json:"filter,omitempty"`

	Verbatim       bool `json:"verbatim,omitempty"`
	Idempotent     bool `json:"idempotent,omitempty"`
	Replaces       bool `json:"replaces,omitempty"`
	Async          bool `json:"async,omitempty"`
	ReadYourWrites bool `json:"read_your_writes,omitempty"`
	Attribution    bool `json:"attribution,omitempty"`
	Serial         bool `json:"serial,omitempty"`

	Score        providers.ScoreKind `json:"score,omitempty"`
	MaxItemBytes int                 `json:"max_item_bytes,omitempty"`
	MaxBatch     int                 `json:"max_batch,omitempty"`
	MaxLimit     int                 `json:"max_limit,omitempty"`
	PerMinute    int                 `json:"per_minute,omitempty"`
	// MaxInFlight is how many requests it takes before it has answered the first;
	// absent: 1; at most 32 are made.
	MaxInFlight int `json:"max_in_flight,omitempty"`
}

// inFlight is how many requests may be under way.
func (c *Capabilities) inFlight() int { return min(max(c.MaxInFlight, 1), maxInFlight) }

// properties are the capabilities in the words of the contract.
func (c *Capabilities) properties() providers.Properties {
	p := providers.Properties{
		Kind: "jsonrpc", Batch: c.PutBatch, Delete: c.Delete, Resolve: c.Resolve, Find: c.Find, List: c.List, Close: true,
		Cleanup: c.Cleanup, Turns: c.Turns, PurgeAll: c.Purge, Verbatim: c.Verbatim, Idempotent: c.Idempotent, Replaces: c.Replaces,
		Async: c.Async, ReadYourWrites: c.ReadYourWrites, Attribution: c.Attribution, Serial: c.Serial, Score: c.Score,
		MaxItemBytes: max(c.MaxItemBytes, 0), MaxBatch: max(c.MaxBatch, 0), MaxLimit: max(c.MaxLimit, 0), PerMinute: max(c.PerMinute, 0),
	}
	switch p.Score {
	case providers.Similarity, providers.Distance, providers.Ordinal:
	default:
		p.Score = providers.Unscored
	}
	return p
}

// ability is a set of those optional interfaces that a value may have or not.
type ability uint

const (
	canBatch ability = 1 << iota
	canDelete
	canResolve
	canFind
	canList
	canClean
	canPurge
	allAbilities = 1<<iota - 1
)

func (c *Capabilities) ability() ability {
	var a ability
	for bit, is := range map[ability]bool{
		canBatch: c.PutBatch, canDelete: c.Delete, canResolve: c.Resolve, canFind: c.Find, canList: c.List, canClean: c.Cleanup, canPurge: c.Purge,
	} {
		if is {
			a |= bit
		}
	}
	return a
}
