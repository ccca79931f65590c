package hooks

import (
	"context"
	"io"
)

// patient reads from a pipe whose other end may never be closed: when its time
// is over, what was read is all there is. What is behind that is still taken
// and thrown away while somebody waits in drain, since clients fail when
// nobody reads what they write.
type patient struct {
	ctx    context.Context
	chunks chan []byte
	free   chan []byte
	rest   []byte
	whole  []byte // the buffer that rest lies in
	over   bool
}

func newPatient(ctx context.Context, r io.Reader) *patient {
	p := &patient{ctx: ctx, chunks: make(chan []byte), free: make(chan []byte, 2)}
	p.free <- make([]byte, 64<<10)
	p.free <- make([]byte, 64<<10)
	go p.pump(r)
	return p
}

// pump reads ahead; it ends with the pipe, or the process.
func (p *patient) pump(r io.Reader) {
	defer close(p.chunks)
	for b := range p.free {
		n, err := r.Read(b)
		if n > 0 {
			p.chunks <- b[:n]
		} else {
			p.free <- b
		}
		if err != nil {
			return
		}
	}
}

func (p *patient) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.over {
			return 0, io.EOF
		}
		select {
		case c, ok := <-p.chunks:
			p.recycle()
			p.rest, p.whole, p.over = c, c, !ok
		case <-p.ctx.Done():
			p.over = true
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (p *patient) recycle() {
	if p.whole != nil {
		p.free <- p.whole[:cap(p.whole)]
		p.whole = nil
	}
}

// drain throws away what is still to come, until the end or ctx's.
func (p *patient) drain(ctx context.Context) {
	for {
		p.recycle()
		select {
		case c, ok := <-p.chunks:
			if !ok {
				return
			}
			p.whole = c
		case <-ctx.Done():
			return
		}
	}
}
