package transport

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// An sshServer runs git's services for one account.
type sshServer struct {
	t      testing.TB
	home   string
	path   string
	addr   string
	host   []ssh.Signer // ed25519, then RSA
	mu     sync.Mutex
	tries  int
	opened int // connections
	ran    []string
	// allowed are the keys of the account.
	allowed [][]byte
}

// serveSSH serves f to the default key of the test's home, whose known_hosts
// has the server's ed25519 key only, although it has an RSA key too.
func serveSSH(t testing.TB, f *fixture) *sshServer {
	t.Helper()
	home := os.Getenv("HOME")
	s := &sshServer{t: t, home: home, path: f.bare}
	s.host = []ssh.Signer{newSigner(t), newRSASigner(t)}
	key := s.newKey("id_ed25519", "")
	s.allowed = append(s.allowed, key.PublicKey().Marshal())
	s.listen()
	s.know(s.host[0].PublicKey())
	return s
}

func (s *sshServer) listen() {
	config := &ssh.ServerConfig{
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.tries++
			for _, k := range s.allowed {
				if string(k) == string(key.Marshal()) {
					return nil, nil
				}
			}
			return nil, errors.New("unknown key")
		},
	}
	for _, h := range s.host {
		config.AddHostKey(h)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	s.addr = l.Addr().String()
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.opened++
			s.mu.Unlock()
			wg.Go(func() { s.handle(conn, config) })
		}
	})
	s.t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
}

func (s *sshServer) handle(conn net.Conn, config *ssh.ServerConfig) {
	defer conn.Close()
	c, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	defer c.Close()
	go ssh.DiscardRequests(requests)
	var wg sync.WaitGroup
	defer wg.Wait()
	for nc := range channels {
		ch, reqs, err := nc.Accept()
		if err != nil {
			return
		}
		wg.Go(func() { s.session(ch, reqs) })
	}
}

func (s *sshServer) session(ch ssh.Channel, reqs <-chan *ssh.Request) {
	defer ch.Close()
	for req := range reqs {
		if req.Type != "exec" {
			req.Reply(false, nil)
			continue
		}
		var line struct{ Command string }
		ssh.Unmarshal(req.Payload, &line)
		req.Reply(true, nil)
		s.mu.Lock()
		s.ran = append(s.ran, line.Command)
		s.mu.Unlock()
		status := byte(s.run(ch, line.Command))
		ch.SendRequest("exit-status", false, []byte{0, 0, 0, status})
		return
	}
}

func (s *sshServer) run(ch ssh.Channel, command string) int {
	service, path, _ := strings.Cut(command, " ")
	cmd := exec.Command("git", strings.TrimPrefix(service, "git-"), strings.Trim(path, "'"))
	in, err := cmd.StdinPipe()
	if err != nil {
		return 1
	}
	cmd.Stdout, cmd.Stderr = ch, ch.Stderr()
	if err := cmd.Start(); err != nil {
		return 1
	}
	go func() {
		io.Copy(in, ch)
		in.Close()
	}()
	if cmd.Wait() != nil {
		return 128
	}
	return 0
}

func (s *sshServer) url() string { return "ssh://git@" + s.addr + s.path }

func (s *sshServer) port() string {
	_, port, _ := net.SplitHostPort(s.addr)
	return port
}

// know writes known_hosts with these keys for the server.
func (s *sshServer) know(keys ...ssh.PublicKey) {
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(knownhosts.Line([]string{s.addr}, k) + "\n")
	}
	s.writeSSH("known_hosts", b.String())
}

func (s *sshServer) writeSSH(name, text string) {
	s.t.Helper()
	dir := filepath.Join(s.home, ".ssh")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// newKey writes a fresh private key into the home, encrypted when there is a
// passphrase.
func (s *sshServer) newKey(name, passphrase string) ssh.Signer {
	s.t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	var block *pem.Block
	if passphrase == "" {
		block, err = ssh.MarshalPrivateKey(key, "test")
	} else {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "test", []byte(passphrase))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.writeSSH(name, string(pem.EncodeToMemory(block)))
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	return signer
}

func newSigner(t testing.TB) ssh.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

func newRSASigner(t testing.TB) ssh.Signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// fakeSSH makes GIT_SSH_COMMAND a script that runs the command here. It returns
// the file that the script notes its arguments in.
func fakeSSH(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	script := filepath.Join(dir, "ssh")
	text := "#!/bin/sh\necho \"$@\" >> " + strconv.Quote(log) + "\nfor last; do :; done\nexec sh -c \"$last\"\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_SSH_COMMAND", "sh '"+script+"'")
	return log
}
