package vault

// Link is a reference from one memory to something else.
type Link struct {
	Target   string // title, id or path of a wiki link; destination of a markdown link
	Fragment string // heading after "#", without it
	Text     string // what is shown
	Line     int    // 1-based line of body
	Wiki     bool   // [[target]]; else [text](target)
}

// Links returns the links of a markdown body in order. Code is not searched.
func Links(body string) []Link { return nil }
