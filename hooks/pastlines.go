package hooks

import (
	"bufio"
	"errors"
	"io"
)

// lineReader reads lines of any length, of which those that are longer than
// max come empty.
type lineReader struct {
	in  io.Reader
	max int

	buf  *bufio.Reader
	long []byte
}

// next returns the next line without its end, until the next call. whole says
// that it has one.
func (l *lineReader) next() (line []byte, whole bool, err error) {
	if l.buf == nil {
		l.buf = bufio.NewReaderSize(l.in, 256<<10)
	}
	line, err = l.buf.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = l.rest(line)
	}
	switch {
	case err == nil:
		return line[:len(line)-1], true, nil
	case err == io.EOF && len(line) > 0:
		return line, false, nil
	}
	return nil, false, err
}

// rest reads on a line of which start is read; one that is too long becomes
// its end.
func (l *lineReader) rest(start []byte) ([]byte, error) {
	l.long = append(l.long[:0], start...)
	for {
		more, err := l.buf.ReadSlice('\n')
		if len(l.long)+len(more) <= l.max {
			l.long = append(l.long, more...)
		} else {
			l.long = append(l.long[:0], '?', '\n') // is no JSON, and counted so
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.long, err
		}
	}
}
