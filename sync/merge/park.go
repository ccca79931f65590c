package merge

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"vademecum/vault"
)

// conflictsDir is where the losing sides are parked.
const conflictsDir = "conflicts/"

// Parked is a file that a merge adds to conflicts/. It is named by content, so
// that every host makes the same one, and the same loser twice is one file.
type Parked struct {
	Path string
	Data []byte
}

// Park returns the file that keeps loser, the losing version of the file at
// p; of is what the winner is found by: its id, or its path where it has none.
//
// A memory keeps its bytes and gets an id of its own and conflict_of. A text
// that is not one, or whose front matter is broken, becomes the exact body of a
// new memory. Bytes that are not text stay as they are.
func Park(loser []byte, p, of string) Parked {
	if isBinary(loser) {
		stem := strings.TrimSuffix(path.Base(p), path.Ext(p))
		return Parked{Path: parkedPath(stem, loser, path.Ext(p)), Data: loser}
	}
	doc := vault.ParseDocument(loser)
	if vault.IsMemoryPath(p) && utf8.Valid(loser) && doc.Broken() == nil {
		m := doc.Memory()
		id := vault.DerivedID(timeOf(m), loser)
		if doc.Set("id", string(id)) == nil && doc.Set("conflict_of", of) == nil {
			return Parked{Path: parkedPath(m.Title, loser, ".md"), Data: doc.Bytes()}
		}
	}
	title := doc.String("title") // a broken header may still tell
	if title == "" {
		title = "Other version of " + of
	}
	wrap := vault.NewDocument(vault.Memory{
		ID: vault.DerivedID(time.Time{}, loser), Title: title, Type: vault.TypeNote, ConflictOf: of,
	})
	return Parked{Path: parkedPath(title, loser, ".md"), Data: append(wrap.Bytes(), loser...)}
}

func timeOf(m vault.Memory) time.Time {
	if m.Updated.IsZero() {
		return m.Created
	}
	return m.Updated
}

// parkedPath returns conflicts/<slug>.<hash><ext>.
func parkedPath(title string, content []byte, ext string) string {
	sum := sha256.Sum256(content)
	tail := "." + hex.EncodeToString(sum[:4]) + ext
	return conflictsDir + cutSlug(vault.Slug(title), vault.MaxName-len(tail)) + tail
}

func cutSlug(slug string, limit int) string {
	for len(slug) > limit {
		_, n := utf8.DecodeLastRuneInString(slug)
		slug = slug[:len(slug)-n]
	}
	return strings.TrimRight(slug, "-")
}

// flag returns the note that says that the memory of, an id or a path, lives
// on although it was forgotten elsewhere. All else follows from the tombstone.
func flag(t vault.Tombstone, of string) Parked {
	raw := t.Bytes()
	who := strings.Join(nonEmpty(t.By.User, t.By.Agent, t.By.Host), ", ")
	if who == "" {
		who = "someone"
	}
	m := vault.Memory{
		ID: vault.DerivedID(t.When, raw), Title: "Forgotten elsewhere, edited here: " + of,
		Type: vault.TypeForgotten, Created: t.When, Updated: t.When, Origin: t.By, ConflictOf: of,
		Body: "Memory " + of + " was forgotten at " + vault.FormatTime(t.When) + " by " + who +
			", while it was edited on another host. The edit was kept.\n\n" +
			"Keep the memory by resolving this conflict, or forget it again.\n",
	}
	return Parked{Path: parkedPath("forgotten "+string(t.ID), raw, ".md"), Data: vault.NewDocument(m).Bytes()}
}

func nonEmpty(words ...string) []string {
	var out []string
	for _, w := range words {
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}
