package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"vademecum/cmd/yardstick/protocol"
	"vademecum/index"
	"vademecum/vault"
)

// benchLimit is how many hits a question asks for.
const benchLimit = 5

// build compares making an index with what it costs the others.
func (b *bench) build(ctx context.Context) error {
	for _, size := range b.sizes {
		v, err := b.vaultOf(ctx, size)
		if err != nil {
			return err
		}
		if err := b.indexed(ctx, v); err != nil {
			return err
		}
		text, mine := float64(v.text)/(1<<20), v.built[ours]
		b.add(measure{Name: "index: size", Size: size, Ours: mine.size, Theirs: text, Unit: "MiB", Allowed: 2, Yard: "the text"})
		b.add(measure{Name: "index: peak memory", Size: size, Ours: mine.peak, Unit: "MiB", Allowed: 500, Absolute: true, Yard: "-"})
		for _, e := range b.engines {
			theirs, allowed := v.built[e], 0.0
			if e == fts5 {
				allowed = 8
			}
			b.add(measure{Name: "index: CPU to build", Size: size, Ours: mine.cpu, Theirs: theirs.cpu, Unit: "s", Allowed: allowed, Yard: engineTitle(e)})
			b.add(measure{Name: "index: peak memory", Size: size, Ours: mine.peak, Theirs: theirs.peak, Unit: "MiB", Yard: engineTitle(e)})
			b.add(measure{Name: "index: size", Size: size, Ours: mine.size, Theirs: theirs.size, Unit: "MiB", Yard: engineTitle(e)})
		}
		for _, e := range append([]string{ours}, b.engines...) {
			x := v.built[e]
			b.draw("build-cpu", "Building the index", "processor time, s", engineTitle(e), size, x.cpu)
			b.draw("build-memory", "Building the index", "peak memory, MiB", engineTitle(e), size, x.peak)
			b.draw("index-size", "Size of the index", "bytes per byte of text", engineTitle(e), size, x.size/text)
		}
	}
	return nil
}

// searchRounds is how often each question is asked and counts; it is asked
// once more before, to warm what there is to warm.
const searchRounds = 3

// search compares questions inside one process: ours here, the others in
// theirs, question by question in turn.
func (b *bench) search(ctx context.Context) error {
	for _, size := range b.sizes {
		v, err := b.vaultOf(ctx, size)
		if err != nil {
			return err
		}
		if err := b.indexed(ctx, v); err != nil {
			return err
		}
		if err := b.searchIn(ctx, v, size); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) searchIn(ctx context.Context, v *benchVault, size int) error {
	classes, err := questionsOf(v.vault, b.questions)
	if err != nil {
		return err
	}
	us, err := openInProcess(ctx, v)
	if err != nil {
		return err
	}
	defer us.close()
	them, err := b.rivals(ctx, v)
	if err != nil {
		return err
	}
	for _, class := range classes {
		times, err := b.askInTurn(ctx, class, us, them)
		if err != nil {
			return err
		}
		b.addLatencies(class.name, size, times)
	}
	return them.close()
}

// latencies are what the questions of one class cost one engine.
type latencies struct {
	wall  []time.Duration
	cpu   time.Duration // of all
	found int           // questions whose one note was among the hits
}

func (l *latencies) add(a protocol.Answer, note string) {
	l.wall = append(l.wall, time.Duration(a.Wall))
	l.cpu += time.Duration(a.CPU)
	if note != "" && slices.Contains(a.Hits, note) {
		l.found++
	}
}

// at is the quantile q of the wall times, in milliseconds.
func (l *latencies) at(q float64) float64 {
	slices.Sort(l.wall)
	return float64(l.wall[min(int(q*float64(len(l.wall))), len(l.wall)-1)].Nanoseconds()) / 1e6
}

func (l *latencies) meanCPU() float64 { return l.cpu.Seconds() * 1000 / float64(len(l.wall)) }

func (b *bench) askInTurn(ctx context.Context, class questionClass, us *inProcess, them *rival) (map[string]*latencies, error) {
	times := map[string]*latencies{}
	order := append([]string{ours}, b.engines...)
	for _, e := range order {
		times[e] = &latencies{}
	}
	for round := range searchRounds + 1 {
		for i, text := range class.asked {
			note := ""
			if class.note != nil {
				note = class.note[i]
			}
			for k := range order {
				e := order[(i+k)%len(order)]
				var a protocol.Answer
				var err error
				if e == ours {
					a, err = us.ask(ctx, text)
				} else {
					a, err = them.ask(e, text)
				}
				if err != nil {
					return nil, err
				}
				if round > 0 {
					times[e].add(a, note)
				}
			}
		}
	}
	return times, nil
}

// addLatencies notes what a class of questions cost. Only natural questions
// have targets.
func (b *bench) addLatencies(class string, size int, times map[string]*latencies) {
	mine := times[ours]
	for _, e := range b.engines {
		theirs, allowed := times[e], 0.0
		if class == "English question" && size*b.size >= 20<<20 { // the targets are for large vaults
			allowed = map[string]float64{fts5: 0.02, bleve: 1}[e]
		}
		name, yard := "search: "+class, engineTitle(e)
		b.add(measure{Name: name + ", p50", Size: size, Ours: mine.at(.5), Theirs: theirs.at(.5), Unit: "ms", Allowed: allowed, Yard: yard})
		b.add(measure{Name: name + ", p99", Size: size, Ours: mine.at(.99), Theirs: theirs.at(.99), Unit: "ms", Yard: yard})
		b.add(measure{Name: name + ", CPU", Size: size, Ours: mine.meanCPU(), Theirs: theirs.meanCPU(), Unit: "ms", Yard: yard})
		if mine.found+theirs.found > 0 {
			b.add(measure{Name: name + ", note found", Size: size, Ours: float64(mine.found) / searchRounds, Theirs: float64(theirs.found) / searchRounds, Unit: "", Yard: yard})
		}
	}
	for _, e := range append([]string{ours}, b.engines...) {
		b.drawBar(fmt.Sprintf("search-%d", size), fmt.Sprintf("Search in %d memories, warm", size), "median, ms", engineTitle(e), class, times[e].at(.5))
	}
}

// inProcess asks our index in this process.
type inProcess struct {
	vault    *vault.Vault
	snapshot *vault.Snapshot
	index    *index.Index
}

func openInProcess(ctx context.Context, v *benchVault) (*inProcess, error) {
	p := &inProcess{}
	var err error
	if p.vault, err = vault.Open(vault.Options{Dir: filepath.Dir(v.vault), Identity: "bench"}); err != nil {
		return nil, err
	}
	if p.snapshot, err = p.vault.Snapshot(ctx); err != nil {
		return nil, err
	}
	p.index, err = index.Open(p.vault.IndexDir(), index.Options{})
	return p, err
}

func (p *inProcess) close() {
	p.index.Close()
	p.vault.Close()
}

// ask answers text as recall does, excerpts and all.
func (p *inProcess) ask(ctx context.Context, text string) (protocol.Answer, error) {
	cpu, start := protocol.CPU(), time.Now()
	r, err := p.index.Search(ctx, p.snapshot, vault.Query{Text: text, Limit: benchLimit, AllWorkspaces: true})
	a := protocol.Answer{Wall: int64(time.Since(start)), CPU: int64(protocol.CPU() - cpu)}
	for _, h := range r.Hits {
		a.Hits = append(a.Hits, h.Path)
	}
	if err == nil && r.Stats.InMemory > 0 {
		err = fmt.Errorf("%d of %d memories are not in the index", r.Stats.InMemory, r.Stats.Notes)
	}
	return a, err
}
