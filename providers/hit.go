package providers

import (
	"fmt"
	"time"

	"vademecum/vault"
)

// Hit is one thing that a provider found. Its text is untrusted data.
type Hit struct {
	Ref Ref `json:"ref"` // how the provider calls it
	// ID, Version, Vault and Part are what Put was given, if the provider gave it
	// back; ID "" where it is not known to be ours.
	ID      string        `json:"id,omitempty"`
	Version vault.Version `json:"version,omitempty"`
	Vault   string        `json:"vault,omitempty"`
	Part    int           `json:"part,omitempty"`
	Text    string        `json:"text"`
	// Score is the provider's own number; nil: none, or none that is a number.
	// Properties.Score says what it means.
	Score   *float64  `json:"score,omitempty"`
	Created time.Time `json:"created,omitzero"`
}

// Ref is a provider's own name of one thing that it holds.
type Ref string

// Identify fills in whose h is from metadata by the Meta keys.
func (h *Hit) Identify(metadata map[string]string) {
	h.ID, h.Vault, h.Version = metadata[MetaID], metadata[MetaVault], vault.Version(metadata[MetaVersion])
	var part, parts int
	if n, _ := fmt.Sscanf(metadata[MetaPart], "%d/%d", &part, &parts); n == 2 && part > 0 && part <= parts {
		h.Part = part - 1
	}
}
