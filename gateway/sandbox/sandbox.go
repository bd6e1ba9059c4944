// Package sandbox keeps a command inside what it was given: which files it
// reads and changes, and whether it reaches a network. It uses what the
// operating system offers (Landlock and seccomp on Linux, sandbox-exec on
// macOS) and says honestly where that is nothing. It starts no process and
// decides no policy: the caller hands in Rules.
package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrUnavailable says that this system cannot confine a command.
var ErrUnavailable = errors.New("sandbox: commands cannot be confined on this system")

// Rules is all that a confined command may touch. What no field names is out
// of reach.
type Rules struct {
	Read    []string `json:"read,omitempty"`  // files and folders to read and run
	Write   []string `json:"write,omitempty"` // and to change
	Hide    []string `json:"hide,omitempty"`  // never, even where they lie inside of the above
	Network bool     `json:"network,omitempty"`
	// Stay are folders that nobody moves, removes or replaces, even where the
	// folder above them may be changed.
	Stay []string `json:"stay,omitempty"`
	// Same says which folder a path of Write is: another one there is an error.
	Same map[string]ID `json:"same,omitempty"`
}

// Report is what holds on this system.
type Report struct {
	Backend  string // landlock, seatbelt, "" = none
	ABI      int    // of landlock
	Confined bool
	Words    []string // what holds and what does not, a sentence each
}

// Summary is the report in one line.
func (r Report) Summary() string {
	if r.Confined {
		return "confined"
	}
	return "not confined: " + strings.Join(r.Words, " ")
}

// Secrets are the places below a home folder that no confined command sees.
func Secrets(home string) []string {
	if home == "" {
		return nil
	}
	names := []string{
		".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".pypirc", ".npmrc", ".git-credentials", ".pgpass",
		".password-store", ".vault-token", ".terraform.d", ".mozilla", ".thunderbird", ".electrum", ".bitcoin",
		".bash_history", ".zsh_history", ".python_history",
		".config/gcloud", ".config/gh", ".config/hub", ".config/op", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
		".config/microsoft-edge", ".config/autostart", ".config/systemd", ".config/git/credentials",
		".local/share/keyrings", ".local/share/kwalletd",
		"Library/Keychains", "Library/Cookies", "Library/Application Support/Google", "Library/Application Support/Firefox",
		"Library/LaunchAgents", "Library/Mail", "Library/Messages",
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = filepath.Join(home, filepath.FromSlash(n))
	}
	return out
}

// grants turns the paths that may be used into those that exist, with the
// hidden ones cut out: a folder that holds something hidden is replaced by
// what else it holds, because a grant counts for everything below it.
func grants(paths, hidden []string) []string {
	return carveAll(realAll(paths), realAll(hidden))
}

// carveAll is grants for paths that are real.
func carveAll(paths, hidden []string) []string {
	var out []string
	for _, p := range paths {
		out = append(out, carve(p, hidden)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func carve(p string, hidden []string) []string {
	if slices.Contains(hidden, p) {
		return nil
	}
	inside := slices.ContainsFunc(hidden, func(h string) bool { return within(h, p) })
	info, err := os.Lstat(p)
	switch {
	case err != nil || info.Mode()&os.ModeSymlink != 0: // where a link leads needs a grant of its own
		return nil
	case !inside:
		return []string{p}
	}
	entries, err := os.ReadDir(p)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		out = append(out, carve(filepath.Join(p, e.Name()), hidden)...)
	}
	return out
}

// within reports whether p lies below dir.
func within(p, dir string) bool {
	return p != dir && strings.HasPrefix(p, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

func realAll(paths []string) []string {
	seen := places{}
	var out []string
	for _, p := range paths {
		if filepath.IsAbs(p) {
			out = append(out, seen.real(filepath.Clean(p)))
		}
	}
	return out
}

// places remembers where folders lead: most paths share theirs.
type places map[string]string

// real follows links as far as there is something to follow.
func (m places) real(p string) string {
	if r, ok := m[p]; ok {
		return r
	}
	r := p
	if parent := filepath.Dir(p); parent != p {
		r = filepath.Join(m.real(parent), filepath.Base(p))
		if info, err := os.Lstat(r); err == nil && info.Mode()&os.ModeSymlink != 0 {
			if to, err := filepath.EvalSymlinks(r); err == nil {
				r = to
			}
		}
	}
	m[p] = r
	return r
}

func realPath(p string) string { return places{}.real(p) }
