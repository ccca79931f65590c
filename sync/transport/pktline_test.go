package transport

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
)

const (
	idA = "1111111111111111111111111111111111111111"
	idB = "2222222222222222222222222222222222222222"
)

// pkts joins lines as packets; "" is a flush.
func pkts(lines ...string) string {
	var b bytes.Buffer
	p := &pktWriter{w: &b}
	for _, l := range lines {
		if l == "" {
			p.flush()
		} else {
			p.line("%s", l)
		}
	}
	return b.String()
}

func TestPktReader(t *testing.T) {
	p := newPktReader(strings.NewReader(pkts("hello\n", "", strings.Repeat("x", pktPayload)) + "0001" + "0004"))
	var got []int
	for {
		b, kind, err := p.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, int(kind), len(b))
	}
	want := []int{int(pktData), 6, int(pktFlush), 0, int(pktData), pktPayload, int(pktDelim), 0, int(pktData), 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPktReaderErrors(t *testing.T) {
	for in, want := range map[string]error{
		"":              io.EOF,
		"00":            io.ErrUnexpectedEOF,
		"0010abc":       io.ErrUnexpectedEOF,
		"0003":          ErrProtocol,
		"fff1":          ErrProtocol,
		"<htm":          ErrProtocol,
		"-001":          ErrProtocol,
		pkts("ERR no"):  &remoteError{"no"},
		pkts("ERR \n "): &remoteError{""},
	} {
		_, _, err := newPktReader(strings.NewReader(in)).next()
		if said, ok := want.(*remoteError); ok {
			if got, ok := err.(*remoteError); !ok || *got != *said {
				t.Errorf("%q: got %v, want %v", in, err, want)
			}
		} else if !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", in, err, want)
		}
	}
}

func TestSideband(t *testing.T) {
	said := ""
	in := pkts("\x01PA", "\x02counting\r", "\x01CK", "\x01", "")
	band := &sideband{pkts: newPktReader(strings.NewReader(in)), say: func(s string) { said += s }}
	got, err := io.ReadAll(band)
	if err != nil || string(got) != "PACK" || said != "counting\r" {
		t.Errorf("got %q, %v; said %q", got, err, said)
	}
	for in, want := range map[string]error{
		pkts("\x01PA"):               io.ErrUnexpectedEOF,
		pkts("\x01PA", "\x07x", ""):  ErrProtocol,
		pkts("\x01PA") + "0004":      ErrProtocol,
		pkts("\x01PA", "\x03", ""):   &remoteError{},
		pkts("\x01PA") + "0001":      ErrProtocol,
		pkts("\x01PA") + "0009\x01P": io.ErrUnexpectedEOF,
	} {
		_, err := io.ReadAll(&sideband{pkts: newPktReader(strings.NewReader(in)), say: func(string) {}})
		if _, ok := want.(*remoteError); ok {
			_, ok = err.(*remoteError)
			if !ok {
				t.Errorf("%q: got %v", in, err)
			}
		} else if !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", in, err, want)
		}
	}
}

func readAdvert(in string, smart bool) (*advertisement, error) {
	return readAdvertisement(newPktReader(strings.NewReader(in)), uploadPack, smart)
}

func TestAdvertisement(t *testing.T) {
	a, err := readAdvert(pkts("# service=git-upload-pack\n", "",
		idA+" HEAD\x00multi_ack symref=HEAD:refs/heads/trunk agent=git/2 object-format=sha1\n",
		idA+" refs/heads/main\n", idB+" refs/tags/v1\n", idA+" refs/tags/v1^{}\n", idB+" refs/heads/../x\n", idB+" .have\n", ""), true)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"refs/heads/main " + idA, "refs/tags/v1 " + idB}
	if diff := cmp.Diff(want, hashes(a.refs)); diff != "" {
		t.Error(diff)
	}
	if a.head != "refs/heads/trunk" || !a.can("multi_ack") || a.can("multi") || a.caps["agent"] != "git/2" {
		t.Errorf("got head %q, abilities %v", a.head, a.caps)
	}
	if !a.advertises(plumbing.NewHash(idB)) || a.advertises(plumbing.ZeroHash) && a.headAt.IsZero() {
		t.Error("advertises is wrong")
	}
}

func TestAdvertisementShapes(t *testing.T) {
	zero := strings.Repeat("0", 40)
	for name, tt := range map[string]struct {
		in    string
		smart bool
		head  string
		refs  int
	}{
		"empty repository":        {pkts(zero+" capabilities^{}\x00report-status\n", ""), false, "", 0},
		"empty repository, quiet": {pkts(""), false, "", 0},
		"empty over HTTP":         {pkts("# service=git-upload-pack\n", "", ""), true, "", 0},
		"version 1":               {pkts("version 1\n", idA+" refs/heads/x\x00 a\n", ""), false, "", 1},
		"old server, main":        {pkts(idA+" HEAD\x00 a\n", idA+" refs/heads/main\n", idA+" refs/heads/master", ""), false, "refs/heads/main", 2},
		"old server, master":      {pkts(idA+" HEAD\x00 a\n", idB+" refs/heads/main\n", idA+" refs/heads/master", ""), false, "refs/heads/master", 2},
		"detached":                {pkts(idA+" HEAD\x00 a\n", idB+" refs/heads/main\n", ""), false, "", 1},
		"shallow":                 {pkts(idA+" refs/heads/main\x00 a\n", "shallow "+idA, ""), false, "", 1},
	} {
		a, err := readAdvert(tt.in, tt.smart)
		if err != nil || a.head != tt.head || len(a.refs) != tt.refs {
			t.Errorf("%s: got %+v, %v", name, a, err)
		}
	}
}

func TestAdvertisementErrors(t *testing.T) {
	sha256 := strings.Repeat("1", 64)
	for name, tt := range map[string]struct {
		in   string
		want error
	}{
		"silence":        {"", ErrUnreachable},
		"cut":            {pkts(idA + " HEAD\x00a\n"), ErrUnreachable},
		"cut in a line":  {"0040" + idA, ErrUnreachable},
		"web page":       {"<!DOCTYPE html>", ErrProtocol},
		"version 2":      {pkts("version 2\n", "ls-refs", ""), ErrProtocol},
		"bad id":         {pkts("zz refs/heads/x\x00a", ""), ErrProtocol},
		"sha256":         {pkts(sha256+" HEAD\x00object-format=sha256\n", ""), ErrProtocol},
		"empty sha256":   {pkts(strings.Repeat("0", 40)+" capabilities^{}\x00object-format=sha256\n", ""), ErrProtocol},
		"words":          {pkts("ERR access denied\n"), ErrAuth},
		"no such":        {pkts("ERR Repository not found.\n"), ErrNotFound},
		"unknown words":  {pkts("ERR the cat sat on it\n"), ErrUnreachable},
		"length of 3":    {"0003", ErrProtocol},
		"line of spaces": {pkts("    \n", ""), ErrProtocol},
	} {
		_, err := readAdvert(tt.in, false)
		if err = classify(err); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
}

func TestServersWordsAreMadeHarmless(t *testing.T) {
	got := words1([]byte("remote:\t\x1b[31mred\x1b[0m\r\n  \xff two \u202egnihton" + strings.Repeat("y", 400)))
	if strings.ContainsAny(got, "\x1b\r\n\u202e") || len(got) > 310 || !strings.HasPrefix(got, "remote: ?[31mred") {
		t.Errorf("got %q", got)
	}
}

func FuzzAdvertisement(f *testing.F) {
	f.Add([]byte(pkts("# service=git-upload-pack\n", "", idA+" HEAD\x00a symref=HEAD:refs/heads/main\n", idA+" refs/heads/main\n", "")), true)
	f.Add([]byte(pkts("version 1", idA+" refs/heads/main\x00\n", "shallow "+idA, "")), false)
	f.Add([]byte(pkts("ERR x")), false)
	f.Add([]byte("0003000400050000"), true)
	f.Fuzz(func(t *testing.T, in []byte, smart bool) {
		a, err := readAdvertisement(newPktReader(bytes.NewReader(in)), uploadPack, smart)
		if (a == nil) == (err == nil) && a == nil {
			t.Fatal("neither advertisement nor error")
		}
		if err != nil {
			return
		}
		for name, h := range a.refs {
			if h.IsZero() && name == "" {
				t.Errorf("ref %q", name)
			}
			if !strings.HasPrefix(name, "refs/") || strings.Contains(name, "..") {
				t.Errorf("ref %q", name)
			}
		}
	})
}

func FuzzReport(f *testing.F) {
	f.Add([]byte(pkts("\x01"+pkts("unpack ok\n", "ok refs/heads/main\n", ""), "")))
	f.Add([]byte(pkts("\x02words", "\x01"+pkts("unpack index-pack abnormal exit\n", "ng refs/heads/main hook declined\n", ""), "")))
	updates := []Update{{Ref: "refs/heads/main"}}
	f.Fuzz(func(t *testing.T, in []byte) {
		words := &lastWords{say: func(string) {}}
		err := readReport(&sideband{pkts: newPktReader(bytes.NewReader(in)), say: words.add}, words, updates)
		if err == nil && !bytes.Contains(in, []byte("ok")) {
			t.Errorf("%q is taken for a success", in)
		}
	})
}

func FuzzAcks(f *testing.F) {
	f.Add([]byte(pkts("ACK "+idA+" common\n", "ACK "+idA+" ready\n", "NAK\n", "ACK "+idA+"\n", "\x01PACK", "")))
	f.Fuzz(func(t *testing.T, in []byte) {
		n := &negotiation{walk: &haveWalk{known: map[plumbing.Hash]*haveState{}}}
		answer := newPktReader(bytes.NewReader(in))
		for {
			if _, _, err := n.readAcks(answer); err != nil {
				return
			}
		}
	})
}

func TestMain(m *testing.M) {
	code := m.Run()
	removeTemplates()
	os.Exit(code)
}
