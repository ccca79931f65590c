package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"

	"vademecum/vault"
)

// workspaceHere is the project key of the current folder: its git remote,
// normalised, else the path of the repository's root folder, else "" outside
// any repository. Linked worktrees and subfolders of one repository agree.
// Folders below vaultHome belong to no project.
func workspaceHere(vaultHome string) string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return workspaceAt(dir, vaultHome)
}

// workspaceAt is workspaceHere for another folder; "" for a relative one.
func workspaceAt(dir, vaultHome string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if home, err := filepath.EvalSymlinks(vaultHome); err == nil && within(home, dir) {
		return ""
	}
	for {
		if gitDir, ok := gitDirOf(dir); ok {
			if url := originURL(filepath.Join(gitDir, "config")); url != "" {
				return vault.ParseWorkspace(url)
			}
			return filepath.ToSlash(mainWorktree(gitDir, dir))
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func within(parent, path string) bool {
	rel, err := filepath.Rel(parent, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// gitDirOf returns the common git directory of the work tree rooted at dir.
func gitDirOf(dir string) (string, bool) {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Stat(dotGit)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		_, err := os.Stat(filepath.Join(dotGit, "HEAD"))
		return dotGit, err == nil
	}
	target, ok := pointer(dotGit, "gitdir:")
	if !ok {
		return "", false
	}
	target = absoluteFrom(dir, target)
	if common, ok := pointer(filepath.Join(target, "commondir"), ""); ok {
		return absoluteFrom(target, common), true
	}
	return target, true
}

// mainWorktree is the root folder that all worktrees of a repository share a
// key by: the one that holds the common git directory.
func mainWorktree(gitDir, dir string) string {
	if filepath.Base(gitDir) == ".git" {
		return filepath.Dir(gitDir)
	}
	return dir
}

// pointer reads the one-line file at path and returns what follows prefix.
func pointer(path, prefix string) (string, bool) {
	raw, err := os.ReadFile(path)
	if err != nil || len(raw) > 4096 {
		return "", false
	}
	return strings.CutPrefix(strings.TrimSpace(string(raw)), prefix)
}

func absoluteFrom(dir, path string) string {
	path = strings.TrimSpace(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// originURL reads remote.origin.url, else the first remote's, from a git
// config file.
func originURL(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	var section, first string
	for sc := bufio.NewScanner(f); sc.Scan(); {
		line := strings.TrimSpace(sc.Text())
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || !strings.EqualFold(strings.TrimSpace(key), "url") || !strings.HasPrefix(section, "[remote ") {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		if section == `[remote "origin"]` {
			return value
		}
		if first == "" {
			first = value
		}
	}
	return first
}
