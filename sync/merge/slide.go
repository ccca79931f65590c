package merge

// run is a maximal row of changed lines, perhaps an empty one: between two
// unchanged lines there is always exactly one run, so that the runs of two
// texts correspond one to one.
type run struct{ start, end int }

// slider walks the runs of one text.
type slider struct {
	ids     []int
	changed []bool
	run
}

func newSlider(ids []int, changed []bool) *slider {
	s := &slider{ids: ids, changed: changed}
	s.extend()
	return s
}

// extend moves the end over every changed line that follows.
func (s *slider) extend() {
	for s.end < len(s.changed) && s.changed[s.end] {
		s.end++
	}
}

func (s *slider) next() bool {
	if s.end == len(s.changed) {
		return false
	}
	s.start = s.end + 1
	s.end = s.start
	s.extend()
	return true
}

func (s *slider) prev() bool {
	if s.start == 0 {
		return false
	}
	s.end = s.start - 1
	s.start = s.end
	for s.start > 0 && s.changed[s.start-1] {
		s.start--
	}
	return true
}

func (s *slider) empty() bool { return s.start == s.end }

// up slides the run by one line towards the start, if that says the same, and
// swallows a run that it then touches.
func (s *slider) up() bool {
	if s.start == 0 || s.ids[s.start-1] != s.ids[s.end-1] {
		return false
	}
	s.start, s.end = s.start-1, s.end-1
	s.changed[s.start], s.changed[s.end] = true, false
	for s.start > 0 && s.changed[s.start-1] {
		s.start--
	}
	return true
}

// down is up towards the end.
func (s *slider) down() bool {
	if s.end == len(s.ids) || s.ids[s.start] != s.ids[s.end] {
		return false
	}
	s.changed[s.start], s.changed[s.end] = false, true
	s.start, s.end = s.start+1, s.end+1
	s.extend()
	return true
}

// compact slides each run of changed lines of one text to the last place
// where it says the same, and joins runs that meet on the way. Where a place
// faces changes of the other text it goes there instead, so that deleted and
// added lines stay one hunk.
//
// Two hosts that add to a row of equal lines (blank lines, list marks) must
// see their additions at one place; the last one is git's choice.
func compact(ids []int, changed, otherChanged []bool) {
	s, o := newSlider(ids, changed), newSlider(nil, otherChanged)
	for {
		if !s.empty() {
			s.settle(o)
		}
		if !s.next() {
			return
		}
		o.next()
	}
}

func (s *slider) settle(o *slider) {
	var earliest, facing int
	for {
		size := s.end - s.start
		for s.up() {
			o.prev()
		}
		earliest, facing = s.end, -1
		if !o.empty() {
			facing = s.end
		}
		for s.down() {
			o.next()
			if !o.empty() {
				facing = s.end
			}
		}
		if s.end-s.start == size {
			break
		}
	}
	if s.end == earliest || facing < 0 {
		return
	}
	for o.empty() && s.up() {
		o.prev()
	}
}
