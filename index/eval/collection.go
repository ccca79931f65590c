package eval

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Collection is what one folder holds.
type Collection struct {
	Dir     string
	Set     string // the name of the data set that it is a part of
	Docs    []Doc
	Queries []Query
	Gold    map[string]map[string]int // by query and document: how relevant, at least 1
}

// Doc is one document.
type Doc struct {
	ID       string `json:"_id"`
	Title    string `json:"title"`
	Text     string `json:"text"`
	Metadata struct {
		Session string  `json:"session"` // the note that it is a passage of, "" if it is one of its own
		Seq     float64 `json:"seq"`     // its place there
		Created string  `json:"created"`
	} `json:"metadata"`
}

// Query is one question.
type Query struct {
	ID       string `json:"_id"`
	Text     string `json:"text"`
	Metadata struct {
		Category any `json:"category"` // a string or a number
	} `json:"metadata"`
}

// Category is what kind of question q is; "" when the collection does not say.
func (q Query) Category() string {
	if q.Metadata.Category == nil {
		return ""
	}
	return fmt.Sprint(q.Metadata.Category)
}

const (
	corpusFile  = "corpus.jsonl"
	queriesFile = "queries.jsonl"
)

// Find returns the folders in and below dir that hold a collection, sorted.
func Find(dir string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() == corpusFile {
			found = append(found, filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no %s in it or below: %w", dir, corpusFile, fs.ErrNotExist)
	}
	return found, nil
}

// setName is the name of the folder dir, or of the one above it when the name
// is only a number.
func setName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	for {
		name := filepath.Base(dir)
		if _, err := strconv.Atoi(name); err != nil {
			return name
		}
		dir = filepath.Dir(dir)
	}
}

// Open reads the collection in dir.
func Open(dir string) (*Collection, error) {
	c := &Collection{Dir: dir, Set: setName(dir)}
	var err error
	if c.Docs, err = readLines[Doc](filepath.Join(dir, corpusFile)); err != nil {
		return nil, err
	}
	if c.Queries, err = readLines[Query](filepath.Join(dir, queriesFile)); err != nil {
		return nil, err
	}
	for _, name := range []string{"qrels.tsv", filepath.Join("qrels", "test.tsv")} {
		c.Gold, err = readGold(filepath.Join(dir, name))
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	// Questions that nobody judged say nothing.
	c.Queries = slices.DeleteFunc(c.Queries, func(q Query) bool { return len(c.Gold[q.ID]) == 0 })
	return c, nil
}

// readLines reads a file of one JSON value a line.
func readLines[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []T
	dec := json.NewDecoder(bufio.NewReaderSize(f, 1<<16))
	for {
		var v T
		switch err := dec.Decode(&v); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("%s, entry %d: %w", path, len(list)+1, err)
		}
		list = append(list, v)
	}
}

// readGold reads query, document and relevance, with tabs between them and a
// header line, or as TREC writes it: query, 0, document, relevance.
func readGold(path string) (map[string]map[string]int, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	gold := map[string]map[string]int{}
	n := 0
	for line := range strings.Lines(string(raw)) {
		n++
		f := strings.Fields(line)
		if len(f) == 4 {
			f = []string{f[0], f[2], f[3]}
		}
		if len(f) == 0 {
			continue
		}
		if len(f) != 3 {
			return nil, fmt.Errorf("%s:%d: want query, document and relevance, got %q", path, n, line)
		}
		relevance, err := strconv.Atoi(f[2])
		switch {
		case err != nil && n == 1:
			continue
		case err != nil:
			return nil, fmt.Errorf("%s:%d: relevance %q is no number", path, n, f[2])
		case relevance < 1:
			continue
		}
		if gold[f[0]] == nil {
			gold[f[0]] = map[string]int{}
		}
		gold[f[0]][f[1]] = relevance
	}
	return gold, nil
}
