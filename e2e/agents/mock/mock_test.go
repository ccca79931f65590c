package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// requests ask the same in each protocol: with a tool on offer, the script not
// begun, and with the tool's result, the script played up to its last line.
var requests = map[string][2]string{
	"/v1/messages": {
		`{"tools":[{"name":"mcp__vade__recall"}],"messages":[{"role":"user","content":[{"type":"text","text":"SCRIPT"}]}]}`,
		`{"messages":[{"role":"user","content":"SCRIPT"},{"role":"user","content":[{"type":"tool_result","content":"INJ-b"}]}]}`,
	},
	"/v1/responses": {
		`{"tools":[{"type":"namespace","name":"mcp__vade","tools":[{"type":"function","name":"recall"}]}],"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"SCRIPT"}]}]}`,
		`{"input":[{"type":"message","role":"user","content":"SCRIPT"},{"type":"function_call_output","output":"INJ-b"}]}`,
	},
	"/v1/chat/completions": {
		`{"tools":[{"type":"function","function":{"name":"vade_recall"}}],"messages":[{"role":"user","content":"SCRIPT"}]}`,
		`{"messages":[{"role":"user","content":"SCRIPT"},{"role":"tool","content":"INJ-b"}]}`,
	},
	"/v1beta/models/m:generateContent": {
		`{"tools":[{"functionDeclarations":[{"name":"mcp_vade_recall"}]}],"contents":[{"role":"user","parts":[{"text":"SCRIPT"}]}]}`,
		`{"contents":[{"role":"user","parts":[{"text":"SCRIPT"}]},{"role":"user","parts":[{"functionResponse":{"response":{"output":"INJ-b"}}}]}]}`,
	},
}

func TestScriptIsPlayed(t *testing.T) {
	const script = `INJ-a [[call recall {\"query\":\"x\"}]] [[say fine]]`
	for path, bodies := range requests {
		for i, want := range []string{"recall", "fine seen=INJ-a,INJ-b"} {
			for _, stream := range []bool{false, true} {
				body := strings.Replace(bodies[i], "SCRIPT", script, 1)
				target := path
				if stream {
					body = strings.Replace(body, "{", `{"stream":true,`, 1)
					target = strings.Replace(path, ":generate", ":streamGenerate", 1)
				}
				var log strings.Builder
				w := httptest.NewRecorder()
				(&server{log: &log}).ServeHTTP(w, httptest.NewRequest(http.MethodPost, target, strings.NewReader(body)))
				raw, _ := io.ReadAll(w.Result().Body)
				if w.Code != http.StatusOK || !strings.Contains(string(raw), want) || strings.Contains(string(raw), "data: ") != stream {
					t.Errorf("%s, stream %v: %d %s", path, stream, w.Code, raw)
				}
				var e entry
				if err := json.Unmarshal([]byte(log.String()), &e); err != nil || !strings.Contains(e.Tool+e.Text, want) {
					t.Errorf("%s: log %q, %v", path, log.String(), err)
				}
			}
		}
	}
}
