package index

// spread adds what one term is worth around the chunks that have it: docs,
// ascending, to whose scores it adds own. A chunk without the term borrows from
// the nearest one on either side that has it, in the same note, and takes the
// larger share.
func (p *scoredPart) spread(docs []int, own []float64) {
	var of noteDocs
	left := -1 // the chunk with the term before the gap
	for i, doc := range docs {
		before := of
		p.locate(doc, &of)
		from := max(left+1, of.first, doc-len(contextShare))
		if left >= 0 {
			for d := left + 1; d <= min(left+len(contextShare), before.last, doc-1); d++ {
				share := float64(contextShare[d-left-1] * own[i-1])
				if d >= from {
					share = max(share, float64(contextShare[doc-d-1]*own[i]))
				}
				p.borrow(d, share)
				from = max(from, d+1)
			}
		}
		for d := from; d < doc; d++ {
			p.borrow(d, float64(contextShare[doc-d-1]*own[i]))
		}
		left = doc
	}
	if left >= 0 {
		for d := left + 1; d <= min(left+len(contextShare), of.last); d++ {
			p.borrow(d, float64(contextShare[d-left-1]*own[len(own)-1]))
		}
	}
}

// borrow adds share to the context of doc.
func (p *scoredPart) borrow(doc int, share float64) {
	d := &p.scores[doc]
	if d.context == 0 {
		p.noted = append(p.noted, doc)
	}
	d.context += share
}
