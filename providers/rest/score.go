package rest

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// Score is a number as services send it: a number, a string that holds one,
// null, or nothing. What is not a finite number is none.
type Score struct{ Value *float64 }

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (s *Score) UnmarshalJSON(raw []byte) error {
	s.Value = nil
	raw = bytes.TrimSpace(raw)
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		raw = []byte(text)
	}
	if v, err := strconv.ParseFloat(string(raw), 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		s.Value = &v
	}
	return nil
}
