package merge

// merge2 merges two texts that have no common version. What only one has is
// kept. Where both have something else at one place, and neither holds the
// other, a's lines stand and clean is false.
func merge2(a, b []byte) (merged []byte, clean bool) {
	in := interner{}
	textA, textB := splitLines(endLine(a)), splitLines(endLine(b))
	idsA, idsB := in.lines(textA), in.lines(textB)
	clean = true
	at := 0
	for _, h := range diff(idsA, idsB) {
		onlyA, onlyB := textA[h.a0:h.a1], textB[h.b0:h.b1]
		merged = appendLines(merged, textA[at:h.a0])
		switch {
		case subsequence(idsB[h.b0:h.b1], idsA[h.a0:h.a1]):
			merged = appendLines(merged, onlyA)
		case subsequence(idsA[h.a0:h.a1], idsB[h.b0:h.b1]):
			merged = appendLines(merged, onlyB)
		default:
			merged = appendLines(merged, onlyA)
			clean = false
		}
		at = h.a1
	}
	merged = appendLines(merged, textA[at:])
	return endLike(merged, nil, a, b), clean
}
