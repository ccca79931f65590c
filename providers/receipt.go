package providers

import "vademecum/sync/journal"

// Receipt says what became of one write. States are the journal's:
//
//   - Stored: it is kept, and Refs name it, if the provider names things;
//   - Accepted: it was taken and may still come to nothing; Handle asks again;
//   - Empty: it was taken, and the provider kept nothing of it (it is there
//     already, or nothing was worth keeping): legal, and final;
//   - Deleted: it is not there any more, whether or not it was before.
//
// A write that failed has no receipt but an [*Error]. A provider may also
// find out later: Resolve of an accepted one then returns the error.
type Receipt struct {
	State  journal.State `json:"state"`
	Refs   []Ref         `json:"refs,omitempty"`
	Handle string        `json:"handle,omitempty"` // of an event, a task, an episode
	Note   string        `json:"note,omitempty"`   // for people: why it is empty
}
