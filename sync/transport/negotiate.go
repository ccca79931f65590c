package transport

import (
	"bytes"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// How many commits are named per round, and in all: git doubles from 16, and
// gives up 256 commits after the last one that both sides had.
const (
	firstHaves = 16
	mostHaves  = 256
	inVain     = 256
	allHaves   = 4096
)

// A negotiation finds out which commits both sides have, and gets the pack of
// the rest.
type negotiation struct {
	c      conversation
	wants  []plumbing.Hash
	walk   *haveWalk
	common []plumbing.Hash
	begun  bool // a stateful service has the wants
	multi  bool // multi_ack_detailed
	noDone bool // the pack may follow "ready" at once
}

// newNegotiation chooses what to ask for. It returns nil when the remote has
// none of it to give.
func newNegotiation(c conversation, s repo.Store, wants, haves []plumbing.Hash) (*negotiation, error) {
	a := c.advert()
	if !a.can("side-band-64k") {
		return nil, fault(ErrProtocol, "the remote cannot do side-band-64k", "use a git server from this decade")
	}
	if a.shallow {
		return nil, fault(ErrProtocol, "the remote is a shallow clone", "run git fetch --unshallow there")
	}
	n := &negotiation{c: c, wants: askable(c, s, wants), multi: a.can("multi_ack_detailed")}
	n.noDone = n.multi && c.stateless() && a.can("no-done")
	if len(n.wants) == 0 {
		return nil, nil
	}
	var err error
	n.walk, err = newHaveWalk(s, haves)
	return n, err
}

// askable is wants as far as the service hands them out. A stateful one gives
// tips only; what is no longer one is likely to lie below a branch of today.
func askable(c conversation, s repo.Store, wants []plumbing.Hash) []plumbing.Hash {
	a := c.advert()
	anything := c.stateless() || a.can("allow-reachable-sha1-in-want") || a.can("allow-any-sha1-in-want")
	var ask []plumbing.Hash
	for _, h := range wants {
		if anything || a.advertises(h) {
			ask = append(ask, h)
			continue
		}
		for name, tip := range a.refs {
			if strings.HasPrefix(name, "refs/heads/") && s.HasEncodedObject(tip) != nil {
				ask = append(ask, tip)
			}
		}
	}
	slices.SortFunc(ask, func(a, b plumbing.Hash) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(ask)
}

// run returns a reader that stands at the first packet of the side band.
func (n *negotiation) run(ctx context.Context) (*pktReader, error) {
	vain := 0
	for size := firstHaves; n.multi && vain <= inVain; size = min(2*size, mostHaves) {
		haves, err := n.walk.take(size)
		if err != nil {
			return nil, err
		}
		if len(haves) == 0 {
			break
		}
		answer, err := n.ask(ctx, haves, false)
		if err != nil {
			return nil, err
		}
		found, ready, err := n.readAcks(answer)
		if err != nil {
			return nil, err
		}
		if ready && n.noDone {
			return answer, expectAck(answer)
		}
		if ready {
			break
		}
		vain += len(haves)
		if found {
			vain = 0
		}
	}
	return n.finish(ctx)
}

// finish says "done" and reads the last word before the pack.
func (n *negotiation) finish(ctx context.Context) (*pktReader, error) {
	var haves []plumbing.Hash
	if !n.multi {
		// Plain servers acknowledge one commit only; name all in one go.
		var err error
		if haves, err = n.walk.take(mostHaves); err != nil {
			return nil, err
		}
	}
	answer, err := n.ask(ctx, haves, true)
	if err != nil {
		return nil, err
	}
	for {
		line, err := readAck(answer)
		if err != nil {
			return nil, err
		}
		// "ACK <id> common" and "ready" precede the last word.
		if strings.Count(line, " ") < 2 {
			return answer, nil
		}
	}
}

// ask sends wants, haves and the end of a round.
func (n *negotiation) ask(ctx context.Context, haves []plumbing.Hash, done bool) (*pktReader, error) {
	var request bytes.Buffer
	p := &pktWriter{w: &request}
	if n.c.stateless() || !n.begun {
		caps := n.caps()
		for _, h := range n.wants {
			p.line("want %s%s\n", h, caps)
			caps = ""
		}
		p.flush()
	}
	if n.c.stateless() {
		haves = append(slices.Clone(n.common), haves...)
	}
	for _, h := range haves {
		p.line("have %s\n", h)
	}
	if done {
		p.line("done\n")
	} else {
		p.flush()
	}
	n.begun = true
	return n.c.exchange(ctx, func(w io.Writer) error {
		_, err := w.Write(request.Bytes())
		return err
	})
}

func (n *negotiation) caps() string {
	a := n.c.advert()
	var caps strings.Builder
	caps.WriteString(" side-band-64k")
	for _, c := range []string{"multi_ack_detailed", "ofs-delta"} {
		if a.can(c) {
			caps.WriteString(" " + c)
		}
	}
	if n.noDone {
		caps.WriteString(" no-done")
	}
	if a.can("agent") {
		caps.WriteString(" agent=" + agentName)
	}
	return caps.String()
}

// readAcks reads the answer to a round, up to its NAK.
func (n *negotiation) readAcks(answer *pktReader) (found, ready bool, err error) {
	for {
		line, err := readAck(answer)
		if err != nil {
			return false, false, err
		}
		if line == "NAK" {
			return found, ready, nil
		}
		fields := strings.Fields(line)
		if len(fields) != 3 || !plumbing.IsHash(fields[1]) {
			return false, false, badAck(line)
		}
		h := plumbing.NewHash(fields[1])
		if fields[2] == "ready" {
			ready = true
		}
		if n.walk.acked(h) {
			found = true
			n.common = append(n.common, h)
		}
	}
}

func expectAck(answer *pktReader) error {
	line, err := readAck(answer)
	if err == nil && !strings.HasPrefix(line, "ACK ") {
		err = badAck(line)
	}
	return err
}

func readAck(answer *pktReader) (string, error) {
	payload, kind, err := answer.next()
	if err != nil {
		return "", unexpected(err)
	}
	line := strings.TrimSuffix(string(payload), "\n")
	if kind != pktData || line != "NAK" && !strings.HasPrefix(line, "ACK ") {
		return "", badAck(line)
	}
	return line, nil
}

func badAck(line string) error {
	return fault(ErrProtocol, fmt.Sprintf("%q where ACK or NAK belongs", words1([]byte(line))), notGitRemedy)
}

// A haveWalk yields the commits below some tips, latest first, and leaves out
// what lies below a commit that the other side has.
type haveWalk struct {
	s     repo.Store
	queue commitQueue
	known map[plumbing.Hash]*haveState
	sent  int
}

type haveState struct {
	common bool
	acked  bool
}

func newHaveWalk(s repo.Store, tips []plumbing.Hash) (*haveWalk, error) {
	w := &haveWalk{s: s, known: map[plumbing.Hash]*haveState{}}
	for _, h := range tips {
		if err := w.push(h, false); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// push queues h; a tip that is not a commit of ours is passed over.
func (w *haveWalk) push(h plumbing.Hash, common bool) error {
	if st := w.known[h]; st != nil {
		st.common = st.common || common
		return nil
	}
	t, err := objectType(w.s, h)
	if errors.Is(err, repo.ErrObjectNotFound) || err == nil && t != plumbing.CommitObject {
		return nil
	}
	c, err := repo.ReadCommit(w.s, h)
	if err != nil {
		return err
	}
	w.known[h] = &haveState{common: common}
	heap.Push(&w.queue, c)
	return nil
}

func objectType(s repo.Store, h plumbing.Hash) (plumbing.ObjectType, error) {
	t, _, err := repo.ReadObject(s, h)
	return t, err
}

// take returns the next n commits to name.
func (w *haveWalk) take(n int) ([]plumbing.Hash, error) {
	var out []plumbing.Hash
	for len(out) < n && len(w.queue) > 0 && w.sent < allHaves {
		c := heap.Pop(&w.queue).(*repo.Commit)
		common := w.known[c.Hash].common
		if !common {
			out = append(out, c.Hash)
			w.sent++
		}
		for _, p := range c.Parents {
			if err := w.push(p, common); err != nil {
				return nil, err
			}
		}
		// When only common commits are left, so is all below them.
		if common && w.allCommon() {
			w.queue = nil
		}
	}
	return out, nil
}

func (w *haveWalk) allCommon() bool {
	return !slices.ContainsFunc(w.queue, func(c *repo.Commit) bool { return !w.known[c.Hash].common })
}

// acked notes that the other side has h, and says whether that is news.
func (w *haveWalk) acked(h plumbing.Hash) bool {
	st := w.known[h]
	if st == nil || st.acked {
		return false
	}
	st.acked = true
	w.spread(h)
	return true
}

// spread marks h, and what was walked below it, as common.
func (w *haveWalk) spread(h plumbing.Hash) {
	todo := []plumbing.Hash{h}
	for len(todo) > 0 {
		h, todo = todo[len(todo)-1], todo[:len(todo)-1]
		st := w.known[h]
		if st == nil || st.common {
			continue
		}
		st.common = true
		if c, err := repo.ReadCommit(w.s, h); err == nil {
			todo = append(todo, c.Parents...)
		}
	}
}

// A commitQueue is a heap with the latest commit on top.
type commitQueue []*repo.Commit

func (q commitQueue) Len() int           { return len(q) }
func (q commitQueue) Less(i, j int) bool { return q[i].Committer.When.After(q[j].Committer.When) }
func (q commitQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *commitQueue) Push(x any)        { *q = append(*q, x.(*repo.Commit)) }
func (q *commitQueue) Pop() any {
	last := len(*q) - 1
	c := (*q)[last]
	*q = (*q)[:last]
	return c
}
