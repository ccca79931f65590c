package index

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// mergePart is one segment that goes into a new generation, with the notes of
// it that do.
type mergePart struct {
	path string // of the segment, if it is a temporary one
	made int    // how many others of the same number made it
	seg  segment.Segment
	rows []tableRow
	drop *roaring.Bitmap // documents that do not go in; nil: none
}

func (p *mergePart) close() {
	if p.path != "" {
		p.seg.Close()
		_ = os.Remove(p.path)
	}
}

// smallSegment is the number of documents up to which a fresh segment is used
// as it is. Writing it anew by merging makes a larger one a third smaller.
const smallSegment = 256

func closeAll(parts []*mergePart) {
	for _, p := range parts {
		p.close()
	}
}

// writePart writes what b holds as a temporary segment.
func (w *writer) writePart(b *segmentBuilder) (*mergePart, error) {
	p := &mergePart{path: w.tmp()}
	var err error
	if p.rows, err = b.write(p.path); err != nil {
		return nil, err
	}
	if p.seg, err = plugin.Open(p.path); err != nil {
		return nil, err
	}
	return p, nil
}

// oldPart is what is live in g, without the notes that are taken elsewhere.
func oldPart(g *openGeneration, p *part, taken func(path string) bool) *mergePart {
	m := &mergePart{seg: g.seg, drop: roaring.New()}
	for note, source := range p.source {
		row := g.table.row(note)
		if source >= 0 && !taken(row.path) {
			m.rows = append(m.rows, row)
			continue
		}
		m.drop.AddRange(uint64(row.firstDoc), uint64(row.firstDoc+len(row.spans)))
	}
	return m
}

// merge makes one generation of parts; nil when nothing is left of them.
func (w *writer) merge(ctx context.Context, parts []*mergePart) (*generation, error) {
	var used []*mergePart
	for _, p := range parts {
		if len(p.rows) > 0 {
			used = append(used, p)
		}
	}
	if len(used) == 0 {
		return nil, nil
	}
	if p := used[0]; len(used) == 1 && p.path != "" && p.seg.Count() <= smallSegment {
		p.seg.Close()
		path := p.path
		p.path = ""
		return w.name(path, p.rows)
	}
	zapPath := w.tmp()
	rows, err := mergeParts(ctx, used, zapPath)
	if err != nil {
		return nil, err
	}
	return w.name(zapPath, rows)
}

// maxFresh is how many temporary segments there are before they are made into
// one: each is an open file.
const maxFresh = 64

// combine makes the last maxFresh of parts into one, if they are alike.
func (w *writer) combine(ctx context.Context, parts []*mergePart) ([]*mergePart, error) {
	first := len(parts) - maxFresh
	if first < 0 || parts[first].made != parts[len(parts)-1].made {
		return parts, nil
	}
	p := &mergePart{path: w.tmp(), made: parts[first].made + 1}
	var err error
	if p.rows, err = mergeParts(ctx, parts[first:], p.path); err != nil {
		return parts, err
	}
	if p.seg, err = plugin.Open(p.path); err != nil {
		return parts, err
	}
	closeAll(parts[first:])
	return append(parts[:first], p), nil
}

// mergeParts writes what goes in of parts to path.
func mergeParts(ctx context.Context, parts []*mergePart, path string) ([]tableRow, error) {
	var segs []segment.Segment
	var drops []*roaring.Bitmap
	for _, p := range parts {
		segs, drops = append(segs, p.seg), append(drops, p.drop)
	}
	numbers, err := mergeSegments(ctx, segs, drops, path)
	if err != nil {
		return nil, err
	}
	var rows []tableRow
	for i, p := range parts {
		for _, r := range p.rows {
			r.firstDoc = int(numbers[i][r.firstDoc])
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// mergeSegments writes the documents of segs that are not in drops to path,
// and returns their new numbers for each segment.
func mergeSegments(ctx context.Context, segs []segment.Segment, drops []*roaring.Bitmap, path string) (numbers [][]uint64, err error) {
	stop := make(chan struct{})
	release := context.AfterFunc(ctx, func() { close(stop) })
	defer release()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("merge segments: %v", p)
		}
	}()
	numbers, _, err = plugin.Merge(segs, drops, path, stop, nil)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return numbers, err
}

// name gives a finished segment its table and its name. Both files are on disk
// when it returns; nothing refers to them yet.
func (w *writer) name(zapPath string, rows []tableRow) (*generation, error) {
	docs := 0
	for _, r := range rows {
		docs += len(r.spans)
	}
	raw := encodeTable(rows)
	g := &generation{
		Name: genPrefix + strconv.FormatInt(time.Now().UnixNano(), 36), Notes: len(rows), Docs: docs,
		Table: fileMark{int64(len(raw)), tail(raw)},
	}
	var err error
	if g.Zap, err = markZap(zapPath); err != nil {
		return nil, err
	}
	base := filepath.Join(w.x.dir, g.Name)
	if err := writeSynced(base+tableExt, raw); err != nil {
		return nil, err
	}
	return g, os.Rename(zapPath, base+zapExt)
}
