package install

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fake is set for the process that plays a program which is asked something.
const fake = "INSTALL_TEST_FAKE"

func TestMain(m *testing.M) {
	if lines := os.Getenv(fake); lines != "" {
		play(strings.Split(lines, "\n"))
		return
	}
	os.Exit(m.Run())
}

// play answers each request with the next of the results; "end" ends, and what
// is no JSON is printed as it is.
func play(results []string) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var request struct {
			ID any `json:"id"`
		}
		if json.Unmarshal(in.Bytes(), &request) != nil || request.ID == nil {
			continue
		}
		if len(results) == 0 || results[0] == "end" {
			return
		}
		fmt.Println(`{"jsonrpc":"2.0","method":"notifications/something"}`)
		if rest, ok := strings.CutPrefix(results[0], "{"); ok {
			fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%v,%s\n", request.ID, rest)
		} else {
			fmt.Println(results[0])
		}
		results = results[1:]
	}
}

func TestCodexTrust(t *testing.T) {
	const hook = `{"command":"/usr/bin/vade hook codex Stop","trustStatus":"%s","enabled":%v}`
	hooks := strings.Join([]string{
		fmt.Sprintf(hook, "trusted", true), fmt.Sprintf(hook, "trusted", false), fmt.Sprintf(hook, "untrusted", true),
		fmt.Sprintf(hook, "modified", true), `{"command":"other","trustStatus":"untrusted","enabled":true}`,
	}, ",")
	tests := []struct {
		name, results string
		want          Trust
		err           string
	}{
		{"some", "{\"result\":{}}\n{\"result\":{\"data\":[{\"hooks\":[" + hooks + "]}]}}", Trust{2, 2, 1}, ""},
		{"an old one", "{\"result\":{}}\n{\"error\":{\"message\":\"no such method\"}}", Trust{}, "no such method"},
		{"ends", "end", Trust{}, "ended without an answer"},
		{"talks", "Welcome!", Trust{}, "no JSON-RPC"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(fake, tt.results)
			got, err := newHost(t).CodexTrust(t.Context(), os.Args[0])
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %v, want %q", err, tt.err)
			}
		})
	}
}

func TestAskServerSaysWhatIsWrong(t *testing.T) {
	for results, want := range map[string]string{
		"end": "2026-07-28: server/discover: it ended without an answer",
		"{\"result\":{\"supportedVersions\":[\"2025-06-18\"]}}": "it speaks only [2025-06-18]",
		"{\"error\":{\"message\":\"method not found\"}}":        "server/discover: method not found",
	} {
		t.Setenv(fake, results)
		if _, err := AskServer(t.Context(), os.Args[0]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := AskServer(t.Context(), "/no/such/vade"); err == nil {
		t.Error("no error for a program that is not there")
	}
}
