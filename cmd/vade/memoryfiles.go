package main

import (
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"vademecum/vault"
)

// memoryFiles carries out the commands of memory_20250818 on the flat text
// store. The texts of answers and errors are those of the reference
// implementation (anthropic-sdk-typescript, tools/memory), which models know.
type memoryFiles struct{ o *opened }

const (
	memoriesRoot = "/memories"
	// slash stands for / in the name of a text: the store is flat.
	slash       = "∕" // U+2215
	maxToolLine = 999_999
)

// memoryTree is what the store holds: sizes in bytes by path below /memories.
// Folders are there by what they hold, as in git.
type memoryTree map[string]int64

func (m *memoryFiles) tree(ctx context.Context) (memoryTree, error) {
	files, err := m.o.vault.ListFiles(ctx)
	if err != nil {
		return nil, err
	}
	tree := memoryTree{}
	for _, f := range files {
		tree[strings.ReplaceAll(f.Name, slash, "/")] = f.Size
	}
	return tree, nil
}

// has reports whether rel is a file.
func (t memoryTree) has(rel string) bool {
	_, ok := t[rel]
	return ok
}

// below are the files in the folder rel, sorted; "" is /memories.
func (t memoryTree) below(rel string) []string {
	var found []string
	for name := range t {
		if rel == "" || strings.HasPrefix(name, rel+"/") {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// exists reports whether rel is a file or a folder.
func (t memoryTree) exists(rel string) bool {
	return rel == "" || t.has(rel) || len(t.below(rel)) > 0
}

// relative is what of p lies below /memories, "" for that itself.
func relative(p string) (string, error) {
	rest, ok := strings.CutPrefix(p, memoriesRoot)
	if !ok || rest != "" && rest[0] != '/' {
		return "", toolErrorf("Path must start with /memories, got: %s", p)
	}
	rel := path.Clean(strings.TrimLeft(rest, "/"))
	if rel == ".." || strings.HasPrefix(rel, "../") || strings.Contains(rel, `\`) {
		return "", toolErrorf("Path %s would escape /memories directory", p)
	}
	if rel == "." {
		return "", nil
	}
	return strings.ReplaceAll(norm.NFC.String(rel), slash, "/"), nil
}

// stored is where the text at rel lies in the vault, if it may lie there.
func stored(rel string) (string, error) {
	name := strings.ReplaceAll(rel, "/", slash)
	if err := vault.CheckFileName(name); err != nil {
		return "", err
	}
	return "files/" + name, nil
}

func (m *memoryFiles) view(ctx context.Context, p string, lines []int) (string, error) {
	rel, err := relative(p)
	if err != nil {
		return "", err
	}
	tree, err := m.tree(ctx)
	switch {
	case err != nil:
		return "", err
	case !tree.exists(rel):
		return "", toolErrorf("The path %s does not exist. Please provide a valid path.", p)
	case tree.has(rel):
		_, data, err := m.o.vault.GetFile(strings.ReplaceAll(rel, "/", slash))
		if err != nil {
			return "", err
		}
		return viewFile(p, string(data), lines)
	}
	return tree.view(p, rel), nil
}

// view lists the folder rel, two levels deep.
func (t memoryTree) view(p, rel string) string {
	sizes := map[string]int64{}
	var total int64
	for _, name := range t.below(rel) {
		total += t[name]
		parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(name, rel), "/"), "/")
		for depth := 1; depth <= min(2, len(parts)); depth++ {
			if hidden := parts[depth-1]; hidden[0] == '.' || hidden == "node_modules" {
				break
			}
			shown := strings.Join(parts[:depth], "/")
			if depth < len(parts) {
				shown += "/"
			}
			sizes[shown] += t[name]
		}
	}
	var out strings.Builder
	out.WriteString(fmt.Sprintf("Here're the files and directories up to 2 levels deep in %s, excluding hidden items and node_modules:\n%s\t%s",
		p, fileSize(total), p))
	for _, shown := range inTreeOrder(sizes) {
		out.WriteString(fmt.Sprintf("\n%s\t%s/%s", fileSize(sizes[shown]), strings.TrimRight(p, "/"), shown))
	}
	return out.String()
}

// inTreeOrder sorts paths as a walk meets them: a folder, then what is in it.
func inTreeOrder(sizes map[string]int64) []string {
	var order []string
	for name := range sizes {
		order = append(order, name)
	}
	slices.SortFunc(order, func(a, b string) int {
		return slices.Compare(strings.Split(strings.TrimRight(a, "/"), "/"), strings.Split(strings.TrimRight(b, "/"), "/"))
	})
	return order
}

// fileSize is 0B, 512B, 1.5K, 2M.
func fileSize(n int64) string {
	size, unit := float64(n), 0
	for size >= 1024 && unit < 3 {
		size /= 1024
		unit++
	}
	text := strconv.FormatFloat(size, 'f', 1, 64)
	if size == math.Trunc(size) {
		text = strconv.FormatFloat(size, 'f', 0, 64)
	}
	return text + "BKMG"[unit:unit+1]
}

func viewFile(p, content string, window []int) (string, error) {
	lines := strings.Split(content, "\n")
	if len(lines) > maxToolLine {
		return "", toolErrorf("File %s has too many lines (%d). Maximum is 999,999 lines.", p, len(lines))
	}
	from, to := 0, len(lines)
	if len(window) == 2 {
		from = min(max(1, window[0])-1, len(lines))
		if window[1] != -1 {
			to = min(max(from, window[1]), len(lines))
		}
	}
	return fmt.Sprintf("Here's the content of %s with line numbers:\n%s", p, numbered(lines, from, to)), nil
}

// numbered are lines[from:to] with their numbers.
func numbered(lines []string, from, to int) string {
	out := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf("%6d\t%s", i+1, lines[i]))
	}
	return strings.Join(out, "\n")
}

func (m *memoryFiles) create(ctx context.Context, p, text string) (string, error) {
	rel, err := relative(p)
	if err != nil {
		return "", err
	}
	err = m.update(ctx, "create "+rel, func(tx *vault.Tx, tree memoryTree) error {
		if tree.exists(rel) {
			return toolErrorf("File %s already exists", p)
		}
		return m.put(tx, tree, rel, text)
	})
	return "File created successfully at: " + p, err
}

// put stores text at rel, where nothing or a file is.
func (m *memoryFiles) put(tx *vault.Tx, tree memoryTree, rel, text string) error {
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		if tree.has(dir) {
			return toolErrorf("The path %s/%s is not a directory.", memoriesRoot, dir)
		}
	}
	if len(text) > vault.MaxFile {
		return toolErrorf("The text has %d bytes, more than the %d that a file may have.", len(text), vault.MaxFile)
	}
	file, err := stored(rel)
	if err != nil {
		return err
	}
	return tx.Put(file, []byte(text))
}

// change replaces the text of the file at p by what fn makes of it.
func (m *memoryFiles) change(ctx context.Context, verb, p string, fn func(content string) (string, error)) error {
	rel, err := relative(p)
	if err != nil {
		return err
	}
	return m.update(ctx, verb+" "+rel, func(tx *vault.Tx, tree memoryTree) error {
		switch {
		case !tree.exists(rel):
			return toolErrorf("The path %s does not exist. Please provide a valid path.", p)
		case !tree.has(rel):
			return toolErrorf("The path %s is not a file.", p)
		}
		file, err := stored(rel)
		if err != nil {
			return err
		}
		old, err := tx.Read(file)
		if err != nil {
			return err
		}
		text, err := fn(string(old))
		if err != nil {
			return err
		}
		return m.put(tx, tree, rel, text)
	})
}

func (m *memoryFiles) replace(ctx context.Context, p, old, with string) (string, error) {
	var snippet string
	err := m.change(ctx, "str_replace in", p, func(content string) (string, error) {
		lines := occurrences(content, old)
		switch {
		case len(lines) == 0:
			return "", toolErrorf("No replacement was performed, old_str `%s` did not appear verbatim in %s.", old, p)
		case len(lines) > 1:
			return "", toolErrorf("No replacement was performed. Multiple occurrences of old_str `%s` in lines: %s. Please ensure it is unique",
				old, strings.Join(lineNumbers(lines), ", "))
		}
		content = strings.Replace(content, old, with, 1)
		after := strings.Split(content, "\n")
		at := lines[0] - 1
		snippet = numbered(after, max(0, at-2), min(len(after), at+3))
		return content, nil
	})
	return "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n" + snippet, err
}

// occurrences are the lines on which old begins in content, one for each time.
// Unlike in the reference, it may span lines.
func occurrences(content, old string) []int {
	if old == "" {
		return nil
	}
	var lines []int
	line, rest := 1, content
	for {
		i := strings.Index(rest, old)
		if i < 0 {
			return lines
		}
		line += strings.Count(rest[:i], "\n")
		lines = append(lines, line)
		line += strings.Count(old, "\n")
		rest = rest[i+len(old):]
	}
}

func lineNumbers(lines []int) []string {
	var words []string
	for _, n := range slices.Compact(lines) {
		words = append(words, strconv.Itoa(n))
	}
	return words
}

func (m *memoryFiles) insert(ctx context.Context, p string, at int, text string) (string, error) {
	err := m.change(ctx, "insert into", p, func(content string) (string, error) {
		lines := strings.Split(content, "\n")
		if at < 0 || at > len(lines) {
			return "", toolErrorf("Invalid `insert_line` parameter: %d. It should be within the range of lines of the file: [0, %d]", at, len(lines))
		}
		return strings.Join(slices.Insert(lines, at, strings.TrimSuffix(text, "\n")), "\n"), nil
	})
	return fmt.Sprintf("The file %s has been edited.", p), err
}

func (m *memoryFiles) delete(ctx context.Context, p string) (string, error) {
	rel, err := relative(p)
	if err != nil {
		return "", err
	}
	if rel == "" {
		return "", toolErrorf("Cannot delete the /memories directory itself")
	}
	err = m.update(ctx, "delete "+rel, func(tx *vault.Tx, tree memoryTree) error {
		if !tree.exists(rel) {
			return toolErrorf("The path %s does not exist", p)
		}
		for _, name := range append(tree.below(rel), rel) {
			if !tree.has(name) {
				continue
			}
			file, err := stored(name)
			if err != nil {
				return err
			}
			tx.Remove(file)
		}
		return nil
	})
	return "Successfully deleted " + p, err
}

func (m *memoryFiles) rename(ctx context.Context, from, to string) (string, error) {
	source, err := relative(from)
	if err != nil {
		return "", err
	}
	target, err := relative(to)
	switch {
	case err != nil:
		return "", err
	case source == "":
		return "", toolErrorf("Cannot rename the /memories directory itself")
	case strings.HasPrefix(target, source+"/"):
		return "", toolErrorf("Cannot rename %s to a path inside itself", from)
	}
	err = m.update(ctx, "rename "+source+" to "+target, func(tx *vault.Tx, tree memoryTree) error {
		switch {
		case tree.exists(target):
			return toolErrorf("The destination %s already exists", to)
		case !tree.exists(source):
			return toolErrorf("The path %s does not exist", from)
		}
		for _, name := range append(tree.below(source), source) {
			if !tree.has(name) {
				continue
			}
			if err := m.move(tx, tree, name, target+strings.TrimPrefix(name, source)); err != nil {
				return err
			}
		}
		return nil
	})
	return fmt.Sprintf("Successfully renamed %s to %s", from, to), err
}

func (m *memoryFiles) move(tx *vault.Tx, tree memoryTree, from, to string) error {
	file, err := stored(from)
	if err != nil {
		return err
	}
	data, err := tx.Read(file)
	if err != nil {
		return err
	}
	tx.Remove(file)
	return m.put(tx, tree, to, string(data))
}
