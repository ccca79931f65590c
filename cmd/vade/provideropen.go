package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vademecum/providers"
	"vademecum/providers/jsonrpc"
	"vademecum/providers/mcpclient"
	"vademecum/providers/mem0"
	"vademecum/providers/memos"
	"vademecum/providers/openviking"
	"vademecum/providers/rest"
	"vademecum/providers/sqlite"
	"vademecum/providers/zep"
)

// openProvider opens the provider called name, and returns the fingerprint of
// its config. Only a program that nobody asked before what it can do is asked.
func (o *opened) openProvider(ctx context.Context, name string) (providers.Provider, string, error) {
	c := o.config.Providers[name]
	if _, err := o.config.providerType(name); err != nil {
		return nil, "", err
	}
	key, err := o.a.secret(ctx, "provider "+name+": key", c.Key)
	if err != nil {
		return nil, "", err
	}
	env, err := o.a.programEnv(ctx, name, c)
	if err != nil {
		return nil, "", err
	}
	fingerprint := fingerprintOf(c, key+"\x00"+fmt.Sprint(env))
	open := func() (providers.Provider, error) { return o.adapter(ctx, name, c, env, rest.Secret(key)) }
	if o.a.pool != nil {
		p, err := o.a.pool.get(name+" "+fingerprint, open)
		return p, fingerprint, err
	}
	p, err := open()
	return p, fingerprint, err
}

// programEnv is what a provider's program gets besides the environment that every
// program gets.
func (a *app) programEnv(ctx context.Context, name string, c providerConfig) (map[string]string, error) {
	env := map[string]string{}
	for _, variable := range slices.Sorted(maps.Keys(c.Env)) {
		s := c.Env[variable]
		kind, _, _ := strings.Cut(s.From, ":")
		if len(s.Command) == 0 && kind != "env" && kind != "file" {
			env[variable] = s.From // a plain value
			continue
		}
		value, err := a.secret(ctx, "provider "+name+": env "+variable, s)
		if err != nil {
			return nil, err
		}
		env[variable] = value
	}
	return env, nil
}

// adapter is the provider of c's type.
func (o *opened) adapter(ctx context.Context, name string, c providerConfig, env map[string]string, key rest.Secret) (providers.Provider, error) {
	dir := filepath.Join(o.providersDir(), name)
	switch c.Type {
	case "sqlite":
		path := o.a.expandTilde(firstOf(c.Path, "memories.db"))
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path) // the same from every folder
		}
		return sqlite.New(sqlite.Config{Name: name, Path: path})
	case "mem0", "mem0-cloud":
		return mem0Provider(mem0.Config{
			Name: name, BaseURL: c.URL, Key: key, User: c.User, Infer: c.Infer, Score: providers.ScoreKind(c.Score), AllowInsecure: c.Insecure,
		}, c.Type)
	case "memos", "memos-cloud":
		return memosProvider(memos.Config{Name: name, BaseURL: c.URL, Key: key, User: c.User, Cube: c.Cube, AllowInsecure: c.Insecure}, c.Type)
	case "zep":
		return zep.New(zep.Config{
			Name: name, BaseURL: c.URL, Key: key, Graph: c.Graph, User: c.User, Dialect: c.Dialect, AllowInsecure: c.Insecure,
			Reranker: c.Reranker, Facts: c.Infer,
		})
	case "openviking":
		ov := openviking.Config{Name: name, BaseURL: c.URL, Key: key, AllowInsecure: c.Insecure}
		if c.Infer {
			return openviking.NewExtractor(ov)
		}
		return openviking.New(ov)
	case "jsonrpc":
		return o.program(ctx, name, c, env, filepath.Join(dir, "data"))
	case "mcp":
		return mcpclient.Open(o.mcpServer(name, c, env, key, filepath.Join(dir, "data")))
	}
	return nil, fmt.Errorf("provider %s: type %q is unknown", name, c.Type)
}

func mem0Provider(c mem0.Config, kind string) (providers.Provider, error) {
	if kind == "mem0-cloud" {
		return mem0.NewCloud(c)
	}
	return mem0.NewServer(c)
}

func memosProvider(c memos.Config, kind string) (providers.Provider, error) {
	if kind == "memos-cloud" {
		return memos.NewCloud(c)
	}
	return memos.NewServer(c)
}

// mcpServer is the server of a provider of type mcp.
func (o *opened) mcpServer(name string, c providerConfig, env map[string]string, key rest.Secret, dir string) mcpclient.Config {
	mc := mcpclient.Config{
		Name: name, Env: env, URL: c.URL, AllowInsecure: c.Insecure, Dir: dir, Preset: c.Preset, Mapping: c.Tools, Vars: c.Vars,
		ToolsHash: c.ToolsHash, Client: "vade " + version(),
	}
	if key != "" {
		mc.Headers = map[string]string{"Authorization": "Bearer " + key.Reveal()}
	}
	if len(c.Command) > 0 {
		mc.Command, mc.Args = o.a.expandTilde(c.Command[0]), c.Command[1:]
	}
	return mc
}

// program is a provider of type jsonrpc. What it can do is remembered, so that
// it need not be started to find out.
func (o *opened) program(ctx context.Context, name string, c providerConfig, env map[string]string, dir string) (providers.Provider, error) {
	if len(c.Command) == 0 {
		return nil, fmt.Errorf("provider %s: no command", name)
	}
	jc := jsonrpc.Config{
		Name: name, Command: o.a.expandTilde(c.Command[0]), Args: c.Command[1:], Env: env, Dir: dir,
		Dialect: jsonrpc.Dialect(c.Dialect), Client: "vade " + version(),
	}
	if c.OneShot {
		jc.Mode = jsonrpc.OneShot
	}
	known := filepath.Join(filepath.Dir(dir), "abilities.json")
	fingerprint := fingerprintOf(c, "")
	jc.Abilities = knownAbilities(known, fingerprint)
	p, err := jsonrpc.Open(ctx, jc)
	if err != nil && ctx.Err() != nil {
		err = hinted(fmt.Errorf("provider %s: what it can do is not known yet, and it did not say so in time", name), "vade provider check "+name)
	}
	if err == nil && jc.Abilities == nil {
		keepAbilities(known, fingerprint, p)
	}
	return p, err
}

// abilitiesFile is what a program said that it can do, and under which config.
type abilitiesFile struct {
	Config    string            `json:"config"`
	Abilities jsonrpc.Abilities `json:"abilities"`
}

func knownAbilities(path, fingerprint string) *jsonrpc.Abilities {
	var f abilitiesFile
	raw, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(raw, &f) != nil || f.Config != fingerprint {
		return nil
	}
	return &f.Abilities
}

// keepAbilities remembers them; failing to costs the next one a start.
func keepAbilities(path, fingerprint string, p providers.Provider) {
	can, ok := jsonrpc.AbilitiesOf(p)
	if !ok {
		return
	}
	if raw, err := json.Marshal(abilitiesFile{Config: fingerprint, Abilities: can}); err == nil {
		_ = os.MkdirAll(filepath.Dir(path), 0o700)
		_ = replaceFile(path, raw)
	}
}

// whoseRef is the memory that a provider's own id stands for.
func (o *opened) whoseRef(provider string, ref providers.Ref) (id string, ok bool) {
	b := o.outbox()
	if b == nil {
		return "", false
	}
	id, _, ok = b.Book(provider).Lookup(ref)
	return id, ok
}
