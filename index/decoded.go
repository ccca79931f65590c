package index

import (
	"sort"
	"sync"
)

// decoded is a posting as a generation keeps it in memory. Reading it out of
// the segment, which cannot jump, takes some twenty times as long: the common
// words of questions are in so many documents that this is most of a search.
type decoded struct{ doc, n, len uint32 }

func (d decoded) posting() posting { return posting{int(d.doc), int(d.n), int(d.len)} }

// from returns list without what is before doc. It is fast when doc is near.
func from(list []decoded, doc uint32) []decoded {
	far := 1
	for far < len(list) && list[far-1].doc < doc {
		far *= 2
	}
	near := far / 2
	far = min(far, len(list))
	return list[near+sort.Search(far-near, func(i int) bool { return list[near+i].doc >= doc }):]
}

// decodedLists are the lists of one generation that were asked for.
type decodedLists struct {
	mu    sync.Mutex
	lists map[fieldTerm][]decoded
	size  int // postings in all of them
}

// maxDecoded is how many postings of a generation are kept decoded, of 12 bytes each.
const maxDecoded = 4 << 20

func (d *decodedLists) get(k fieldTerm) ([]decoded, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	list, ok := d.lists[k]
	return list, ok
}

// put keeps list, and drops the others when there are too many.
func (d *decodedLists) put(k fieldTerm, list []decoded) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lists == nil || d.size+len(list) > maxDecoded {
		d.lists, d.size = map[fieldTerm][]decoded{}, 0
	}
	if len(list) > maxDecoded {
		return
	}
	d.size += len(list) - len(d.lists[k])
	d.lists[k] = list
}
