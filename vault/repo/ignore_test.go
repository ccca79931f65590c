package repo_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestIgnore(t *testing.T) {
	g, dir := initRepo(t)
	writeFile(t, filepath.Join(dir, ".gitignore"), "\ufeff# litter\n*.swp\r\n/build/\n!keep.swp\n.obsidian/\n\ntrail \nspace\\ \n\\#x\n\\!y\na/**/z\n**/deep\nunder/**\n[a-c]?.txt\n[[:digit:]]*.log\n[!a]x\n")
	writeFile(t, filepath.Join(dir, "notes", ".gitignore"), "draft*\n!draft-keep.md\n/only-here\nsub/x\n")
	i := g.WorkTree().Ignore()
	for _, p := range []string{
		"a.md", "a.swp", "keep.swp", "build/x.md", "notes/build/x.md", "notes/draft1.md", "notes/draft-keep.md",
		"draft.md", "notes/sub/draft.md", "notes/.obsidian/app.json", "x/y/z.swp", "trail", "space ", "#x", "!y",
		"a/z", "a/b/z", "a/b/c/z", "b/a/z", "deep", "x/deep", "x/deep/y", "under/x", "under", "b1.txt", "d1.txt", "x/b1.txt",
		"7.log", "x7.log", "bx", "ax", "notes/only-here", "notes/sub/only-here", "notes/sub/x", "sub/x", "notes/a/sub/x",
	} {
		equal(t, fmt.Sprintf("%q", p), i.Match(p, false), gitIgnores(t, dir, p))
	}
	equal(t, "folder", i.Match("build", true), true)
	equal(t, "file of the folder's name", i.Match("build", false), false)
	ok(t, os.RemoveAll(filepath.Join(dir, "notes")))
}

// gitIgnores asks git about a path that need not exist.
func gitIgnores(t testing.TB, dir, p string) bool {
	_, err := gitTry(t, dir, "check-ignore", "-q", "--no-index", p)
	return err == nil
}

// TestIgnoreAgainstGit: random patterns on random paths.
func TestIgnoreAgainstGit(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(8, 9))
	pieces := []string{"a", "b", "ab", "*", "**", "?", "/", "/", "[ab]", "[!a]", "[a-b]", "\\*", ".", "a*", "***", "[]a]", "[[:alpha:]]", "["}
	names := []string{"a", "b", "ab", "aab", ".a", "*", "b.a", "]", "["}
	g, dir := initRepo(t)
	for range 60 {
		var lines, paths []string
		for range 1 + rnd.IntN(3) {
			line := ""
			if rnd.IntN(4) == 0 {
				line = "!"
			}
			for range 1 + rnd.IntN(5) {
				line += pieces[rnd.IntN(len(pieces))]
			}
			if !starsInsideName(line) {
				lines = append(lines, line)
			}
		}
		for range 25 {
			var p strings.Builder
			p.WriteString(names[rnd.IntN(len(names))])
			for range rnd.IntN(3) {
				p.WriteString("/" + names[rnd.IntN(len(names))])
			}
			paths = append(paths, p.String())
		}
		writeFile(t, filepath.Join(dir, ".gitignore"), strings.Join(lines, "\n")+"\n")
		c := gitCmd(t.Context(), dir, "check-ignore", "--no-index", "-z", "--stdin")
		c.Stdin = strings.NewReader(strings.Join(paths, "\x00"))
		out, _ := c.Output() // 1 where none is ignored
		ignored := map[string]bool{}
		for p := range strings.SplitSeq(string(out), "\x00") {
			ignored[p] = true
		}
		i := g.WorkTree().Ignore()
		for _, p := range paths {
			if got := i.Match(p, false); got != ignored[p] {
				t.Errorf("%q with %q: got %v", p, lines, got)
			}
		}
	}
	ok(t, os.Remove(filepath.Join(dir, ".gitignore")))
}

// starsInsideName: git 2.39 decides by the addresses of its buffers what ** means
// behind other characters of a name.
func starsInsideName(line string) bool {
	line = strings.TrimPrefix(line, "!")
	for i := 1; i+1 < len(line); i++ {
		if line[i:i+2] == "**" && line[i-1] != '/' && line[i-1] != '*' {
			return true
		}
	}
	return false
}
