package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"vademecum/vault/repo"
)

// MaxFile is the largest text that the flat store takes, in bytes.
const MaxFile = 10 << 20

// Precondition guards a write to the flat text store.
type Precondition struct {
	IfMatch     Version // the file must have this version
	IfNoneMatch bool    // the file must not exist
}

// FileInfo describes one text of the flat store.
type FileInfo struct {
	Name    string  `json:"name"`
	Path    string  `json:"path"`
	Version Version `json:"version"`
	Size    int64   `json:"size"`
}

func filePath(name string) (string, error) {
	if err := CheckFileName(name); err != nil {
		return "", err
	}
	return filesDir + "/" + name, nil
}

// PutFile stores exactly data under name.
func (v *Vault) PutFile(ctx context.Context, name string, data []byte, pre Precondition) (Receipt, error) {
	return v.changeFile(ctx, name, pre, "put", func([]byte) []byte { return data })
}

// AppendFile adds data to what name holds; a missing file is empty.
func (v *Vault) AppendFile(ctx context.Context, name string, data []byte, pre Precondition) (Receipt, error) {
	return v.changeFile(ctx, name, pre, "append", func(old []byte) []byte { return append(old, data...) })
}

// DeleteFile removes the text called name.
func (v *Vault) DeleteFile(ctx context.Context, name string, pre Precondition) (Receipt, error) {
	return v.changeFile(ctx, name, pre, "delete", nil)
}

// changeFile replaces a text by what change makes of it; a nil change deletes it.
func (v *Vault) changeFile(ctx context.Context, name string, pre Precondition, verb string, change func([]byte) []byte) (Receipt, error) {
	path, err := filePath(name)
	if err != nil {
		return Receipt{}, err
	}
	r := Receipt{Title: name, Path: path}
	done, err := v.Update(ctx, Op{Name: "file", Subject: verb + " " + name}, func(tx *Tx) error {
		old, err := tx.Read(path)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		exists := err == nil
		if err := pre.check(path, old, exists); err != nil {
			return err
		}
		if change == nil {
			if !exists {
				return fmt.Errorf("file %s: %w", name, ErrNotFound)
			}
			tx.Remove(path)
			return nil
		}
		data := change(old)
		if len(data) > MaxFile {
			return fmt.Errorf("file %s: %d bytes are more than the %d that a text may have: %w", name, len(data), MaxFile, ErrName)
		}
		return tx.Put(path, data)
	})
	if err != nil {
		return Receipt{}, err
	}
	v.settle(&r, done)
	return r, nil
}

func (p Precondition) check(path string, old []byte, exists bool) error {
	now := Version("")
	if exists {
		now = Version(repo.BlobHash(old).String())
	}
	switch {
	case p.IfNoneMatch && exists:
		return fmt.Errorf("%s exists already, with version %s: %w", path, now, ErrStale)
	case p.IfMatch != "" && !exists:
		return fmt.Errorf("%s does not exist: %w", path, ErrStale)
	case p.IfMatch != "" && !now.Matches(p.IfMatch):
		return &StaleError{Path: path, Expected: p.IfMatch, Now: now}
	}
	return nil
}

// GetFile returns the text called name and its exact bytes.
func (v *Vault) GetFile(name string) (FileInfo, []byte, error) {
	path, err := filePath(name)
	if err != nil {
		return FileInfo{}, nil, err
	}
	if v.git == nil {
		return FileInfo{}, nil, fmt.Errorf("file %s: %w", name, ErrNotFound)
	}
	data, err := v.git.WorkTree().ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return FileInfo{}, nil, fmt.Errorf("file %s: %w", name, ErrNotFound)
	}
	version := Version(repo.BlobHash(data).String())
	return FileInfo{Name: name, Path: path, Version: version, Size: int64(len(data))}, data, err
}

// ListFiles returns the texts of the flat store by name.
func (v *Vault) ListFiles(ctx context.Context) ([]FileInfo, error) {
	files := []FileInfo{}
	if v.git == nil {
		return files, nil
	}
	scan, err := v.git.Scan(ctx, repo.ScanOptions{Filter: func(path string, isDir bool) bool {
		return isDir && path == filesDir || !isDir && IsText(path)
	}})
	if err != nil {
		return nil, err
	}
	for _, f := range scan.Files {
		files = append(files, FileInfo{
			Name: f.Path[len(filesDir)+1:], Path: f.Path, Version: Version(f.Hash.String()), Size: f.Size,
		})
	}
	return files, nil
}
