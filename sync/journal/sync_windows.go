package journal

// syncDir does nothing: NTFS journals its names.
func syncDir(string) error { return nil }
