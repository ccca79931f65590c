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
	var list segment.PostingsList
	err := z.gen.guard(func() error {
		dict, err := z.dictionary(field)
		if err != nil {
			return err
		}
		list, err = dict.PostingsList([]byte(term), z.dead, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &zapList{z.gen, list}, nil
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

type zapList struct {
	gen  *openGeneration
	list segment.PostingsList
}

func (l *zapList) count() int { return int(l.list.Count()) }

func (l *zapList) each(fn func(posting)) error {
	return l.gen.guard(func() error {
		it := l.list.Iterator(true, true, false, nil)
		for {
			next, err := it.Next()
			if next == nil || err != nil {
				return err
			}
			if err := l.visit(next, fn); err != nil {
				return err
			}
		}
	})
}

func (l *zapList) among(docs []int, fn func(posting)) error {
	return l.gen.guard(func() error {
		it := l.list.Iterator(true, true, false, nil)
		var next segment.Posting
		for _, doc := range docs {
			if next == nil || next.Number() < uint64(doc) {
				var err error
				if next, err = it.Advance(uint64(doc)); next == nil || err != nil {
					return err
				}
			}
			if next.Number() != uint64(doc) {
				continue
			}
			if err := l.visit(next, fn); err != nil {
				return err
			}
		}
		return nil
	})
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
