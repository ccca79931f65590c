package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"sync"
)

// Record is one event as it lies in a file, a line of JSON:
//
//	{"sum":"9f3c2a11","at":1024,"id":"01JDZ…","event":{"kind":"answer",…}}
//
// sum is the CRC-32C of everything behind it up to the line's end. at is the
// byte of the segment that the line was written to, which is its sequence: a
// line that is gone shows.
type Record struct {
	At    int64  `json:"at"`
	ID    string `json:"id"` // ULID of the append
	Event Event  `json:"event"`

	line []byte // as it lies in the file, without the line's end
}

// sumLen is the length of {"sum":"9f3c2a11",
const sumLen = len(`{"sum":"`) + 8 + len(`",`)

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// seal puts the checksum in front of body, the members of an object.
func seal(body []byte) []byte {
	rest := append(body, '}')
	line := make([]byte, 0, sumLen+len(rest))
	line = append(line, `{"sum":"`...)
	line = fmt.Appendf(line, "%08x", crc32.Checksum(rest, castagnoli()))
	line = append(line, `",`...)
	return append(line, rest...)
}

var (
	errNoRecord = errors.New("is no line of a journal")
	errChecksum = errors.New("does not fit its checksum")
)

// unseal checks line and decodes it into v.
func unseal(line []byte, v any) error {
	if err := verify(line); err != nil {
		return err
	}
	return json.Unmarshal(line, v)
}

// verify checks line's sum.
func verify(line []byte) error {
	if len(line) < sumLen || string(line[:8]) != `{"sum":"` || string(line[16:sumLen]) != `",` {
		return errNoRecord
	}
	sum, err := strconv.ParseUint(string(line[8:16]), 16, 32)
	if err != nil {
		return errNoRecord
	}
	if crc32.Checksum(line[sumLen:], castagnoli()) != uint32(sum) {
		return errChecksum
	}
	return nil
}

// marshal is json.Marshal that leaves <, > and & readable.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// encodeRecord returns the line, with its end, of an event that was marshalled
// before.
func encodeRecord(at int64, id string, event []byte) []byte {
	body := fmt.Appendf(nil, `"at":%d,"id":"%s","event":%s`, at, id, event)
	return append(seal(body), '\n')
}

func parseRecord(line []byte) (Record, error) {
	var r Record
	if err := unseal(line, &r); err != nil {
		return Record{}, err
	}
	if r.ID == "" || r.Event.Kind == "" {
		return Record{}, errNoRecord
	}
	r.line = line
	return r, nil
}

// bad is a stretch of a file that cannot be read.
type bad struct {
	At     int64
	Line   []byte
	Reason string
}

// parseRecords reads data, a segment or a part of one. Torn bytes behind the
// last line's end are dropped. What else is no record is named, as is a gap in
// the sequence when data is a whole segment.
func parseRecords(data []byte, segment bool) (records []Record, broken []bad) {
	var at, skew int64 // skew: bytes that are known to be missing up to here
	for len(data) > 0 {
		line, rest, whole := bytes.Cut(data, []byte{'\n'})
		r, err := parseRecord(line)
		switch {
		case len(line) == 0:
		case err != nil && whole:
			broken = append(broken, bad{At: at, Line: line, Reason: err.Error()})
		case err == nil:
			gap := r.At - at
			if segment && gap > skew {
				broken = append(broken, bad{At: at, Reason: fmt.Sprintf("%d bytes are missing before this record", gap-skew)})
			}
			skew = gap
			records = append(records, r)
		}
		at += int64(len(data) - len(rest))
		data = rest
	}
	return records, broken
}
