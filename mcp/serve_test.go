package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	legacyStart = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
	modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
)

// answers are the results by id of what a server says.
func answers(t *testing.T, out string) map[int]string {
	t.Helper()
	found := map[int]string{}
	for line := range strings.Lines(out) {
		var msg struct {
			JSONRPC string `json:"jsonrpc"`
			ID      int
			Result  json.RawMessage
			Error   json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &msg); err != nil || msg.JSONRPC != "2.0" {
			t.Errorf("not a message: %s", line)
		}
		found[msg.ID] = string(msg.Result) + string(msg.Error)
	}
	return found
}

// slowOpener opens a vault after a while, as a locked one is.
func slowOpener(t *testing.T) Opener {
	open := testOpener(t)
	return func(ctx context.Context, agent string) (Vault, error) {
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return open(ctx, agent)
	}
}

func TestStdioFinishesCallsWhenInputEnds(t *testing.T) {
	const remember = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"remember","arguments":{"text":"said and hung up"}}}` + "\n"
	modern := strings.Replace(remember, `"params":{`, `"params":{`+modernMeta+`,`, 1)
	for era, in := range map[string]string{"legacy": legacyStart + remember, "modern": modern} {
		var out strings.Builder
		if err := ServeStdio(t.Context(), New("1", slowOpener(t)), strings.NewReader(in), &out); err != nil {
			t.Fatalf("%s: %v", era, err)
		}
		if got := answers(t, out.String()); !strings.Contains(got[2], "Remembered [") {
			t.Errorf("%s: the call was dropped: %s", era, out.String())
		}
	}
}

func TestStdioEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, client := io.Pipe()
	defer client.Close()
	answered, server := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- ServeStdio(ctx, New("1", testOpener(t)), in, server) }()
	go func() { _, _ = io.WriteString(client, legacyStart) }()
	if _, err := bufio.NewReader(answered).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the server goes on")
	}
}

func TestStdioSpeaksEveryRevision(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		var out strings.Builder
		in := strings.Replace(legacyStart, "2025-06-18", revision, 1) + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n"
		if err := ServeStdio(t.Context(), New("1", testOpener(t)), strings.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		got := answers(t, out.String())
		if !strings.Contains(got[1], `"protocolVersion":"`+revision+`"`) || !strings.Contains(got[2], `"name":"doctor"`) {
			t.Errorf("%s: %s", revision, out.String())
		}
	}
	var out strings.Builder
	in := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modernMeta + "}}\n"
	if err := ServeStdio(t.Context(), New("1", testOpener(t)), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	if got := answers(t, out.String())[1]; !strings.Contains(got, `"supportedVersions":["2026-07-28","2025-11-25"`) || !strings.Contains(got, `"cacheScope":"private"`) {
		t.Error(got)
	}
}

func TestListenRefusesOtherMachines(t *testing.T) {
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.com:0", "127.0.0.1.example.com:0", "127.0.0.1"} {
		l, err := Listen(t.Context(), addr)
		if err == nil {
			_ = l.Close()
			t.Errorf("%s was taken", addr)
		} else if addr != "127.0.0.1" && !errors.Is(err, ErrNotLoopback) {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

func TestHTTP(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l, err := Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- ServeHTTP(ctx, New("1", testOpener(t)), l) }()
	url := "http://" + l.Addr().String() + "/mcp"

	post := func(header http.Header, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		maps.Copy(req.Header, header)
		req.Host = header.Get("Host")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		raw, _ := io.ReadAll(resp.Body)
		if resp.Header.Get("Mcp-Session-Id") != "" {
			t.Error("a session was begun")
		}
		return resp.StatusCode, string(raw)
	}
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	modern := strings.Replace(list, `"tools/list"`, `"tools/list","params":{`+modernMeta+`}`, 1)
	for _, test := range []struct {
		name   string
		header http.Header
		body   string
		status int
		want   string
	}{
		{"an old client", nil, list, 200, `"name":"recall"`},
		{"a new client", http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/list"}}, modern, 200, `"cacheScope":"private"`},
		{"headers that do not match", http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}}, modern, 400, "-32020"},
		{"a web page elsewhere", http.Header{"Origin": {"https://evil.example"}}, list, 403, ""},
		{"a web page on another port", http.Header{"Sec-Fetch-Site": {"same-site"}}, list, 403, ""},
		{"a name that was rebound", http.Header{"Host": {"evil.example"}}, list, 403, ""},
	} {
		if status, body := post(test.header, test.body); status != test.status || !strings.Contains(body, test.want) {
			t.Errorf("%s: %d %s", test.name, status, body)
		}
	}

	c, err := sdk.NewClient(&sdk.Implementation{Name: "t"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := call(t, c, "remember", `{"text":"over HTTP"}`)
	again, _ := call(t, c, "recall", `{"query":"HTTP"}`)
	if !strings.Contains(text, "Remembered") || !strings.Contains(again, "> over HTTP\n") {
		t.Error(text, again)
	}
	_ = c.Close()
	cancel()
	if err := <-done; err != nil && !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}
