package install

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// record is what was written where.
type record struct {
	Version int                   `json:"version"`
	Files   map[string]fileRecord `json:"files"`          // by path, links followed
	Dirs    []string              `json:"dirs,omitempty"` // folders that were made
}

// fileRecord is what was done to one file.
type fileRecord struct {
	Agents []string `json:"agents"`           // that it has something for
	Digest string   `json:"digest"`           // of what we left
	Backup string   `json:"backup,omitempty"` // name of the copy; "" when the file was not there
}

func (h Host) recordPath() string { return filepath.Join(h.State, "installed.json") }

func (h Host) loadRecord() (*record, error) {
	r := &record{Version: 1, Files: map[string]fileRecord{}}
	raw, err := os.ReadFile(h.recordPath())
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, r); err != nil {
		return nil, fmt.Errorf("%s: %w; move it away and run \"vade uninstall\": it finds what is vade's by itself", h.recordPath(), err)
	}
	if r.Version != 1 {
		return nil, fmt.Errorf("%s is of a newer vade", h.recordPath())
	}
	if r.Files == nil {
		r.Files = map[string]fileRecord{}
	}
	return r, nil
}

func (h Host) saveRecord(r *record) error {
	if len(r.Files) == 0 {
		if err := os.Remove(h.recordPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		_ = os.Remove(filepath.Join(h.State, "backup"))
		_ = os.Remove(h.State) // unless something else is in it
		return nil
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(h.State, 0o700); err != nil {
		return err
	}
	return Replace(h.recordPath(), append(raw, '\n'), 0o600)
}

// sweep removes the folders that were made and have nothing in them any more,
// those inside others first.
func (r *record) sweep() {
	slices.SortFunc(r.Dirs, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	r.Dirs = slices.DeleteFunc(slices.Compact(r.Dirs), func(dir string) bool {
		err := os.Remove(dir)
		return err == nil || errors.Is(err, fs.ErrNotExist)
	})
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (h Host) backupPath(name string) string { return filepath.Join(h.State, "backup", name) }

// backup keeps a copy of text, which path holds, and returns its name.
func (h Host) backup(path string, text []byte) (string, error) {
	name := digest([]byte(path))[:12] + "-" + filepath.Base(path)
	if err := os.MkdirAll(filepath.Join(h.State, "backup"), 0o700); err != nil {
		return "", err
	}
	return name, Replace(h.backupPath(name), text, 0o600)
}

// Replace makes text all that path holds, at once and durably: who reads path
// sees the old text or the new one.
func Replace(path string, text []byte, mode fs.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".vade-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	if err == nil {
		err = tmp.Chmod(mode)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// read is what path holds; nil when there is no such file.
func read(path string) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if raw == nil && err == nil {
		raw = []byte{}
	}
	return raw, err
}

// followed is path with all links followed, as far as there are files.
func followed(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return path
	}
	return filepath.Join(dir, filepath.Base(path))
}
