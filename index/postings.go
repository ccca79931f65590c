package index

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"
)

// postings looks terms up in one part. It is used by one search.
type postings interface {
	// list returns the live documents of a field that have term.
	list(field, term string) (postingList, error)
}

// postingList is the documents that have one term.
type postingList interface {
	count() int
	// each calls fn for the documents in ascending order.
	each(fn func(posting)) error
	// among calls fn for those that are in docs, which are ascending.
	among(docs []int, fn func(posting)) error
}

// posting is a term in a document.
type posting struct {
	doc int
	n   int // how often it occurs there
	len int // terms in the document
}

// zapPostings are the postings of a generation.
type zapPostings struct {
	gen   *openGeneration
	dead  *roaring.Bitmap // nil: none
	dicts map[string]segment.TermDictionary
}

func (z *zapPostings) list(field, term string) (postingList, error) {
	l := &zapList{gen: z.gen, key: fieldTerm{field, term}, dead: z.dead}
	err := z.gen.guard(func() (err error) {
		if l.dict, err = z.dictionary(field); err == nil {
			l.live, err = l.dict.PostingsList([]byte(term), z.dead, nil)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (z *zapPostings) dictionary(field string) (segment.TermDictionary, error) {
	if d, ok := z.dicts[field]; ok {
		return d, nil
	}
	d, err := z.gen.seg.Dictionary(field)
	if err != nil {
		return nil, err
	}
	if z.dicts == nil {
		z.dicts = map[string]segment.TermDictionary{}
	}
	z.dicts[field] = d
	return d, nil
}

// zapList is one term's postings in a generation.
type zapList struct {
	gen  *openGeneration
	dict segment.TermDictionary
	key  fieldTerm
	live segment.PostingsList
	dead *roaring.Bitmap // nil: none
}

func (l *zapList) count() int { return int(l.live.Count()) }

// longList is from how many postings on a list is kept as [decoded].
const longList = 256

func (l *zapList) each(fn func(posting)) error {
	if l.count() < longList {
		return l.gen.guard(func() error { return l.walk(l.live, fn) })
	}
	list, err := l.decoded()
	for _, d := range list {
		if l.dead == nil || !l.dead.Contains(d.doc) {
			fn(d.posting())
		}
	}
	return err
}

func (l *zapList) among(docs []int, fn func(posting)) error {
	if l.count() == 0 {
		return nil
	}
	list, err := l.decoded()
	if err != nil {
		return err
	}
	for _, doc := range docs {
		if list = from(list, uint32(doc)); len(list) == 0 {
			return nil
		}
		if d := list[0]; int(d.doc) == doc && (l.dead == nil || !l.dead.Contains(d.doc)) {
			fn(d.posting())
		}
	}
	return nil
}

// walk calls fn for the postings of list as the segment stores them.
func (l *zapList) walk(list segment.PostingsList, fn func(posting)) error {
	it := list.Iterator(true, true, false, nil)
	for {
		next, err := it.Next()
		if next == nil || err != nil {
			return err
		}
		if err := l.visit(next, fn); err != nil {
			return err
		}
	}
}

// visit hands p to fn. A segment that names documents it does not have is damaged.
func (l *zapList) visit(p segment.Posting, fn func(posting)) error {
	z, ok := p.(*zap.Posting)
	if !ok || p.Number() >= uint64(l.gen.Docs) {
		return fmt.Errorf("posting of document %d of %d", p.Number(), l.gen.Docs)
	}
	fn(posting{int(p.Number()), int(p.Frequency()), int(z.NormUint64())})
	return nil
}

// decoded returns all postings of l, those of dead documents too, decoded
// once for as long as the generation is open.
func (l *zapList) decoded() ([]decoded, error) {
	if list, ok := l.gen.decoded.get(l.key); ok {
		return list, nil
	}
	list := make([]decoded, 0, l.count())
	err := l.gen.guard(func() error {
		all := l.live
		if l.dead != nil {
			var err error
			if all, err = l.dict.PostingsList([]byte(l.key.term), nil, nil); err != nil {
				return err
			}
		}
		return l.walk(all, func(p posting) {
			list = append(list, decoded{uint32(p.doc), uint32(p.n), uint32(p.len)})
		})
	})
	if err != nil {
		return nil, err
	}
	l.gen.decoded.put(l.key, list)
	return list, nil
}
