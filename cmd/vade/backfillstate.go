package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"vademecum/hooks"
	"vademecum/vault"
)

// backfillState remembers which transcripts were taken whole, a line each in
// journal/backfill.jsonl. It saves reading them again; which turns are there
// the vault knows itself.
type backfillState struct {
	path  string
	vault *vault.Vault
	have  map[string]backfillEntry // by path; of the vault that was there at the start
	file  *os.File
}

type backfillEntry struct {
	Vault    vault.ID `json:"vault"` // that it was taken to
	Path     string   `json:"path"`
	Size     int64    `json:"size"`
	Modified int64    `json:"modified"` // Unix time in ns
}

func openBackfillState(dir string, v *vault.Vault) *backfillState {
	s := &backfillState{path: filepath.Join(dir, "backfill.jsonl"), vault: v, have: map[string]backfillEntry{}}
	f, err := os.Open(s.path)
	if err != nil {
		return s
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var e backfillEntry
		if json.Unmarshal(lines.Bytes(), &e) == nil && v.Exists() && e.Vault == v.Config().VaultID {
			s.have[e.Path] = e
		}
	}
	return s
}

// has reports whether t was taken as it is now.
func (s *backfillState) has(t hooks.Transcript) bool {
	e, ok := s.have[t.Path]
	return ok && e.Size == t.Size && e.Modified == t.Modified.UnixNano()
}

// note remembers that t was taken.
func (s *backfillState) note(t hooks.Transcript) error {
	if !s.vault.Exists() {
		return nil // there was nothing in it
	}
	if s.file == nil {
		if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
			return err
		}
		var err error
		if s.file, err = os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
			return err
		}
	}
	line, err := json.Marshal(backfillEntry{s.vault.Config().VaultID, t.Path, t.Size, t.Modified.UnixNano()})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(s.file, "%s\n", line); err != nil {
		return fmt.Errorf("note what was taken: %w", err)
	}
	return nil
}

func (s *backfillState) close() {
	if s.file != nil {
		s.file.Close()
	}
}
