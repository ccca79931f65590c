package merge

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMerge3(t *testing.T) {
	tests := []struct{ name, base, ours, theirs, want string }{
		{"only ours changed", "a\nb\n", "a\nB\n", "a\nb\n", "a\nB\n"},
		{"apart", "a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n", "A\nb\nc\nD\n"},
		{"next to each other", "a\nb\n", "A\nb\n", "a\nB\n", "A\nB\n"},
		{"change and addition after it", "a\n", "A\n", "a\nb\n", "A\nb\n"},
		{"change and addition before it", "a\n", "A\n", "b\na\n", "b\nA\n"},
		{"additions at one place", "a\n", "a\ny\n", "a\nx\n", "a\nx\ny\n"},
		{"one addition holds the other", "a\n", "a\nx\ny\n", "a\nx\n", "a\nx\ny\n"},
		{"same change", "a\nb\n", "A\nb\n", "A\nb\n", "A\nb\n"},
		{"same change and another", "a\nb\nc\nd\n", "A\nb\nc\nd\n", "A\nb\nc\nD\n", "A\nb\nc\nD\n"},
		{"edit against delete", "a\nb\nc\n", "a\nB\nc\n", "a\nc\n", "a\nB\nc\n"},
		{"deletes overlap", "a\nb\nc\nd\n", "a\nd\n", "a\nb\n", "a\n"},
		{"no last newline, addition", "a\nb", "a\nb\nc", "x\na\nb", "x\na\nb\nc"},
		{"newline added, line added", "a", "a\n", "a\nb", "a\nb\n"},
		{"newline taken, line added", "a\n", "a", "a\nb\n", "a\nb"},
		{"CRLF", "a\r\nb\r\n", "A\r\nb\r\n", "a\r\nb\r\nc\r\n", "A\r\nb\r\nc\r\n"},
		{"CRLF, no last newline", "a\r\nb", "A\r\nb", "a\r\nb\r\nc", "A\r\nb\r\nc"},
		{"all ends changed, line added", "a\nb\n", "a\r\nb\r\n", "a\nb\nc\n", "a\r\nb\r\nc\n"},
		{"lone CR at the end", "a\nx\r", "A\nx\r", "a\nx\r\ny\r", "A\nx\r\ny\r"},
		{"empty base", "", "b\n", "a\n", "a\nb\n"},
		{"emptied against appended", "a\n", "", "a\nb\n", "b\n"},
		{"NUL", "a\x00\nb\nc\n", "a\x00\nB\nc\n", "a\x00\nb\nC\x00", "a\x00\nB\nC\x00"},
		{"all gone", "a\n", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, conflicts := Merge3([]byte(tt.base), []byte(tt.ours), []byte(tt.theirs))
			if string(got) != tt.want || len(conflicts) > 0 {
				t.Errorf("got %q, %d conflicts, want %q", got, len(conflicts), tt.want)
			}
			back, _ := Merge3([]byte(tt.base), []byte(tt.theirs), []byte(tt.ours))
			if string(back) != tt.want {
				t.Errorf("swapped: got %q, want %q", back, tt.want)
			}
		})
	}
}

func TestMerge3Conflict(t *testing.T) {
	got, conflicts := Merge3([]byte("a\nb\nc\n"), []byte("a\nx\nc\n"), []byte("a\ny\nC\n"))
	if want := "a\ny\nC\n"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	want := Conflict{Base: []byte("b\nc\n"), Ours: []byte("x\nc\n"), Theirs: []byte("y\nC\n")}
	if len(conflicts) != 1 || fmt.Sprintf("%q", conflicts[0]) != fmt.Sprintf("%q", want) {
		t.Errorf("got conflicts %q, want %q", conflicts, want)
	}
}

// A block of 4,000 lines that differs wholly must cost neither memory nor
// time in the product of the lengths.
func TestDiffBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	a, b := make([]int, 20_000), make([]int, 20_000)
	for i := range a {
		a[i], b[i] = rng.IntN(300), rng.IntN(300)
	}
	checkDiff(t, a, b)
}

func TestDiffIsMinimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 3000 {
		a, b := make([]int, rng.IntN(30)), make([]int, rng.IntN(30))
		k := 1 + rng.IntN(8)
		for i := range a {
			a[i] = rng.IntN(k)
		}
		for i := range b {
			b[i] = rng.IntN(k)
		}
		hs := checkDiff(t, a, b)
		kept := len(a)
		for _, h := range hs {
			kept -= h.a1 - h.a0
		}
		if want := lcs(a, b); kept != want {
			t.Fatalf("diff(%v, %v) keeps %d lines, want %d", a, b, kept, want)
		}
	}
}

func checkDiff(t *testing.T, a, b []int) []hunk {
	t.Helper()
	hs := diff(a, b)
	var out []int
	at := 0
	for i, h := range hs {
		if i > 0 && h.a0 <= hs[i-1].a1 {
			t.Fatalf("hunks touch: %v", hs)
		}
		out = append(append(out, a[at:h.a0]...), b[h.b0:h.b1]...)
		at = h.a1
	}
	if out = append(out, a[at:]...); !slices.Equal(out, b) {
		t.Fatalf("hunks %v of %v give %v, want %v", hs, a, out, b)
	}
	return hs
}

func lcs(a, b []int) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			next := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diagonal = next
		}
	}
	return row[len(b)]
}

// randomDoc is a text of short lines, many of them equal.
func randomDoc(rng *rand.Rand) []string {
	lines := make([]string, rng.IntN(40))
	for i := range lines {
		lines[i] = randomLine(rng)
	}
	return lines
}

func randomLine(rng *rand.Rand) string {
	switch rng.IntN(5) {
	case 0:
		return "\n"
	case 1:
		return fmt.Sprintf("- item %d\n", rng.IntN(4))
	}
	return fmt.Sprintf("line %d\n", rng.IntN(60))
}

var lineCount int

// randomEdit changes lines; most new lines are found nowhere else.
func randomEdit(rng *rand.Rand, lines []string) []string {
	lines = slices.Clone(lines)
	for range rng.IntN(5) {
		at, n := rng.IntN(len(lines)+1), rng.IntN(3)
		var add []string
		for range rng.IntN(4) {
			lineCount++
			if rng.IntN(3) == 0 {
				add = append(add, randomLine(rng))
			} else {
				add = append(add, fmt.Sprintf("new %d\n", lineCount))
			}
		}
		lines = slices.Replace(lines, at, min(at+n, len(lines)), add...)
	}
	return lines
}

func randomText(rng *rand.Rand, lines []string) []byte {
	text := strings.Join(lines, "")
	if rng.IntN(6) == 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	return []byte(text)
}

// Git is the judge: what it merges cleanly we merge cleanly and to the same
// text; beyond that no line that a side added may vanish, and swapping the
// sides changes nothing.
func TestMerge3AgreesWithGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(3, 4))
	var same, cleaner, both int
	const cases = 2100
	for range cases {
		doc := randomDoc(rng)
		base, ours, theirs := randomText(rng, doc), randomText(rng, randomEdit(rng, doc)), randomText(rng, randomEdit(rng, doc))
		got, conflicts := Merge3(base, ours, theirs)
		checkMerge3(t, base, ours, theirs, got, conflicts)
		want, clean := gitMergeFile(t, dir, base, ours, theirs)
		switch {
		case clean && (len(conflicts) > 0 || !bytes.Equal(got, want)):
			t.Errorf("base %q\nours %q\ntheirs %q\ngot %q\ngit %q, conflicts %q", base, ours, theirs, got, want, conflicts)
		case clean:
			same++
		case len(conflicts) == 0:
			cleaner++
		default:
			both++
		}
	}
	t.Logf("%d documents: %d clean and equal, %d conflicts of git settled, %d conflicts in both", cases, same, cleaner, both)
}

func checkMerge3(t *testing.T, base, ours, theirs, got []byte, conflicts []Conflict) {
	t.Helper()
	back, _ := Merge3(base, theirs, ours)
	if !bytes.Equal(got, back) {
		t.Errorf("not symmetric: base %q, ours %q, theirs %q\n%q\n%q", base, ours, theirs, got, back)
	}
	var kept strings.Builder
	kept.WriteString(string(got))
	for _, c := range conflicts {
		kept.WriteString(string(c.Ours) + string(c.Theirs))
	}
	for _, text := range [][]byte{ours, theirs} {
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, "new ") && !strings.Contains(kept.String(), line) {
				t.Errorf("lost %q: base %q, ours %q, theirs %q, got %q", line, base, ours, theirs, got)
			}
		}
	}
}

func gitMergeFile(t *testing.T, dir string, base, ours, theirs []byte) (merged []byte, clean bool) {
	t.Helper()
	var names []string
	for name, text := range map[string][]byte{"1ours": ours, "2base": base, "3theirs": theirs} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, path)
	}
	slices.Sort(names)
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"merge-file", "-p", "--diff3"}, names...)...)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() < 128 {
		return out, false
	}
	if err != nil {
		t.Fatalf("git merge-file: %v", err)
	}
	return out, true
}
