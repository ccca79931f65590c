package eval

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Run is what each question found, best first, by the question's id.
type Run map[string][]Found

// Write writes r as a TREC run file: question, Q0, document, rank, score and
// tag, a line for each document. Equal runs give equal bytes.
func (r Run) Write(w io.Writer, tag string) error {
	b := bufio.NewWriter(w)
	for _, id := range slices.Sorted(maps.Keys(r)) {
		for i, f := range r[id] {
			fmt.Fprintf(b, "%s Q0 %s %d %.4f %s\n", id, f.ID, i+1, f.Score, tag)
		}
	}
	return b.Flush()
}

// ReadRun reads a TREC run file. Documents are ordered by their rank.
func ReadRun(in io.Reader) (Run, error) {
	type ranked struct {
		Found
		rank int
	}
	lists := map[string][]ranked{}
	sc := bufio.NewScanner(in)
	for n := 1; sc.Scan(); n++ {
		f := strings.Fields(sc.Text())
		if len(f) == 0 {
			continue
		}
		if len(f) != 6 {
			return nil, fmt.Errorf("line %d: a run has six columns, this has %d", n, len(f))
		}
		rank, err := strconv.Atoi(f[3])
		if err != nil {
			return nil, fmt.Errorf("line %d: rank %q is no number", n, f[3])
		}
		score, err := strconv.ParseFloat(f[4], 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: score %q is no number", n, f[4])
		}
		lists[f[0]] = append(lists[f[0]], ranked{Found{ID: f[2], Score: score}, rank})
	}
	r := Run{}
	for id, list := range lists {
		slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
		for _, f := range list {
			r[id] = append(r[id], f.Found)
		}
	}
	return r, sc.Err()
}
