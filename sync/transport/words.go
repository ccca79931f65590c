package transport

import "strings"

// classifyWords classes what a git server says in plain words before it hangs up.
func classifyWords(words string) error {
	said := strings.ToLower(words)
	has := func(any ...string) bool {
		for _, s := range any {
			if strings.Contains(said, s) {
				return true
			}
		}
		return false
	}
	switch {
	case has("host key verification"):
		return fault(ErrHostKey, words, "connect once with ssh to see and accept the key")
	case has("command not found", "could not resolve"):
		return fault(ErrUnreachable, words, "check the address and that git is installed there")
	case has("not our ref"):
		return fault(ErrMoved, words, "run it again")
	case has("not found", "does not exist", "does not appear to be a git repository", "no such", "not a git repository"):
		return fault(ErrNotFound, words, "check the address; a new repository must be created there first")
	case has("permission", "denied", "authenticat", "unauthorized", "forbidden", "not allowed", "read-only", "dubious ownership"):
		return fault(ErrAuth, words, "check that this account may use the repository")
	case has("sha256", "object format"):
		return sha256Fault()
	}
	return fault(ErrUnreachable, words, "ask whoever runs the server")
}
