package providers

// Describer is a provider that says what it is like. PropertiesOf has what is
// assumed of one that does not.
type Describer interface {
	Properties() Properties
}

// ScoreKind says what a provider's scores mean.
type ScoreKind string

const (
	Similarity ScoreKind = "similarity" // higher is better
	Distance   ScoreKind = "distance"   // lower is better
	Ordinal    ScoreKind = "rank"       // a place in the list, or a number that follows no rule: the order counts
	Unscored   ScoreKind = "none"
)

// Properties are facts about a provider that no method tells. A bool that names
// an ability is true exactly if the interface is there: a test of every adapter
// holds the two together.
type Properties struct {
	Kind string `json:"kind"` // of adapter: zep, mem0, …

	Batch    bool `json:"batch"`    // BatchPutter
	Delete   bool `json:"delete"`   // Deleter
	Resolve  bool `json:"resolve"`  // Resolver
	Find     bool `json:"find"`     // Finder
	List     bool `json:"list"`     // Lister
	Close    bool `json:"close"`    // io.Closer
	Cleanup  bool `json:"cleanup"`  // Cleaner
	Turns    bool `json:"turns"`    // TurnKeeper that says yes
	PurgeAll bool `json:"purge"`    // Purger
	Verbatim bool `json:"verbatim"` // search gives back the text that was put, or a part of it
	// Idempotent: the same Item.Key again leaves one copy.
	Idempotent bool `json:"idempotent"`
	// Replaces: another version of the same ID takes the place of the one before.
	Replaces bool `json:"replaces"`
	// Async: Put may answer Accepted.
	Async bool `json:"async"`
	// ReadYourWrites: what is Stored is found by the next Search.
	ReadYourWrites bool `json:"read_your_writes"`
	// Attribution: hits carry the ID that was put.
	Attribution bool `json:"attribution"`
	// Serial: one write at a time, also of different memories.
	Serial bool `json:"serial"`

	Score        ScoreKind `json:"score"`
	MaxItemBytes int       `json:"max_item_bytes"` // of Item.Text; 0: no bound
	MaxBatch     int       `json:"max_batch"`      // items of one PutBatch; 0: no bound
	MaxLimit     int       `json:"max_limit"`      // of Query.Limit; 0: no bound
	// PerMinute is how many writes it takes; 0: as many as come.
	PerMinute int `json:"per_minute"`
}

// PropertiesOf returns what p says of itself, else what its methods tell.
func PropertiesOf(p Provider) Properties {
	if d, ok := p.(Describer); ok {
		return d.Properties()
	}
	is := Abilities(p)
	is.Score = Unscored
	return is
}

// Abilities are the properties that p's methods tell: one for each optional
// interface.
func Abilities(p Provider) Properties {
	var is Properties
	_, is.Batch = p.(BatchPutter)
	_, is.Delete = p.(Deleter)
	_, is.Resolve = p.(Resolver)
	_, is.Find = p.(Finder)
	_, is.List = p.(Lister)
	_, is.Close = p.(Closer)
	_, is.Cleanup = p.(Cleaner)
	_, is.PurgeAll = p.(Purger)
	is.Turns = KeepsTurns(p)
	return is
}
