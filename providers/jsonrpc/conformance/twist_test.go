package conformance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// object is a JSON object.
type object = map[string]any

// twist is one fault. Each func may be nil.
type twist struct {
	check string // the one that must fail
	// in sees each line from vade before the good program does; false: it does not.
	in func(p *proxy, line []byte, r object) bool
	// out may change an answer; the request that it answers is r.
	out func(p *proxy, r, answer object)
	// shadow: the good program works in a folder of which a copy is made only at
	// a peaceful end.
	shadow bool
}

// twists are the deliberately broken programs: the Go example behind a proxy
// with one fault each.
var twists = map[string]twist{
	"talks on stdout": {check: "stdout-noise", in: func(p *proxy, _ []byte, r object) bool {
		if r["method"] == "vade.health" {
			p.print("DEBUG health was asked")
		}
		return true
	}},
	"knows every method": {check: "unknown-method", out: func(_ *proxy, _, answer object) {
		if e, ok := answer["error"].(object); ok && e["code"] == -32601.0 {
			delete(answer, "error")
			answer["result"] = object{}
		}
	}},
	"dies of half a line": {check: "malformed-line", in: func(_ *proxy, _ []byte, r object) bool {
		if r == nil {
			os.Exit(1)
		}
		return true
	}},
	"reads 64 KiB a line": {check: "big-item", in: func(_ *proxy, line []byte, r object) bool {
		if len(line) > 64<<10 && r["method"] == "vade.put" {
			os.Exit(1)
		}
		return true
	}},
	"tidies up line ends": {check: "unicode", out: func(_ *proxy, _, answer object) {
		each(answer, func(h object) { h["text"] = strings.ReplaceAll(fmt.Sprint(h["text"]), "\r\n", "\n") })
	}},
	"mixes up a batch": {check: "put-batch", out: func(_ *proxy, _, answer object) {
		if result, ok := answer["result"].(object); ok && result["results"] != nil {
			slices.Reverse(result["results"].([]any))
		}
	}},
	"keeps two copies": {check: "same-key-twice", in: func(p *proxy, _ []byte, r object) bool {
		if r["method"] == "vade.put" {
			item := r["params"].(object)["item"].(object)
			if key := fmt.Sprint(item["key"]); p.seen[key] {
				item["part"] = 7
			} else {
				p.seen[key] = true
			}
		}
		return true
	}},
	"keeps the old version": {check: "new-version", in: func(_ *proxy, _ []byte, r object) bool {
		if r["method"] == "vade.put" {
			if item := r["params"].(object)["item"].(object); item["version"] == "v2" {
				item["version"] = "v1"
			}
		}
		return true
	}},
	"forgets whose it is": {check: "search-fidelity", out: func(_ *proxy, r, answer object) {
		if r["method"] == "vade.search" {
			each(answer, func(h object) { delete(h, "vault") })
		}
	}},
	"worst first": {check: "ranking", out: func(_ *proxy, r, answer object) {
		if found := list(answer); r["method"] == "vade.search" {
			slices.Reverse(found)
			for n, h := range found {
				h.(object)["score"] = 1.0 / float64(n+1)
			}
		}
	}},
	"calls a distance similarity": {check: "score-kind", out: func(_ *proxy, r, answer object) {
		if r["method"] == "vade.search" {
			each(answer, func(h object) { h["score"] = 1 / (1 + h["score"].(float64)) })
		}
	}},
	"knows no limit": {check: "limit", in: func(_ *proxy, _ []byte, r object) bool {
		if p, ok := r["params"].(object); ok && r["method"] == "vade.search" && p["limit"] == 2.0 {
			p["limit"] = 50
		}
		return true
	}},
	"ignores the workspace": {check: "filter", in: func(_ *proxy, _ []byte, r object) bool {
		if p, ok := r["params"].(object); ok {
			delete(p, "workspace")
		}
		return true
	}},
	"lists for ever": {check: "list", out: func(_ *proxy, r, answer object) {
		if r["method"] == "vade.list" && list(answer) == nil {
			return
		} else if r["method"] == "vade.list" {
			answer["result"].(object)["next"] = fmt.Sprintf("%v", answer["id"])
		}
	}},
	"only says that it deletes": {check: "delete", in: func(p *proxy, _ []byte, r object) bool {
		if r["method"] == "vade.delete" {
			p.answer(object{"jsonrpc": "2.0", "id": r["id"], "result": object{"state": "deleted"}})
			return false
		}
		return true
	}},
	"misses what it cannot delete": {check: "delete-missing", in: func(p *proxy, _ []byte, r object) bool {
		if o, ok := r["params"].(object); ok && r["method"] == "vade.delete" && strings.HasPrefix(fmt.Sprint(o["ref"]), "no-such") {
			p.answer(object{"jsonrpc": "2.0", "id": r["id"], "error": object{"code": -32004, "message": "no such thing"}})
			return false
		}
		return true
	}},
	"never gets there": {check: "resolve", out: func(_ *proxy, r, answer object) {
		if r["method"] == "vade.resolve" {
			answer["result"] = object{"state": "accepted", "handle": "h"}
		}
	}},
	"never expires": {check: "expired", in: func(_ *proxy, _ []byte, r object) bool {
		if r["method"] == "vade.put" {
			delete(r["params"].(object)["item"].(object), "expires")
		}
		return true
	}},
	"takes its time": {check: "deadline", in: func(_ *proxy, line []byte, r object) bool {
		if p, ok := r["params"].(object); ok && len(line) > 32<<10 && p["deadline_ms"] != nil {
			time.Sleep(1500 * time.Millisecond)
		}
		return true
	}},
	"answers a cancel": {check: "cancel", in: func(p *proxy, _ []byte, r object) bool {
		if r["method"] == "vade.cancel" {
			p.answer(object{"jsonrpc": "2.0", "id": nil, "error": object{"code": -32601, "message": "no method"}})
			return false
		}
		return true
	}},
	"writes at the end": {check: "killed", shadow: true},
	"hoards": {check: "soak", in: func(p *proxy, _ []byte, r object) bool {
		if r["method"] == "vade.health" || r["method"] == "vade.search" {
			p.hoard = append(p.hoard, strings.Repeat("x", 2<<20))
		}
		return true
	}},
	"only says that it purges": {check: "purge", in: func(p *proxy, _ []byte, r object) bool {
		if r["method"] == "vade.purge" {
			p.answer(object{"jsonrpc": "2.0", "id": r["id"], "result": object{"removed": 3}})
			return false
		}
		return true
	}},
}

func list(answer object) []any {
	result, _ := answer["result"].(object)
	found, _ := result["hits"].([]any)
	return found
}

func each(answer object, do func(h object)) {
	for _, h := range list(answer) {
		do(h.(object))
	}
}

// proxy stands between vade and the good program.
type proxy struct {
	twist twist
	mu    sync.Mutex
	asked map[string]object // by id
	seen  map[string]bool
	hoard []string
}

func (p *proxy) print(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Println(line)
}

func (p *proxy) answer(o object) {
	line, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	p.print(string(line))
}

// run is the broken program.
func (p *proxy) run(program string) error {
	cmd := exec.Command(program)
	cmd.Stderr = os.Stderr
	if p.twist.shadow {
		shadow, err := os.MkdirTemp("", "shadow-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(shadow)
		if cmd.Dir = shadow; os.CopyFS(shadow, os.DirFS(".")) != nil {
			return fmt.Errorf("no shadow")
		}
		defer func() {
			_ = os.RemoveAll("memories")
			_ = os.CopyFS(".", os.DirFS(shadow))
		}()
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var answers sync.WaitGroup
	answers.Go(func() { p.back(out) })
	p.forth(in)
	_ = in.Close()
	answers.Wait()
	return cmd.Wait()
}

func (p *proxy) forth(in io.Writer) {
	r := bufio.NewReader(os.Stdin)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var o object
		if json.Unmarshal(line, &o) != nil {
			o = nil
		}
		if p.twist.in != nil && !p.twist.in(p, line, o) {
			continue
		}
		if o != nil {
			p.mu.Lock()
			p.asked[fmt.Sprint(o["id"])] = o
			p.mu.Unlock()
			line, _ = json.Marshal(o)
			line = append(line, '\n')
		}
		_, _ = in.Write(line)
	}
}

func (p *proxy) back(out io.Reader) {
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var o object
		if json.Unmarshal(line, &o) != nil {
			panic(string(line))
		}
		if p.twist.out != nil {
			p.mu.Lock()
			asked := p.asked[fmt.Sprint(o["id"])]
			p.mu.Unlock()
			p.twist.out(p, asked, o)
		}
		p.answer(o)
	}
}

// twisted is the broken program that TWIST names, in front of PROGRAM.
func twisted() error {
	t, ok := twists[os.Getenv("TWIST")]
	if !ok {
		return fmt.Errorf("no twist %q", os.Getenv("TWIST"))
	}
	p := &proxy{twist: t, asked: map[string]object{}, seen: map[string]bool{}}
	return p.run(filepath.Clean(os.Getenv("PROGRAM")))
}
