package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestConfigurationDoc: the document's examples are one config without a fault,
// with each type of provider; every key is in it.
func TestConfigurationDoc(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(raw), "\r\n", "\n")
	var example strings.Builder
	for i, part := range strings.Split(text, "```") {
		if yaml, ok := strings.CutPrefix(part, "yaml\n"); ok && i%2 == 1 {
			example.WriteString(yaml)
		}
	}
	c, problems := parseConfig([]byte(example.String()), nil)
	for _, p := range problems {
		t.Errorf("the examples: %s", p)
	}
	for kind := range providerTypes {
		if !slices.ContainsFunc(c.providerNames(), func(name string) bool { return c.Providers[name].Type == kind }) {
			t.Errorf("no example of a provider of type %s", kind)
		}
	}
	w := &configWalk{fields: map[reflect.Type]map[string]reflect.Type{}}
	for _, t2 := range []reflect.Type{
		reflect.TypeFor[config](), reflect.TypeFor[captureConfig](), reflect.TypeFor[hookConfig](),
		reflect.TypeFor[profileConfig](), reflect.TypeFor[providerConfig](),
	} {
		for key := range w.keysOf(t2) {
			if !strings.Contains(text, key+":") && !strings.Contains(text, "`"+key+"`") {
				t.Errorf("the key %s of %s is not explained", key, t2)
			}
		}
	}
}

// TestConfigTemplate: what the first config edit offers sets nothing, and is a
// config without a fault once its comments are taken away.
func TestConfigTemplate(t *testing.T) {
	if c, problems := parseConfig([]byte(configTemplate), nil); len(problems) > 0 || !reflect.DeepEqual(c, config{}) {
		t.Errorf("got %+v, %v, want an empty config", c, problems)
	}
	var set strings.Builder
	for line := range strings.Lines(configTemplate) {
		if rest, ok := strings.CutPrefix(line, "# "); ok && strings.Contains(rest, ":") && !strings.Contains(rest, ". ") && !strings.Contains(rest, "[PROGRAM") {
			set.WriteString(rest)
		}
	}
	if c, problems := parseConfig([]byte(set.String()), nil); len(problems) > 0 || len(c.Providers) != 1 || len(c.Profiles) != 1 {
		t.Errorf("got %v of\n%s", problems, set.String())
	}
}

// TestEveryConfigFieldHasAKey: the walk knows fields by their tags alone.
func TestEveryConfigFieldHasAKey(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(typ reflect.Type) {
		for k := typ.Kind(); k == reflect.Pointer || k == reflect.Slice || k == reflect.Map; k = typ.Kind() {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] || typ == reflect.TypeFor[secretConfig]() {
			return
		}
		seen[typ] = true
		for f := range typ.Fields() {
			if (f.IsExported() || f.Anonymous) && f.Tag.Get("yaml") == "" {
				t.Errorf("%s.%s has no yaml tag", typ, f.Name)
			}
			if f.IsExported() || f.Anonymous {
				look(f.Type)
			}
		}
	}
	look(reflect.TypeFor[config]())
}
