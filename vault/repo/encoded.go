package repo

import (
	"bytes"
	"errors"

	"github.com/go-git/go-git/v5/plumbing"
)

var errNoAlternates = errors.New("store takes no alternates")

// setEncodedObject is SetEncodedObject of a RawStore.
func setEncodedObject(s RawStore, o plumbing.EncodedObject) (plumbing.Hash, error) {
	switch o.Type() {
	case plumbing.BlobObject, plumbing.TreeObject, plumbing.CommitObject, plumbing.TagObject:
	default:
		return plumbing.ZeroHash, plumbing.ErrInvalidType
	}
	b, err := encodedContent(o)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return s.WriteObject(o.Type(), b)
}

// getEncodedObject is EncodedObject of a RawStore. The error is ErrObjectNotFound
// itself, as go-git compares it.
func getEncodedObject(s RawStore, want plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	t, b, err := s.ReadObject(h)
	if err != nil {
		return nil, err
	}
	if want != plumbing.AnyObject && want != t {
		return nil, ErrObjectNotFound
	}
	return encodedObject(t, b), nil
}

func compareHashes(a, b plumbing.Hash) int { return bytes.Compare(a[:], b[:]) }
