package merge

import (
	"bytes"
	"slices"
	"strings"

	"vademecum/vault"
)

// header merges the front matter of c, whose winner is a. It returns the text
// up to the body, and which keys of b are lost.
//
// The text is merged by lines first, which keeps every comment and raw line in
// its place; then each key that did not come out as it must is mended.
func (c contest) header() (text []byte, lost []string) {
	h := headMerge{base: c.base.doc, win: c.a.doc, lose: c.b.doc}
	if c.base.broken() {
		h.base = vault.ParseDocument(nil)
	}
	h.draft()
	for _, key := range h.keys() {
		if err := h.mend(key); err != nil { // the entry cannot be edited
			h.out = vault.ParseDocument(headOf(h.win))
			h.lost = []string{"header"}
			break
		}
	}
	h.missComments()
	return h.out.Bytes(), h.lost
}

type headMerge struct {
	base, win, lose *vault.Document
	out             *vault.Document // front matter only
	lost            []string
}

// headOf returns the bytes before the body, ending in a newline.
func headOf(d *vault.Document) []byte {
	raw := d.Bytes()
	return endLine(raw[:len(raw)-len(d.Body())])
}

// draft merges the text of the headers. Where lines overlap, or both add at one
// place, the winner's stay.
func (h *headMerge) draft() {
	win := headOf(h.win)
	m := newMerger(headOf(h.base), win, headOf(h.lose))
	m.exclusive = true
	m.keepOurs = func(Conflict) bool { return true }
	m.run()
	h.out = vault.ParseDocument(m.out)
	if h.out.Broken() != nil || h.out.Body() != "" || len(m.out) > 0 && !h.out.HasHeader() {
		h.out = vault.ParseDocument(win)
	}
}

// keys returns every key that either side or the draft has.
func (h *headMerge) keys() []string {
	var keys []string
	for _, d := range []*vault.Document{h.win, h.lose, h.out} {
		for _, key := range d.Keys() {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// mend gives key in out the value that the rules ask for.
func (h *headMerge) mend(key string) error {
	base, win, lose := valueOf(h.base, key), valueOf(h.win, key), valueOf(h.lose, key)
	switch {
	case win.equal(lose), lose.equal(base):
		return h.take(key, h.win)
	case win.equal(base):
		return h.takeLoser(key, lose)
	}
	r := ruleOf(key)
	if done, err := h.mendSet(key, r, base, win, lose); done || err != nil {
		return err
	}
	switch {
	case !lose.has: // deleted against changed
		return h.take(key, h.win)
	case !win.has:
		return h.take(key, h.lose)
	case r == earliest && lose.earlier(win), r == latest && lose.later(win):
		return h.take(key, h.lose)
	}
	if r == setIfLists {
		if done, err := h.mendMap(key, base, win, lose); done || err != nil {
			return err
		}
		if !lose.empty() {
			h.lost = append(h.lost, key)
		}
	}
	return h.take(key, h.win)
}

// take makes key in out what it is in d, leaving lines alone that say so.
func (h *headMerge) take(key string, d *vault.Document) error {
	if valueOf(h.out, key).equal(valueOf(d, key)) {
		return nil
	}
	if !d.Has(key) {
		return h.out.Delete(key)
	}
	return copyKey(h.out, d, key)
}

// takeLoser takes what only the loser changed. Lines that the winner changed
// too, if only in a comment, stay its own but for the value.
func (h *headMerge) takeLoser(key string, lose value) error {
	if lose.has && !bytes.Equal(lf.to(h.win.Raw(key)), lf.to(h.base.Raw(key))) && !valueOf(h.out, key).equal(lose) {
		if err := h.setValue(key, lose); err == nil {
			return nil
		}
	}
	return h.take(key, h.lose)
}

// setValue gives key a value in the lines that it has, if it can.
func (h *headMerge) setValue(key string, v value) error {
	if items, ok := v.texts(); ok && v.any != nil {
		return setItems(h.out, key, items)
	}
	return h.out.Set(key, v.any)
}

// copyKey makes key in d what it is in from, line by line where it has lines.
func copyKey(d, from *vault.Document, key string) error {
	if raw := from.Raw(key); raw != nil {
		return d.SetRaw(key, raw)
	}
	v, _ := from.Value(key)
	return d.Set(key, v)
}

// mendSet merges key as a list, if it is one.
func (h *headMerge) mendSet(key string, r rule, base, win, lose value) (done bool, err error) {
	if r != asSet && r != setIfLists {
		return false, nil
	}
	inBase, ok1 := h.items(h.base, key, r, base)
	inWin, ok2 := h.items(h.win, key, r, win)
	inLose, ok3 := h.items(h.lose, key, r, lose)
	if !ok1 || !ok2 || !ok3 {
		return false, nil
	}
	want := mergeSets(inBase, inWin, inLose)
	switch {
	case slices.Equal(want, inWin) && win.has:
		return true, h.take(key, h.win)
	case slices.Equal(want, inLose) && lose.has:
		return true, h.take(key, h.lose)
	}
	from := h.win
	if !win.has {
		from = h.lose
	}
	if err := copyKey(h.out, from, key); err != nil {
		return true, err
	}
	return true, setItems(h.out, key, want)
}

func (h *headMerge) items(d *vault.Document, key string, r rule, v value) ([]string, bool) {
	if r == asSet {
		return d.Strings(key), true
	}
	return v.texts()
}

// setItems makes key's list hold want, changing as little as it can.
func setItems(d *vault.Document, key string, want []string) error {
	gone := slices.DeleteFunc(d.Strings(key), func(item string) bool { return slices.Contains(want, item) })
	if err := d.RemoveFromList(key, gone...); err != nil {
		return err
	}
	return d.AddToList(key, want...)
}

// mendMap merges key as a nested mapping, if both sides have one and changed
// different parts of it.
func (h *headMerge) mendMap(key string, base, win, lose value) (done bool, err error) {
	want, ok := mergeValues(base, win, lose)
	if !ok {
		return false, nil
	}
	if valueOf(h.out, key).equal(want) {
		return true, nil
	}
	fields, ok := stringFields(want)
	if !ok {
		return false, nil
	}
	if err := copyKey(h.out, h.win, key); err != nil {
		return true, err
	}
	return true, h.out.Set(key, fields)
}

// stringFields returns a mapping of strings to strings; ok is false for
// anything else.
func stringFields(v value) (fields map[string]string, ok bool) {
	m, ok := v.any.(map[string]any)
	if !ok {
		return nil, false
	}
	fields = make(map[string]string, len(m))
	for key, v := range m {
		s, ok := v.(string)
		if !ok {
			return nil, false
		}
		fields[key] = s
	}
	return fields, true
}

// missComments looks for comments that either side wrote and the result lacks.
// The loser is lost then, or, where they are the winner's own, the merge.
func (h *headMerge) missComments() {
	known := append(comments(headOf(h.base)), comments(h.out.Bytes())...)
	missing := func(d *vault.Document) bool {
		return slices.ContainsFunc(comments(headOf(d)), func(c string) bool { return !slices.Contains(known, c) })
	}
	if missing(h.win) {
		h.out = vault.ParseDocument(headOf(h.win))
		h.lost = append(h.lost, "header")
	} else if missing(h.lose) {
		h.lost = append(h.lost, "comment")
	}
}

// comments returns the comments of front matter, roughly: what looks like one
// in a block of text counts too.
func comments(head []byte) []string {
	var found []string
	for line := range bytes.Lines(head) {
		if at := commentAt(line); at >= 0 {
			found = append(found, strings.TrimSpace(string(line[at:])))
		}
	}
	return found
}

// commentAt returns where a comment starts in a line; -1 when there is none.
func commentAt(line []byte) int {
	prev, quote := byte(' '), byte(0)
	for i, ch := range line {
		space := prev == ' ' || prev == '\t'
		switch {
		case quote != 0:
			if ch == quote {
				quote = 0
			}
		case ch == '#' && space:
			return i
		case (ch == '"' || ch == '\'') && (space || prev == '[' || prev == ',' || prev == '{'):
			quote = ch
		}
		prev = ch
	}
	return -1
}
