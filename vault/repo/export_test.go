package repo

// ReadThroughRoot is how ReadFile reads where Linux's openat2 is not there.
func ReadThroughRoot(w *WorkTree, p string) ([]byte, error) { return w.readThroughRoot(p) }
