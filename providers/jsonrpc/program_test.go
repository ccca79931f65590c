package jsonrpc

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vademecum/providers"
)

// TestMain is also the program behind the provider, by JSONRPC_DO.
func TestMain(m *testing.M) {
	do, ok := programs[os.Getenv("JSONRPC_DO")]
	if !ok {
		os.Exit(m.Run())
	}
	f, err := os.OpenFile("runs", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(f, os.Getpid())
	_ = f.Close()
	serve(do)
	os.Exit(0)
}

// call is what a program was asked.
type call struct {
	ID     string          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	line   string
}

// able is how most programs answer vade.initialize.
const able = `{"protocol":"vade.provider/1","name":"fake","version":"7","capabilities":{"put_batch":true,"delete":true,"max_in_flight":4,"score":"similarity"}}`

// programs answer a call with a result, an error ("!CODE MESSAGE") or nothing ("").
var programs = map[string]func(c call) string{
	"echo": func(c call) string { // a hit with the request as text
		switch c.Method {
		case "vade.initialize":
			return able
		case "vade.put":
			return `{"state":"stored","refs":["r1"]}`
		}
		text, _ := json.Marshal(c.line)
		return fmt.Sprintf(`{"hits":[{"ref":"1","text":%s},{"ref":"%d","text":"who","score":"NaN"},{"text":"no ref"}],"version":"","warnings":["w"]}`, text, os.Getpid())
	},
	"old": func(c call) string { // knows no initialize, and ends when stdin does
		if c.Method == "vade.put" {
			return `{"state":"stored","refs":["1"]}`
		}
		return "!-32601 no such method"
	},
	"one-shot": func(c call) string {
		if c.Method == "vade.initialize" {
			return strings.Replace(able, `{`, `{"one_shot":true,`, 1)
		}
		return `{"state":"stored","refs":["1"]}`
	},
	"v2": func(call) string { return `{"protocol":"vade.provider/2"}` },
	"as told": func(c call) string { // by the text of the search or the item, or the ref
		if c.Method == "vade.initialize" {
			return able
		}
		var p struct {
			Text, Ref string
			Item      struct{ Text string }
		}
		_ = json.Unmarshal(c.Params, &p)
		return p.Text + p.Ref + p.Item.Text
	},
	"names itself": func(c call) string { // after what it was given
		return strings.ReplaceAll(able, `"7"`, strconv.Quote("7 "+os.Getenv("PASSWORD")))
	},
	"dies": func(c call) string {
		if c.Method == "vade.initialize" {
			return able
		}
		fmt.Fprintln(os.Stderr, "cannot open the store: password hunter2-and-more is wrong")
		os.Exit(3)
		return ""
	},
	"dies at once": func(call) string {
		os.Exit(4)
		return ""
	},
	"hangs": func(c call) string {
		if c.Method == "vade.initialize" {
			return able
		}
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Hour)
		return ""
	},
	"lingers": func(c call) string { // it answers, and does not end
		if c.Method == "vade.initialize" {
			return able
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%q,"result":{"state":"stored","refs":["1"]}}`+"\n", c.ID)
		time.Sleep(time.Hour)
		return ""
	},
	"noise": func(c call) string {
		if c.Method != "vade.initialize" {
			fmt.Println("debug: opening the store")
		}
		return able
	},
	"blurts": func(c call) string { // a secret, where what is quoted of the line is cut
		if c.Method != "vade.initialize" {
			fmt.Println(strings.Repeat("x", 70), os.Getenv("PASSWORD"))
		}
		return able
	},
	"endless": func(c call) string {
		if c.Method == "vade.initialize" {
			return able
		}
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<20)); err != nil {
				os.Exit(0)
			}
		}
	},
	"wrong id": func(c call) string {
		if c.Method != "vade.initialize" {
			fmt.Println(`{"jsonrpc":"2.0","id":"another","result":{}}`)
		}
		return able
	},
	"cannot read": func(c call) string {
		if c.Method != "vade.initialize" {
			fmt.Println(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no JSON"}}`)
			return ""
		}
		return able
	},
	"batch": func(c call) string {
		if c.Method == "vade.initialize" {
			return able
		}
		return `{"results":[{"state":"stored","refs":["a"]},{"error":{"code":-32006,"message":"too long"}},{"state":"empty"}]}`
	},
	"paxm": func(c call) string {
		switch c.Method {
		case "paxm.capabilities":
			return `{"put_batch":true,"delete":true,"attribution":true}`
		case "paxm.health":
			return `true`
		case "paxm.put":
			return `{"ref":{"id":"m-1"}}`
		case "paxm.putBatch":
			return `{"refs":[{"id":"m-1"},{"id":"m-2"}]}`
		case "paxm.delete":
			return `{"deleted":true}`
		case "paxm.search":
			text, _ := json.Marshal(c.line)
			return fmt.Sprintf(`{"hits":[{"id":"m-1","text":%s,"relevance":0.5,"score":0.5,"metadata":{"vault_id":"a","vault_rev":"v1","vault_part":"2/3"},"created_at":"2026-11-30T16:01:00Z"},{"id":"m-2","text":"y","relevance":0.1,"score":0.1,"metadata":null}]}`, text)
		}
		return "!-32601 no"
	},
	"slow start": func(c call) string {
		if c.Method == "vade.initialize" {
			time.Sleep(500 * time.Millisecond)
			return able
		}
		return `{}`
	},
	"waits": waits,
}

var waiting sync.Map // id of a search → chan that ends it

// waits answers a search when it is cancelled, or when its time is over; and
// health with how many searches wait.
func waits(c call) string {
	switch c.Method {
	case "vade.initialize":
		return able
	case "vade.cancel":
		var p struct{ ID string }
		_ = json.Unmarshal(c.Params, &p)
		if end, ok := waiting.Load(p.ID); ok {
			close(end.(chan struct{}))
		}
		return ""
	case "vade.search":
		var p struct {
			Deadline int64 `json:"deadline_ms"`
		}
		_ = json.Unmarshal(c.Params, &p)
		end := make(chan struct{})
		waiting.Store(c.ID, end)
		select {
		case <-end:
			_ = os.WriteFile("cancelled", nil, 0o600)
		case <-time.After(10 * time.Second):
		}
		waiting.Delete(c.ID)
		return "!-32800 cancelled"
	case "vade.health":
		n := 0
		waiting.Range(func(any, any) bool { n++; return true })
		return fmt.Sprintf(`{"version":"%d"}`, n)
	}
	return "!-32601 no"
}

// serve reads requests from stdin, and answers several at once.
func serve(do func(call) string) {
	var mu sync.Mutex
	r := bufio.NewReader(os.Stdin)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		c := call{line: strings.TrimSpace(line)}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			panic(err)
		}
		answer := func() {
			text := do(c)
			mu.Lock()
			defer mu.Unlock()
			if code, msg, ok := strings.Cut(strings.TrimPrefix(text, "!"), " "); ok && text[0] == '!' {
				msg, data, _ := strings.Cut(msg, "|")
				if data == "" {
					data = "null"
				}
				fmt.Printf(`{"jsonrpc":"2.0","id":%q,"error":{"code":%s,"message":%q,"data":%s}}`+"\n", c.ID, code, msg, data)
			} else if text != "" {
				fmt.Printf(`{"jsonrpc":"2.0","id":%q,"result":%s}`+"\n", c.ID, text)
			}
		}
		if c.Method == "vade.search" && os.Getenv("JSONRPC_DO") == "waits" {
			go answer()
		} else {
			answer()
		}
	}
}

// open returns the program do as a provider.
func open(t *testing.T, do string, change func(*Config)) (providers.Provider, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "own")
	c := Config{Name: "own", Command: os.Args[0], Dir: dir, Env: map[string]string{"JSONRPC_DO": do, "PASSWORD": "hunter2-and-more"}}
	c.endPatience = 500 * time.Millisecond
	if change != nil {
		change(&c)
	}
	p, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = providers.Close(p) })
	return p, dir
}

// remembered is what a program with able would be opened with.
func remembered(mode Mode) func(*Config) {
	return func(c *Config) {
		a, err := parseAbilities([]byte(able))
		if err != nil {
			panic(err)
		}
		c.Abilities, c.Mode = &a, mode
	}
}

// runs are the processes that were started in dir.
func runs(t *testing.T, dir string) (pids []int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "runs"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.FieldsSeq(string(b)) {
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

func item(id, text string) providers.Item {
	return providers.Item{ID: id, Version: "v1", Parts: 1, Vault: "vault", Title: "A title", Text: text}
}
