package vault

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sessionSeed is what the id of a part of a session is derived from.
func sessionSeed(s Session, part int) []byte {
	return fmt.Appendf(nil, "session\x00%s\x00%s\x00%d", s.Agent, s.ID, part)
}

// idRandom is the part of a ULID that is not its time.
func idRandom(id ID) string { return strings.ToUpper(string(id[max(0, len(id)-16):])) }

// sessionFile is a file below sessions/.
type sessionFile struct {
	dir  string // sessions/2026/11
	name string // 30-codex-0f3a.2.md
}

func (f sessionFile) path() string { return f.dir + "/" + f.name }

// stem and part take the name apart: 30-codex-0f3a and 2.
func (f sessionFile) stem() (stem string, part int) {
	stem = strings.TrimSuffix(f.name, ".md")
	if base, n, ok := strings.Cut(stem, "."); ok {
		if part, err := strconv.Atoi(n); err == nil && part > 1 {
			return base, part
		}
	}
	return stem, 1
}

// sessionFiles lists what is below sessions/, the latest first.
func (v *Vault) sessionFiles() ([]sessionFile, error) {
	var list []sessionFile
	years, err := v.folder(sessionsDir)
	if err != nil {
		return nil, err
	}
	for _, year := range years {
		months, err := v.folder(sessionsDir + "/" + year)
		if err != nil {
			return nil, err
		}
		for _, month := range months {
			dir := path.Join(sessionsDir, year, month)
			names, err := v.folder(dir)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				if IsMemoryPath(dir + "/" + name) {
					list = append(list, sessionFile{dir, name})
				}
			}
		}
	}
	return list, nil
}

// folder lists the names in a folder of the work tree, the last first. What is
// no folder, or is not there, has none.
func (v *Vault) folder(dir string) ([]string, error) {
	full := filepath.Join(v.WorkDir(), filepath.FromSlash(dir))
	if st, err := os.Lstat(full); err != nil || !st.IsDir() {
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	entries, err := os.ReadDir(full)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range slices.Backward(entries) {
		names = append(names, e.Name())
	}
	return names, nil
}

// locate finds the files of the session, whatever day it began, and learns
// which turns they hold.
func (c *capture) locate() error {
	c.known = map[string]bool{}
	if err := c.lookForTombstone(); err != nil || c.forgotten {
		return err
	}
	for _, f := range c.files {
		stem, part := f.stem()
		if !c.mayBe(stem) {
			continue
		}
		doc, err := c.read(f.path())
		if err != nil {
			return err
		}
		if doc == nil || idRandom(ID(doc.String("id"))) != idRandom(DerivedID(time.Time{}, sessionSeed(c.s, part))) {
			continue // another session, or a file that a human made
		}
		c.parts = append(c.parts, &sessionPart{path: f.path(), number: part, doc: doc})
		for _, k := range doc.Strings(turnsKey) {
			c.known[k] = true
		}
	}
	slices.SortFunc(c.parts, func(a, b *sessionPart) int { return cmp.Compare(a.number, b.number) })
	return nil
}

// read returns the file at p; nil when there is none.
func (c *capture) read(p string) (*Document, error) {
	raw, err := c.tx.Read(p)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return ParseDocument(raw), nil
}

// lookForTombstone finds out whether somebody forgot a part of this session:
// then no more is kept of it.
func (c *capture) lookForTombstone() error {
	names, err := c.tx.v.folder(forgottenDir)
	if err != nil {
		return err
	}
	random := map[string]bool{}
	for part := 1; part <= 99; part++ {
		random[idRandom(DerivedID(time.Time{}, sessionSeed(c.s, part)))] = true
	}
	for _, name := range names {
		if id, ok := strings.CutSuffix(name, ".yaml"); ok && random[idRandom(ID(id))] {
			c.forgotten = true
		}
	}
	return nil
}

// mayBe reports whether a file of this session may be named so.
func (c *capture) mayBe(stem string) bool {
	_, rest, ok := strings.Cut(stem, "-") // the day
	if !ok {
		return false
	}
	hash, ok := strings.CutPrefix(rest, sessionAgent(c.s)+"-")
	return ok && len(hash) >= minSessionHash && strings.HasPrefix(sessionHash(c.s), hash)
}

const minSessionHash = 4

// sessionHash is what tells the sessions of an agent and a day apart.
func sessionHash(s Session) string {
	sum := sha256.Sum256([]byte(s.Agent + "\x00" + s.ID))
	return hex.EncodeToString(sum[:16])
}

func sessionAgent(s Session) string {
	if slug := Slug(s.Agent); slug != "" {
		return slug
	}
	return "agent"
}

// freePath is where part number of the session goes: beside its other parts,
// else where no other session's file is.
func (c *capture) freePath(start time.Time, number int) (string, error) {
	suffix := ".md"
	if number > 1 {
		suffix = fmt.Sprintf(".%d.md", number)
	}
	if len(c.parts) > 0 {
		dir, name := path.Split(c.parts[0].path)
		stem, _ := sessionFile{name: name}.stem()
		return dir + stem + suffix, nil
	}
	for n := minSessionHash; ; n *= 2 {
		p := fmt.Sprintf("%s/%s-%s-%s%s", sessionsDir, start.UTC().Format("2006/01/02"), sessionAgent(c.s), sessionHash(c.s)[:n], suffix)
		taken, err := c.tx.Exists(p)
		if err != nil {
			return "", err
		}
		if !taken || 2*n > len(sessionHash(c.s)) {
			return p, nil
		}
	}
}

// recentTexts are the keys of what was asked and answered in the latest
// sessions of the workspace. A file that cannot be read has none.
func (c *capture) recentTexts() map[string]bool {
	texts := map[string]bool{}
	for _, f := range c.files[:min(len(c.files), recentSessions)] {
		raw, err := c.tx.v.git.WorkTree().ReadFile(f.path())
		if err != nil {
			continue
		}
		doc := ParseDocument(raw)
		if doc.String("workspace") != c.s.Workspace {
			continue
		}
		for _, k := range doc.Strings(turnsKey) {
			if k != "" && k[0] != 'k' && k[0] != 'n' {
				texts[k] = true
			}
		}
	}
	return texts
}
