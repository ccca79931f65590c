package vault

import (
	"slices"
	"strings"
	"time"
)

// Receipt says where a write is by now. Each field is a fact at the time of
// the answer, never a promise: Saved is on disk and fsynced, Commit is in
// history, Pushed is acknowledged by the remote.
type Receipt struct {
	ID        ID                `json:"id,omitempty"`
	Title     string            `json:"title,omitempty"`
	Path      string            `json:"path"`
	Version   Version           `json:"version,omitempty"`
	Saved     bool              `json:"saved"`
	Commit    string            `json:"commit,omitempty"` // "" when saved but not committed; Warnings says why
	Pushed    bool              `json:"pushed"`
	Ahead     int               `json:"ahead"` // commits that the remote does not have; 0 without a remote
	Providers []ProviderReceipt `json:"providers"`
	Warnings  []string          `json:"warnings"`
}

// ProviderReceipt is the delivery state of a write at one provider.
type ProviderReceipt struct {
	Name  string `json:"name"`
	State string `json:"state"`
}

// Query asks for memories. The zero value of a filter means "any".
type Query struct {
	Text      string
	Limit     int // hits; 0 means 5
	Budget    int // tokens over all hits; 0 means no budget
	Passages  int // hits of one memory at most, each another passage of it; 0 means 1
	Tags      []string
	Types     []Type
	Tiers     []Tier
	Since     time.Time // updated at or after
	Until     time.Time // updated before
	Workspace string    // this project's memories and those without one
	// AllWorkspaces searches every project; Workspace is then ignored.
	AllWorkspaces  bool
	IncludeExpired bool
	// Strict drops hits that lack one of the query's rarer words.
	Strict  bool
	Explain bool
	// AsOf is the version of the vault that answers, a moment or a commit; see
	// [Vault.AsOf]. "" is what is on disk now.
	AsOf string
	Now  time.Time // for expiry
}

// Hit is one memory that answers a query.
type Hit struct {
	ID           ID        `json:"id,omitempty"`
	Title        string    `json:"title"`
	Path         string    `json:"path"`
	Version      Version   `json:"version"`
	Text         string    `json:"text"`
	Line         int       `json:"line"`    // 1-based line of the file where Text starts
	Excerpt      bool      `json:"excerpt"` // Text is a part of the body
	Passage      Passage   `json:"passage"` // what matched best, in and around Text
	Score        float64   `json:"score"`
	Tier         Tier      `json:"tier,omitempty"`
	Type         Type      `json:"type,omitempty"`
	Tags         []string  `json:"tags"`
	Workspace    string    `json:"workspace,omitempty"`
	Created      time.Time `json:"created,omitzero"`
	Updated      time.Time `json:"updated,omitzero"`
	Origin       Origin    `json:"origin"`
	Scope        Scope     `json:"scope"`
	Providers    []string  `json:"providers"`
	SupersededBy *string   `json:"superseded_by"`
	ConflictOf   string    `json:"conflict_of,omitempty"`
	Explain      string    `json:"explain,omitempty"`
	// Foreign: another provider said it, and the vault does not know it. It has
	// no id, path or version; Ref is what the provider calls it.
	Foreign bool   `json:"foreign,omitempty"`
	Ref     string `json:"ref,omitempty"`
}

// Name is what h is told from others by: its id, else its path, else what the
// provider that it is from calls it.
func (h *Hit) Name() string {
	switch {
	case h.ID != "":
		return string(h.ID)
	case h.Path != "":
		return h.Path
	case len(h.Providers) > 0:
		return h.Providers[0] + ":" + h.Ref
	}
	return h.Ref
}

// Passage is a range of bytes of a memory's file, on rune boundaries.
type Passage struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Admits reports whether q's filters let m through; q.Text is not looked at.
func (q *Query) Admits(m *Memory) bool {
	switch {
	case !q.IncludeExpired && m.Expired(q.Now):
		return false
	case !q.AllWorkspaces && m.Workspace != "" && m.Workspace != q.Workspace:
		return false
	case len(q.Types) > 0 && !slices.Contains(q.Types, m.Type):
		return false
	case len(q.Tiers) > 0 && !slices.Contains(q.Tiers, m.Tier):
		return false
	case !q.Since.IsZero() && m.Updated.Before(q.Since):
		return false
	case !q.Until.IsZero() && !m.Updated.Before(q.Until):
		return false
	}
	for _, tag := range q.Tags {
		if !slices.ContainsFunc(m.Tags, func(t string) bool { return strings.EqualFold(t, tag) }) {
			return false
		}
	}
	return true
}
