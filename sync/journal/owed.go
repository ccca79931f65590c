package journal

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// owed is the ledger in memory, with what is needed to find the next delivery
// without looking at all of them.
type owed struct {
	have map[string]*Delivery   // by receiver and key
	live map[string][]*Delivery // that are not over, by receiver and group
	due  map[string]*dueHeap    // by receiver
	seq  uint64                 // the highest
	in   map[*Delivery]bool     // who is counted as not over
}

func newOwed() *owed {
	return &owed{have: map[string]*Delivery{}, live: map[string][]*Delivery{}, due: map[string]*dueHeap{}, in: map[*Delivery]bool{}}
}

// unfinished is how many deliveries are not over.
func (o *owed) unfinished() int { return len(o.in) }

// put makes d what is known of its receiver and key.
func (o *owed) put(d *Delivery) {
	if old := o.have[d.id()]; old != nil && old != d {
		o.leave(old)
	}
	o.have[d.id()] = d
	o.seq = max(o.seq, d.Seq)
	if d.State.Final() {
		o.leave(d)
		return
	}
	if !o.in[d] {
		o.in[d] = true
		if d.Group != "" {
			o.live[d.group()] = append(o.live[d.group()], d)
		}
	}
	if at, ok := d.at(); ok {
		q := o.due[d.To]
		if q == nil {
			q = &dueHeap{}
			o.due[d.To] = q
		}
		heap.Push(q, dueAt{at, d.Seq, d})
	}
}

// leave takes d out of what is not over.
func (o *owed) leave(d *Delivery) {
	if !o.in[d] {
		return
	}
	delete(o.in, d)
	if d.Group == "" {
		return
	}
	rest := slices.DeleteFunc(o.live[d.group()], func(other *Delivery) bool { return other == d })
	if len(rest) == 0 {
		delete(o.live, d.group())
	} else {
		o.live[d.group()] = rest
	}
}

// each calls fn with what is due at to's at now, what has waited longest first,
// until fn says that it wants no more. What fn leaves as it is stays due.
func (o *owed) each(to string, now time.Time, fn func(*Delivery) (more bool)) {
	q := o.due[to]
	if q == nil {
		return
	}
	var seen []dueAt
	for more := true; more && q.Len() > 0 && !now.Before((*q)[0].at); {
		e := heap.Pop(q).(dueAt)
		if !o.holds(e) {
			continue
		}
		more = fn(e.d)
		seen = append(seen, e)
	}
	for _, e := range seen {
		if o.holds(e) {
			heap.Push(q, e)
		}
	}
}

// holds reports whether e still says when its delivery is due.
func (o *owed) holds(e dueAt) bool {
	at, ok := e.d.at()
	return ok && at.Equal(e.at) && o.have[e.d.id()] == e.d
}

// next is when something is due at to's at the earliest. What waits for another
// delivery of its group does not count.
func (o *owed) next(to string) (next time.Time, ok bool) {
	if q := o.due[to]; q != nil {
		for _, e := range *q {
			if o.holds(e) && !o.waits(e.d) && (!ok || e.at.Before(next)) {
				next, ok = e.at, true
			}
		}
	}
	return next, ok
}

// waits reports whether an older delivery of d's group is on its way.
func (o *owed) waits(d *Delivery) bool {
	if d.Group == "" {
		return false
	}
	return slices.ContainsFunc(o.live[d.group()], func(other *Delivery) bool {
		return other != d && byAge(other, d) < 0 && other.underWay()
	})
}

// newer is the newest delivery of d's group when that is not d; else nil.
func (o *owed) newer(d *Delivery) *Delivery {
	if d.Group == "" {
		return nil
	}
	newest := d
	for _, other := range o.live[d.group()] {
		if byAge(newest, other) < 0 {
			newest = other
		}
	}
	if newest == d {
		return nil
	}
	return newest
}

// sorted is everything, oldest first.
func (o *owed) sorted() []*Delivery {
	list := make([]*Delivery, 0, len(o.have))
	for _, d := range o.have {
		list = append(list, d)
	}
	slices.SortFunc(list, byAge)
	return list
}

func byAge(a, b *Delivery) int {
	return cmp.Or(cmp.Compare(a.Seq, b.Seq), a.Queued.Compare(b.Queued), cmp.Compare(a.id(), b.id()))
}

// dueAt says when a delivery is due. It counts as long as the delivery says so
// too: what changed is not searched for, but passed over when its turn comes.
type dueAt struct {
	at  time.Time
	seq uint64
	d   *Delivery
}

type dueHeap []dueAt

func (q dueHeap) Len() int { return len(q) }
func (q dueHeap) Less(i, j int) bool {
	return cmp.Or(q[i].at.Compare(q[j].at), cmp.Compare(q[i].seq, q[j].seq), byAge(q[i].d, q[j].d)) < 0
}
func (q dueHeap) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *dueHeap) Push(x any) { *q = append(*q, x.(dueAt)) }

// Pop implements heap.Interface.
func (q *dueHeap) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = dueAt{}
	*q = (*q)[:last]
	return e
}
