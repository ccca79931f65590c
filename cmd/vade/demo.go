package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"vademecum/vault"
	"vademecum/vault/repo"
)

func (a *app) demoCmd() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:     "demo",
		Short:   "Show the main job in a throw-away home",
		GroupID: groupOwner,
		Long: `Remember, recall in four languages, edit, sync two hosts through a bare git
repository, settle a conflict, forget and undo: the real commands, on real files,
in a folder that is deleted at the end. Your own vaults are not touched.`,
		Example: "  vade demo\n  vade demo --keep",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.MkdirTemp("", "vade-demo-")
			if err != nil {
				return &codedError{code: exitFailed, err: err, hint: "set $TMPDIR to a folder that can be written"}
			}
			if keep {
				a.note("kept in %s", dir)
			} else {
				defer os.RemoveAll(dir)
			}
			d := &demo{a: a, dir: dir, ctx: cmd.Context()}
			return d.run()
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the folder")
	return cmd
}

// demo plays the commands of two hosts, "laptop" and "desktop", each with a
// home of its own.
type demo struct {
	a   *app
	dir string
	ctx context.Context
	err error // of the first step that failed; later steps do nothing
}

const (
	laptop  = "laptop"
	desktop = "desktop"
)

func (d *demo) run() error {
	if err := os.Chdir(d.dir); err != nil { // so that no project of the caller's is the workspace
		return err
	}
	d.remember()
	d.look()
	d.recall()
	d.edit()
	d.twoHosts()
	d.conflict()
	d.forget()
	d.history()
	return d.err
}

func (d *demo) remember() {
	d.say("Remember: one markdown file each, committed before vade answers.")
	d.vade(laptop, "remember", "--title", "Deploy rule", "--tag", "ci", "--type", "decision",
		"Production deploys run through GitHub Actions; never from a laptop")
	d.vade(laptop, "remember", "--title", "배포 규칙", "우리는 배포를 GitHub Actions로만 한다")
	d.vade(laptop, "remember", "--title", "デプロイ手順", "デプロイは必ず GitHub Actions から行う")
	d.vade(laptop, "remember", "--title", "部署规则", "我们只通过 GitHub Actions 部署生产环境")
	d.vade(laptop, "remember", "--title", "Retry budget", "HTTP calls retry 3 times with full jitter; see internal/httpx/retryPolicy.go:42")
}

func (d *demo) look() {
	d.say("They are files. Open the folder in any editor.")
	d.show(laptop)
	d.cat(laptop, "deploy-rule")
}

func (d *demo) recall() {
	d.say("Recall: plain questions, in four languages and in code.")
	for _, q := range []string{
		"how do we deploy production?", "배포는 어떻게 하지?", "デプロイの方法は？", "怎么部署？", "retryPolicy",
	} {
		d.vade(laptop, "recall", "--limit", "1", q)
	}
}

func (d *demo) edit() {
	d.say("Edit: by flag, or in the file itself. Recall sees either at once.")
	d.vade(laptop, "edit", "Retry budget", "--add-tag", "http")
	d.append(laptop, "retry-budget", "Timeouts count as a try.\n")
	d.vade(laptop, "recall", "--limit", "1", "does a timeout count?")
}

func (d *demo) twoHosts() {
	d.say("Sync: any git repository will do. A second host clones it.")
	d.command("git", "init", "--quiet", "--bare", "--initial-branch=main", "memory.git")
	d.vade(laptop, "remote", "set", "memory.git")
	d.vade(laptop, "sync")
	d.vade(desktop, "clone", "memory.git")
	d.vade(desktop, "recall", "--limit", "1", "怎么部署？")
}

func (d *demo) conflict() {
	d.say("Both hosts edit. Different places merge without a trace; the same line keeps both texts.")
	d.vade(desktop, "edit", "Deploy rule", "--add-tag", "release")
	d.append(laptop, "deploy-rule", "Rollbacks go the same way.\n")
	d.vade(desktop, "edit", "Retry budget", "--body", "HTTP calls retry 5 times with full jitter\n")
	d.vade(laptop, "edit", "Retry budget", "--body", "HTTP calls retry twice, no jitter\n")
	d.vade(laptop, "sync")
	d.vade(desktop, "sync")
	d.vade(laptop, "sync")
	d.cat(laptop, "deploy-rule")
	d.vade(laptop, "conflicts", "list")
	d.vade(laptop, "recall", "how often do HTTP calls retry?")
	d.vade(laptop, "conflicts", "resolve", "Retry budget", "--keep", "ours")
}

func (d *demo) forget() {
	d.say("Forget, on every host; undo brings it back.")
	d.vade(laptop, "forget", "デプロイ手順")
	d.vade(laptop, "sync")
	d.vade(desktop, "sync")
	d.vade(desktop, "recall", "--limit", "1", "デプロイの方法は？")
	d.vade(laptop, "undo")
	d.vade(laptop, "recall", "--limit", "1", "デプロイの方法は？")
}

func (d *demo) history() {
	d.say("All of it is history in git, on both hosts.")
	d.vade(laptop, "sync")
	d.vade(desktop, "sync")
	d.command("git", "-C", d.vaultDir(laptop), "log", "--oneline", "--graph", "--no-decorate")
	d.command("git", "-C", d.vaultDir(laptop), "status", "--short")
	d.command("git", "-C", d.vaultDir(laptop), "fsck", "--strict", "--no-progress")
	d.sameTrees()
	d.vade(laptop, "doctor")
}

func (d *demo) say(text string) {
	if d.err == nil {
		d.a.printf("\n%s\n", d.a.paint(bold, "── "+text))
	}
}

// prompt shows the command of a step.
func (d *demo) prompt(host string, words ...string) {
	for i, w := range words {
		if strings.ContainsAny(w, " \t\n;()?？") {
			words[i] = fmt.Sprintf("%q", w)
		}
	}
	line := strings.ReplaceAll(strings.Join(words, " "), d.dir+string(filepath.Separator), "")
	d.a.printf("\n%s %s\n", d.a.paint(dim, host+"$"), d.a.paint(bold, line))
}

// vade runs a command of vade as host would. Commands that end with a partial
// result, such as a sync that found a conflict, are part of the show.
func (d *demo) vade(host string, args ...string) {
	if d.err != nil {
		return
	}
	d.prompt(host, append([]string{"vade"}, args...)...)
	home := filepath.Join(d.dir, host)
	sub := &app{stdin: strings.NewReader(""), stdout: d.a.stdout, stderr: d.a.stdout, env: d.env(home, host)}
	sub.flags.noColor = d.a.flags.noColor
	switch code := sub.run(d.ctx, args); code {
	case exitOK, exitConflict, exitPartly:
	default:
		d.err = fmt.Errorf("demo: %q on %s ended with exit code %d", strings.Join(args, " "), host, code)
	}
}

func (d *demo) env(home, host string) func(string) string {
	return func(name string) string {
		switch name {
		case "HOME", "USERPROFILE":
			return home
		case "VADE_HOME":
			return filepath.Join(home, "vade")
		case "VADE_HOST":
			return host
		case "VADE_IDENTITY":
			return "demo"
		case "VADE_NO_BACKGROUND":
			return "1" // the show syncs when it says so
		case "VADE_CONFIG":
			return filepath.Join(home, "config.yaml")
		case "NO_COLOR", "TERM":
			return d.a.env(name)
		}
		return ""
	}
}

func (d *demo) vaultDir(host string) string {
	return filepath.Join(d.dir, host, "vade", "demo", "vault")
}

// command runs another program and shows what it prints.
func (d *demo) command(name string, args ...string) {
	if d.err != nil {
		return
	}
	if args[0] == "-C" {
		d.prompt(laptop, append([]string{name}, args[2:]...)...)
	} else {
		d.prompt(laptop, append([]string{name}, args...)...)
	}
	cmd := exec.CommandContext(d.ctx, name, args...)
	cmd.Stdout, cmd.Stderr = d.a.stdout, d.a.stdout
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_PAGER=cat")
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		d.a.printf("(%s is not installed; vade does not need it)\n", name)
		d.err = d.withoutGit(args)
		return
	}
	d.err = err
}

// withoutGit stands in for the one git command that the rest of the show needs:
// it makes the empty bare repository that two hosts meet at.
func (d *demo) withoutGit(args []string) error {
	if args[0] != "init" {
		return nil
	}
	dir := args[len(args)-1]
	for _, folder := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			return err
		}
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	return errors.Join(os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600))
}

// show lists the files of a vault.
func (d *demo) show(host string) {
	if d.err != nil {
		return
	}
	d.prompt(host, "find", "vault", "-type", "f")
	d.err = filepath.WalkDir(d.vaultDir(host), func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && e.Name() == ".git" {
			return filepath.SkipDir
		}
		if !e.IsDir() {
			rel, err := filepath.Rel(d.vaultDir(host), path)
			if err != nil {
				return err
			}
			d.a.printf("vault/%s\n", filepath.ToSlash(rel))
		}
		return nil
	})
}

// find returns the file of host's vault whose name begins with slug.
func (d *demo) find(host, slug string) string {
	found, err := filepath.Glob(filepath.Join(d.vaultDir(host), "memories", "*", "*", slug+"-*.md"))
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("demo: %d files are called %s", len(found), slug)
	}
	if err != nil {
		d.err = err
		return ""
	}
	return found[0]
}

func (d *demo) cat(host, slug string) {
	if d.err != nil {
		return
	}
	path := d.find(host, slug)
	if d.err != nil {
		return
	}
	d.prompt(host, "cat", filepath.Base(path))
	data, err := os.ReadFile(path)
	d.a.printf("%s", data)
	d.err = err
}

// append adds to a file as an editor would.
func (d *demo) append(host, slug, text string) {
	if d.err != nil {
		return
	}
	path := d.find(host, slug)
	if d.err != nil {
		return
	}
	d.prompt(host, "echo", strings.TrimSpace(text), ">>", filepath.Base(path))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	d.err = err
}

// sameTrees proves that both hosts hold the same files.
func (d *demo) sameTrees() {
	if d.err != nil {
		return
	}
	trees := map[string]bool{}
	for _, host := range []string{laptop, desktop} {
		tree, err := treeOf(filepath.Dir(d.vaultDir(host)))
		if err != nil {
			d.err = fmt.Errorf("demo: read the tree of %s: %w", host, err)
			return
		}
		d.a.printf("%-8s tree %s\n", host, tree)
		trees[tree] = true
	}
	if len(trees) != 1 {
		d.err = errors.New("demo: the two hosts differ")
	}
}

// treeOf is the id of all that the vault in dir has committed.
func treeOf(dir string) (string, error) {
	v, err := vault.Open(vault.Options{Dir: dir, Identity: "demo"})
	if err != nil {
		return "", err
	}
	defer v.Close()
	head, err := v.Head()
	if err != nil {
		return "", err
	}
	commit, err := repo.ReadCommit(v.Git(), head)
	if err != nil {
		return "", err
	}
	return commit.Tree.String(), nil
}
