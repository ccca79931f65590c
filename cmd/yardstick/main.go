// Yardstick holds what vade is measured against: the full-text engines that
// other memory tools use, fed and asked as those tools do it. It is a program
// of its own because vade must not link them: bleve alone costs more at every
// start than vade does in all. People do not run it; "vade bench" does.
//
//	yardstick build ENGINE NOTES INDEX   makes the index of a folder of markdown files
//	yardstick ask ENGINE=INDEX…          answers questions, see package protocol
//
// ENGINE is one of fts5, bleve and bleve-bm25.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"vademecum/cmd/yardstick/protocol"
)

func main() {
	debug.SetGCPercent(400) // as vade does
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "yardstick: %v\n", err)
		os.Exit(1)
	}
}

// engine is one index that is open for questions.
type engine interface {
	// Search returns the paths of the best notes for text, none of whose
	// characters has a special meaning.
	Search(text string, limit int) ([]string, error)
	Close() error
}

// kind knows how to make and open the indexes of one engine.
type kind struct {
	build func(notes, index string) (protocol.Built, error)
	open  func(index string) (engine, error)
}

func kindOf(name string) (kind, error) {
	switch name {
	case "fts5":
		return kind{buildFTS5, openFTS5}, nil
	case "bleve":
		return kind{func(notes, index string) (protocol.Built, error) { return buildBleve(notes, index, "") }, openBleve}, nil
	case "bleve-bm25":
		return kind{func(notes, index string) (protocol.Built, error) { return buildBleve(notes, index, "bm25") }, openBleve}, nil
	}
	return kind{}, fmt.Errorf("engine %q is unknown; use fts5, bleve or bleve-bm25", name)
}

var errUsage = errors.New("use: yardstick build ENGINE NOTES INDEX, or yardstick ask ENGINE=INDEX…")

func run(args []string, in io.Reader, out io.Writer) error {
	switch {
	case len(args) == 4 && args[0] == "build":
		k, err := kindOf(args[1])
		if err != nil {
			return err
		}
		built, err := k.build(args[2], args[3])
		if err != nil {
			return fmt.Errorf("build %s of %s: %w", args[1], args[2], err)
		}
		return json.NewEncoder(out).Encode(built)
	case len(args) > 1 && args[0] == "ask":
		return ask(args[1:], in, out)
	}
	return errUsage
}

// ask answers questions until there are no more.
func ask(indexes []string, in io.Reader, out io.Writer) error {
	engines := map[string]engine{}
	for _, arg := range indexes {
		name, index, _ := strings.Cut(arg, "=")
		k, err := kindOf(name)
		if err != nil {
			return err
		}
		e, err := k.open(index)
		if err != nil {
			return fmt.Errorf("open %s %s: %w", name, index, err)
		}
		defer e.Close()
		engines[name] = e
	}
	questions, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q protocol.Question
		if err := questions.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := answers.Encode(answer(engines[q.Engine], q)); err != nil {
			return err
		}
	}
}

func answer(e engine, q protocol.Question) protocol.Answer {
	if e == nil {
		return protocol.Answer{Error: fmt.Sprintf("engine %q is not open", q.Engine)}
	}
	cpu, start := protocol.CPU(), time.Now()
	hits, err := e.Search(q.Text, q.Limit)
	a := protocol.Answer{Hits: hits, Wall: int64(time.Since(start)), CPU: int64(protocol.CPU() - cpu)}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}
