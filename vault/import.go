package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// ImportOptions tune [Vault.ImportMarkdown].
type ImportOptions struct {
	// Into is the folder under memories/ that takes the files; "" is named
	// after the source folder.
	Into        string
	DryRun      bool
	AllowSecret bool
	// Progress is told how many files of how many were looked at; nil is not told.
	Progress func(done, total int)
}

// ImportReport says what became of each markdown file of the source.
type ImportReport struct {
	Commit    string         `json:"commit,omitempty"`
	DryRun    bool           `json:"dry_run"`
	Added     int            `json:"added"`
	Known     int            `json:"known"`     // the same text is here already
	Forgotten int            `json:"forgotten"` // a tombstone stops it
	Changed   int            `json:"changed"`   // here with another text: left as it is here
	Refused   int            `json:"refused"`   // too large, not text, a secret, unreadable
	Skipped   int            `json:"skipped"`   // not markdown
	Files     []ImportedFile `json:"files"`     // all but the skipped and known
	Warnings  []string       `json:"warnings"`
}

// ImportedFile is one file of the source.
type ImportedFile struct {
	Source string `json:"source"`
	Path   string `json:"path,omitempty"` // in the vault
	State  string `json:"state"`          // added, forgotten, changed, refused
	Reason string `json:"reason,omitempty"`
}

// maxImport is the largest note that an import takes, in bytes.
const maxImport = 10 << 20

// ImportMarkdown takes the markdown files of dir as they are, byte for byte,
// in one commit. Files whose text is here already are left out, so that a
// second run adds nothing, and so are forgotten ones. Hidden folders,
// node_modules, nested repositories and symbolic links are not entered.
func (v *Vault) ImportMarkdown(ctx context.Context, dir string, o ImportOptions) (ImportReport, error) {
	src, err := os.OpenRoot(dir)
	if err != nil {
		return ImportReport{}, fmt.Errorf("import: %w", err)
	}
	defer src.Close()
	im := importer{v: v, src: src, o: o, report: ImportReport{DryRun: o.DryRun, Files: []ImportedFile{}, Warnings: []string{}}}
	if im.into, err = importFolder(src, dir, o.Into); err != nil {
		return ImportReport{}, err
	}
	if err := im.list(); err != nil {
		return ImportReport{}, fmt.Errorf("import: %w", err)
	}
	if o.DryRun && v.git == nil {
		return im.report, im.plan(ctx, nil)
	}
	op := Op{Name: "import", Subject: fmt.Sprintf("%s into %s", filepath.Base(dir), im.into)}
	done, err := v.Update(ctx, op, func(tx *Tx) error { return im.run(ctx, tx) })
	if errors.Is(err, errDryRun) {
		return im.report, nil
	}
	if err != nil {
		return ImportReport{}, fmt.Errorf("import %s: %w", dir, err)
	}
	if !done.Hash.IsZero() {
		im.report.Commit = done.Hash.String()
		// What was parsed for this need not be parsed again by the next writer.
		slices.Reverse(im.rows)
		_ = writeCatalog(v.catalogPath(), done.Hash, v.config.DigestKey, im.rows)
	}
	if done.Held != "" {
		im.report.Warnings = append(im.report.Warnings, "saved but not committed: "+done.Held)
	}
	return im.report, nil
}

// errDryRun ends an update that was only tried.
var errDryRun = errors.New("dry run")

// importFolder is where the files go: for a clone of a vault to the paths
// that they have there, else below memories/.
func importFolder(src *os.Root, dir, into string) (string, error) {
	if into == "" {
		if _, err := src.Stat(filepath.FromSlash(ConfigPath)); err == nil {
			return "", nil
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", err
		}
		into = filepath.Base(abs)
	}
	into = PortablePath(filepath.ToSlash(into))
	if into == "" || into == "." {
		into = "import"
	}
	return memoriesDir + "/" + into, nil
}

// importer is one run of ImportMarkdown.
type importer struct {
	v      *Vault
	src    *os.Root
	into   string
	o      ImportOptions
	files  []string // markdown files of the source, slash-separated
	report ImportReport

	rows  []catalogRow            // what the vault has, later ones in place of earlier
	texts map[Digest][]catalogRow // the same by text
	paths map[string]string       // fold keys of the paths that are taken
	ids   map[ID]string           // path by id
	tx    *Tx
}

func (im *importer) list() error {
	return fs.WalkDir(im.src.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			im.refuse(p, err.Error())
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			if p != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || im.nested(p)) {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() && IsMemoryPath(p) {
			im.files = append(im.files, p)
		} else {
			im.report.Skipped++
		}
		return nil
	})
}

func (im *importer) nested(dir string) bool {
	_, err := im.src.Lstat(path.Join(dir, ".git"))
	return err == nil
}

func (im *importer) refuse(source, reason string) {
	im.report.Refused++
	im.report.Files = append(im.report.Files, ImportedFile{Source: source, State: "refused", Reason: reason})
}

func (im *importer) run(ctx context.Context, tx *Tx) error {
	im.report.Files = im.report.Files[:0]
	if err := im.plan(ctx, tx); err != nil {
		return err
	}
	if im.o.DryRun {
		return errDryRun
	}
	return nil
}

// plan decides about each file and, with a tx, adds it.
func (im *importer) plan(ctx context.Context, tx *Tx) error {
	im.tx, im.rows = tx, nil
	im.texts, im.paths, im.ids = map[Digest][]catalogRow{}, map[string]string{}, map[ID]string{}
	if tx != nil {
		if err := im.index(ctx, tx); err != nil {
			return err
		}
	}
	for i, source := range im.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := im.one(source); err != nil {
			return err
		}
		if im.o.Progress != nil {
			im.o.Progress(i+1, len(im.files))
		}
	}
	return nil
}

// index learns what the vault has, on disk and in tombstones.
func (im *importer) index(ctx context.Context, tx *Tx) error {
	c, fresh, err := im.v.committedCatalog(tx.head)
	if err != nil {
		return err
	}
	defer c.close()
	for i := range c.n {
		row := c.row(i)
		row.Memory, row.record = row.memory(), nil
		im.know(row)
	}
	for _, r := range fresh {
		im.know(r)
	}
	s, err := im.v.Snapshot(ctx)
	if err != nil {
		return err
	}
	for i := range s.entries {
		p, _ := s.Key(i)
		im.paths[FoldKey(p)] = p
		if m, err := s.Meta(i); err == nil && m.ID != "" {
			im.ids[m.ID] = p
		}
	}
	return nil
}

func (im *importer) know(r catalogRow) {
	im.rows = append(im.rows, r)
	im.texts[r.Digest] = append(im.texts[r.Digest], r)
}

func (im *importer) one(source string) error {
	data, err := im.read(source)
	if err != nil {
		im.refuse(source, err.Error())
		return nil
	}
	blob := repo.BlobHash(data)
	m := parseMemory(im.target(source), blob, data)
	digest := NewDigest(im.v.config.DigestKey, m.Title, m.Body)
	if m.Body == "" && m.Title == "" {
		im.refuse(source, "is empty")
		return nil
	}
	switch state, err := im.state(&m, digest); {
	case err != nil:
		return err
	case state == "known":
		im.report.Known++
		return nil
	case state == "forgotten":
		im.report.Forgotten++
		im.note(source, m.Path, state, "forgotten here; \"vade remember\" or \"vade restore\" brings it back")
		return nil
	}
	if here, ok := im.ids[m.ID]; ok && m.ID != "" {
		return im.differs(source, here, data)
	}
	if here, ok := im.paths[FoldKey(m.Path)]; ok {
		return im.differs(source, here, data)
	}
	im.report.Added++
	im.note(source, m.Path, "added", "")
	im.paths[FoldKey(m.Path)] = m.Path
	if m.ID != "" {
		im.ids[m.ID] = m.Path
	}
	m.Body = ""
	im.know(catalogRow{Path: m.Path, Blob: blob, Digest: digest, Memory: &m})
	if im.tx == nil || im.o.DryRun {
		return nil
	}
	return im.tx.Put(m.Path, data)
}

// differs reports a file whose path or id is here already: it is the same, or
// somebody changed one of the two.
func (im *importer) differs(source, here string, data []byte) error {
	if im.tx != nil {
		if have, err := im.tx.Read(here); err == nil && string(have) == string(data) {
			im.report.Known++
			return nil
		}
	}
	im.report.Changed++
	im.note(source, here, "changed", "is here with another text; left as it is here")
	return nil
}

func (im *importer) note(source, target, state, reason string) {
	im.report.Files = append(im.report.Files, ImportedFile{Source: source, Path: target, State: state, Reason: reason})
}

func (im *importer) read(source string) ([]byte, error) {
	info, err := im.src.Stat(source)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxImport {
		return nil, fmt.Errorf("%d bytes are more than the %d that a note may have", info.Size(), maxImport)
	}
	data, err := im.src.ReadFile(source)
	if err != nil {
		return nil, err
	}
	if strings.IndexByte(string(data), 0) >= 0 {
		return nil, errors.New("is not text")
	}
	if !im.o.AllowSecret {
		if err := refuseSecrets(string(data)); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// target is the path in the vault of a file of the source.
func (im *importer) target(source string) string {
	return strings.TrimPrefix(im.into+"/"+PortablePath(source), "/")
}

// state compares a text with what the vault has: known, forgotten or new ("").
func (im *importer) state(m *Memory, digest Digest) (string, error) {
	for _, r := range im.texts[digest] {
		current, err := im.current(r)
		if err != nil {
			return "", err
		}
		switch {
		case !current:
		case r.tombstone():
			return "forgotten", nil
		case r.Memory != nil && r.Memory.Title == m.Title && sameFact(r.Memory, m):
			return "known", nil
		}
	}
	if im.tx != nil && m.ID != "" {
		if there, err := im.tx.Exists(TombstonePath(m.ID)); err != nil || there {
			return "forgotten", err
		}
	}
	return "", nil
}

// current reports whether row r is what main, or this import, has at its path.
func (im *importer) current(r catalogRow) (bool, error) {
	if im.tx == nil {
		return true, nil
	}
	if blob, ok := im.tx.changes[r.Path]; ok {
		return blob == r.Blob, nil
	}
	committed, err := im.tx.Committed(r.Path)
	return committed == r.Blob && committed != plumbing.ZeroHash, err
}
