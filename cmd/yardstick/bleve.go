package main

import (
	"github.com/blevesearch/bleve/v2"

	"vademecum/cmd/yardstick/protocol"
)

// stock is bleve as it comes: its default mapping (the analyzer "standard",
// text stored, term vectors, the field _all) and a match query.
type stock struct{ index bleve.Index }

var _ engine = (*stock)(nil)

// batchSize is how many notes are indexed at once, as bleve's own beer-search
// example does it.
const batchSize = 100

// buildBleve makes an index that scores by model; "" is bleve's default, tf-idf.
func buildBleve(notes, index, model string) (built protocol.Built, err error) {
	mapping := bleve.NewIndexMapping()
	if model != "" {
		mapping.ScoringModel = model
	}
	x, err := bleve.New(index, mapping)
	if err != nil {
		return built, err
	}
	defer func() {
		if closeErr := x.Close(); err == nil {
			err = closeErr
		}
	}()
	batch := x.NewBatch()
	for n, err := range notesIn(notes) {
		if err != nil {
			return built, err
		}
		if err := batch.Index(n.path, map[string]any{"text": n.text}); err != nil {
			return built, err
		}
		built.Notes++
		built.Bytes += int64(len(n.text))
		if batch.Size() >= batchSize {
			if err := x.Batch(batch); err != nil {
				return built, err
			}
			batch.Reset()
		}
	}
	return built, x.Batch(batch)
}

func openBleve(index string) (engine, error) {
	x, err := bleve.Open(index)
	if err != nil {
		return nil, err
	}
	return &stock{x}, nil
}

func (s *stock) Close() error { return s.index.Close() }

func (s *stock) Search(text string, limit int) ([]string, error) {
	r, err := s.index.Search(bleve.NewSearchRequestOptions(bleve.NewMatchQuery(text), limit, 0, false))
	if err != nil {
		return nil, err
	}
	var hits []string
	for _, h := range r.Hits {
		hits = append(hits, h.ID)
	}
	return hits, nil
}
