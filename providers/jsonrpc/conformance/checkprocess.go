package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"vademecum/providers"
	"vademecum/providers/jsonrpc"
)

// question is one of very many words, which takes its time.
func question(first string) string {
	var b strings.Builder
	b.WriteString(first)
	for n := range 6000 {
		fmt.Fprintf(&b, " word%d", n)
	}
	return b.String()
}

// deadline: an answer, whatever it says, comes within twice the time.
func (k *kit) deadline(ctx context.Context) error {
	const given = 500 * time.Millisecond
	if err := k.health(ctx); err != nil { // it is warm
		return err
	}
	began := time.Now()
	_, err := k.call(ctx, "vade.search", map[string]any{"text": question(k.word()), "limit": 5, "deadline_ms": given.Milliseconds()})
	if err != nil {
		return err
	}
	took := time.Since(began)
	if k.mode == jsonrpc.OneShot {
		return measured(fmt.Sprintf("answered after %d ms, with the start of the process", took.Milliseconds()))
	}
	if took > 2*given {
		return fmt.Errorf("a search that was given %s took %s", given, took.Round(time.Millisecond))
	}
	return nil
}

// cancel: what was cancelled is answered all the same, and nothing else is.
func (k *kit) cancel(ctx context.Context) error {
	if err := k.longLived(); err != nil {
		return err
	}
	c, err := k.live(ctx)
	if err != nil {
		return err
	}
	search := k.send(c, "vade.search", map[string]any{"text": question(k.word()), "limit": 5})
	k.notify(c, "vade.cancel", map[string]any{"id": search})
	k.notify(c, "vade.cancel", map[string]any{"id": "never-sent"})
	if _, err := k.await(ctx, c, search); err != nil {
		return fmt.Errorf("the cancelled request: %w", err)
	}
	health := k.send(c, "vade.health", map[string]any{})
	if _, err := result[json.RawMessage](k.await(ctx, c, health)); err != nil {
		return fmt.Errorf("after a cancel: %w", err)
	}
	if len(c.waited) > 0 {
		return fmt.Errorf("a notification was answered")
	}
	return nil
}

// concurrency: as many requests at once as were declared, each gets its answer.
func (k *kit) concurrency(ctx context.Context) error {
	if err := k.longLived(); err != nil {
		return err
	}
	n := min(k.able.Capabilities.MaxInFlight, 8)
	if n < 2 {
		return skip("max_in_flight is 1")
	}
	words, items := make([]string, n), make([]providers.Item, n)
	for x := range n {
		words[x] = k.word()
		items[x] = k.item(words[x] + " among others")
	}
	if _, err := k.putAll(ctx, items...); err != nil {
		return err
	}
	c, err := k.live(ctx)
	if err != nil {
		return err
	}
	return k.until(func() error {
		ids := make([]string, n)
		for x := range n {
			ids[x] = k.send(c, "vade.search", map[string]any{"text": words[x], "limit": 1})
		}
		for x := range n {
			r, err := result[hits](k.await(ctx, c, ids[x]))
			if err != nil {
				return fmt.Errorf("request %d of %d: %w", x+1, n, err)
			}
			if len(r.Hits) != 1 || k.able.Capabilities.Attribution && r.Hits[0].ID != items[x].ID {
				return fmt.Errorf("request %d of %d got the answer to another", x+1, n)
			}
		}
		return nil
	})
}

// restart: what was stored before a peaceful end is there afterwards.
func (k *kit) restart(ctx context.Context) error {
	word := k.word()
	i := k.item(word + " over the winter")
	refs, err := k.put(ctx, i)
	if err != nil {
		return err
	}
	k.end()
	return k.until(func() error {
		found, err := k.held(ctx, i, word)
		if err == nil {
			_, err = the(refs[0], found)
		}
		return err
	})
}

// killed: what was answered with stored is there after kill -9 in the middle of
// the next put.
func (k *kit) killed(ctx context.Context) error {
	if err := k.longLived(); err != nil {
		return err
	}
	const puts = 20
	var items []providers.Item
	var words []string
	var refs []providers.Ref
	for range puts {
		word := k.word()
		i := k.item(word + " before the lights go out")
		got, err := k.put(ctx, i)
		if err != nil {
			return err
		}
		items, words, refs = append(items, i), append(words, word), append(refs, got[0])
	}
	c, err := k.live(ctx)
	if err != nil {
		return err
	}
	k.send(c, "vade.put", map[string]any{"item": jsonrpc.ToWire(k.item(strings.Repeat("in the middle ", 10_000)))})
	c.proc.Kill()
	k.end()
	for x := range puts {
		if err := k.until(func() error {
			found, err := k.held(ctx, items[x], words[x])
			if err == nil {
				_, err = the(refs[x], found)
			}
			return err
		}); err != nil {
			return fmt.Errorf("stored, and gone after kill -9: put %d of %d: %w", x+1, puts, err)
		}
	}
	return nil
}

// soak: calls and calls, and neither files nor memory are lost.
func (k *kit) soak(ctx context.Context) error {
	warm := max(k.Soak/5, 1)
	var before usage
	times := make([]time.Duration, 0, k.Soak)
	for n := range k.Soak {
		if n == warm {
			before = k.usage()
		}
		began := time.Now()
		if err := k.soakCall(ctx, n); err != nil {
			return fmt.Errorf("call %d: %w", n+1, err)
		}
		times = append(times, time.Since(began))
	}
	after := k.usage()
	slices.Sort(times)
	says := fmt.Sprintf("%d calls, p50 %.1f ms, p95 %.1f ms", len(times), ms(times[len(times)/2]), ms(times[len(times)*95/100]))
	if before.files == 0 || after.files == 0 {
		return measured(says)
	}
	says += fmt.Sprintf("; %d to %d files, %d to %d MiB", before.files, after.files, before.memory>>20, after.memory>>20)
	if after.files > before.files+before.files/10+4 || after.memory > before.memory+before.memory/10+16<<20 {
		return fmt.Errorf("it grows: %s", says)
	}
	return measured(says)
}

func (k *kit) soakCall(ctx context.Context, n int) error {
	switch n % 4 {
	case 0:
		_, err := k.put(ctx, k.item("a memory of the soak "+k.word()))
		return err
	case 1:
		return k.health(ctx)
	default:
		_, err := k.search(ctx, "soak memory", 5, nil)
		return err
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// usage is what a process has open, and its memory in bytes; zero where that is
// not told.
type usage struct{ files, memory int }
