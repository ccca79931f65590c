package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

const mergeRemedy = "fetch and merge first"

func (w *wire) push(parent context.Context, s repo.Store, updates []Update, haves []plumbing.Hash) error {
	w.unpark()
	ctx, done := w.dog.watch(parent)
	sent, err := w.pushWatched(ctx, s, updates, haves)
	err = classify(done(err))
	if err == nil || !sent || parent.Err() != nil {
		return err
	}
	return w.settle(parent, updates, err)
}

// pushWatched says whether the remote was told of the updates.
func (w *wire) pushWatched(ctx context.Context, s repo.Store, updates []Update, haves []plumbing.Hash) (sent bool, err error) {
	c, err := w.dial.open(ctx, receivePack)
	if err != nil {
		return false, err
	}
	resume := w.dog.hold()
	p, err := newPushRequest(w.r, s, c.advert(), updates, haves)
	resume()
	if err != nil {
		return false, c.close(err)
	}
	answer, err := c.exchange(ctx, p.write)
	if err == nil {
		words := &lastWords{say: w.r.say}
		err = readReport(&sideband{pkts: answer, say: words.add}, words, updates)
	}
	return true, p.explain(c.close(err))
}

// newPushRequest checks what can be checked before a pack is made.
func newPushRequest(r *Remote, s repo.Store, a *advertisement, updates []Update, haves []plumbing.Hash) (*pushRequest, error) {
	if err := checkAdvertised(a, updates); err != nil {
		return nil, err
	}
	if !a.can("report-status") || !a.can("side-band-64k") {
		return nil, fault(ErrProtocol, "the remote reports nothing about a push", "use a git server from this decade")
	}
	objects, err := toSend(s, a, updates, haves)
	return &pushRequest{r: r, s: s, advert: a, updates: updates, objects: objects}, err
}

// checkAdvertised refuses updates that the remote's own list of refs already
// rules out, before a pack is made.
func checkAdvertised(a *advertisement, updates []Update) error {
	for _, u := range updates {
		at := a.refs[u.Ref]
		if at != u.Old {
			return &RejectedError{Ref: u.Ref, Reason: moved(at, u.Old), NonFastForward: true, Remedy: mergeRemedy}
		}
		if u.New.IsZero() && !a.can("delete-refs") {
			return &RejectedError{Ref: u.Ref, Reason: "the remote deletes no refs", Remedy: "delete it there"}
		}
	}
	return nil
}

func moved(at, old plumbing.Hash) string {
	switch {
	case at.IsZero():
		return "it is gone from the remote"
	case old.IsZero():
		return "it exists there, at " + at.String()[:10]
	}
	return "it is at " + at.String()[:10] + " there, not at " + old.String()[:10]
}

// toSend lists the objects that the remote lacks.
func toSend(s repo.Store, a *advertisement, updates []Update, haves []plumbing.Hash) ([]plumbing.Hash, error) {
	var wants []plumbing.Hash
	for _, u := range updates {
		if !u.New.IsZero() {
			wants = append(wants, u.New)
		}
	}
	known := slices.Clone(haves)
	for _, at := range a.refs {
		if s.HasEncodedObject(at) == nil {
			known = append(known, at)
		}
	}
	return repo.NewObjects(s, wants, known)
}

// A pushRequest is the body of a push: the commands, then the pack.
type pushRequest struct {
	r       *Remote
	s       repo.Store
	advert  *advertisement
	updates []Update
	objects []plumbing.Hash
	// packErr is why the pack could not be made: our fault, not the remote's.
	packErr error
}

func (p *pushRequest) write(w io.Writer) error {
	lines := &pktWriter{w: w}
	caps := p.caps()
	deletesOnly := true
	for _, u := range p.updates {
		lines.line("%s %s %s%s", u.Old, u.New, u.Ref, caps)
		caps = ""
		deletesOnly = deletesOnly && u.New.IsZero()
	}
	lines.flush()
	if lines.err != nil || deletesOnly {
		return lines.err
	}
	out := &stickyWriter{w: &countWriter{w: w, tick: func(n int64) { p.r.opts.Progress(Progress{Phase: Sending, Done: n}) }}}
	_, err := repo.EncodePack(out, p.s, p.objects)
	if err != nil && out.err == nil {
		p.packErr = err
	}
	return err
}

func (p *pushRequest) caps() string {
	caps := "\x00 report-status side-band-64k"
	if len(p.updates) > 1 && p.advert.can("atomic") {
		caps += " atomic"
	}
	if p.advert.can("quiet") {
		caps += " quiet"
	}
	if p.advert.can("object-format") {
		caps += " object-format=sha1"
	}
	if p.advert.can("agent") {
		caps += " agent=" + agentName
	}
	return caps
}

// explain puts the reason on this side before what the remote made of it.
func (p *pushRequest) explain(err error) error {
	if err != nil && p.packErr != nil {
		return fmt.Errorf("pack for the remote: %w", p.packErr)
	}
	return err
}

// countWriter counts what is written.
type countWriter struct {
	w    io.Writer
	n    int64
	tick func(n int64)
}

func (c *countWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	c.tick(c.n)
	return n, err
}

// lastWords remembers the end of what the remote said: hooks explain there why
// they refuse.
type lastWords struct {
	say  func(string)
	text string
}

func (l *lastWords) add(words string) {
	l.say(words)
	if l.text += words; len(l.text) > 2000 {
		l.text = l.text[len(l.text)-2000:]
	}
}

// readReport reads report-status.
func readReport(band io.Reader, words *lastWords, updates []Update) error {
	report := newPktReader(band)
	line, kind, err := report.next()
	if err != nil {
		return unexpected(err)
	}
	unpack, found := strings.CutPrefix(strings.TrimSpace(string(line)), "unpack ")
	if kind != pktData || !found {
		return fault(ErrProtocol, "the remote does not say whether it unpacked", notGitRemedy)
	}
	told := map[string]string{}
	for {
		line, kind, err := report.next()
		if err != nil {
			return unexpected(err)
		}
		if kind != pktData {
			break
		}
		verdict, rest, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		ref, reason, _ := strings.Cut(rest, " ")
		switch verdict {
		case "ok":
			told[ref] = ""
		case "ng":
			told[ref] = words1([]byte(reason)) + " "
		}
	}
	if unpack != "ok" {
		return fault(ErrRejected, "the remote could not unpack: "+words1([]byte(unpack+" "+words.text)), "run git fsck here and there")
	}
	return verdicts(told, words, updates)
}

func verdicts(told map[string]string, words *lastWords, updates []Update) error {
	for _, u := range updates {
		reason, found := told[u.Ref]
		if !found {
			return fault(ErrProtocol, "the remote says nothing about "+u.Ref, "list its refs")
		}
		if reason != "" {
			return rejected(u.Ref, strings.TrimSpace(reason), words.text)
		}
	}
	return nil
}

// rejected classes the word of a server, or its hook, on one ref.
func rejected(ref, reason, words string) *RejectedError {
	e := &RejectedError{Ref: ref, Reason: reason, Remedy: "ask whoever runs the server"}
	said := strings.ToLower(reason)
	has := func(any ...string) bool {
		return slices.ContainsFunc(any, func(s string) bool { return strings.Contains(said, s) })
	}
	switch {
	case has("non-fast-forward", "fetch first", "stale", "incorrect old value", "reference already exists", "failed to lock"):
		e.NonFastForward, e.Remedy = true, mergeRemedy
	case has("checked out"):
		e.Remedy = checkedOutRemedy
	case has("hook", "denied", "declined", "protected"):
		e.Remedy = "the remote's owner set this rule"
	}
	if said := words1([]byte(words)); said != "" {
		e.Reason += ": " + said
	}
	return e
}

// settle finds out what became of a push that ended badly. A lost answer may
// hide a success, and "failed to update ref" a race.
func (w *wire) settle(ctx context.Context, updates []Update, err error) error {
	rejection, isRejection := errors.AsType[*RejectedError](err)
	if isRejection && rejection.NonFastForward {
		return err
	}
	if !isRejection && !errors.Is(err, ErrUnreachable) {
		return err
	}
	refs, _, listErr := w.refs(ctx)
	if listErr != nil {
		return err
	}
	arrived := true
	for _, u := range updates {
		arrived = arrived && refs[u.Ref] == u.New
		if isRejection && u.Ref == rejection.Ref && refs[u.Ref] != u.Old {
			rejection.NonFastForward, rejection.Remedy = true, mergeRemedy
		}
	}
	if arrived && !isRejection {
		return nil
	}
	return err
}
