// Bare writes one text the way that vade remember must at the least: as a file
// in a folder, as a git blob with the trees and the commit above it, and as a
// branch that points there, each synced to disk. It checks nothing, locks
// nothing and keeps no index: it is what "vade bench write" compares with.
//
//	bare FILE DIR   writes the content of FILE into DIR
package main

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "use: bare FILE DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "bare: %v\n", err)
		os.Exit(1)
	}
}

// depth is how many trees there are above a memory: the root, memories, the
// year and the month.
const depth = 4

func write(file, dir string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	name := strconv.FormatInt(time.Now().UnixNano(), 36) + ".md"
	objects, commit := objectsOf(text, name)
	if err := writeObjects(filepath.Join(dir, "objects"), objects); err != nil {
		return err
	}
	if err := replace(filepath.Join(dir, "notes", name), text); err != nil {
		return err
	}
	return replace(filepath.Join(dir, "refs", "main"), []byte(commit+"\n"))
}

// object is a git object.
type object struct {
	id  string
	raw []byte // with its header
}

func newObject(kind string, content []byte) object {
	raw := append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...)
	return object{fmt.Sprintf("%x", sha1.Sum(raw)), raw}
}

// objectsOf returns the objects of a commit that holds text at name, and the
// commit's id.
func objectsOf(text []byte, name string) (list []object, commit string) {
	list = append(list, newObject("blob", text))
	mode := "100644"
	for range depth {
		var id []byte
		fmt.Sscanf(list[len(list)-1].id, "%x", &id)
		list = append(list, newObject("tree", append(fmt.Appendf(nil, "%s %s\x00", mode, name), id...)))
		mode, name = "40000", "memories"
	}
	last := newObject("commit", fmt.Appendf(nil, "tree %s\nauthor b <b@b> 1 +0000\ncommitter b <b@b> 1 +0000\n\nremember\n", list[depth].id))
	return append(list, last), last.id
}

// writeObjects writes objects as git's loose ones, all at once.
func writeObjects(dir string, objects []object) error {
	errs := make([]error, len(objects))
	var wg sync.WaitGroup
	for i, o := range objects {
		wg.Go(func() { errs[i] = o.write(dir) })
	}
	wg.Wait()
	return errors.Join(append(errs, syncDir(dir))...)
}

func (o object) write(dir string) error {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(o.raw); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return place(filepath.Join(dir, o.id[:2], o.id[2:]), packed.Bytes())
}

// replace is place, and the folder synced too.
func replace(path string, content []byte) error {
	if err := place(path, content); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// place writes a file, synced, under another name and renames it.
func place(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "tmp-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(content)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
