package transport

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// needsGit names what in g only git can heed when it is pushed to.
func needsGit(g *repo.GitDir) (string, error) {
	policy, _, err := g.Config("receive.denyCurrentBranch")
	if err != nil {
		return "", err
	}
	if strings.EqualFold(policy, "updateInstead") {
		return "receive.denyCurrentBranch=updateInstead", nil
	}
	dir, ok, err := g.Config("core.hooksPath")
	if err != nil {
		return "", err
	}
	if !ok {
		dir = filepath.Join(g.Dir(), "hooks")
	} else if !filepath.IsAbs(dir) {
		dir = filepath.Join(g.Dir(), dir)
	}
	for _, name := range []string{"pre-receive", "update", "proc-receive", "post-receive", "post-update", "reference-transaction"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && info.Mode().IsRegular() && isExecutable(info) {
			return "the hook " + name, nil
		}
	}
	return "", nil
}

const checkedOutRemedy = "push to a bare repository, or check out another branch there"

// checkPolicy is what git's receive-pack checks without hooks.
func checkPolicy(g *repo.GitDir, refs map[string]plumbing.Hash, updates []Update) error {
	if err := checkAdvertised(&advertisement{refs: refs, caps: map[string]string{"delete-refs": ""}}, updates); err != nil {
		return err
	}
	checkedOut, err := checkedOutBranches(g)
	if err != nil {
		return err
	}
	for _, u := range updates {
		where := checkedOut[u.Ref]
		switch {
		case !strings.HasPrefix(u.Ref, "refs/"):
			return &RejectedError{Ref: u.Ref, Reason: "funny refname", Remedy: "push to refs/heads/main"}
		case where != "":
			return &RejectedError{Ref: u.Ref, Reason: "the branch is checked out in " + where, Remedy: checkedOutRemedy}
		case u.New.IsZero():
			if err := checkDeletion(g, u.Ref); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkDeletion(g *repo.GitDir, ref string) error {
	denied, _, err := g.Config("receive.denyDeletes")
	if err != nil {
		return err
	}
	current, _, err := g.Config("receive.denyDeleteCurrent")
	if err != nil {
		return err
	}
	switch {
	case isTrue(denied):
		return &RejectedError{Ref: ref, Reason: "deletion prohibited (receive.denyDeletes)", Remedy: "delete it there"}
	case symref(filepath.Join(g.Dir(), "HEAD")) == ref && !isLenient(current):
		return &RejectedError{Ref: ref, Reason: "deletion of the current branch prohibited", Remedy: "let HEAD name another branch there"}
	}
	return nil
}

// isLenient says whether a receive.deny… setting allows what it is about.
func isLenient(value string) bool {
	v := strings.ToLower(value)
	return v == "ignore" || v == "warn" || v == "false"
}

// checkedOutBranches maps the branches that work trees of g show to the place
// of the work tree; those that their owner let be pushed to are left out.
func checkedOutBranches(g *repo.GitDir) (map[string]string, error) {
	policy, _, err := g.Config("receive.denyCurrentBranch")
	if err != nil {
		return nil, err
	}
	if isLenient(policy) {
		return nil, nil
	}
	out := map[string]string{}
	if bare, _, _ := g.Config("core.bare"); !isTrue(bare) {
		out[symref(filepath.Join(g.Dir(), "HEAD"))] = filepath.Dir(g.Dir())
	}
	heads, err := filepath.Glob(filepath.Join(g.Dir(), "worktrees", "*", "HEAD"))
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		place, _ := os.ReadFile(filepath.Join(filepath.Dir(h), "gitdir"))
		out[symref(h)] = orDefault(filepath.Dir(strings.TrimSpace(string(place))), h)
	}
	delete(out, "")
	return out, nil
}

// symref is the branch that a HEAD file names, "" when it is detached.
func symref(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	target, _ := strings.CutPrefix(strings.TrimSpace(string(b)), "ref: ")
	if !strings.HasPrefix(target, "refs/") {
		return ""
	}
	return target
}

func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}
