package providers

import (
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
	for _, c := range commits {
		if len(c.Parents) > 1 {
			continue
		}
		by := o.authorOf(c)
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

func (o *Outbox) authorOf(c *repo.Commit) author {
	switch host := c.Trailer("Vade-Host"); {
	case host == "": // a human's own commit, of this host as far as anybody knows
		return byUs
	case host != o.Vault.Origin().Host:
		return byOther
	case o.now().Sub(c.Committer.When) < grace/2:
		return byUsJustNow
	}
	return byUs
}

func (a authors) of(ch repo.Change) author { return a[madeFile{ch.Path, ch.NewHash}] }
