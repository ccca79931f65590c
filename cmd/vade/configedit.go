package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"vademecum/hooks/install"
)

// setConfig sets section.key of the config to value, a plain word. Only that
// line of the file changes.
func (a *app) setConfig(section, key, value string) error {
	path := a.configPath()
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read config: %w", err)
	}
	text, err := editYAML(raw, section, key, value)
	if err != nil {
		return hinted(fmt.Errorf("config %s: %w", path, err), fmt.Sprintf("write %s: {%s: %s} into it yourself", section, key, value))
	}
	if bytes.Equal(text, raw) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return replaceFile(path, text)
}

// replaceFile makes text all that path holds, at once. A link stays one, and a
// file keeps its mode; a new one is its owner's alone.
func replaceFile(path string, text []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return install.Replace(path, text, mode)
}

// errYAMLForm: the file says it in a form in which no single line can be changed.
var errYAMLForm = errors.New("it is written in a form that is not edited")

// editYAML is raw with section.key set to value, and all else as it was.
func editYAML(raw []byte, section, key, value string) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(raw, &root); err != nil {
		return nil, err
	}
	nl := "\n"
	if i := bytes.IndexByte(raw, '\n'); i > 0 && raw[i-1] == '\r' {
		nl = "\r\n"
	}
	if root.Kind == 0 { // nothing but comments
		return appendLines(raw, nl, section+":", "  "+key+": "+value), nil
	}
	_, at := member(root.Content[0], section)
	if at == nil {
		return checked(appendLines(raw, nl, section+":", "  "+key+": "+value), section, key, value)
	}
	if _, old := member(at, key); old != nil && old.Kind == yaml.ScalarNode && old.Value == value {
		return raw, nil
	}
	if at.Kind != yaml.MappingNode || at.Style&yaml.FlowStyle != 0 || len(at.Content) == 0 {
		return nil, errYAMLForm
	}
	lines := strings.SplitAfter(string(raw), "\n")
	if _, old := member(at, key); old != nil {
		if old.Kind != yaml.ScalarNode {
			return nil, errYAMLForm
		}
		line := lines[old.Line-1]
		i := strings.LastIndex(line[:min(len(line), old.Column-1+len(old.Value)+2)], old.Value)
		if i < 0 {
			return nil, errYAMLForm
		}
		lines[old.Line-1] = line[:i] + value + line[i+len(old.Value):]
		return checked([]byte(strings.Join(lines, "")), section, key, value)
	}
	first := at.Content[0]
	lines[first.Line-1] = strings.Repeat(" ", first.Column-1) + key + ": " + value + nl + lines[first.Line-1]
	return checked([]byte(strings.Join(lines, "")), section, key, value)
}

// checked is text, if it says that section.key is value.
func checked(text []byte, section, key, value string) ([]byte, error) {
	var root yaml.Node
	if yaml.Unmarshal(text, &root) != nil || root.Kind == 0 {
		return nil, errYAMLForm
	}
	_, at := member(root.Content[0], section)
	if at == nil {
		return nil, errYAMLForm
	}
	if _, got := member(at, key); got == nil || got.Value != value {
		return nil, errYAMLForm
	}
	return text, nil
}

func appendLines(raw []byte, nl string, lines ...string) []byte {
	text := string(raw)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += nl
	}
	return []byte(text + strings.Join(lines, nl) + nl)
}

// member is the key and the value of a member of a mapping; nil when there is none.
func member(n *yaml.Node, key string) (k, v *yaml.Node) {
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}
