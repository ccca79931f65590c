package providers

import (
	"fmt"
	"maps"
	"time"

	"vademecum/vault"
)

// Item is one memory, or one part of a memory that is too long for a provider,
// in one version.
type Item struct {
	// ID names the memory for ever and everywhere: its ULID, or for a note that
	// has none "<vault id>:<path>".
	ID      string        `json:"id"`
	Version vault.Version `json:"version"`
	// Part counts from 0 to Parts-1. A memory that is whole has Parts 1.
	Part  int    `json:"part"`
	Parts int    `json:"parts"`
	Vault string `json:"vault"` // id of the vault that it is from
	Title string `json:"title"`
	// Text is what is to be found: the title, if the body does not begin with
	// it, and the body. Valid UTF-8 without NUL, at most Properties.MaxItemBytes.
	Text      string       `json:"text"`
	Type      vault.Type   `json:"type,omitempty"`
	Tier      vault.Tier   `json:"tier,omitempty"`
	Tags      []string     `json:"tags,omitempty"`
	Workspace string       `json:"workspace,omitempty"`
	Scope     vault.Scope  `json:"scope,omitzero"`
	Origin    vault.Origin `json:"origin,omitzero"`
	Created   time.Time    `json:"created,omitzero"`
	Updated   time.Time    `json:"updated,omitzero"`
	Expires   time.Time    `json:"expires,omitzero"` // zero: never
}

// Key is the idempotency key of putting the item: the same for the same bytes.
func (i *Item) Key() string {
	if i.Parts > 1 {
		return fmt.Sprintf("%s@%s#%d", i.ID, i.Version, i.Part)
	}
	return i.ID + "@" + string(i.Version)
}

// The metadata that goes with every item, where a provider keeps any: at most
// eight keys, because Zep takes ten. All values are strings that are not empty.
const (
	MetaID        = "vault_id"    // Item.ID
	MetaVersion   = "vault_rev"   // Item.Version
	MetaPart      = "vault_part"  // "1/3": Part+1 of Parts; absent when whole
	MetaVault     = "vault_of"    // Item.Vault
	MetaScope     = "vault_scope" // "team:acme"
	MetaOrigin    = "vault_origin"
	MetaType      = "vault_type"
	MetaWorkspace = "vault_workspace"
)

// Metadata is what identifies the item, by the Meta keys.
func (i *Item) Metadata() map[string]string {
	m := map[string]string{
		MetaID: i.ID, MetaVersion: string(i.Version), MetaVault: i.Vault, MetaType: string(i.Type), MetaWorkspace: i.Workspace,
		MetaOrigin: i.Origin.Agent,
	}
	if i.Parts > 1 {
		m[MetaPart] = fmt.Sprintf("%d/%d", i.Part+1, i.Parts)
	}
	if i.Scope.Type != "" {
		m[MetaScope] = i.Scope.Type + ":" + i.Scope.ID
	}
	maps.DeleteFunc(m, func(_, v string) bool { return v == "" })
	return m
}

// IsDeletion reports whether a delivery of the outbox with this key removes
// something, instead of handing it over.
func IsDeletion(key string) bool { return isDelete(key) }
