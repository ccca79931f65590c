package hooks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vademecum/sync/journal"
)

// pastSessions writes transcripts of Claude Code as they are: questions,
// answers of some hundred bytes, tools that print some KB.
func pastSessions(b *testing.B, sessions, turns int) (list []Transcript, size int64) {
	dir := b.TempDir()
	words := strings.Fields("deploy branch release gate replica cache index commit journal provider vault merge")
	for s := range sessions {
		var w strings.Builder
		for n := range turns {
			at := time.Date(2026, 11, 1, 9, s%60, n%60, 0, time.UTC).Format(time.RFC3339)
			head := fmt.Sprintf(`"sessionId":"s%d","cwd":"/w","promptId":"p%d-%d","uuid":"u%d-%d","timestamp":%q`, s, s, n, s, n, at)
			say := strings.Repeat(fmt.Sprintf("%s %d of %s runs before %s %d. ", words[n%12], s, words[s%12], words[(n+s)%12], n), 8)
			fmt.Fprintf(&w, `{"type":"user",%s,"message":{"role":"user","content":"What does step %d of plan %d do?"}}`+"\n", head, n, s)
			fmt.Fprintf(&w, `{"type":"assistant",%s,"message":{"id":"m%d","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"make %s"}}]}}`+"\n", head, n, n, words[n%12])
			fmt.Fprintf(&w, `{"type":"user",%s,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%q}]},"toolUseResult":{"stdout":%q}}`+"\n",
				head, n, strings.Repeat(say+"\n", 8), strings.Repeat(say+"\n", 8))
			fmt.Fprintf(&w, `{"type":"assistant",%s,"message":{"id":"n%d","content":[{"type":"text","text":%q}]}}`+"\n", head, n, say)
		}
		path := filepath.Join(dir, fmt.Sprintf("s%d.jsonl", s))
		if err := os.WriteFile(path, []byte(w.String()), 0o600); err != nil {
			b.Fatal(err)
		}
		t, err := TranscriptAt("claude", path)
		if err != nil {
			b.Fatal(err)
		}
		t.Modified = t.Modified.Add(-24 * time.Hour)
		list, size = append(list, t), size+t.Size
	}
	return list, size
}

// BenchmarkBackfill compares a backfill with what the vault takes for keeping
// the same turns, and with reading alone.
func BenchmarkBackfill(b *testing.B) {
	const sessions, turns = 60, 30
	list, size := pastSessions(b, sessions, turns)
	read := func(b *testing.B, yield func([]*journal.Episode)) {
		for _, t := range list {
			var batch []*journal.Episode
			p := &Past{Now: time.Now}
			if _, err := p.Read(b.Context(), t, func(e *journal.Episode) error { batch = append(batch, e); return nil }); err != nil {
				b.Fatal(err)
			}
			yield(batch)
		}
	}
	// keeper keeps sessions four at a time, 120 turns, as the command does.
	keeper := func(b *testing.B) (take func([]*journal.Episode), end func()) {
		to, batch := captureIn(b), [][]*journal.Episode{}
		end = func() {
			for _, o := range to.ReceiveAll(b.Context(), batch) {
				if o.Err != nil || o.State != journal.Stored {
					b.Fatalf("%+v", o)
				}
			}
			batch = nil
		}
		return func(session []*journal.Episode) {
			if batch = append(batch, session); len(batch) == 4 {
				end()
			}
		}, end
	}
	rate := func(b *testing.B) {
		b.SetBytes(size)
		b.ReportMetric(float64(sessions*turns*b.N)/b.Elapsed().Seconds(), "turns/s")
	}
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			read(b, func([]*journal.Episode) {})
		}
		rate(b)
	})
	b.Run("keep", func(b *testing.B) {
		var all [][]*journal.Episode
		read(b, func(batch []*journal.Episode) { all = append(all, batch) })
		for b.Loop() {
			take, end := keeper(b)
			for _, session := range all {
				take(session)
			}
			end()
		}
		rate(b)
	})
	b.Run("both", func(b *testing.B) {
		for b.Loop() {
			take, end := keeper(b)
			sessions := make(chan []*journal.Episode)
			var reading sync.WaitGroup
			reading.Go(func() {
				defer close(sessions)
				read(b, func(s []*journal.Episode) { sessions <- s })
			})
			for s := range sessions {
				take(s)
			}
			reading.Wait()
			end()
		}
		rate(b)
	})
}
