package child

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
)

// Environment is what a child gets: of ours only what says where things are and
// how people write, and all of configured, which wins. "NAME=value" each, sorted.
func Environment(configured map[string]string) []string {
	env := map[string]string{}
	for _, name := range inherited() {
		if v, ok := os.LookupEnv(name); ok {
			env[name] = v
		}
	}
	maps.Copy(env, configured)
	lines := make([]string, 0, len(env))
	for name, v := range env {
		lines = append(lines, name+"="+v)
	}
	slices.Sort(lines)
	return lines
}

func inherited() []string {
	names := []string{"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ"}
	if runtime.GOOS == "windows" { // without these, neither sockets nor temporary files
		names = append(names, "SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA")
	}
	return names
}

// Resolve is the absolute path of a program: of one that is named without a
// folder, the first of that name in PATH. It is asked once, so that nothing that
// comes into PATH later is run in its place.
func Resolve(command string) (string, error) {
	if command == "" {
		return "", fmt.Errorf("no command: name the program to run")
	}
	path, err := exec.LookPath(command)
	if err != nil {
		return "", fmt.Errorf("command %q: %w; give the absolute path of a program, and its arguments apart from it", command, err)
	}
	return filepath.Abs(path)
}
