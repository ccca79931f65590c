package merge

// Distance returns how many lines have to be deleted and added to make b of a.
func Distance(a, b []byte) int { return measure(a, b).lines }

// NearestBase returns the index of that version which the content on disk was
// most probably made of; versions are what the file was, newest first, and the
// newest wins a tie. It returns -1 when there are none.
//
// An editor that had a note open while a sync rewrote it saves a buffer that
// was made of an older version. Taken as an edit of the newest one, that would
// revert what the sync brought; merged with the version that this finds as
// base it does not.
func NearestBase(disk []byte, versions [][]byte) int {
	best, nearest := -1, closeness{}
	for i, v := range versions {
		if c := measure(v, disk); best < 0 || c.nearer(nearest) {
			best, nearest = i, c
		}
	}
	return best
}

// closeness is how far two texts are apart: in lines, and within the lines
// that differ in pairs of characters. The pairs tell which of two texts a line
// was changed from that both have in another form.
type closeness struct{ lines, pairs int }

func (c closeness) nearer(o closeness) bool {
	if c.lines != o.lines {
		return c.lines < o.lines
	}
	return c.pairs < o.pairs
}

func measure(a, b []byte) closeness {
	in := interner{}
	textA, textB := splitLines(a), splitLines(b)
	var c closeness
	bag := map[[2]rune]int{}
	for _, h := range diff(in.lines(textA), in.lines(textB)) {
		c.lines += h.a1 - h.a0 + h.b1 - h.b0
		countPairs(bag, textA[h.a0:h.a1], 1)
		countPairs(bag, textB[h.b0:h.b1], -1)
	}
	for _, n := range bag {
		c.pairs += max(n, -n)
	}
	return c
}

// countPairs adds n to the count of each pair of neighbouring characters.
func countPairs(bag map[[2]rune]int, lines [][]byte, n int) {
	for _, l := range lines {
		prev := '\n'
		for _, r := range string(l) {
			bag[[2]rune{prev, r}] += n
			prev = r
		}
	}
}
