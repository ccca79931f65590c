package index

import (
	"context"
	"path/filepath"
	"slices"
)

// Staleness says how far the index is behind a source.
type Staleness struct {
	Notes       int // in the source
	Pending     int // of those, in no generation: each search analyses them
	Dead        int // documents of notes that are gone or changed
	Generations int
	Damaged     int // generations that cannot be used
}

// Stale compares the index with src, without reading any note. A caller that
// finds it far behind starts an Update in the background.
func (x *Index) Stale(src Source) Staleness {
	snap := x.acquire()
	defer snap.release()
	v := look(src, snap)
	s := Staleness{Notes: src.Len(), Pending: len(v.pending), Generations: len(v.parts), Damaged: len(snap.damaged)}
	for _, n := range v.dead {
		s.Dead += n
	}
	return s
}

// Report is what Check found.
type Report struct {
	Staleness
	// Missing are paths that no generation has as they are now.
	Missing []string
	// Gone are paths that a generation has and the source has not.
	Gone []string
	// Wrong are notes whose terms are not what a generation holds.
	Wrong []string
	// Problems are generations that are damaged.
	Problems []string
}

// OK reports whether the index is sound. One that is only behind is.
func (r *Report) OK() bool { return len(r.Wrong) == 0 && len(r.Problems) == 0 }

// Check proves that the index holds what src has: every file against its
// checksum, and every indexed note against a fresh analysis of its bytes. It
// changes nothing. The error is ctx's.
func (x *Index) Check(ctx context.Context, src Source) (Report, error) {
	snap := x.acquire()
	defer snap.release()
	v := look(src, snap)
	r := Report{Staleness: Staleness{
		Notes: src.Len(), Pending: len(v.pending), Generations: len(v.parts), Damaged: len(snap.damaged),
	}}
	for _, err := range snap.damaged {
		r.Problems = append(r.Problems, err.Error())
	}
	for _, i := range v.pending {
		path, _ := src.Key(i)
		r.Missing = append(r.Missing, path)
	}
	for i, p := range v.parts {
		r.Dead += v.dead[i]
		g := v.gens[i]
		if err := g.Zap.verify(filepath.Join(x.dir, g.Name+zapExt)); err != nil {
			r.Problems = append(r.Problems, err.Error())
			continue
		}
		r.Gone = append(r.Gone, gone(src, g)...)
		wrong, err := differing(ctx, src, g, p)
		if err != nil {
			return r, err
		}
		r.Wrong = append(r.Wrong, wrong...)
	}
	slices.Sort(r.Gone)
	r.Gone = slices.Compact(r.Gone)
	slices.Sort(r.Wrong)
	return r, nil
}

// gone returns g's paths that src does not have.
func gone(src Source, g *openGeneration) []string {
	var list []string
	find := finder(src, g.table.notes)
	for note := range g.table.notes {
		if i, _ := find(g.table.path(note)); i < 0 {
			list = append(list, g.table.path(note))
		}
	}
	return list
}

// differing analyses g's live notes again and returns the paths of those that
// come out differently.
func differing(ctx context.Context, src Source, g *openGeneration, p *part) ([]string, error) {
	noteAt := map[int]int{}
	var places []int
	for note, source := range p.source {
		if source >= 0 {
			noteAt[int(source)] = note
			places = append(places, int(source))
		}
	}
	slices.Sort(places)
	var wrong []string
	err := readAll(ctx, src, places, func(noteKey) *analysedNote { return nil }, func(r reading) {
		if r.err == nil && r.exact && !sameRow(g.table.row(noteAt[r.source]), r.note) {
			wrong = append(wrong, r.path)
		}
	})
	return wrong, err
}

// sameRow reports whether n has the chunks and lengths that row says.
func sameRow(row tableRow, n *analysedNote) bool {
	noteLen, chunkLen := n.whole.length, 0
	for i, c := range n.chunks {
		chunkLen += c.length
		if i >= len(row.spans) || row.spans[i] != (span{c.start, c.end}) {
			return false
		}
	}
	if len(n.chunks) == 1 {
		noteLen = chunkLen
	}
	return len(n.chunks) == len(row.spans) && chunkLen == row.chunkLen && noteLen == row.noteLen
}
