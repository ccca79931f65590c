package transport

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
)

// HostKeyError: an ssh host showed a key that known_hosts does not have for it.
// It is the cause of an [ErrHostKey].
type HostKeyError struct {
	Host        string // as known_hosts names it
	KeyType     string // "ssh-ed25519"
	Fingerprint string // "SHA256:…"
	Changed     bool   // known_hosts has another key for the host
	Files       []string
}

func (e *HostKeyError) Error() string {
	if e.Changed {
		return fmt.Sprintf("%s shows the %s key %s, which is not the one in %s", e.Host, e.KeyType, e.Fingerprint, strings.Join(e.Files, ", "))
	}
	return fmt.Sprintf("%s is not known; it shows the %s key %s", e.Host, e.KeyType, e.Fingerprint)
}

// fault says what a person does about it. Nothing is ever trusted at first sight.
func (e *HostKeyError) fault() *Error {
	host, port, err := net.SplitHostPort(e.Host)
	if err != nil {
		host, port = e.Host, "22"
	}
	at := host
	if port != "22" {
		at = "-p " + port + " " + host
	}
	if e.Changed {
		return faultOf(ErrHostKey, e, "ask whoever runs the server whether its key was changed; only then run ssh-keygen -R "+knownhosts.Normalize(e.Host))
	}
	return faultOf(ErrHostKey, e, "compare the fingerprint, then connect once with ssh "+at+" to accept it")
}

// knownHosts are the keys that the user and the system have accepted.
type knownHosts struct {
	db    *knownhosts.HostKeyDB
	files []string
}

func (d *sshDialer) knownHosts(conf *sshConfig) (*knownHosts, error) {
	ssh := filepath.Join(d.r.home(), ".ssh")
	names := conf.values["userknownhostsfile"]
	if len(names) == 0 {
		names = []string{filepath.Join(ssh, "known_hosts"), filepath.Join(ssh, "known_hosts2")}
	}
	names = append(names, "/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")
	k := &knownHosts{}
	for _, name := range names {
		name = d.r.expandHome(name)
		if _, err := os.Stat(name); err == nil {
			k.files = append(k.files, name)
		}
	}
	var err error
	if k.db, err = knownhosts.NewDB(k.files...); err != nil {
		return nil, faultOf(ErrHostKey, err, "mend that line, or remove it with ssh-keygen -R")
	}
	return k, nil
}

// check accepts a key that is known for name.
func (k *knownHosts) check(name string) ssh.HostKeyCallback {
	check := k.db.HostKeyCallback()
	return func(_ string, remote net.Addr, key ssh.PublicKey) error {
		err := check(name, remote, key)
		if err == nil {
			return nil
		}
		if !knownhosts.IsHostUnknown(err) && !knownhosts.IsHostKeyChanged(err) {
			return err
		}
		return &HostKeyError{
			Host: name, KeyType: key.Type(), Fingerprint: ssh.FingerprintSHA256(key),
			Changed: knownhosts.IsHostKeyChanged(err), Files: k.files,
		}
	}
}

// explain classes what the ssh handshake failed of.
func (k *keyring) explain(err error, user, addr string) error {
	if bad, ok := errors.AsType[*HostKeyError](err); ok {
		return bad.fault()
	}
	if !strings.Contains(err.Error(), "unable to authenticate") {
		return err
	}
	detail := fmt.Errorf("%s takes no key for %s (%s)", addr, user, k.tale())
	return faultOf(ErrAuth, detail, k.remedy())
}

func (r *Remote) expandHome(name string) string {
	rest, found := strings.CutPrefix(name, "~/")
	if !found {
		rest, found = strings.CutPrefix(name, "%d/")
	}
	if found {
		return filepath.Join(r.home(), rest)
	}
	return name
}
