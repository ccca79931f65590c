package index

import (
	"crypto/sha1"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
)

// blobID returns the git blob id of raw. It guards the index against a file
// that changed between being listed and being read, not against forgery, so
// the standard library's fast SHA-1 does.
func blobID(raw []byte) plumbing.Hash {
	h := sha1.New()
	h.Write([]byte("blob " + strconv.Itoa(len(raw)) + "\x00"))
	h.Write(raw)
	return plumbing.Hash(h.Sum(nil))
}
