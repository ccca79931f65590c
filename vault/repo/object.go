package repo

import (
	"crypto/sha1"
	"fmt"
	"io"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
)

// ObjectHash returns the id that git gives to an object of type t with this
// content.
func ObjectHash(t plumbing.ObjectType, content []byte) plumbing.Hash {
	d := sha1.New()
	d.Write(objectHeader(t, len(content)))
	d.Write(content)
	return plumbing.Hash(d.Sum(nil))
}

// objectHeader is what git hashes and stores before the content.
func objectHeader(t plumbing.ObjectType, size int) []byte {
	b := make([]byte, 0, 32)
	b = append(b, t.String()...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(size), 10)
	return append(b, 0)
}

// ReadObject returns type and content of h in s. The content must not be
// changed.
func ReadObject(s Store, h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	if r, ok := s.(RawStore); ok {
		t, b, err := r.ReadObject(h)
		if err != nil {
			return 0, nil, fmt.Errorf("read object %s: %w", h, err)
		}
		return t, b, nil
	}
	o, err := s.EncodedObject(plumbing.AnyObject, h)
	if err != nil {
		return 0, nil, fmt.Errorf("read object %s: %w", h, err)
	}
	b, err := encodedContent(o)
	return o.Type(), b, err
}

// WriteObject stores content as an object of type t. The content must not be
// changed afterwards.
func WriteObject(s Store, t plumbing.ObjectType, content []byte) (plumbing.Hash, error) {
	if w, ok := s.(RawStore); ok {
		return w.WriteObject(t, content)
	}
	o := s.NewEncodedObject()
	o.SetType(t)
	w, err := o.Writer()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if _, err := w.Write(content); err != nil {
		return plumbing.ZeroHash, err
	}
	if err := w.Close(); err != nil {
		return plumbing.ZeroHash, err
	}
	return s.SetEncodedObject(o)
}

// BlobHash returns the id of a blob with this content: the version of a file.
func BlobHash(b []byte) plumbing.Hash { return ObjectHash(plumbing.BlobObject, b) }

// ReadBlob returns the content of blob h, which must not be changed.
func ReadBlob(s Store, h plumbing.Hash) ([]byte, error) {
	return readTyped(s, plumbing.BlobObject, h)
}

// WriteBlob stores b as a blob. b must not be changed afterwards.
func WriteBlob(s Store, b []byte) (plumbing.Hash, error) {
	return WriteObject(s, plumbing.BlobObject, b)
}

func readTyped(s Store, want plumbing.ObjectType, h plumbing.Hash) ([]byte, error) {
	t, b, err := ReadObject(s, h)
	if err != nil {
		return nil, err
	}
	if t != want {
		return nil, fmt.Errorf("object %s is a %s, not a %s", h, t, want)
	}
	return b, nil
}

// encodedContent reads all of o.
func encodedContent(o plumbing.EncodedObject) ([]byte, error) {
	r, err := o.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b := make([]byte, o.Size())
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, fmt.Errorf("read object %s: %w", o.Hash(), err)
	}
	return b, nil
}

// encodedObject wraps content for go-git's interfaces.
func encodedObject(t plumbing.ObjectType, content []byte) plumbing.EncodedObject {
	o := &plumbing.MemoryObject{}
	o.SetType(t)
	o.Write(content)
	return o
}
