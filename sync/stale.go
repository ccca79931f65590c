package sync

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/sync/merge"
	"vademecum/vault"
	"vademecum/vault/repo"
)

// recent is how many versions of a file an editor may have loaded.
const recent = 8

// unstale returns what the human's file becomes: data, or, where data was
// edited from a version older than main's, the merge of both. An editor that
// saves the buffer that it loaded before a sync means its own changes, not the
// revert of the others'. A human who does mean the revert saves it once more.
func (ad *adopter) unstale(tx *vault.Tx, f repo.ScanFile, data []byte) ([]byte, error) {
	current, err := tx.Committed(f.Path)
	if err != nil || current.IsZero() {
		return data, err
	}
	base, ok := ad.v.EditBase(f.Path)
	if !ok {
		if ad.was[f.Hash] {
			return data, nil // another file was moved here: nobody edited this one
		}
		if base, ok, err = ad.guessBase(tx, f.Path, data); err != nil || !ok {
			return data, err
		}
		if !ad.firstTime(f.Path, current) {
			return data, nil
		}
	}
	if base == current {
		return data, nil
	}
	var old []byte // nil: main had none when the human made the file
	if !base.IsZero() {
		if old, err = repo.ReadBlob(ad.v.Git(), base); err != nil {
			return data, err
		}
		if old == nil {
			old = []byte{}
		}
	}
	now, err := repo.ReadBlob(ad.v.Git(), current)
	if err != nil {
		return data, err
	}
	result := merge.Versions(f.Path, old, merge.Side{Data: data}, merge.Side{Data: now})
	if len(result.Lost) == 0 {
		return result.Data, nil
	}
	loser := [][]byte{now, data}[result.Winner]
	parked := merge.Park(loser, f.Path, name(f.Path, now))
	return result.Data, tx.Put(parked.Path, parked.Data)
}

// name is how a parked side names the memory at path.
func name(path string, data []byte) string {
	if id := idOf(data); id != "" {
		return string(id)
	}
	return path
}

func idOf(data []byte) vault.ID { return vault.ParseDocument(data).Memory().ID }

// guessBase is the version that data most probably derives from, when main's
// came from another host after it; ok is false when that is main's own.
func (ad *adopter) guessBase(tx *vault.Tx, path string, data []byte) (base plumbing.Hash, ok bool, err error) {
	git := ad.v.Git()
	var blobs []plumbing.Hash
	var versions [][]byte
	for c, err := range repo.History(git, path, tx.Head()) {
		if err != nil {
			return base, false, err
		}
		entry, err := repo.LookupFile(git, c.Tree, path)
		if err != nil {
			break // it was added again after this
		}
		text, err := repo.ReadBlob(git, entry.Hash)
		if err != nil {
			return base, false, err
		}
		blobs, versions = append(blobs, entry.Hash), append(versions, text)
		if len(versions) == recent || c.Trailer("Vade-Host") == ad.v.Origin().Host && len(c.Parents) < 2 {
			break // made here: an editor here that loaded something older saw it change
		}
	}
	if len(versions) < 2 || idOf(data) != idOf(versions[0]) {
		return base, false, nil // another memory was put in its place
	}
	i := merge.NearestBase(data, versions)
	if i < 1 || idOf(versions[i]) != idOf(data) {
		return base, false, nil
	}
	return blobs[i], true, nil
}

// firstTime reports, once for each version of main, that a stale buffer at
// path was met.
func (ad *adopter) firstTime(path string, current plumbing.Hash) bool {
	file := filepath.Join(ad.v.Git().Dir(), "vade", "stale", repo.BlobHash([]byte(path)).String())
	if raw, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(raw)) == current.String() {
		return false
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return true
	}
	_ = os.WriteFile(file, []byte(current.String()+"\n"), 0o600)
	return true
}
