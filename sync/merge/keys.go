package merge

import (
	"reflect"
	"slices"
	"time"

	"vademecum/vault"
)

// rule says how a key is merged that both sides changed.
type rule int

const (
	byWinner   rule = iota // the winner's value stands, the other is lost
	asSet                  // a list: what either added, less what either removed
	earliest               // the earlier time
	latest                 // the later time or larger number; nothing is lost
	ofWinner               // the winner's value stands, and nothing is lost
	setIfLists             // asSet for lists of text, else byWinner
)

// ruleOf returns the rule of a key. The last group is what tools that only
// read a note write into it.
func ruleOf(key string) rule {
	switch key {
	case "tags", "aliases", "merged_ids", "supersedes":
		return asSet
	case "created":
		return earliest
	case "origin":
		return ofWinner
	case "updated", "modified", "last_modified", "expires",
		"accessed", "last_accessed", "last_used", "last_recalled", "last_viewed",
		"access_count", "use_count", "uses", "used", "hits", "views", "recalls":
		return latest
	}
	return setIfLists
}

// isBookkeeping reports whether a change of key alone is no edit.
func isBookkeeping(key string) bool { return key != "expires" && ruleOf(key) == latest }

// value is one side's value of a key.
type value struct {
	has bool
	any any
}

func valueOf(d *vault.Document, key string) value {
	v, has := d.Value(key)
	return value{has: has, any: v}
}

func (v value) equal(o value) bool { return v.has == o.has && reflect.DeepEqual(v.any, o.any) }

// empty reports whether nobody would miss v.
func (v value) empty() bool {
	return v.any == nil || v.any == "" || reflect.DeepEqual(v.any, []any{})
}

// texts returns a list of strings; ok is false for anything else. No value is
// the empty list.
func (v value) texts() (items []string, ok bool) {
	if v.any == nil {
		return nil, true
	}
	list, ok := v.any.([]any)
	if !ok {
		return nil, false
	}
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			return nil, false
		}
		items = append(items, s)
	}
	return items, true
}

// later reports whether v is a later time or a larger number than o; what is
// neither comes first.
func (v value) later(o value) bool {
	vt, vn := v.measure()
	ot, on := o.measure()
	if c := vt.Compare(ot); c != 0 {
		return c > 0
	}
	return vn > on
}

// earlier reports whether v is an earlier time than o; what is no time is no
// earlier than anything.
func (v value) earlier(o value) bool {
	vt, _ := v.measure()
	ot, _ := o.measure()
	return !vt.IsZero() && (ot.IsZero() || vt.Before(ot))
}

func (v value) measure() (time.Time, float64) {
	switch x := v.any.(type) {
	case string:
		t, _ := vault.ParseTime(x)
		return t, 0
	case int:
		return time.Time{}, float64(x)
	case float64:
		return time.Time{}, x
	}
	return time.Time{}, 0
}

// mergeSets merges two lists made of base, without repeating an item: what is
// left of base in the order of a, then what was added, in the order of the
// side that added the other's too, else of the items.
func mergeSets(base, a, b []string) []string {
	var out []string
	for _, item := range a {
		if slices.Contains(base, item) && slices.Contains(b, item) && !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	newA, newB := without(a, base), without(b, base)
	switch {
	case len(without(newB, newA)) == 0:
		return append(out, newA...)
	case len(without(newA, newB)) == 0:
		return append(out, newB...)
	}
	added := append(newA, without(newB, newA)...)
	slices.Sort(added)
	return append(out, added...)
}

// without returns the items of list that are not in other, each once.
func without(list, other []string) []string {
	var out []string
	for _, item := range list {
		if !slices.Contains(other, item) && !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	return out
}

// mergeMaps merges two nested mappings made of base; ok is false where both
// changed one thing to different values.
func mergeMaps(base, a, b map[string]any) (merged map[string]any, ok bool) {
	merged = map[string]any{}
	for _, m := range []map[string]any{a, b} {
		for key := range m {
			v, ok := mergeValues(field(base, key), field(a, key), field(b, key))
			if !ok {
				return nil, false
			}
			if v.has {
				merged[key] = v.any
			}
		}
	}
	return merged, true
}

func field(m map[string]any, key string) value {
	v, has := m[key]
	return value{has: has, any: v}
}

func mergeValues(base, a, b value) (value, bool) {
	switch {
	case a.equal(b), b.equal(base):
		return a, true
	case a.equal(base):
		return b, true
	}
	am, aOK := a.any.(map[string]any)
	bm, bOK := b.any.(map[string]any)
	if !aOK || !bOK {
		return value{}, false
	}
	basem, _ := base.any.(map[string]any)
	m, ok := mergeMaps(basem, am, bm)
	return value{has: true, any: m}, ok
}
