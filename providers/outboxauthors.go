package providers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// author says whose commit made a file what it is.
type author int

const (
	byNobody    author = iota // not known; a merge of several
	byOther                   // another host's alone
	byUs                      // this host's
	byUsJustNow               // this host's, and nobody else can have handed it over yet
)

// grace is how long other hosts leave it to the one who made a change to hand
// it over, where the provider can be asked whether he did. Within half of it
// the maker need not ask.
const grace = time.Minute

// authors tell who made which files. Of what both made, the nearer one counts.
type authors map[madeFile]author

type madeFile struct {
	path string
	blob plumbing.Hash
}

// maxAuthors is how many commits are looked through for their authors. Of more
// nobody is known.
const maxAuthors = 2000

func (o *Outbox) authorsOf(from, to plumbing.Hash) authors {
	git := o.Vault.Git()
	var froms []plumbing.Hash
	if !from.IsZero() {
		froms = []plumbing.Hash{from}
	}
	commits, err := repo.Between(git, froms, []plumbing.Hash{to})
	if err != nil || len(commits) > maxAuthors {
		return nil
	}
	a := authors{}
	ours := madeHere(git.Dir())
	for _, c := range commits {
		if len(c.Parents) > 1 {
			continue
		}
		by := o.authorOf(c, ours)
		var parent plumbing.Hash
		if len(c.Parents) == 1 {
			parent = c.Parents[0]
		}
		for ch, err := range repo.DiffCommits(git, parent, c.Hash) {
			if err != nil {
				return nil
			}
			f := madeFile{ch.Path, ch.NewHash}
			a[f] = max(a[f], by)
		}
	}
	return a
}

// authorOf says whose commit c is. Names of hosts are not unique, containers
// and copies of a machine share theirs: a commit of our name that the reflog
// does not know as made in this clone is another one's.
func (o *Outbox) authorOf(c *repo.Commit, ours map[plumbing.Hash]bool) author {
	switch host := c.Trailer("Vade-Host"); {
	case host != "" && host != o.Vault.Origin().Host, ours != nil && !ours[c.Hash]:
		return byOther
	case host == "": // a human's own commit
		return byUs
	case o.now().Sub(c.Committer.When) < grace/2:
		return byUsJustNow
	}
	return byUs
}

// madeHere are the commits that main's reflog (gitrepository-layout(5)) says were
// made in this clone, not brought from elsewhere; nil where there is no reflog.
func madeHere(gitDir string) map[plumbing.Hash]bool {
	raw, err := os.ReadFile(filepath.Join(gitDir, "logs", "refs", "heads", "main"))
	if err != nil {
		return nil
	}
	made := map[plumbing.Hash]bool{}
	for line := range strings.Lines(string(raw)) {
		hashes, why, _ := strings.Cut(line, "\t")
		fields := strings.Fields(hashes)
		verb, _, _ := strings.Cut(strings.TrimSpace(why), ":")
		verb, _, _ = strings.Cut(verb, " ")
		if len(fields) < 2 || slices.Contains([]string{"sync", "clone", "pull", "fetch", "merge", "reset"}, verb) {
			continue
		}
		made[plumbing.NewHash(fields[1])] = true
	}
	return made
}

func (a authors) of(ch repo.Change) author { return a[madeFile{ch.Path, ch.NewHash}] }
