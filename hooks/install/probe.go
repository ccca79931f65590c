package install

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Server is what an MCP server said of itself.
type Server struct {
	Modern, Legacy string   // revisions that it spoke: without and with a handshake
	Tools          []string // in their order
	Eager          []string // of them, those that Claude Code shows its model without a search
}

// The revisions that are tried: the newest, and one that Codex and Gemini speak.
const (
	modernRevision = "2026-07-28"
	legacyRevision = "2025-06-18"
)

// AskServer runs "program mcp" and speaks to it in both eras of the protocol,
// as an agent would: for 2026-07-28 each message says what it needs to, before
// that there was a handshake.
func AskServer(ctx context.Context, program string) (Server, error) {
	var s Server
	if err := s.modern(ctx, program); err != nil {
		return s, fmt.Errorf("%s: %w", modernRevision, err)
	}
	if err := s.legacy(ctx, program); err != nil {
		return s, fmt.Errorf("%s: %w", legacyRevision, err)
	}
	return s, nil
}

func (s *Server) modern(ctx context.Context, program string) error {
	c, err := dial(ctx, "", program, "mcp")
	if err != nil {
		return err
	}
	defer c.close()
	params := map[string]any{"_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion":    modernRevision,
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		"io.modelcontextprotocol/clientInfo":         client,
	}}
	var said struct {
		Versions []string `json:"supportedVersions"`
	}
	if err := c.call("server/discover", params, &said); err != nil {
		return err
	}
	if !slices.Contains(said.Versions, modernRevision) {
		return fmt.Errorf("it speaks only %v", said.Versions)
	}
	var list struct {
		Tools []struct {
			Name string         `json:"name"`
			Meta map[string]any `json:"_meta"`
		} `json:"tools"`
	}
	if err := c.call("tools/list", params, &list); err != nil {
		return err
	}
	s.Modern = modernRevision
	for _, t := range list.Tools {
		s.Tools = append(s.Tools, t.Name)
		if t.Meta["anthropic/alwaysLoad"] == true {
			s.Eager = append(s.Eager, t.Name)
		}
	}
	return nil
}

func (s *Server) legacy(ctx context.Context, program string) error {
	c, err := dial(ctx, "", program, "mcp")
	if err != nil {
		return err
	}
	defer c.close()
	var said struct {
		Version string `json:"protocolVersion"`
	}
	params := map[string]any{"protocolVersion": legacyRevision, "capabilities": map[string]any{}, "clientInfo": client}
	if err := c.call("initialize", params, &said); err != nil {
		return err
	}
	if err := c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}); err != nil {
		return err
	}
	var list struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if err := c.call("tools/list", map[string]any{}, &list); err != nil {
		return err
	}
	if s.Legacy = said.Version; len(list.Tools) != len(s.Tools) {
		return fmt.Errorf("it lists %d tools, and %d to newer clients", len(list.Tools), len(s.Tools))
	}
	return nil
}

var client = map[string]string{"name": "vade-doctor", "title": "Vademecum", "version": "1"}

// Trust is whether Codex runs our hooks.
type Trust struct {
	Trusted, Untrusted int
	Disabled           int // of the trusted
}

// CodexTrust asks Codex, program, which of our hooks it would run. It skips
// those that its user has not trusted without a word.
func (h Host) CodexTrust(ctx context.Context, program string) (t Trust, err error) {
	c, err := dial(ctx, h.Home, program, "app-server")
	if err != nil {
		return t, err
	}
	defer c.close()
	params := map[string]any{"clientInfo": client, "capabilities": map[string]any{"experimentalApi": true}}
	if err := c.call("initialize", params, nil); err != nil {
		return t, err
	}
	if err := c.send(map[string]any{"method": "initialized"}); err != nil {
		return t, err
	}
	var said struct {
		Data []struct {
			Hooks []struct {
				Command string `json:"command"`
				Status  string `json:"trustStatus"`
				Enabled bool   `json:"enabled"`
			} `json:"hooks"`
		} `json:"data"`
	}
	if err := c.call("hooks/list", map[string]any{"cwds": []string{h.Home}}, &said); err != nil {
		return t, err
	}
	for _, d := range said.Data {
		for _, hook := range d.Hooks {
			switch {
			case !strings.Contains(hook.Command, " hook codex "):
			case hook.Status == "untrusted" || hook.Status == "modified":
				t.Untrusted++
			case !hook.Enabled:
				t.Disabled++
				t.Trusted++
			default:
				t.Trusted++
			}
		}
	}
	return t, nil
}

// conn is a program that speaks JSON-RPC, a line a message.
type conn struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	next int
}

// dial starts a program in dir. It ends with ctx, at the latest.
func dial(ctx context.Context, dir, program string, args ...string) (*conn, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &conn{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 64<<10)}, nil
}

// close ends the input, which ends the program; one that goes on is killed.
func (c *conn) close() {
	_ = c.in.Close()
	timer := time.AfterFunc(2*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	_, _ = io.Copy(io.Discard, c.out)
	_ = c.cmd.Wait() // how it ended is of no interest
}

func (c *conn) send(message map[string]any) error {
	raw, err := json.Marshal(message)
	if err == nil {
		_, err = c.in.Write(append(raw, '\n'))
	}
	return err
}

// call waits for the answer, and reads its result into result unless that is nil.
func (c *conn) call(method string, params, result any) error {
	c.next++
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params}); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	for {
		line, err := c.out.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			err = errors.New("it ended without an answer")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		var answer struct {
			ID     any             `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			return fmt.Errorf("%s: it prints what is no JSON-RPC: %.60q", method, line)
		}
		if answer.Method != "" || answer.ID != float64(c.next) {
			continue
		}
		if answer.Error != nil {
			return fmt.Errorf("%s: %s", method, answer.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(answer.Result, result)
	}
}

// CodexProgram is the program of Codex; "" when there is none.
func (h Host) CodexProgram() string {
	path, err := h.Look("codex")
	if err != nil {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}
