package main

import (
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// note is one file of a folder of notes.
type note struct {
	path string // below the folder, slash-separated
	text string
}

// notesIn yields the markdown files below dir, in the order of their paths.
// Folders whose name starts with a dot are left out.
func notesIn(dir string) iter.Seq2[note, error] {
	return func(yield func(note, error) bool) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && path != dir && strings.HasPrefix(d.Name(), "."):
				return filepath.SkipDir
			case d.IsDir() || filepath.Ext(path) != ".md":
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			if !yield(note{filepath.ToSlash(name), string(text)}, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(note{}, err)
		}
	}
}
