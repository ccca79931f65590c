//go:build e2e

// Package e2e plays what needs more than Go and git: a real sshd, vim, a disk
// that is full, a user who may not write. .ci/run installs what it needs and
// runs it, as root, with -tags e2e.
package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestEndToEnd(t *testing.T) {
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "../cmd/vade")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build vade: %v\n%s", err, out)
	}
	openFor(t, bin)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Cmds:                commands,
		Setup: func(env *testscript.Env) error {
			openFor(t, env.WorkDir)
			return setUp(env, bin)
		},
	})
}

// openFor lets other users through to dir.
func openFor(t *testing.T, dir string) {
	t.Helper()
	for d := dir; d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func setUp(env *testscript.Env, bin string) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(filepath.Join(home, ".ssh"), 0o700); err != nil {
		return err
	}
	for name, value := range map[string]string{
		"HOME": home, "PATH": bin + string(os.PathListSeparator) + os.Getenv("PATH"), "VADE_IDENTITY": "todd", "VADE_HOST": "host",
		"VADE_NO_BACKGROUND": "1", "NO_COLOR": "1", "SSH_AUTH_SOCK": "", "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "",
		"VAULT": filepath.Join(home, ".local", "share", "vade", "todd", "vault"),
	} {
		env.Setenv(name, value)
	}
	return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = Todd\n\temail = todd@example.com\n[safe]\n\tdirectory = *\n"), 0o644)
}

var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	// memory VARIABLE GLOB: sets VARIABLE to the one file of the vault that GLOB names.
	"memory": func(ts *testscript.TestScript, _ bool, args []string) {
		found, err := filepath.Glob(filepath.Join(ts.Getenv("VAULT"), args[1]))
		ts.Check(err)
		if len(found) != 1 {
			ts.Fatalf("%d files match %s: %v", len(found), args[1], found)
		}
		ts.Setenv(args[0], found[0])
	},
	// clean: the vault is what its history says, and git finds no fault.
	"clean": func(ts *testscript.TestScript, _ bool, _ []string) {
		ts.Check(ts.Exec("git", "-C", ts.Getenv("VAULT"), "status", "--porcelain"))
		if out := ts.ReadFile("stdout"); out != "" {
			ts.Fatalf("git status is not clean:\n%s", out)
		}
		ts.Check(ts.Exec("git", "-C", ts.Getenv("VAULT"), "fsck", "--strict", "--no-dangling", "--no-progress"))
	},
	// sshd starts a server on loopback and sets PORT.
	"sshd": func(ts *testscript.TestScript, _ bool, _ []string) { startSSHD(ts) },
	// small MEGABYTES DIR: a file system of that size at DIR.
	"small": func(ts *testscript.TestScript, _ bool, args []string) {
		dir := ts.MkAbs(args[1])
		ts.Check(os.MkdirAll(dir, 0o755))
		ts.Check(ts.Exec("mount", "-t", "tmpfs", "-o", "size="+args[0]+"m", "tmpfs", dir))
		ts.Defer(func() { _ = exec.Command("umount", dir).Run() })
	},
}

// startSSHD runs the system's sshd with keys and settings of its own.
func startSSHD(ts *testscript.TestScript) {
	dir := ts.MkAbs("sshd")
	home := ts.Getenv("HOME")
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(os.MkdirAll("/run/sshd", 0o755))
	for _, kind := range []string{"ed25519", "rsa"} {
		ts.Check(ts.Exec("ssh-keygen", "-q", "-t", kind, "-N", "", "-f", filepath.Join(dir, "host_"+kind)))
	}
	ts.Check(ts.Exec("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(home, ".ssh", "id_ed25519")))
	key, err := os.ReadFile(filepath.Join(home, ".ssh", "id_ed25519.pub"))
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(dir, "authorized_keys"), key, 0o644))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	port := l.Addr().(*net.TCPAddr).Port
	ts.Check(l.Close())
	config := fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %[2]s/host_ed25519\nHostKey %[2]s/host_rsa\nPidFile none\n"+
		"AuthorizedKeysFile %[2]s/authorized_keys\nStrictModes no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\nUsePAM no\n", port, dir)
	ts.Check(os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o644))
	log, err := os.Create(filepath.Join(dir, "log"))
	ts.Check(err)
	server := exec.Command("/usr/sbin/sshd", "-D", "-e", "-f", filepath.Join(dir, "config"))
	server.Stderr = log
	ts.Check(server.Start())
	ts.Defer(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		_ = log.Close()
	})
	ts.Check(answers(port))
	public, err := os.ReadFile(filepath.Join(dir, "host_ed25519.pub"))
	ts.Check(err)
	fields := strings.Fields(string(public))
	ts.Setenv("PORT", fmt.Sprint(port))
	ts.Setenv("HOSTKEY", fmt.Sprintf("[127.0.0.1]:%d %s %s", port, fields[0], fields[1]))
}

func answers(port int) error {
	var last error
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return c.Close()
		}
		last = err
		if !errors.Is(err, fs.ErrNotExist) {
			time.Sleep(20 * time.Millisecond)
		}
	}
	return fmt.Errorf("sshd does not answer: %w", last)
}
