package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"vademecum/vault/repo"
)

const (
	// unpackLimit is how many objects may become loose ones; more stay a pack
	// (the default of git's fetch.unpackLimit).
	unpackLimit = 100
	// spoolMemory is how much of a small pack is held in memory.
	spoolMemory = 8 << 20
)

// receive reads one pack from stream into s. Nothing of a pack that is damaged,
// or cut short, becomes part of s.
func (r *Remote) receive(ctx context.Context, s repo.Store, stream io.Reader, dog *watchdog) (FetchStats, error) {
	in := &counter{r: stream, tick: func(n int64) { r.opts.Progress(Progress{Phase: Receiving, Done: n}) }}
	var head [packHeader]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return FetchStats{}, unexpected(err)
	}
	count, err := readPackHeader(head[:])
	if err != nil {
		return FetchStats{}, err
	}
	whole := io.MultiReader(bytes.NewReader(head[:]), in)
	packer, ok := s.(storer.PackfileWriter)
	if ok && count > unpackLimit {
		err = keepPack(packer, whole, dog)
	} else {
		err = r.unpack(ctx, s, whole, dog)
	}
	return FetchStats{Objects: count, Bytes: in.n}, err
}

// counter counts what is read.
type counter struct {
	r    io.Reader
	n    int64
	tick func(n int64)
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.tick(c.n)
	return n, err
}

// keepPack gives the pack to the store as it is.
func keepPack(packer storer.PackfileWriter, stream io.Reader, dog *watchdog) error {
	w, err := packer.PackfileWriter()
	if err != nil {
		return err
	}
	out := &stickyWriter{w: w}
	_, readErr := io.Copy(out, stream)
	resume := dog.hold()
	closeErr := w.Close()
	resume()
	switch {
	case out.err != nil:
		return out.err
	case readErr != nil:
		return readErr
	case closeErr == nil || isLocal(closeErr):
		return closeErr
	}
	return corrupt("the pack is damaged: %w", closeErr)
}

// isLocal says whether err is of this host's files, not of what was in a pack.
func isLocal(err error) bool {
	_, path := errors.AsType[*fs.PathError](err)
	_, link := errors.AsType[*os.LinkError](err)
	_, errno := errors.AsType[syscall.Errno](err)
	return path || link || errno
}

// stickyWriter tells an error of writing from one of reading in io.Copy.
type stickyWriter struct {
	w   io.Writer
	err error
}

func (s *stickyWriter) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil {
		s.err = err
	}
	return n, err
}

// unpack checks the pack in full, then writes its objects one by one.
func (r *Remote) unpack(ctx context.Context, s repo.Store, stream io.Reader, dog *watchdog) error {
	pack, err := newSpool(stream)
	if err != nil {
		return err
	}
	defer pack.close()
	defer dog.hold()()
	check := &indexer{pack: pack, size: pack.size}
	if _, err := check.run(ctx); err != nil {
		return err
	}
	write := &indexer{pack: pack, size: pack.size, emit: func(t plumbing.ObjectType, content []byte) error {
		_, err := repo.WriteObject(s, t, content)
		return err
	}, tick: func(done, total int) {
		r.opts.Progress(Progress{Phase: Unpacking, Done: int64(done), Total: int64(total)})
	}}
	if _, err := write.run(ctx); err != nil {
		return err
	}
	return s.Flush()
}

// A spool holds a stream for random access: in memory, or in a temporary file
// when it is long.
type spool struct {
	io.ReaderAt
	size int64
	file *os.File
}

func newSpool(stream io.Reader) (*spool, error) {
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(stream, spoolMemory))
	if err != nil {
		return nil, err
	}
	if n < spoolMemory {
		return &spool{ReaderAt: bytes.NewReader(b.Bytes()), size: n}, nil
	}
	f, err := os.CreateTemp("", "vade-pack-*")
	if err != nil {
		return nil, fmt.Errorf("spool of a pack: %w", err)
	}
	s := &spool{ReaderAt: f, file: f}
	out := &stickyWriter{w: f}
	if s.size, err = io.Copy(out, io.MultiReader(&b, stream)); err != nil {
		s.close()
		if out.err != nil {
			return nil, fmt.Errorf("spool of a pack: %w", out.err)
		}
		return nil, err
	}
	return s, nil
}

func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
	}
}
