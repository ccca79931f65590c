package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

const notGitRemedy = "check that the URL is that of a git repository"

// maxAdvertised bounds how many refs a remote may advertise: what we keep of
// them lives in memory.
const maxAdvertised = 1 << 20

// The two services of a git remote.
const (
	uploadPack  = "git-upload-pack"
	receivePack = "git-receive-pack"
)

// An advertisement is what a service says first: its refs and abilities.
type advertisement struct {
	refs    map[string]plumbing.Hash // without HEAD and peeled tags
	head    string                   // where HEAD points, "" when not told
	headAt  plumbing.Hash
	caps    map[string]string
	shallow bool
}

func (a *advertisement) can(ability string) bool {
	_, ok := a.caps[ability]
	return ok
}

// advertises says whether h is one of the tips, which any server hands out.
func (a *advertisement) advertises(h plumbing.Hash) bool {
	if h == a.headAt {
		return true
	}
	for _, at := range a.refs {
		if at == h {
			return true
		}
	}
	return false
}

// readAdvertisement reads protocol v0 or v1 up to its flush packet. With
// smart, an HTTP announcement of the service comes first.
func readAdvertisement(p *pktReader, service string, smart bool) (*advertisement, error) {
	if smart {
		if err := readAnnouncement(p, service); err != nil {
			return nil, err
		}
	}
	a := &advertisement{refs: map[string]plumbing.Hash{}, caps: map[string]string{}}
	for first := true; ; {
		line, kind, err := p.next()
		if err != nil {
			return nil, adviseAdvert(err, first)
		}
		if kind == pktFlush {
			break
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		if first && string(line) == "version 1" {
			continue
		}
		if err := a.add(line, first); err != nil {
			return nil, err
		}
		first = false
	}
	a.settleHead()
	return a, a.check()
}

func readAnnouncement(p *pktReader, service string) error {
	line, kind, err := p.next()
	if err != nil {
		return adviseAdvert(err, true)
	}
	if kind != pktData || strings.TrimSpace(string(line)) != "# service="+service {
		return fault(ErrProtocol, "the answer does not announce "+service, notGitRemedy)
	}
	if _, kind, err = p.next(); err != nil || kind != pktFlush {
		return fault(ErrProtocol, "no flush after the announcement", notGitRemedy)
	}
	return nil
}

func adviseAdvert(err error, first bool) error {
	if first && errors.Is(err, io.EOF) {
		return fault(ErrUnreachable, "the remote hung up without a word", "check the address and that git is installed there")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return faultOf(ErrUnreachable, fmt.Errorf("the list of refs was cut short: %w", err), "try again")
	}
	return err
}

// add takes one line: "<hash> <ref>", the first one with abilities after a NUL.
func (a *advertisement) add(line []byte, first bool) error {
	if first {
		var caps []byte
		line, caps, _ = bytes.Cut(line, []byte{0})
		a.addCaps(string(caps))
	}
	if bytes.HasPrefix(line, []byte("shallow ")) {
		a.shallow = true
		return nil
	}
	id, name, found := strings.Cut(string(line), " ")
	if !found || !plumbing.IsHash(id) || len(id) != 40 {
		return a.badLine(id, line)
	}
	h := plumbing.NewHash(id)
	switch {
	case name == "capabilities^{}" && h.IsZero(), strings.HasSuffix(name, "^{}"):
	case name == "HEAD":
		a.headAt = h
	case !strings.HasPrefix(name, "refs/") || repo.CheckRefName(name) != nil:
		// ".have" lines of receive-pack name tips of alternates.
	case len(a.refs) >= maxAdvertised:
		return fault(ErrProtocol, fmt.Sprintf("more than %d refs", maxAdvertised), "use a repository of its own for the vault")
	default:
		a.refs[name] = h
	}
	return nil
}

func (a *advertisement) badLine(id string, line []byte) error {
	if len(id) == 64 && plumbing.IsHash(id) {
		return sha256Fault()
	}
	return fault(ErrProtocol, fmt.Sprintf("%q in the list of refs", words1(line[:min(len(line), 80)])), notGitRemedy)
}

func sha256Fault() error {
	return fault(ErrProtocol, "the remote keeps sha256 objects", "create it with --object-format=sha1")
}

func (a *advertisement) addCaps(caps string) {
	for c := range strings.FieldsSeq(caps) {
		name, value, _ := strings.Cut(c, "=")
		if target, found := strings.CutPrefix(value, "HEAD:"); found && name == "symref" {
			a.head = target
			continue
		}
		a.caps[name] = value
	}
}

// settleHead guesses the branch of HEAD for servers too old to tell.
func (a *advertisement) settleHead() {
	if a.head != "" || a.headAt.IsZero() {
		return
	}
	for _, name := range []string{"refs/heads/main", "refs/heads/master"} {
		if a.refs[name] == a.headAt {
			a.head = name
			return
		}
	}
}

func (a *advertisement) check() error {
	if format, ok := a.caps["object-format"]; ok && format != "sha1" {
		return sha256Fault()
	}
	return nil
}
