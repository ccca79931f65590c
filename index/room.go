package index

import "sync"

// scoreRoom is what a part is scored in. The scores in a room that is not in
// use are all zero.
type scoreRoom struct {
	scores        []docScore
	touched       []int
	noted         []int
	found, within []int // see rescore
}

// usedRooms are those of searches that have ended: a large vault's are
// megabytes, and new pages cost more than clearing old ones.
var usedRooms sync.Pool // of *scoreRoom

// newRoom returns room for n documents without a score.
func newRoom(n int) *scoreRoom {
	r, ok := usedRooms.Get().(*scoreRoom)
	if !ok {
		r = &scoreRoom{}
	}
	if cap(r.scores) < n {
		r.scores = make([]docScore, n)
	}
	r.scores = r.scores[:n]
	return r
}

// clean makes the scores zero again.
func (r *scoreRoom) clean() {
	if (len(r.touched)+len(r.noted))*8 > len(r.scores) {
		clear(r.scores)
		return
	}
	for _, doc := range r.touched {
		r.scores[doc] = docScore{}
	}
	for _, doc := range r.noted {
		r.scores[doc] = docScore{}
	}
}
