package transport

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Sizes of a pkt-line (gitprotocol-common): four hex digits that count
// themselves, then the payload.
const (
	pktHeader  = 4
	pktMax     = 65520
	pktPayload = pktMax - pktHeader
)

// A pktKind tells a data packet from the special ones.
type pktKind int

const (
	pktData pktKind = iota
	pktFlush
	pktDelim // 0001 and 0002, of protocol v2, which we do not ask for
)

// A pktReader reads pkt-lines.
type pktReader struct {
	r   *bufio.Reader
	buf []byte
}

func newPktReader(r io.Reader) *pktReader {
	return &pktReader{r: bufio.NewReaderSize(r, 32<<10)}
}

// next returns the payload of the next packet, valid until the call after.
// The end of the stream between two packets is io.EOF, within one
// io.ErrUnexpectedEOF. An ERR packet is a *remoteError.
func (p *pktReader) next() ([]byte, pktKind, error) {
	var head [pktHeader]byte
	if _, err := io.ReadFull(p.r, head[:]); err != nil {
		return nil, 0, err
	}
	n, err := pktLength(head)
	if err != nil {
		return nil, 0, err
	}
	switch n {
	case 0:
		return nil, pktFlush, nil
	case 1, 2:
		return nil, pktDelim, nil
	}
	if p.buf == nil {
		p.buf = make([]byte, pktPayload)
	}
	payload := p.buf[:n-pktHeader]
	if _, err := io.ReadFull(p.r, payload); err != nil {
		return nil, 0, unexpected(err)
	}
	if words, found := bytes.CutPrefix(payload, []byte("ERR ")); found {
		return nil, 0, &remoteError{words: words1(words)}
	}
	return payload, pktData, nil
}

// pktLength reads the four hex digits: 0 to 2 for the special packets, else 4
// to pktMax.
func pktLength(head [pktHeader]byte) (int, error) {
	n := 0
	for _, c := range head {
		d, ok := hexDigit(c)
		if !ok {
			return 0, fault(ErrProtocol, fmt.Sprintf("%q where a packet length belongs", head[:]), notGitRemedy)
		}
		n = n<<4 | d
	}
	if n == 3 || n > pktMax {
		return 0, fault(ErrProtocol, fmt.Sprintf("a packet of %d bytes", n), notGitRemedy)
	}
	return n, nil
}

func hexDigit(c byte) (int, bool) {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0'), true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10, true
	}
	return 0, false
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// remoteError is what the other side said before it hung up.
type remoteError struct{ words string }

func (e *remoteError) Error() string { return "remote says: " + e.words }

// words1 makes one printable line of at most 300 bytes of a server's words.
func words1(b []byte) string {
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(b), "?")), " ")
	s = printable(s)
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// pktWriter writes pkt-lines; the first error sticks.
type pktWriter struct {
	w   io.Writer
	err error
}

// line writes one data packet.
func (p *pktWriter) line(format string, args ...any) {
	if p.err != nil {
		return
	}
	payload := fmt.Sprintf(format, args...)
	_, p.err = fmt.Fprintf(p.w, "%04x%s", len(payload)+pktHeader, payload)
}

func (p *pktWriter) flush() {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, "0000")
	}
}

// Bands of side-band-64k.
const (
	bandData     = 1
	bandProgress = 2
	bandError    = 3
)

// A sideband reads band 1 of a side-band-64k stream as a plain stream, which
// ends at the flush packet. Band 2 goes to say, band 3 is a *remoteError.
type sideband struct {
	pkts *pktReader
	say  func(words string)
	rest []byte
	err  error
}

func (s *sideband) Read(p []byte) (int, error) {
	for len(s.rest) == 0 && s.err == nil {
		s.rest, s.err = s.fill()
	}
	if len(s.rest) == 0 {
		return 0, s.err
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// fill returns the next piece of band 1; io.EOF after the flush packet.
func (s *sideband) fill() ([]byte, error) {
	payload, kind, err := s.pkts.next()
	if err != nil {
		return nil, unexpected(err)
	}
	if kind == pktFlush {
		return nil, io.EOF
	}
	if kind != pktData || len(payload) == 0 {
		return nil, fault(ErrProtocol, "an empty packet inside the side band", notGitRemedy)
	}
	switch body := payload[1:]; payload[0] {
	case bandData:
		return body, nil
	case bandProgress:
		s.say(string(body))
		return nil, nil
	case bandError:
		return nil, &remoteError{words: words1(body)}
	}
	return nil, fault(ErrProtocol, fmt.Sprintf("band %d", payload[0]), notGitRemedy)
}
