package child

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxLine is how long a line on a child's stdout may be, in bytes.
const MaxLine = 4 << 20

// ErrLineTooLong: more than MaxLine bytes came without a line feed.
var ErrLineTooLong = fmt.Errorf("a line of more than %d MiB", MaxLine>>20)

// ReadLine returns the next line of r without its end, LF or CR LF; the last one
// may have none. io.EOF: there is no more. What it returns is the caller's.
func ReadLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			return nil, ErrLineTooLong
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0, err == nil:
			return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
		default:
			return nil, err
		}
	}
}
