// Package protocol is what vade bench and the program yardstick say to each
// other: one JSON object a line, a [Question] on yardstick's standard input,
// its [Answer] on standard output.
package protocol

// Question asks one engine.
type Question struct {
	Engine string `json:"engine"`
	Text   string `json:"text"`  // as a person types it
	Limit  int    `json:"limit"` // hits at most
}

// Answer is what the engine found and what that cost the process it runs in.
// The clock starts when the question has been read and stops before the
// answer is written.
type Answer struct {
	Hits  []string `json:"hits"` // paths, slash-separated, best first
	Wall  int64    `json:"wall_ns"`
	CPU   int64    `json:"cpu_ns"` // user and system, of all threads
	Error string   `json:"error,omitempty"`
}

// Built is what building an index says when it is done.
type Built struct {
	Notes int   `json:"notes"`
	Bytes int64 `json:"bytes"` // of their text
}
