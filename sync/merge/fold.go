package merge

import (
	"bytes"
	"slices"

	"vademecum/vault"
)

// fold makes one memory of two that say the same: keep, with the tags,
// aliases and other keys of other added, the earlier created, the later
// updated, and other's ids in merged_ids. A different title becomes an alias.
// lost names keys of other that keep has with another value; who said it, and
// what kind of knowledge it is, is taken from keep without loss. ok is false
// when keep cannot be edited.
func fold(keep, other []byte) (data []byte, lost []string, ok bool) {
	k, o := vault.ParseDocument(keep), vault.ParseDocument(other)
	if k.Broken() != nil || o.Broken() != nil {
		return nil, nil, false
	}
	if err := foldIDs(k, o); err != nil {
		return nil, nil, false
	}
	for _, key := range o.Keys() {
		gone, err := foldKey(k, o, key)
		if err != nil {
			return nil, nil, false
		}
		if gone {
			lost = append(lost, key)
		}
	}
	if !o.Has("expires") { // somebody meant it to stay
		if err := k.Delete("expires"); err != nil {
			return nil, nil, false
		}
	}
	return k.Bytes(), lost, true
}

func foldIDs(k, o *vault.Document) error {
	var ids []string
	for _, id := range append([]string{o.String("id")}, o.Strings("merged_ids")...) {
		if id != "" && id != k.String("id") {
			ids = append(ids, id)
		}
	}
	return k.AddToList("merged_ids", ids...)
}

// foldKey folds one key of o into k; lost is set when o's value is in k no more.
func foldKey(k, o *vault.Document, key string) (lost bool, err error) {
	kv, ov := valueOf(k, key), valueOf(o, key)
	r := ruleOf(key)
	switch {
	case key == "id", key == "merged_ids", kv.equal(ov), ov.empty():
		return false, nil
	case key == "title":
		return false, k.AddToList("aliases", o.String(key))
	case key == "tier":
		if o.String(key) == string(vault.STM) {
			return false, nil
		}
		return false, copyKey(k, o, key)
	case key == "expires":
		if kv.has && ov.later(kv) {
			return false, copyKey(k, o, key)
		}
		return false, nil
	case !kv.has:
		return false, copyKey(k, o, key)
	case r == asSet:
		return false, k.AddToList(key, o.Strings(key)...)
	case r == earliest && ov.earlier(kv), r == latest && ov.later(kv):
		return false, copyKey(k, o, key)
	case r != setIfLists, key == "type", key == "trust", key == "scope", key == "workspace":
		return false, nil
	}
	if items, isList := ov.texts(); isList {
		if _, isList = kv.texts(); isList {
			return false, k.AddToList(key, items...)
		}
	}
	return true, nil
}

// onlyBookkeeping reports whether a memory changed in nothing that anybody
// wrote: neither body nor comment, nor a key that is not bookkeeping.
func onlyBookkeeping(before, after []byte) bool {
	x, y := vault.ParseDocument(before), vault.ParseDocument(after)
	if x.Broken() != nil || y.Broken() != nil || x.Body() != y.Body() {
		return false
	}
	for _, key := range append(x.Keys(), y.Keys()...) {
		if !isBookkeeping(key) && !valueOf(x, key).equal(valueOf(y, key)) {
			return false
		}
	}
	return slices.Equal(comments(headOf(x)), comments(headOf(y)))
}

// sameSubstance reports whether two versions of a memory say the same, so that
// keeping one beside the other would tell nobody anything.
func sameSubstance(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, y := vault.ParseDocument(a), vault.ParseDocument(b)
	if x.Broken() != nil || y.Broken() != nil || vault.Canonical("", x.Body()) != vault.Canonical("", y.Body()) {
		return false
	}
	for _, key := range append(x.Keys(), y.Keys()...) {
		if ruleOf(key) == setIfLists && !valueOf(x, key).equal(valueOf(y, key)) && key != "id" && key != "conflict_of" {
			return false
		}
	}
	return slices.Equal(comments(headOf(x)), comments(headOf(y)))
}
