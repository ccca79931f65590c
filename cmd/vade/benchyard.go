package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"vademecum/cmd/yardstick/protocol"
)

// The engines that recall is compared with, by their names in the program
// yardstick and in the tables.
const (
	ours  = "vade"
	fts5  = "fts5"
	bleve = "bleve"
)

func engineTitle(name string) string {
	switch name {
	case fts5:
		return "SQLite FTS5 (modernc)"
	case bleve:
		return "stock bleve"
	case "bleve-bm25":
		return "stock bleve, bm25"
	}
	return name
}

// yardProgram finds or builds one of the programs of cmd/yardstick.
func (b *bench) yardProgram(ctx context.Context, name string) (string, error) {
	file := name
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	for _, dir := range []string{b.yardsticks, filepath.Dir(b.self)} {
		path := filepath.Join(dir, file)
		if info, err := os.Stat(path); dir != "" && err == nil && !info.IsDir() {
			return path, nil
		}
	}
	path := filepath.Join(b.dir, file)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	pkg := "vademecum/cmd/yardstick"
	if name != "yardstick" {
		pkg += "/" + name
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if _, err := cpuOf(cmd); err != nil {
		return "", hinted(fmt.Errorf("no program %s: %w", name, err),
			"run this in vade's source tree, or put "+name+" (go build "+pkg+") beside vade or where --yardstick says")
	}
	return path, nil
}

// builtIndex is what making an index cost.
type builtIndex struct {
	path string
	cpu  float64 // seconds
	peak float64 // MiB
	size float64 // MiB
}

// indexed makes the index of every engine for v, once, ours among them. Each
// is made by a process of its own whose processor time and memory count whole.
func (b *bench) indexed(ctx context.Context, v *benchVault) error {
	if v.built != nil {
		return nil
	}
	var err error
	if v.text, err = sizeOf(filepath.Join(v.vault, "memories")); err != nil {
		return err
	}
	built := map[string]builtIndex{}
	index := filepath.Join(v.home, "bench", "index")
	if err := os.RemoveAll(index); err != nil {
		return err
	}
	if built[ours], err = buildIndex(index, b.command(ctx, v.home, "reindex")); err != nil {
		return err
	}
	program, err := b.yardProgram(ctx, "yardstick")
	if err != nil {
		return err
	}
	for _, e := range b.engines {
		index := filepath.Join(v.root, e)
		if built[e], err = buildIndex(index, exec.CommandContext(ctx, program, "build", e, v.vault, index)); err != nil {
			return err
		}
	}
	v.built = built
	return nil
}

func buildIndex(path string, cmd *exec.Cmd) (builtIndex, error) {
	cpu, err := cpuOf(cmd)
	if err != nil {
		return builtIndex{}, err
	}
	size, err := sizeOf(path)
	return builtIndex{path, cpu.Seconds(), float64(peakMemory(cmd.ProcessState)) / (1 << 20), float64(size) / (1 << 20)}, err
}

// rival is the program yardstick at work, with its indexes open.
type rival struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	asks    *json.Encoder
	answers *json.Decoder
	errors  strings.Builder
}

// rivals starts yardstick on the indexes of v.
func (b *bench) rivals(ctx context.Context, v *benchVault) (*rival, error) {
	program, err := b.yardProgram(ctx, "yardstick")
	if err != nil {
		return nil, err
	}
	args := []string{"ask"}
	for _, e := range b.engines {
		args = append(args, e+"="+v.built[e].path)
	}
	r := &rival{cmd: exec.CommandContext(ctx, program, args...)}
	r.cmd.Stderr = &r.errors
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.asks, r.answers = json.NewEncoder(r.in), json.NewDecoder(out)
	return r, r.cmd.Start()
}

// ask has one engine answer text.
func (r *rival) ask(engine, text string) (protocol.Answer, error) {
	var a protocol.Answer
	err := r.asks.Encode(protocol.Question{Engine: engine, Text: text, Limit: benchLimit})
	if err == nil {
		err = r.answers.Decode(&a)
	}
	if err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	if err != nil {
		err = fmt.Errorf("%s on %.60q: %w %s", engine, text, err, r.errors.String())
	}
	return a, err
}

func (r *rival) close() error { return errors.Join(r.in.Close(), r.cmd.Wait()) }
