package transport

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// A gitProgram lets the user's git do the whole work over HTTP, with its
// credential helpers, proxies and certificates. It needs a store that is a git
// directory.
type gitProgram struct {
	r      *Remote
	creds  credentials
	listed map[string]plumbing.Hash
}

// onDisk is the ability of a store that git can work in.
type onDisk interface {
	Dir() string // the git directory
	Reload()     // forget what was read of packs
}

// remoteName is the remote that exists in the environment of a command only.
const remoteName = "vade-exec"

func (g *gitProgram) close() error { return nil }

func (g *gitProgram) refs(ctx context.Context) (map[string]plumbing.Hash, string, error) {
	out, err := g.run(ctx, "", "ls-remote", "--symref", remoteName)
	if err != nil {
		return nil, "", err
	}
	refs, head := parseLsRemote(string(out))
	g.listed = refs
	return refs, head, nil
}

// parseLsRemote reads "<id>\t<ref>" and "ref: <branch>\tHEAD" lines.
func parseLsRemote(out string) (map[string]plumbing.Hash, string) {
	refs, head := map[string]plumbing.Hash{}, ""
	for line := range strings.Lines(out) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case strings.HasPrefix(id, "ref: ") && name == "HEAD":
			head = strings.TrimPrefix(id, "ref: ")
		case plumbing.IsHash(id) && repo.CheckRefName(name) == nil && name != "HEAD":
			refs[name] = plumbing.NewHash(id)
		}
	}
	return refs, head
}

func (g *gitProgram) fetch(ctx context.Context, s repo.Store, wants, _ []plumbing.Hash) (FetchStats, error) {
	dir, err := diskOf(s)
	if err != nil {
		return FetchStats{}, err
	}
	args := []string{
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc",
		"--no-recurse-submodules", "--refmap=", remoteName,
	}
	sources, err := g.sources(ctx, wants)
	if err != nil {
		return FetchStats{}, err
	}
	args = append(args, sources...)
	_, err = g.run(ctx, dir.Dir(), args...)
	dir.Reload()
	return FetchStats{}, err
}

// sources are the refs to ask for to get wants. What no ref is at lies, with
// luck, below one: not every server hands out commits by id.
func (g *gitProgram) sources(ctx context.Context, wants []plumbing.Hash) ([]string, error) {
	at := g.namesOf(wants)
	if len(at) < len(wants) {
		if _, _, err := g.refs(ctx); err != nil {
			return nil, err
		}
		at = g.namesOf(wants)
	}
	names := slices.Collect(maps.Values(at))
	if len(at) < len(wants) {
		for name := range g.listed {
			if strings.HasPrefix(name, "refs/heads/") && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return nil, fault(ErrMoved, "it has no branch", "run it again")
	}
	return names, nil
}

// namesOf maps those of wants that refs are at to one such ref each.
func (g *gitProgram) namesOf(wants []plumbing.Hash) map[plumbing.Hash]string {
	out := map[plumbing.Hash]string{}
	for name, h := range g.listed {
		if slices.Contains(wants, h) {
			out[h] = name
		}
	}
	return out
}

func (g *gitProgram) push(ctx context.Context, s repo.Store, updates []Update, _ []plumbing.Hash) error {
	dir, err := diskOf(s)
	if err != nil {
		return err
	}
	if err := s.Flush(); err != nil {
		return err
	}
	args := []string{"push", "--porcelain", "--no-verify", "--no-recurse-submodules"}
	var specs []string
	for _, u := range updates {
		lease, source := u.Old.String(), u.New.String()
		if u.Old.IsZero() {
			lease = ""
		}
		if u.New.IsZero() {
			source = ""
		}
		args = append(args, "--force-with-lease="+u.Ref+":"+lease)
		specs = append(specs, source+":"+u.Ref)
	}
	args = append(append(args, remoteName), specs...)
	out, err := g.run(ctx, dir.Dir(), args...)
	if refused := parsePorcelain(string(out)); refused != nil {
		return refused
	}
	return err
}

// parsePorcelain finds the first refusal in the output of git push --porcelain:
// "!\t<from>:<to>\t[remote rejected] (reason)".
func parsePorcelain(out string) *RejectedError {
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 || fields[0] != "!" {
			continue
		}
		_, ref, _ := strings.Cut(fields[1], ":")
		reason := fields[2]
		if _, in, found := strings.Cut(reason, "("); found {
			reason = strings.TrimSuffix(in, ")")
		}
		return rejected(ref, words1([]byte(reason)), "")
	}
	return nil
}

func diskOf(s repo.Store) (onDisk, error) {
	if d, ok := s.(onDisk); ok {
		return d, nil
	}
	return nil, fault(ErrProtocol, "transport: exec over http needs a git directory", "leave transport: exec out")
}

// run runs git with the remote, and the credentials for it, in its environment:
// a command line can be read by every user of the host.
func (g *gitProgram) run(ctx context.Context, gitDir string, args ...string) ([]byte, error) {
	if err := g.creds.prepare(ctx); err != nil {
		return nil, err
	}
	cmd := gitCommand(ctx, args...)
	if gitDir != "" {
		cmd.Env = append(cmd.Env, "GIT_DIR="+gitDir)
		cmd.Dir = gitDir
	}
	cmd.Env = append(cmd.Env, g.config()...)
	var out bytes.Buffer
	words := &tail{}
	cmd.Stdout, cmd.Stderr = &out, words
	err := cmd.Run()
	if err == nil {
		return out.Bytes(), nil
	}
	if _, ok := err.(*exec.ExitError); !ok {
		return nil, noGit(err)
	}
	return out.Bytes(), classifyWords(words1(words.kept))
}

// config is the configuration of one command (git-config(1), GIT_CONFIG_COUNT).
func (g *gitProgram) config() []string {
	pairs := [][2]string{
		{"remote." + remoteName + ".url", g.r.addr.String()},
		{"http.lowSpeedLimit", "1"},
		{"http.lowSpeedTime", fmt.Sprint(max(1, int(g.r.opts.StallTimeout/time.Second)))},
		{"gc.auto", "0"},
		{"maintenance.auto", "false"},
		{"push.gpgSign", "false"},
		{"core.askPass", ""},
	}
	if g.creds.given() {
		req := http.Request{Header: http.Header{}}
		g.creds.apply(&req)
		pairs = append(pairs,
			[2]string{"http.extraHeader", "Authorization: " + req.Header.Get("Authorization")},
			[2]string{"http.followRedirects", "false"}) // the header is for this host
	} else if g.r.addr.user != "" {
		pairs = append(pairs, [2]string{"credential.username", g.r.addr.user})
	}
	env := []string{fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(pairs))}
	for i, p := range pairs {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, p[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, p[1]))
	}
	return env
}
