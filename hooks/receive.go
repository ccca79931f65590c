package hooks

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"time"

	"vademecum/sync/journal"
)

const (
	// Budget is how long a hook takes at most, all in all.
	Budget = 800 * time.Millisecond
	// SourceBudget is how long one vault is waited for.
	SourceBudget = 250 * time.Millisecond
	// inputBudget is how long stdin is waited for.
	inputBudget = 400 * time.Millisecond
	// answerBudget is how long an answer is waited for that an agent has said
	// and not yet written down.
	answerBudget = 300 * time.Millisecond
)

// ErrTimeout: a vault did not answer in time.
var ErrTimeout = errors.New("hooks: a vault did not answer in time")

// Journal keeps events; *journal.Journal is one.
type Journal interface {
	// Append keeps e and returns when it is on disk.
	Append(e journal.Event) error
}

// Receiver receives the hooks of one identity on this host.
type Receiver struct {
	// Dir is the identity's folder hooks/.
	Dir     string
	Journal Journal
	// Stores opens the vaults that a profile reads.
	Stores func(Profile) ([]Store, error)
	// Profile returns the profile of that name.
	Profile   func(name string) Profile
	Redactor  Redactor
	Workspace func(dir string) string // the project key of a folder
	Now       func() time.Time
	// Session and Cwd are taken where a payload has none.
	Session, Cwd string
	// Source is how long one vault is waited for; 0 means SourceBudget.
	Source time.Duration
	// NoCapture and NoInject turn one half off.
	NoCapture, NoInject bool
}

// Outcome is what came of one call.
type Outcome struct {
	// Answer is what the hook prints; often nothing.
	Answer []byte
	// Entry is for the record.
	Entry Entry
	// Kept is the kind of event that is in the journal now; "" when none is.
	Kept journal.Kind
	// Missed is the kind of event that was to be kept, and is not because
	// NoCapture says so.
	Missed journal.Kind
}

func (r *Receiver) now() time.Time { return r.Now() }

func (r *Receiver) sourceTimeout() time.Duration {
	if r.Source > 0 {
		return r.Source
	}
	return SourceBudget
}

func (r *Receiver) stores(p Profile) ([]Store, error) {
	if r.Stores == nil {
		return nil, nil
	}
	return r.Stores(p)
}

// call is one call of a hook on its way through.
type call struct {
	r     *Receiver
	agent *Agent
	name  string // of the event, in the agent's words
	seen  Seen
	state *session
}

// reply is what is told to a model.
type reply struct {
	answer  []byte
	block   string
	told    []note
	found   int
	problem string
}

// Receive takes what one hook of an agent tells on stdin, keeps it, and
// returns the answer. It returns when ctx is over, whatever is still going on;
// nothing that stdin holds is an error.
func (r *Receiver) Receive(ctx context.Context, a *Agent, event string, stdin io.Reader) Outcome {
	start := time.Now()
	c := &call{r: r, agent: a}
	c.read(ctx, event, stdin)
	c.clean(ctx)
	c.state = loadSession(filepath.Join(r.Dir, "sessions"), a.Name, c.seen.Event.Session)
	c.place()

	e, view := c.seen.Event, c.state.view()
	kept := async(func() error { return r.keep(e) })
	replied := async(func() reply { return c.reply(ctx, view) })
	err, inTime := within(ctx, kept)
	say, answered := within(ctx, replied)
	out := Outcome{Answer: say.answer, Entry: c.entry(say)}
	switch {
	case e.Kind == "":
	case r.NoCapture:
		out.Missed = e.Kind
	case !inTime:
		out.Entry.Error = "timeout"
	case err != nil:
		out.Entry.Error = "journal"
	default:
		out.Kept, out.Entry.Kept = e.Kind, string(e.Kind)
	}
	if !answered {
		out.Entry.Error = "timeout"
	}
	c.settle(say, &out)
	out.Entry.Ms = milliseconds(start)
	return out
}

// async runs fn; its result waits in the channel for whoever wants it. Nothing
// comes of one that panics: the exit code that a panic ends with would have an
// agent throw away what its person wrote.
func async[T any](fn func() T) <-chan T {
	done := make(chan T, 1)
	go func() {
		defer func() { _ = recover() }()
		done <- fn()
	}()
	return done
}

// within returns what comes out of done before ctx is over. What is there
// already is taken in any case.
func within[T any](ctx context.Context, done <-chan T) (v T, ok bool) {
	select {
	case v = <-done:
		return v, true
	case <-ctx.Done():
	}
	select {
	case v = <-done:
		return v, true
	default:
		return v, false
	}
}

func milliseconds(start time.Time) float64 {
	return float64(time.Since(start).Microseconds()) / 1000
}

// read decodes stdin.
func (c *call) read(ctx context.Context, event string, stdin io.Reader) {
	waiting, cancel := context.WithTimeout(ctx, inputBudget)
	defer cancel()
	in := newPatient(waiting, stdin)
	p := readPayload(in)
	if p.broken {
		in.drain(waiting)
	}
	c.name = c.agent.name(event, p.object)
	c.seen = c.agent.decode(event, p.object)
	c.seen.Event.Cut = p.cut
	if p.size == 0 {
		c.seen = Seen{Event: journal.Event{Agent: c.agent.Name}, Ignored: ignoredEmpty}
	}
}

// clean fills in what the payload did not say, and takes out what must not be
// kept.
func (c *call) clean(ctx context.Context) {
	r, s := c.r, &c.seen
	e := &s.Event
	if s.Transcript != "" && e.Text == "" {
		waiting, cancel := context.WithTimeout(ctx, answerBudget)
		e.Text = answerWithin(waiting, s.Transcript)
		cancel()
	}
	e.Time = r.now()
	e.Session = firstOf(e.Session, r.Session)
	e.Cwd = firstOf(e.Cwd, r.Cwd)
	if e.Parent == e.Session {
		e.Parent = ""
	}
	if r.Workspace != nil && (e.Kind != "" || s.Wish != Nothing) {
		e.Workspace = r.Workspace(e.Cwd)
	}
	r.Redactor.event(e)
	if e.Kind != journal.Prompt {
		return
	}
	s.Prompt = e.Text
	switch {
	case e.Text == "":
		c.ignore(ignoredEmpty)
	case machine(e.Text):
		c.ignore(ignoredMachine)
	}
}

func (c *call) ignore(why string) {
	c.seen.Ignored, c.seen.Wish, c.seen.Event.Kind = why, Nothing, ""
}

// place brings the session's state up to date with the event, and drops events
// that it shows to be of no use: of subagents, and said before.
func (c *call) place() {
	s, st := &c.seen, c.state
	e := &s.Event
	if s.Reset {
		st.reset()
	}
	if id := s.Subagent; id != "" {
		st.Subagents = append(st.Subagents, id)
		if id != e.Session {
			sub := loadSession(filepath.Join(c.r.Dir, "sessions"), c.agent.Name, id)
			sub.Parent = e.Session
			_ = sub.save()
		}
	}
	subagent := st.Parent != "" || e.Turn != "" && slices.Contains(st.Subagents, e.Turn)
	switch {
	case subagent && (e.Kind == journal.Prompt || e.Kind == journal.TurnEnd):
		c.ignore(ignoredSubagent)
	case e.Kind == journal.Prompt && e.ID != "" && st.Last == e.ID:
		c.ignore("said before")
	case (e.Kind == journal.Answer || e.Kind == journal.SubagentEnd) && e.Text == "":
		c.ignore(ignoredEmpty)
	}
	if e.Parent == "" {
		e.Parent = st.Parent
	}
}

// keep writes an event to the journal.
func (r *Receiver) keep(e journal.Event) error {
	if e.Kind == "" || r.NoCapture {
		return nil
	}
	e.Session = firstOf(e.Session, "unknown")
	return r.Journal.Append(e)
}

// reply finds what to tell the model of a session that knows what view says.
// It changes nothing: nobody may be waiting for it any more.
func (c *call) reply(ctx context.Context, view *session) reply {
	wish := c.seen.Wish
	if c.r.NoInject || wish == Nothing || !c.agent.Takes(c.name) {
		return reply{}
	}
	var say reply
	var notes []note
	budget := 0
	if wish != Recall || c.agent.briefWithPrompt && view.Prompts == 0 {
		notes, budget = c.brief(ctx, &say)
	}
	if wish == Recall {
		profile := c.profile(view)
		found, n, err := c.r.recall(ctx, asked{
			prompt: c.seen.Prompt, session: c.seen.Event.Session, workspace: c.seen.Event.Workspace, profile: profile,
		}, view)
		say.trouble(err)
		say.found = n
		notes = join(notes, found)
		budget += bytesOf(profile.Tokens)
	}
	c.fit(&say, notes, min(budget, c.agent.Budget))
	return say
}

// fit makes the block of notes, so that the whole answer is within the agent's
// budget.
func (c *call) fit(say *reply, notes []note, budget int) {
	for budget > 0 {
		say.block, say.told = frame(notes, budget)
		say.answer = c.agent.Answer(c.name, say.block)
		if len(say.answer) <= c.agent.Budget {
			return
		}
		budget -= len(say.answer) - c.agent.Budget
	}
	say.block, say.told, say.answer = "", nil, nil
}

// join adds to notes those of more that are not among them.
func join(notes, more []note) []note {
	for _, n := range more {
		if !slices.ContainsFunc(notes, func(o note) bool { return o.key() == n.key() }) {
			notes = append(notes, n)
		}
	}
	return notes
}

// bytesOf is how many bytes a number of tokens is taken for.
func bytesOf(tokens int) int {
	if tokens <= 0 {
		return maxBudget
	}
	return 4 * tokens
}

func (c *call) profile(view *session) Profile {
	if view.Prompts == 0 {
		return c.r.Profile(ProfileInitial)
	}
	return c.r.Profile(ProfilePassive)
}

// brief is what the start of a session, or of a subagent, is told of.
func (c *call) brief(ctx context.Context, say *reply) (notes []note, budget int) {
	r := c.r
	budget = briefBytes
	if c.seen.Wish == Short {
		budget = shortBytes
	}
	stores, err := r.stores(r.Profile(ProfileInitial))
	if err != nil {
		say.trouble(err)
		return nil, budget
	}
	workspace := c.seen.Event.Workspace
	lists, missing := ask(ctx, stores, r.sourceTimeout(), func(ctx context.Context, s Store) ([]note, error) {
		all, err := s.Notes(ctx)
		if err != nil {
			return nil, err
		}
		return brief(all, workspace, r.now()), nil
	})
	if missing > 0 {
		say.trouble(ErrTimeout)
	}
	for _, list := range lists {
		notes = join(notes, list)
	}
	return notes, budget
}

func (say *reply) trouble(err error) {
	switch {
	case errors.Is(err, ErrTimeout):
		say.problem = "timeout"
	case err != nil:
		say.problem = "memory"
	}
}

// entry is the record of the call.
func (c *call) entry(say reply) Entry {
	return Entry{
		Time: c.r.now().UTC().Truncate(time.Millisecond), What: DidHook, Agent: c.agent.Name, Event: line(c.name, 64),
		Session: line(c.seen.Event.Session, 64), Ignored: c.seen.Ignored, Found: say.found, Error: say.problem,
	}
}

// settle notes what the session was told.
func (c *call) settle(say reply, out *Outcome) {
	s, st := &c.seen, c.state
	if s.Wish == Brief && c.agent.Takes(c.name) {
		sum := digest(say.block)
		if s.Resumed && sum == st.Brief { // it goes on, and knows it
			say, out.Answer = reply{}, nil
		}
		st.Brief = sum
	}
	for _, n := range say.told {
		out.Entry.IDs = append(out.Entry.IDs, n.hit.Name())
	}
	out.Entry.Bytes = len(say.block)
	if s.Event.Kind == journal.Prompt {
		st.Prompts++
		st.Last = s.Event.ID
	}
	if s.Wish != Short { // a subagent has a context of its own
		st.tell(wholeOf(say.told, s.Wish))
	}
	if s.Event.Kind == journal.Prompt || s.Reset || s.Wish != Nothing {
		_ = st.save()
	}
	if s.Event.Kind == journal.SessionStart {
		pruneSessions(filepath.Join(c.r.Dir, "sessions"))
	}
}

// wholeOf are the notes that a prompt need not bring again: all that it
// brought itself, of a brief those that it told whole.
func wholeOf(told []note, wish Wish) []note {
	if wish == Recall {
		return told
	}
	return slices.DeleteFunc(slices.Clone(told), func(n note) bool { return !n.whole() })
}
