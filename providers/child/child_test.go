package child

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain is also the programs that are run, by CHILD_DO.
func TestMain(m *testing.M) {
	if do, ok := programs[os.Getenv("CHILD_DO")]; ok {
		do()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var programs = map[string]func(){
	"echo": func() { _, _ = io.Copy(os.Stdout, os.Stdin) },
	"env":  func() { fmt.Println(strings.Join(os.Environ(), "\n")) },
	"cwd": func() {
		dir, _ := os.Getwd()
		fmt.Println(dir)
	},
	"talk": func() {
		for n := range 10_000 {
			fmt.Fprintf(os.Stderr, "line %d of many\n", n)
		}
	},
	"deaf": func() { // to SIGTERM and to the end of stdin
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		time.Sleep(time.Hour)
	},
	"keeper": func() { // of a Process that does not notice the end of its stdin
		p, err := Start(Spec{Path: os.Args[0], Env: append(os.Environ(), "CHILD_DO=deaf"), Dir: "."})
		if err != nil {
			panic(err)
		}
		note := os.Getenv("NOTE")
		_ = os.WriteFile(note+".new", []byte(strconv.Itoa(p.Pid())), 0o600)
		_ = os.Rename(note+".new", note)
		time.Sleep(time.Hour)
	},
	"parent": func() { // of one that holds both its pipes
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "CHILD_DO=deaf")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Start(); err != nil {
			panic(err)
		}
		fmt.Println(c.Process.Pid)
		if os.Getenv("LEAVE") == "" {
			time.Sleep(time.Hour)
		}
	},
}

func start(t *testing.T, do string, env map[string]string) *Process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"CHILD_DO": do}
	maps.Copy(all, env)
	p, err := Start(Spec{Path: self, Env: Environment(all), Dir: filepath.Join(t.TempDir(), "own")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

func TestChildGetsOnlyWhatItNeeds(t *testing.T) {
	t.Setenv("ANOTHER_API_KEY", "canary")
	t.Setenv("LANG", "C.UTF-8")
	t.Setenv("TZ", "Europe/Berlin")
	p := start(t, "env", map[string]string{"OWN_KEY": "k", "TZ": "UTC"})
	out, err := io.ReadAll(p.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(out))
	for _, want := range []string{"OWN_KEY=k", "TZ=UTC", "LANG=C.UTF-8", "CHILD_DO=env"} {
		if !slices.Contains(lines, want) {
			t.Errorf("%s is missing in %q", want, lines)
		}
	}
	allowed := append(inherited(), "OWN_KEY", "CHILD_DO")
	for _, line := range lines {
		if name, _, _ := strings.Cut(line, "="); !slices.Contains(allowed, name) {
			t.Errorf("it also got %s", line)
		}
	}
}

func TestChildRunsInItsOwnPrivateFolder(t *testing.T) {
	p := start(t, "cwd", nil)
	out, err := io.ReadAll(p.Stdout)
	if err != nil || filepath.Base(strings.TrimSpace(string(out))) != "own" {
		t.Errorf("got %q %v", out, err)
	}
	info, err := os.Stat(p.cmd.Dir)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("got %v %v", info.Mode(), err)
	}
}

func TestOnlyTheEndOfStderrIsKept(t *testing.T) {
	p := start(t, "talk", nil)
	<-p.Done()
	got := p.Stderr()
	if len(got) != maxStderr || !strings.HasSuffix(got, "line 9999 of many\n") {
		t.Errorf("kept %d bytes that end in %q", len(got), got[max(0, len(got)-20):])
	}
	if p.Exit() != "exit status 0" {
		t.Errorf("got %q", p.Exit())
	}
}

func TestEndLetsItFinish(t *testing.T) {
	p := start(t, "echo", nil)
	if _, err := io.WriteString(p.Stdin, "hello\n"); err != nil {
		t.Fatal(err)
	}
	line, err := ReadLine(bufio.NewReader(p.Stdout))
	if err != nil || string(line) != "hello" {
		t.Errorf("got %q %v", line, err)
	}
	p.End(10 * time.Second)
	if p.Exit() != "exit status 0" {
		t.Errorf("got %q", p.Exit())
	}
}

func TestWhatCannotBeStarted(t *testing.T) {
	if _, err := Start(Spec{Path: filepath.Join(t.TempDir(), "absent"), Dir: t.TempDir()}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	for _, command := range []string{"", "no-such-program-anywhere", "cat /etc/passwd"} {
		if path, err := Resolve(command); err == nil {
			t.Errorf("%q is %s", command, path)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Resolve(self); got != self || err != nil {
		t.Errorf("got %q %v", got, err)
	}
}

func TestReadLine(t *testing.T) {
	long := strings.Repeat("x", MaxLine-1)
	for _, c := range []struct {
		name, in string
		want     []string
		err      error
	}{
		{"lines", "a\nb\r\n\nlast", []string{"a", "b", "", "last"}, io.EOF},
		{"longer than the buffer", strings.Repeat("y", 10_000) + "\nz\n", []string{strings.Repeat("y", 10_000), "z"}, io.EOF},
		{"as long as may be", long + "\n", []string{long}, io.EOF},
		{"too long", long + "xx\n", nil, ErrLineTooLong},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := bufio.NewReader(strings.NewReader(c.in))
			var got []string
			var err error
			for err == nil {
				var line []byte
				if line, err = ReadLine(r); err == nil {
					got = append(got, string(line))
				}
			}
			if !slices.Equal(got, c.want) || !errors.Is(err, c.err) {
				t.Errorf("got %d lines, %v", len(got), err)
			}
		})
	}
}

func TestHideAndBrief(t *testing.T) {
	env := map[string]string{"KEY": "s3cret-key", "DEBUG": "1"}
	if got := Hide("key s3cret-key, debug 1", env); got != "key …, debug 1" {
		t.Errorf("got %q", got)
	}
	for _, c := range []struct{ in, want string }{
		{" a\r\n\tb ", "a b"},
		{"\xff\xfeok", "�ok"},
		{strings.Repeat("é", 20), strings.Repeat("é", 6) + "…"},
	} {
		if got := Brief(c.in, 16); got != c.want {
			t.Errorf("%q is %q, want %q", c.in, got, c.want)
		}
	}
}
