package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// A keyring offers the keys of the agent, then those of the files that ssh
// would use.
type keyring struct {
	r     *Remote
	conf  *sshConfig
	host  string
	agent io.Closer

	offered   int
	noAgent   string   // why there is none
	encrypted []string // key files that need a passphrase
	broken    []string
}

func newKeyring(r *Remote, conf *sshConfig, host string) *keyring {
	return &keyring{r: r, conf: conf, host: host}
}

func (k *keyring) close() {
	if k.agent != nil {
		k.agent.Close()
	}
}

// signers is asked by ssh when the server wants a key.
func (k *keyring) signers() ([]ssh.Signer, error) {
	fromAgent := k.agentSigners()
	fromFiles, wanted := k.fileSigners()
	if strings.EqualFold(k.conf.get("identitiesonly"), "yes") && len(wanted) > 0 {
		fromAgent = slices.DeleteFunc(fromAgent, func(s ssh.Signer) bool {
			return !slices.ContainsFunc(wanted, func(w []byte) bool { return bytes.Equal(w, s.PublicKey().Marshal()) })
		})
	}
	// The keys that the config names go first: servers count the failures.
	slices.SortStableFunc(fromAgent, func(a, b ssh.Signer) int { return k.rank(wanted, a) - k.rank(wanted, b) })
	all := fromAgent
	for _, s := range fromFiles {
		key := s.PublicKey().Marshal()
		if !slices.ContainsFunc(all, func(o ssh.Signer) bool { return bytes.Equal(o.PublicKey().Marshal(), key) }) {
			all = append(all, s)
		}
	}
	k.offered = len(all)
	return all, nil
}

func (k *keyring) rank(wanted [][]byte, s ssh.Signer) int {
	key := s.PublicKey().Marshal()
	if i := slices.IndexFunc(wanted, func(w []byte) bool { return bytes.Equal(w, key) }); i >= 0 {
		return i
	}
	return len(wanted)
}

func (k *keyring) agentSigners() []ssh.Signer {
	socket := k.r.expandHome(strings.Trim(k.conf.get("identityagent"), `"`))
	switch {
	case strings.EqualFold(socket, "none"):
		k.noAgent = "IdentityAgent none"
		return nil
	case socket == "" || socket == "SSH_AUTH_SOCK":
		socket = k.r.opts.Env("SSH_AUTH_SOCK")
	case strings.HasPrefix(socket, "$"):
		socket = k.r.opts.Env(strings.Trim(socket[1:], "{}"))
	}
	conn, err := dialAgent(socket)
	if err != nil {
		k.noAgent = err.Error()
		return nil
	}
	signers, err := agent.NewClient(conn).Signers()
	if err != nil {
		conn.Close()
		k.noAgent = err.Error()
		return nil
	}
	k.agent = conn
	return signers
}

// fileSigners reads the key files. wanted are the public keys of all that the
// config names, encrypted ones included, as an agent may hold them.
func (k *keyring) fileSigners() (signers []ssh.Signer, wanted [][]byte) {
	names, given := k.files()
	for _, name := range names {
		pem, err := readKeyFile(name)
		if pub, ok := readPublic(name); ok && given {
			wanted = append(wanted, pub)
		}
		if errors.Is(err, fs.ErrNotExist) && !given {
			continue
		}
		var signer ssh.Signer
		if err == nil {
			signer, err = ssh.ParsePrivateKey(pem)
		}
		missing, locked := errors.AsType[*ssh.PassphraseMissingError](err)
		switch {
		case locked:
			k.encrypted = append(k.encrypted, name)
			if given && missing.PublicKey != nil {
				wanted = append(wanted, missing.PublicKey.Marshal())
			}
		case err != nil:
			k.broken = append(k.broken, fmt.Sprintf("%s: %v", name, err))
		default:
			if given {
				wanted = append(wanted, signer.PublicKey().Marshal())
			}
			signers = append(signers, signer)
		}
	}
	return signers, wanted
}

// files names the key files, and says whether the config gave them.
func (k *keyring) files() (names []string, given bool) {
	for _, name := range k.conf.identities {
		if !strings.EqualFold(name, "none") {
			names = append(names, k.r.expandHome(strings.ReplaceAll(name, "%h", k.host)))
		}
	}
	if len(k.conf.identities) > 0 {
		return names, true
	}
	for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
		names = append(names, filepath.Join(k.r.home(), ".ssh", name))
	}
	return names, false
}

func readPublic(name string) ([]byte, bool) {
	b, err := readKeyFile(name + ".pub")
	if err != nil {
		return nil, false
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(b)
	if err != nil {
		return nil, false
	}
	return key.Marshal(), true
}

// tale says what was tried, for an error.
func (k *keyring) tale() string {
	parts := []string{fmt.Sprintf("keys offered: %d", k.offered)}
	if k.noAgent != "" {
		parts = append(parts, "no agent: "+k.noAgent)
	}
	if len(k.encrypted) > 0 {
		parts = append(parts, "needs a passphrase: "+strings.Join(k.encrypted, ", "))
	}
	return strings.Join(append(parts, k.broken...), "; ")
}

func (k *keyring) remedy() string {
	if len(k.encrypted) > 0 {
		return "run ssh-add " + k.encrypted[0] + ", or use transport: exec"
	}
	return "add your public key to the account at the server, or use transport: exec"
}

func readKeyFile(name string) ([]byte, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", name, err)
	}
	return b, nil
}
