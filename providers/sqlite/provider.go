package sqlite

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"vademecum/providers"
)

// Config is where a provider keeps its file.
type Config struct {
	Name string // "" is "sqlite"
	Path string // of the file; the first Put makes it, with its folders
}

// maxItemBytes is what one item may have: the library holds its database pages,
// an item and its words in at most 256 MiB.
const maxItemBytes = 8 << 20

// readers is how many searches run at once: a router asks no provider more often.
const readers = 2

// Provider is a file. It opens it when it is first asked.
type Provider struct {
	name, path string
	// A lane holds connections that wait for work, nil for one that is not open
	// yet. One connection writes, because SQLite has one writer anyway.
	writer, reader chan *conn
}

var (
	_ providers.BatchPutter = (*Provider)(nil)
	_ providers.Deleter     = (*Provider)(nil)
	_ providers.Finder      = (*Provider)(nil)
	_ providers.Lister      = (*Provider)(nil)
	_ providers.Closer      = (*Provider)(nil)
	_ providers.Cleaner     = (*Provider)(nil)
	_ providers.Purger      = (*Provider)(nil)
	_ providers.Describer   = (*Provider)(nil)
)

// New returns the provider of c.Path, which it does not touch yet.
func New(c Config) (*Provider, error) {
	if c.Path == "" {
		return nil, errors.New("sqlite: path is empty: name the file that is to hold the memories")
	}
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return nil, err
	}
	p := &Provider{name: cmp.Or(c.Name, "sqlite"), path: path}
	p.writer, p.reader = make(chan *conn, 1), make(chan *conn, readers)
	p.writer <- nil
	for range readers {
		p.reader <- nil
	}
	return p, nil
}

// Name is what the config calls it.
func (p *Provider) Name() string { return p.name }

// Properties are the same for every file. A score is FTS5's bm25(), which is
// the lower the better.
func (p *Provider) Properties() providers.Properties {
	return providers.Properties{
		Kind:  "sqlite",
		Batch: true, Delete: true, Find: true, List: true, Close: true, Cleanup: true, PurgeAll: true,
		Verbatim: true, Idempotent: true, Replaces: true, ReadYourWrites: true, Attribution: true,
		Score: providers.Distance, MaxItemBytes: maxItemBytes, MaxBatch: 256, MaxLimit: 1000,
	}
}

// Health reports whether the file can be read and is ours, or could be made.
func (p *Provider) Health(ctx context.Context) (providers.Health, error) {
	h := providers.Health{Warnings: []string{}}
	if _, err := os.Stat(p.path); errors.Is(err, fs.ErrNotExist) {
		h.Warnings = append(h.Warnings, p.path+" is not there yet: the first put makes it")
		return h, nil
	}
	err := p.read(ctx, "health", func(c *conn) error {
		return c.each("SELECT sqlite_version() FROM (SELECT 1) LEFT JOIN (SELECT key FROM items LIMIT 1)", func(r row) error {
			h.Version = "SQLite " + r.text(0)
			return nil
		})
	})
	return h, err
}

// Close closes the file, once everything that was asked before is done.
func (p *Provider) Close() error {
	var errs []error
	for _, lane := range []chan *conn{p.reader, p.writer} {
		for range cap(lane) {
			errs = append(errs, (<-lane).close())
		}
	}
	return errors.Join(errs...)
}
