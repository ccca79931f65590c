package vault

import "os"

// mapFile reads the file at path: a mapped file cannot be replaced on Windows.
func mapFile(path string) (data []byte, unmap func(), err error) {
	data, err = os.ReadFile(path)
	return data, func() {}, err
}
