package vault

import (
	"strings"
	"time"
)

// timeLayouts are the ways in which people and tools write a time in front
// matter. Fractions of a second are read with each of them.
var timeLayouts = [...]string{
	time.RFC3339,
	"2006-01-02T15:04:05",
	"2006-01-02",
	"2006-01-02 15:04:05",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05 Z07:00",
	"2006-01-02 15:04:05 -0700",
	"2006-01-02T15:04:05-0700",
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04",
	"2006-01-02 15:04",
	"2006-1-2",
}

// ParseTime reads RFC 3339, a date, or a date and a time with or without
// seconds and zone, and returns it in UTC. A time without a zone is UTC, so
// that every host reads the same moment.
func ParseTime(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	if len(s) < len("2006-1-2") || s[4] != '-' {
		return time.Time{}, false
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// FormatTime writes t as front matter has it: RFC 3339 in UTC, to the second.
func FormatTime(t time.Time) string {
	return t.UTC().Format(time.RFC3339)
}
