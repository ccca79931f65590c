package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vademecum/hooks/settings"
)

// part is one thing that an agent's file is to have. Its methods know texts,
// not disks; a text of nil is a file that is not there.
type part interface {
	file() string
	// put returns text with the part in it.
	put(text []byte) ([]byte, error)
	// take returns text without it; before is the file as it was before the
	// part was put into it, or nil when that is not known.
	take(text, before []byte) ([]byte, error)
	// look says what of the part is in text.
	look(text []byte) (found, error)
}

// found is what a file has of a part.
type found struct {
	have, want int
	program    string // that it runs
}

// hookPart is the hooks of an agent in a JSON file.
type hookPart struct {
	h     Host
	path  string
	agent string
	// events are those that it is to have a hook for.
	events []string
	// entry is the JSON of the hook for an event.
	entry func(event string) string
	// flat: an event's list holds hooks, and not groups of them.
	flat bool
	// head are members that the file must have, as key and JSON.
	head [][2]string
}

func (p hookPart) file() string { return p.path }

// handler is what a hook says that it runs, in any agent's words.
type handler struct {
	Command    string    `json:"command"`
	Args       []string  `json:"args"`
	Bash       string    `json:"bash"`
	PowerShell string    `json:"powershell"`
	Action     *handler  `json:"action"`
	Hooks      []handler `json:"hooks"`
}

// program is what it runs for agent, "" when it is none of ours.
func (p hookPart) program(raw json.RawMessage) string {
	var one handler
	if json.Unmarshal(raw, &one) != nil {
		return ""
	}
	if one.Action != nil {
		one.Command = one.Action.Command
	}
	for _, line := range []string{one.Command, one.Bash, one.PowerShell} {
		if len(one.Args) > 0 {
			line += " " + strings.Join(one.Args, " ")
		}
		program, _, ok := strings.Cut(line+" ", " hook "+p.agent+" ")
		if ok && p.h.isVade(program) {
			return strings.Trim(strings.TrimPrefix(program, "& "), `'"`)
		}
	}
	return ""
}

func (p hookPart) ours(raw json.RawMessage) bool { return p.program(raw) != "" }

// group is what an event's list gets.
func (p hookPart) group(event string) string {
	if p.flat {
		return p.entry(event)
	}
	return `{"hooks":[` + p.entry(event) + `]}`
}

func (p hookPart) put(text []byte) ([]byte, error) {
	d, err := settings.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	for _, member := range p.head {
		if had, err := d.Get(member[0]); err != nil {
			return nil, err
		} else if had == nil {
			if d, err = d.Set(member[1], member[0]); err != nil {
				return nil, err
			}
		}
	}
	if d, err = p.sweep(d, nil, p.events); err != nil {
		return nil, err
	}
	for _, event := range p.events {
		if d, err = p.putEvent(d, event); err != nil {
			return nil, err
		}
	}
	return d.Bytes(), nil
}

// putEvent makes the first hook of ours at event the one that it should be, and
// takes out any other. A hook keeps its place: Codex trusts it by that.
func (p hookPart) putEvent(d *settings.JSON, event string) (*settings.JSON, error) {
	list, err := d.Elements("hooks", event)
	if err != nil {
		return nil, err
	}
	there := false
	for i, raw := range list {
		var of group
		if !p.flat && json.Unmarshal(raw, &of) == nil && len(of.Hooks) == 1 && p.ours(of.Hooks[0]) && !there {
			of.set(p.entry(event))
			if d, err = d.SetElement(i, of.String(), "hooks", event); err != nil {
				return nil, err
			}
			there = true
		}
		if p.flat && p.ours(raw) && !there {
			if d, err = d.SetElement(i, p.entry(event), "hooks", event); err != nil {
				return nil, err
			}
			there = true
		}
		if !p.flat && len(of.Hooks) > 1 && slices.ContainsFunc(of.Hooks, p.ours) {
			there = true // its owner has put it beside another: it stays
		}
	}
	if there {
		return d, nil
	}
	return d.Append(p.group(event), "hooks", event)
}

// group is a group of hooks with whatever else its owner gave it.
type group struct {
	rest  map[string]json.RawMessage
	Hooks []json.RawMessage
}

func (g *group) UnmarshalJSON(raw []byte) error {
	if err := json.Unmarshal(raw, &g.rest); err != nil {
		return err
	}
	if list := g.rest["hooks"]; list != nil {
		return json.Unmarshal(list, &g.Hooks)
	}
	return nil
}

func (g *group) set(entry string) { g.rest["hooks"] = json.RawMessage("[" + entry + "]") }

func (g *group) String() string {
	raw, _ := json.Marshal(g.rest) // was JSON
	return string(raw)
}

func (p hookPart) take(text, before []byte) ([]byte, error) {
	d, err := settings.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	was := parseBefore(before)
	if d, err = p.sweep(d, was, nil); err != nil {
		return nil, err
	}
	for _, member := range p.head {
		keys, err := d.Keys()
		if err != nil {
			return nil, err
		}
		if before == nil && len(keys) == 1 && keys[0] == member[0] {
			if d, err = d.Remove(was, member[0]); err != nil {
				return nil, err
			}
		}
	}
	return d.Bytes(), nil
}

// parseBefore is before as it was parsed when the part was put into it.
func parseBefore(before []byte) *settings.JSON {
	d, err := settings.ParseJSON(before)
	if before == nil || err != nil {
		return nil
	}
	return d
}

// sweep takes our hooks out of all events but those to keep.
func (p hookPart) sweep(d, before *settings.JSON, keep []string) (*settings.JSON, error) {
	events, err := d.Keys("hooks")
	if err != nil {
		return nil, err
	}
	for _, event := range events {
		if slices.Contains(keep, event) {
			continue
		}
		if raw, _ := d.Get("hooks", event); len(raw) == 0 || raw[0] != '[' {
			continue // somebody's, in a form that we do not write
		}
		if d, err = d.RemoveElements(before, p.onlyOurs, "hooks", event); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// onlyOurs reports whether an element of an event's list is ours, with nothing
// of anybody else's in it.
func (p hookPart) onlyOurs(raw json.RawMessage) bool {
	if p.flat {
		return p.ours(raw)
	}
	var of group
	return json.Unmarshal(raw, &of) == nil && len(of.Hooks) > 0 && !slices.ContainsFunc(of.Hooks, func(raw json.RawMessage) bool { return !p.ours(raw) })
}

func (p hookPart) look(text []byte) (found, error) {
	f := found{want: len(p.events)}
	d, err := settings.ParseJSON(text)
	if err != nil {
		return f, err
	}
	for _, event := range p.events {
		list, err := d.Elements("hooks", event)
		if err != nil {
			return f, err
		}
		for _, raw := range list {
			hooks := []json.RawMessage{raw}
			if !p.flat {
				var of group
				_ = json.Unmarshal(raw, &of)
				hooks = of.Hooks
			}
			if i := slices.IndexFunc(hooks, p.ours); i >= 0 {
				f.have++
				f.program = p.program(hooks[i])
				break
			}
		}
	}
	return f, nil
}

// serverPart is the MCP server among others in a JSON file.
type serverPart struct {
	h    Host
	path string
	key  string // of the object of servers
	// value are the members of its entry, as key and JSON.
	value [][2]string
}

// serverName is the server's name in every agent. Tools are shown to models as
// mcp__vade__recall and the like.
const serverName = "vade"

func (p serverPart) file() string { return p.path }

func (p serverPart) put(text []byte) ([]byte, error) {
	d, err := settings.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	had, err := d.Get(p.key, serverName)
	if err != nil {
		return nil, err
	}
	if had == nil {
		var members []string
		for _, m := range p.value {
			members = append(members, `"`+m[0]+`":`+m[1])
		}
		d, err = d.Set("{"+strings.Join(members, ",")+"}", p.key, serverName)
		if err != nil {
			return nil, err
		}
		return d.Bytes(), nil
	}
	if p.program(had) == "" {
		return nil, fmt.Errorf("%s.%s runs something else than vade; give that another name", p.key, serverName)
	}
	for _, m := range p.value { // what its owner added stays
		if d, err = d.Set(m[1], p.key, serverName, m[0]); err != nil {
			return nil, err
		}
	}
	return d.Bytes(), nil
}

// program is what the entry runs, "" when it is none of ours.
func (p serverPart) program(raw json.RawMessage) string {
	var one struct {
		Command json.RawMessage `json:"command"`
	}
	if json.Unmarshal(raw, &one) != nil {
		return ""
	}
	var name string
	if json.Unmarshal(one.Command, &name) != nil {
		var list []string
		if json.Unmarshal(one.Command, &list) == nil && len(list) > 0 {
			name = list[0]
		}
	}
	if !p.h.isVade(name) {
		return ""
	}
	return name
}

func (p serverPart) take(text, before []byte) ([]byte, error) {
	d, err := settings.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	had, err := d.Get(p.key, serverName)
	if err != nil {
		return nil, err
	}
	if had == nil || p.program(had) == "" {
		return d.Bytes(), nil
	}
	if d, err = d.Remove(parseBefore(before), p.key, serverName); err != nil {
		return nil, err
	}
	return d.Bytes(), nil
}

func (p serverPart) look(text []byte) (found, error) {
	f := found{want: 1}
	d, err := settings.ParseJSON(text)
	if err != nil {
		return f, err
	}
	had, err := d.Get(p.key, serverName)
	if err == nil && had != nil {
		if f.program = p.program(had); f.program != "" {
			f.have = 1
		}
	}
	return f, err
}

// tomlPart is the MCP server in Codex's config.toml.
type tomlPart struct {
	h    Host
	path string
}

func (p tomlPart) file() string { return p.path }

// lines name the variables that say which vault it is: of its environment,
// Codex passes a server what is named here and little more, and a server with
// another vault than the hooks' would be of no use.
func (p tomlPart) lines() string {
	return "[mcp_servers." + serverName + "]\ncommand = " + tomlString(p.h.Program) + "\nargs = [\"mcp\"]\n" +
		`env_vars = ["VADE_CONFIG", "VADE_HOME", "VADE_IDENTITY", "VADE_REMOTE_TOKEN", "XDG_CONFIG_HOME", "XDG_DATA_HOME"]` + "\n"
}

// tomlString quotes s: JSON's escapes are TOML's.
func tomlString(s string) string {
	raw, _ := json.Marshal(s) // a string
	return string(raw)
}

func (p tomlPart) put(text []byte) ([]byte, error) {
	d, err := settings.ParseTOML(text)
	if err != nil {
		return nil, err
	}
	has, open := d.Has("mcp_servers", serverName)
	switch {
	case d.Block() != "":
	case has:
		return nil, fmt.Errorf("mcp_servers.%s is there already; take it out (codex mcp remove %s) and run this again", serverName, serverName)
	case !open:
		return nil, errors.New("mcp_servers is an inline table, to which none can be added; write its servers as [mcp_servers.NAME]")
	}
	if d, err = d.SetBlock(p.lines()); err != nil {
		return nil, err
	}
	return d.Bytes(), nil
}

func (p tomlPart) take(text, before []byte) ([]byte, error) {
	d, err := settings.ParseTOML(text)
	if err != nil {
		return nil, err
	}
	var was *settings.TOML
	if before != nil {
		if was, err = settings.ParseTOML(before); err != nil {
			was = nil
		}
	}
	if d, err = d.RemoveBlock(was); err != nil {
		return nil, err
	}
	return d.Bytes(), nil
}

func (p tomlPart) look(text []byte) (found, error) {
	f := found{want: 1}
	d, err := settings.ParseTOML(text)
	if err != nil {
		return f, err
	}
	if has, _ := d.Has("mcp_servers", serverName); has {
		f.have = 1
	}
	for line := range strings.Lines(d.Block()) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "command = "); ok {
			_ = json.Unmarshal([]byte(rest), &f.program)
		}
	}
	return f, nil
}

// filePart is a file that is ours as a whole.
type filePart struct {
	path string
	text []byte
	mark string // what only a file of ours holds
}

func (p filePart) file() string { return p.path }

func (p filePart) put(text []byte) ([]byte, error) {
	if text != nil && !bytes.Contains(text, []byte(p.mark)) {
		return nil, errors.New("it is there already and not of vade's making; move it out of the way")
	}
	return p.text, nil
}

func (p filePart) take(text, _ []byte) ([]byte, error) {
	if bytes.Contains(text, []byte(p.mark)) {
		return nil, nil
	}
	return text, nil
}

func (p filePart) look(text []byte) (found, error) {
	f := found{want: 1}
	if bytes.Contains(text, []byte(p.mark)) {
		f.have = 1
	}
	return f, nil
}
