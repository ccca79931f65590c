package openviking

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"strconv"
	"strings"
)

// folder is where vade's files are, and the only place where it writes or
// deletes: see fileURI.
const (
	folder  = "viking://~/memories/events/vault/"
	inUsers = "/memories/events/vault/"
)

// maxEncoded is how long an id may be whose file name says it: names have 255
// bytes on most file systems, and base32 makes eight of five.
const maxEncoded = 140

var lower32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// fileName is the name of the file of one part of a memory. Ids that are
// letters and digits, as ULIDs are, stand for themselves; others are encoded,
// because a server may take "..", "%2e", "/" or a different case for another
// file. What is too long has a digest, which no hit can be read back from: the
// receipts know those.
func fileName(id string, part int) string {
	name := id
	switch {
	case plain(id):
	case len(id) <= maxEncoded:
		name = "x-" + lower32.EncodeToString([]byte(id))
	default:
		sum := sha256.Sum256([]byte(id))
		name = "d-" + hex.EncodeToString(sum[:20])
	}
	if part > 0 {
		name += "." + strconv.Itoa(part)
	}
	return name + ".md"
}

// plain reports whether id is capital letters and digits only.
func plain(id string) bool {
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return len(id) >= 4 && len(id) <= 64
}

// parseName is whose a file is; id "" if its name does not say.
func parseName(name string) (id string, part int) {
	id, _ = strings.CutSuffix(name, ".md")
	if before, after, ok := strings.Cut(id, "."); ok {
		id = before
		part, _ = strconv.Atoi(after)
	}
	if encoded, ok := strings.CutPrefix(id, "x-"); ok {
		raw, _ := lower32.DecodeString(encoded)
		id = string(raw)
	}
	if fileName(id, part) != name { // a digest, or a file that vade did not make
		return "", part
	}
	return id, part
}

// ourName is the name of the file that uri names, if it is one of ours: directly
// in our folder, under "~" or the user that the server puts in its place.
func ourName(uri string) (name string, ok bool) {
	name, ok = strings.CutPrefix(uri, folder)
	if !ok {
		var user string
		user, name, ok = strings.Cut(strings.TrimPrefix(uri, "viking://user/"), inUsers)
		if !ok || !strings.HasPrefix(uri, "viking://user/") || user == "" || strings.Contains(user, "/") {
			return "", false
		}
	}
	return name, safe(name)
}

// safe reports whether name is one that fileName could make: no segments, no
// empty part between dots, nothing that is encoded.
func safe(name string) bool {
	stem, ok := strings.CutSuffix(name, ".md")
	for part := range strings.SplitSeq(stem, ".") {
		ok = ok && part != ""
	}
	for _, c := range []byte(stem) {
		switch {
		case c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c == '-', c == '.':
		default:
			return false
		}
	}
	return ok
}
