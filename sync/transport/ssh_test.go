package transport

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"vademecum/vault/repo"
)

func TestKnownHosts(t *testing.T) {
	for name, tt := range map[string]struct {
		lines   func(s *sshServer) string
		want    error
		changed bool
	}{
		"ed25519 alone, server has RSA too": {func(s *sshServer) string { return line(s, 0) }, nil, false},
		"RSA alone":                         {func(s *sshServer) string { return line(s, 1) }, nil, false},
		"both":                              {func(s *sshServer) string { return line(s, 0) + line(s, 1) }, nil, false},
		"hashed": {func(s *sshServer) string {
			return knownhosts.Line([]string{knownhosts.HashHostname(knownhosts.Normalize(s.addr))}, s.host[0].PublicKey()) + "\n"
		}, nil, false},
		"unknown": {func(s *sshServer) string { return "# nobody\n" }, ErrHostKey, false},
		"other host": {func(s *sshServer) string {
			return knownhosts.Line([]string{"example.org"}, s.host[0].PublicKey()) + "\n"
		}, ErrHostKey, false},
		"other key": {func(s *sshServer) string {
			return knownhosts.Line([]string{s.addr}, newSigner(s.t).PublicKey()) + "\n"
		}, ErrHostKey, true},
		"revoked": {func(s *sshServer) string { return "@revoked " + line(s, 0) }, ErrHostKey, false},
		"damaged": {func(s *sshServer) string { return "example.org ssh-ed25519 !!!\n" }, ErrHostKey, false},
	} {
		t.Run(name, func(t *testing.T) {
			isolate(t)
			f := newFixture(t)
			s := serveSSH(t, f)
			s.writeSSH("known_hosts", tt.lines(s))
			_, _, err := open(t, s.url(), Options{}).Refs(t.Context())
			if tt.want == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, tt.want) || errors.Is(err, ErrUnreachable) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Remedy == "" {
				t.Errorf("no remedy: %v", err)
			}
			if bad, ok := errors.AsType[*HostKeyError](err); ok {
				if bad.Changed != tt.changed || !strings.HasPrefix(bad.Fingerprint, "SHA256:") || !strings.Contains(err.Error(), bad.Fingerprint) {
					t.Errorf("got %+v", bad)
				}
			} else if name != "revoked" && name != "damaged" {
				t.Errorf("no HostKeyError in %v", err)
			}
		})
	}
}

// line is the known_hosts line of the server's i-th key.
func line(s *sshServer, i int) string {
	return knownhosts.Line([]string{s.addr}, s.host[i].PublicKey()) + "\n"
}

func TestNoKnownHostsFile(t *testing.T) {
	home := isolate(t)
	s := serveSSH(t, newFixture(t))
	if err := os.Remove(filepath.Join(home, ".ssh", "known_hosts")); err != nil {
		t.Fatal(err)
	}
	_, _, err := open(t, s.url(), Options{}).Refs(t.Context())
	if bad, ok := errors.AsType[*HostKeyError](err); !ok || bad.Changed {
		t.Errorf("got %v, want an unknown host", err)
	}
	if _, err := os.Stat(filepath.Join(home, ".ssh", "known_hosts")); err == nil {
		t.Error("the host was trusted at first sight")
	}
}

// serveAgent holds keys behind a socket and returns its path.
func serveAgent(t *testing.T, keys ...any) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("agents listen on a named pipe there")
	}
	ring := agent.NewKeyring()
	for _, k := range keys {
		if err := ring.Add(agent.AddedKey{PrivateKey: k}); err != nil {
			t.Fatal(err)
		}
	}
	// Paths of sockets are short.
	dir, err := os.MkdirTemp("", "agent")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				agent.ServeAgent(ring, conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
		os.RemoveAll(dir)
	})
	return socket
}

func newEd25519(t *testing.T) (ed25519.PrivateKey, ssh.PublicKey) {
	t.Helper()
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return key, public
}

func TestSSHKeys(t *testing.T) {
	isolated := func(t *testing.T) *sshServer {
		isolate(t)
		s := serveSSH(t, newFixture(t))
		s.allowed = nil
		if err := os.Remove(filepath.Join(s.home, ".ssh", "id_ed25519")); err != nil {
			t.Fatal(err)
		}
		return s
	}
	try := func(t *testing.T, s *sshServer) error {
		_, _, err := open(t, s.url(), Options{}).Refs(t.Context())
		return err
	}
	t.Run("agent", func(t *testing.T) {
		s := isolated(t)
		key, public := newEd25519(t)
		s.allowed = [][]byte{public.Marshal()}
		t.Setenv("SSH_AUTH_SOCK", serveAgent(t, key))
		if err := try(t, s); err != nil {
			t.Error(err)
		}
	})
	for _, only := range []string{"yes", "no"} {
		t.Run("named by the config, among many in the agent, IdentitiesOnly "+only, func(t *testing.T) {
			s := isolated(t)
			var keys []any
			for range 8 {
				k, _ := newEd25519(t)
				keys = append(keys, k)
			}
			key, public := newEd25519(t)
			t.Setenv("SSH_AUTH_SOCK", serveAgent(t, append(keys, key)...))
			s.allowed = [][]byte{public.Marshal()}
			s.writeSSH("work.pub", string(ssh.MarshalAuthorizedKey(public)))
			s.writeSSH("config", "Host 127.0.0.1\n  IdentitiesOnly "+only+"\n  IdentityFile ~/.ssh/work\n")
			if err := try(t, s); err != nil {
				t.Error(err)
			}
			// ssh asks whether a key would do, then signs with it.
			if s.tries > 2 {
				t.Errorf("%d keys were tried", s.tries)
			}
		})
	}
	t.Run("file named by the config", func(t *testing.T) {
		s := isolated(t)
		s.allowed = [][]byte{s.newKey("work key", "").PublicKey().Marshal()}
		s.writeSSH("config", "IdentityFile \"~/.ssh/work key\"\n")
		if err := try(t, s); err != nil {
			t.Error(err)
		}
	})
	t.Run("encrypted file without an agent", func(t *testing.T) {
		s := isolated(t)
		s.allowed = [][]byte{s.newKey("id_ed25519", "secret").PublicKey().Marshal()}
		err := try(t, s)
		if !errors.Is(err, ErrAuth) || !strings.Contains(err.Error(), "ssh-add") || !strings.Contains(err.Error(), "id_ed25519") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a key that the account does not have", func(t *testing.T) {
		s := isolated(t)
		s.newKey("id_ed25519", "")
		err := try(t, s)
		if !errors.Is(err, ErrAuth) || !strings.Contains(err.Error(), "keys offered: 1") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no key at all", func(t *testing.T) {
		if err := try(t, isolated(t)); !errors.Is(err, ErrAuth) {
			t.Errorf("got %v, want ErrAuth", err)
		}
	})
	t.Run("agent that is gone", func(t *testing.T) {
		s := isolated(t)
		t.Setenv("SSH_AUTH_SOCK", filepath.Join(s.home, "nothing"))
		s.allowed = [][]byte{s.newKey("id_ed25519", "").PublicKey().Marshal()}
		if err := try(t, s); err != nil {
			t.Error(err)
		}
	})
}

func TestSSHConfigNamesTheHost(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	s := serveSSH(t, f)
	s.writeSSH("config", "Include extra/*\n")
	s.writeSSH("config", "Include more\nHost other\n Port 1\nHost forge !nope\n  HostName 127.0.0.1\n  User git\n  Port "+s.port()+"\n  Port 2\n")
	s.writeSSH("more", "Host forge\n  IdentityFile ~/.ssh/id_ed25519\n")
	mustFetch(t, open(t, "forge:"+f.bare, Options{}), repo.NewMemory())
}

func TestSSHProxyIsForExec(t *testing.T) {
	isolate(t)
	s := serveSSH(t, newFixture(t))
	s.writeSSH("config", "Host *\n ProxyJump bastion\n")
	_, _, err := open(t, s.url(), Options{}).Refs(t.Context())
	if err == nil || !strings.Contains(err.Error(), "transport: exec") {
		t.Errorf("got %v", err)
	}
}

func TestOneSSHConnectionForARound(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	s := serveSSH(t, f)
	r := open(t, s.url(), Options{})
	m := repo.NewMemory()
	first := mustFetch(t, r, m)
	second := commitTo(t, m, first, "b.md", "b")
	if err := r.Push(t.Context(), m, []Update{{Ref: mainRef, Old: first, New: second}}, nil); err != nil {
		t.Fatal(err)
	}
	if s.opened != 1 {
		t.Errorf("got %d connections, want 1", s.opened)
	}
	want := []string{"git-upload-pack '" + f.bare + "'", "git-receive-pack '" + f.bare + "'"}
	if diff := cmp.Diff(want, s.ran); diff != "" {
		t.Error(diff)
	}
}

// A watcher keeps its Remote for days; connections do not live as long.
func TestSSHConnectionDiesBetweenRounds(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	s := serveSSH(t, f)
	r := open(t, s.url(), Options{})
	m := repo.NewMemory()
	first := mustFetch(t, r, m)
	r.link.(*wire).dial.(*sshDialer).client.Conn.Close()
	second := commitTo(t, m, first, "b.md", "b")
	if err := r.Push(t.Context(), m, []Update{{Ref: mainRef, Old: first, New: second}}, nil); err != nil {
		t.Fatal(err)
	}
	mustRefs(t, r)
	r.link.(*wire).dial.(*sshDialer).client.Conn.Close()
	if _, err := r.Fetch(t.Context(), repo.NewMemory(), []plumbing.Hash{second}, nil); err != nil && !errors.Is(err, ErrUnreachable) {
		t.Errorf("got %v", err)
	}
	mustFetch(t, r, repo.NewMemory())
}

func TestRemoteCommandQuotes(t *testing.T) {
	got := remoteCommand(uploadPack, "it's; rm -rf ~!")
	if want := `git-upload-pack 'it'\''s; rm -rf ~'\!''`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSSHConfig(t *testing.T) {
	text := `
# comment
Port 2200
Host a.example *.b.example !c.b.example
	User = alice
	IdentityFile "~/my keys/a"   # comment
	identityfile ~/.ssh/b
Match host x.b.example
	HostName real
Match exec "touch /tmp/never"
	User mallory
Host *
	User bob
	HostName=%h.net
`
	for host, want := range map[string][]string{
		"a.example":   {"alice", "2200", "a.example.net", "~/my keys/a", "~/.ssh/b"},
		"x.b.example": {"alice", "2200", "real", "~/my keys/a", "~/.ssh/b"},
		"c.b.example": {"bob", "2200", "c.b.example.net"},
		"A.EXAMPLE":   {"alice", "2200", "A.EXAMPLE.net", "~/my keys/a", "~/.ssh/b"},
	} {
		c := &sshConfig{values: map[string][]string{}}
		c.parse(text, "/nowhere", host, 0)
		got := append([]string{c.get("user"), c.get("port"), c.hostName(host)}, c.identities...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", host, diff)
		}
	}
}

func TestWildcards(t *testing.T) {
	for _, tt := range []struct {
		pattern, s string
		want       bool
	}{
		{"*", "", true},
		{"a*c", "abbc", true},
		{"a*c", "abbd", false},
		{"?", "x", true},
		{"?", "", false},
		{"a**b", "ab", true},
		{"*.x.*", "a.x.b", true},
		{"", "", true},
		{"", "a", false},
		{"ABC", "abc", true},
		{"*a", "banana", true},
		{"*ab*ab", "abab", true},
	} {
		if got := matchWildcard(tt.pattern, tt.s); got != tt.want {
			t.Errorf("%s fits %s: got %v", tt.pattern, tt.s, got)
		}
	}
}

func FuzzSSHConfig(f *testing.F) {
	f.Add("Host a\n User b\nInclude x\n", "a")
	f.Add("User=\"b c\" d # e\nMatch all\nPort", "a")
	f.Fuzz(func(t *testing.T, text, host string) {
		c := &sshConfig{values: map[string][]string{}}
		c.parse(text, t.TempDir(), host, maxIncludes)
		for k, v := range c.values {
			if len(v) == 0 {
				t.Errorf("%s has no value", k)
			}
		}
	})
}

func FuzzNetrc(f *testing.F) {
	f.Add("machine h login u password p\ndefault login x password y", "h", "")
	f.Add("macdef m\nx\n\nmachine h password #p", "h", "u")
	f.Fuzz(func(t *testing.T, text, host, user string) {
		if _, password, ok := parseNetrc(text, host, user); ok && (password == "" || !strings.Contains(text, password)) {
			t.Errorf("password %q out of nowhere", password)
		}
	})
}

func TestNetrc(t *testing.T) {
	text := `# comment
machine one.example login a password p1
machine two.example
	login b
	password p#2
	account x
macdef init
machine three.example login evil password evil

machine four.example password p4
machine one.example login c password p5
default login d password p6`
	for _, tt := range []struct{ host, user, login, password string }{
		{"one.example", "", "a", "p1"},
		{"ONE.example", "a", "a", "p1"},
		{"one.example", "c", "c", "p5"},
		{"two.example", "", "b", "p#2"},
		{"three.example", "", "d", "p6"},
		{"four.example", "z", "z", "p4"},
		{"one.example", "nobody", "", ""},
	} {
		login, password, _ := parseNetrc(text, tt.host, tt.user)
		if login != tt.login || password != tt.password {
			t.Errorf("%s as %q: got %s:%s, want %s:%s", tt.host, tt.user, login, password, tt.login, tt.password)
		}
	}
}
