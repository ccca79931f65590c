package index

// spread adds what one term is worth around the chunks that have it: docs,
// ascending, to whose scores it adds own. A chunk without the term borrows from
// the nearest one on either side that has it, in the same note, and takes the
// larger share.
func (p *scoredPart) spread(docs []int, own []float64) {
	if len(docs) > 0 && p.context == nil {
		p.context = make([]float64, p.docs)
	}
	left, last := -1, -1 // the chunk with the term before the gap, the last of its note
	for i, doc := range docs {
		note := p.noteOf(doc)
		first := p.firstDoc(note)
		from := max(left+1, first, doc-len(contextShare))
		if left >= 0 {
			for d := left + 1; d <= min(left+len(contextShare), last, doc-1); d++ {
				share := float64(contextShare[d-left-1] * own[i-1])
				if d >= from {
					share = max(share, float64(contextShare[doc-d-1]*own[i]))
				}
				p.context[d] += share
				from = max(from, d+1)
			}
		}
		for d := from; d < doc; d++ {
			p.context[d] += float64(contextShare[doc-d-1] * own[i])
		}
		left, last = doc, first+p.chunks(note)-1
	}
	if left >= 0 {
		for d := left + 1; d <= min(left+len(contextShare), last); d++ {
			p.context[d] += float64(contextShare[d-left-1] * own[len(own)-1])
		}
	}
}
