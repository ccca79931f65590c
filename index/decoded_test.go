package index

import (
	"fmt"
	"slices"
	"testing"
)

func TestFromFindsTheFirstNotBefore(t *testing.T) {
	var list []decoded
	for doc := uint32(3); doc < 400; doc += 1 + doc%7 {
		list = append(list, decoded{doc: doc})
	}
	for doc := range uint32(405) {
		i := slices.IndexFunc(list, func(d decoded) bool { return d.doc >= doc })
		if i < 0 {
			i = len(list)
		}
		if got := len(list) - len(from(list, doc)); got != i {
			t.Fatalf("from %d starts at %d, want %d", doc, got, i)
		}
	}
	if got := from(nil, 1); len(got) > 0 {
		t.Errorf("from nothing gives %v", got)
	}
}

func TestDecodedListsAreBounded(t *testing.T) {
	var d decodedLists
	list := make([]decoded, maxDecoded/4)
	for i := range 10 {
		k := fieldTerm{"c", fmt.Sprint(i)}
		d.put(k, list)
		d.put(k, list) // again: counts once
		if _, ok := d.get(k); !ok || d.size > maxDecoded {
			t.Fatalf("after %d lists: kept %v, %d postings", i+1, ok, d.size)
		}
	}
	d.put(fieldTerm{"c", "huge"}, make([]decoded, maxDecoded+1))
	if d.size > maxDecoded {
		t.Errorf("a list that is too long is kept: %d postings", d.size)
	}
}
