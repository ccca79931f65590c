package journal

import (
	"context"
	"errors"
	"time"

	"vademecum/vault"
)

// Capture keeps episodes in a vault's session files.
type Capture struct {
	Vault *vault.Vault
	Keep  time.Duration // how long after its last turn a file expires; 0: never
	// From, if set, is when Keep begins for turns that are older.
	From time.Time
	// DryRun finds out what would become of episodes, and keeps none.
	DryRun bool
}

var _ Receiver = (*Capture)(nil)

// Receive implements [Receiver]: one commit for the episodes of a session.
func (c *Capture) Receive(ctx context.Context, episodes []*Episode) []Outcome {
	return c.ReceiveAll(ctx, [][]*Episode{episodes})
}

// ReceiveAll is Receive for several sessions of one agent, none of them
// empty, in one commit.
func (c *Capture) ReceiveAll(ctx context.Context, sessions [][]*Episode) []Outcome {
	list := make([]vault.SessionTurns, len(sessions))
	for i, episodes := range sessions {
		first := episodes[0]
		list[i] = vault.SessionTurns{Session: vault.Session{Agent: first.Agent, ID: first.Session, Workspace: first.Workspace}, Keep: c.Keep}
		if c.Keep > 0 && !c.From.IsZero() {
			list[i].Keep += max(0, c.From.Sub(first.Start))
		}
		for _, e := range episodes {
			list[i].Turns = append(list[i].Turns, e.turn())
		}
	}
	done, commit, err := c.capture(ctx, list)
	var outcomes []Outcome
	for i, episodes := range sessions {
		for j, e := range episodes {
			o := Outcome{Key: e.Key, Err: err, Postponed: errors.Is(err, vault.ErrLocked)}
			switch {
			case err != nil:
			case done[i][j].Path == "":
				o.State, o.Result = Empty, done[i][j].Reason
			default:
				o.State, o.Result = Stored, done[i][j].Path
				if commit.Held != "" {
					o.Result += " (saved, not committed: " + commit.Held + ")"
				}
			}
			outcomes = append(outcomes, o)
		}
	}
	return outcomes
}

func (c *Capture) capture(ctx context.Context, list []vault.SessionTurns) ([][]vault.Captured, vault.Commit, error) {
	if c.DryRun {
		done, err := c.Vault.WouldCapture(ctx, list)
		return done, vault.Commit{}, err
	}
	return c.Vault.CaptureAll(ctx, list)
}

// turn is e for the vault. The events' own ids name it, so that a backfill of
// the same turn is known.
func (e *Episode) turn() vault.Turn {
	s := newSection(e)
	t := vault.Turn{
		Start: e.Start, End: e.End, Key: e.Key, Texts: s.texts(),
		Continues: len(s.prompts) == 0,
		Render:    func(known func(string) bool) string { return s.render(e.Start, known) },
	}
	if e.Turn != "" {
		t.Names = append(t.Names, "turn "+e.Turn)
	}
	for _, r := range e.Records {
		if k := r.Event.Kind; r.Event.ID != "" && (k == Prompt || k == TurnEnd) {
			t.Names = append(t.Names, string(k)+" "+r.Event.ID)
		}
	}
	if len(t.Names) == 0 && len(s.prompts) > 0 && len(s.answers) > 0 {
		// The agent has no ids: what was said tells its turns apart.
		t.Names = []string{"said " + s.said()}
	}
	return t
}
