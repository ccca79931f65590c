package merge

import (
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"vademecum/vault"
	"vademecum/vault/repo"
)

// entry is a file in a tree; a zero hash is none.
type entry struct {
	path string
	hash plumbing.Hash
	mode filemode.FileMode
}

func (e entry) there() bool { return !e.hash.IsZero() }

// plainFile reports whether e's content can be merged: it is no symlink and
// no submodule.
func (e entry) plainFile() bool {
	return e.mode == filemode.Regular || e.mode == filemode.Executable || e.mode == filemode.Deprecated
}

// isMemory reports whether e is a file with front matter.
func (e entry) isMemory() bool { return e.plainFile() && vault.IsMemoryPath(e.path) }

// file is a blob, and what was read of it.
type file struct {
	data []byte
	doc  *vault.Document
}

func (f *file) document() *vault.Document {
	if f.doc == nil {
		f.doc = vault.ParseDocument(f.data)
	}
	return f.doc
}

// reader reads each blob and its front matter once.
type reader struct {
	repo.Store
	files map[plumbing.Hash]*file
}

func (r *reader) file(h plumbing.Hash) (*file, error) {
	if f := r.files[h]; f != nil {
		return f, nil
	}
	data, err := repo.ReadBlob(r.Store, h)
	if err != nil {
		return nil, err
	}
	r.files[h] = &file{data: data}
	return r.files[h], nil
}

// data returns the content of e; nil when it is not there.
func (r *reader) data(e entry) ([]byte, error) {
	if !e.there() {
		return nil, nil
	}
	f, err := r.file(e.hash)
	if err != nil {
		return nil, err
	}
	return f.data, nil
}

// ids returns the id that e has, "" for none, and those that it took over.
func (r *reader) ids(e entry) (id string, merged []string, err error) {
	if !e.there() || !e.isMemory() {
		return "", nil, nil
	}
	f, err := r.file(e.hash)
	if err != nil {
		return "", nil, err
	}
	doc := f.document() // a broken header may still tell
	return doc.String("id"), doc.Strings("merged_ids"), nil
}
