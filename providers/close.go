package providers

import "io"

// Closer is a provider that holds something (a process, a file, connections)
// which Close gives back. Nothing may be called after it.
type Closer = io.Closer

// Close closes p if there is anything to close.
func Close(p Provider) error {
	if c, ok := p.(Closer); ok {
		return c.Close()
	}
	return nil
}
