package index

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	zap "github.com/blevesearch/zapx/v17"

	"vademecum/index/analysis"
)

// layoutVersion changes whenever chunks, fields or the table change.
const layoutVersion = 2

// format names everything that a generation's content depends on. The zap
// format is no public contract of its authors', so its version is part of it.
func format() string {
	return fmt.Sprintf("vade %d, zap %d, analysis %d", layoutVersion, zap.Version, analysis.Version)
}

// manifest is the list of generations that count. A manifest of another format
// counts as empty.
type manifest struct {
	Format      string       `json:"format"`
	Generations []generation `json:"generations"` // oldest first
	Retired     []retired    `json:"retired,omitempty"`
}

// generation names the files of one generation and what they must be.
type generation struct {
	Name  string   `json:"name"`
	Notes int      `json:"notes"`
	Docs  int      `json:"docs"`
	Zap   fileMark `json:"zap"`
	Table fileMark `json:"table"`
}

// fileMark tells a whole file from another or a torn one.
type fileMark struct {
	Size int64  `json:"size"`
	CRC  uint32 `json:"crc"` // as stored in the file's last four bytes
}

// retired is a generation that readers may still be about to open.
type retired struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"`
}

const (
	manifestName = "manifest"
	lockName     = "writer.lock"
	tmpPrefix    = "tmp-"
	genPrefix    = "g-"
	zapExt       = ".zap"
	tableExt     = ".docs"
	suspectExt   = ".suspect"
	damagedDir   = "damaged"
)

// readManifest returns the manifest in dir and its bytes; an empty one when
// there is none that can be used.
func readManifest(dir string) (manifest, []byte) {
	raw, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return manifest{Format: format()}, nil
	}
	return parseManifest(raw), raw
}

func parseManifest(raw []byte) manifest {
	var m manifest
	if err := json.Unmarshal(raw, &m); err != nil || m.Format != format() {
		return manifest{Format: format()}
	}
	return m
}

// publish replaces the manifest in dir by m. When it returns nil, m is durable.
func (m manifest) publish(dir string) error {
	raw, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	tmp := filepath.Join(dir, tmpPrefix+manifestName)
	if err := writeSynced(tmp, append(raw, '\n')); err != nil {
		return err
	}
	if err := replaceFile(tmp, filepath.Join(dir, manifestName)); err != nil {
		return err
	}
	return syncDir(dir)
}

// writeSynced writes a file and waits until it is on disk.
func writeSynced(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
