package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"
)

// helperTimeout bounds a credential helper, which may wait for a person.
const helperTimeout = 15 * time.Second

// gitCommand is git with arguments, in an environment where no variable points
// it at another repository and nothing makes it ask a person.
func gitCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = quietEnv()
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// quietEnv is the environment for git and ssh.
func quietEnv() []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(strings.ToUpper(name), "GIT_") || keepsGitVariable(name) {
			env = append(env, kv)
		}
	}
	return append(env, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never", "LC_ALL=C")
}

// keepsGitVariable keeps how to reach the world, and drops what names a
// repository, traces, or configures one command.
func keepsGitVariable(name string) bool {
	for _, prefix := range []string{"GIT_SSH", "GIT_SSL", "GIT_PROXY", "GIT_HTTP", "GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func noGit(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fault(ErrUnreachable, "there is no git command on this host", "install git, or leave transport: exec out")
	}
	return err
}

// insteadOf applies the user's url.<base>.insteadOf to an ssh URL. Without a git
// command there is nothing to apply.
func insteadOf(rawURL string) (address, error) {
	ctx, cancel := context.WithTimeout(context.Background(), helperTimeout)
	defer cancel()
	cmd := gitCommand(ctx, "ls-remote", "--get-url", rawURL)
	out, err := cmd.Output()
	if rewritten := strings.TrimSpace(string(out)); err == nil && rewritten != "" {
		return parseURL(rewritten)
	}
	return parseURL(rawURL)
}

// A gitCredential is an answer of git's credential helpers (git-credential(1)).
type gitCredential struct {
	user, secret string
	text         string // as approve and reject want it back
}

// fillCredential asks the helpers; it never prompts.
func fillCredential(ctx context.Context, u *url.URL, user string) (*gitCredential, bool) {
	ask := fmt.Sprintf("protocol=%s\nhost=%s\npath=%s\n", u.Scheme, u.Host, strings.TrimPrefix(u.Path, "/"))
	if user != "" {
		ask += "username=" + user + "\n"
	}
	out, err := credentialCommand(ctx, "fill", ask+"\n")
	if err != nil {
		return nil, false
	}
	c := &gitCredential{text: string(out)}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		switch key {
		case "username":
			c.user = value
		case "password":
			c.secret = value
		}
	}
	return c, c.secret != ""
}

func (c *gitCredential) approve(ctx context.Context) { credentialCommand(ctx, "approve", c.text+"\n") }

func (c *gitCredential) reject(ctx context.Context) { credentialCommand(ctx, "reject", c.text+"\n") }

// credentialCommand hands input over on stdin: no secret is an argument.
func credentialCommand(ctx context.Context, verb, input string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, helperTimeout)
	defer cancel()
	cmd := gitCommand(ctx, "-c", "core.askPass=", "credential", verb)
	cmd.Stdin = strings.NewReader(input)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	return out.Bytes(), err
}
