package skill

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Entry is what the settings say about one skill.
type Entry struct {
	Disabled bool
	Env      map[string]bool // names that have a value there
	APIKey   bool            // it has one
}

// World is what the needs of a skill are looked up in.
type World struct {
	OS     string                 // as Go calls it; "" = this one
	Find   func(bin string) bool  // a program that commands of the assistant find
	Env    func(name string) bool // a variable of ours that is not empty
	Config func(path string) bool // a setting that is not false, empty or missing
	Entry  func(key string) Entry
	// AllowBundled are the names of bundled skills that load; nil: all.
	AllowBundled []string
}

// Status is what became of a skill here.
type Status struct {
	Skill
	Disabled  bool // in the settings
	Blocked   bool // by allowBundled
	Missing   Requires
	Satisfied map[string]bool // config paths
}

// Eligible: the skill is of use here.
func (s Status) Eligible() bool {
	m := s.Missing
	return s.Problem == "" && !s.Disabled && !s.Blocked && len(m.Bins)+len(m.AnyBins)+len(m.Env)+len(m.Config)+len(m.OS) == 0
}

// ModelVisible: it stands in the prompt.
func (s Status) ModelVisible() bool { return s.Eligible() && s.ModelInvocable }

// CommandVisible: it is a slash command.
func (s Status) CommandVisible() bool { return s.Eligible() && s.UserInvocable }

// Judge says whether a skill is of use here, and what is missing.
func (w World) Judge(s Skill) Status {
	out := Status{Skill: s}
	e := w.Entry(s.Key)
	out.Disabled = e.Disabled
	out.Blocked = s.Source == Bundled && w.AllowBundled != nil && !slices.Contains(w.AllowBundled, s.Name) &&
		!slices.Contains(w.AllowBundled, s.Key)
	here := w.system()
	if len(s.Requires.OS) > 0 && !slices.Contains(s.Requires.OS, here) {
		out.Missing.OS = s.Requires.OS
	}
	out.Satisfied = make(map[string]bool, len(s.Requires.Config))
	for _, c := range s.Requires.Config {
		out.Satisfied[c] = w.Config(c)
	}
	if s.Always { // the other gates are open; a system that it is not for stays one
		return out
	}
	for _, b := range s.Requires.Bins {
		if !w.Find(b) {
			out.Missing.Bins = append(out.Missing.Bins, b)
		}
	}
	if len(s.Requires.AnyBins) > 0 && !slices.ContainsFunc(s.Requires.AnyBins, w.Find) {
		out.Missing.AnyBins = s.Requires.AnyBins
	}
	for _, n := range s.Requires.Env {
		if !e.Env[n] && !(e.APIKey && n == s.PrimaryEnv) && !w.Env(n) {
			out.Missing.Env = append(out.Missing.Env, n)
		}
	}
	for _, c := range s.Requires.Config {
		if !out.Satisfied[c] {
			out.Missing.Config = append(out.Missing.Config, c)
		}
	}
	return out
}

// system is this system as metadata calls it.
func (w World) system() string {
	os := w.OS
	if os == "" {
		os = runtime.GOOS
	}
	if os == "windows" {
		return "win32"
	}
	return os
}

// FindIn looks for programs in folders, as a shell would.
func FindIn(path string) func(bin string) bool {
	known := map[string]bool{}
	return func(bin string) bool {
		if !binName(bin) {
			return false
		}
		found, ok := known[bin]
		if !ok {
			found = findIn(path, bin)
			known[bin] = found
		}
		return found
	}
}

func findIn(path, bin string) bool {
	names := []string{bin}
	if runtime.GOOS == "windows" {
		names = []string{bin + ".exe", bin + ".cmd", bin + ".bat", bin + ".com"}
	}
	for _, dir := range filepath.SplitList(path) {
		for _, n := range names {
			st, err := os.Stat(filepath.Join(dir, n))
			if filepath.IsAbs(dir) && err == nil && st.Mode().IsRegular() && (runtime.GOOS == "windows" || st.Mode()&0o111 != 0) {
				return true
			}
		}
	}
	return false
}

// Injectable reports whether a skill may be given a variable of this name. What
// steers programs as a whole, and what is ours, is not for skills (A-SKILL-05).
func Injectable(name string) bool {
	if !envName(name) {
		return false
	}
	n := strings.ToUpper(name)
	for _, p := range []string{"LD_", "DYLD_", "HEARTH_", "OPENCLAW_", "GIT_", "NPM_", "PIP_", "BASH_", "PYTHON", "PERL", "RUBY", "NODE_",
		"JAVA_", "_JAVA", "JDK_", "CARGO_", "RUST", "XDG_", "SSH_", "DBUS_", "GCONV_", "LUA_", "SUDO_", "MALLOC_", "GLIBC_", "LC_"} {
		if strings.HasPrefix(n, p) {
			return false
		}
	}
	if strings.HasSuffix(n, "_PROXY") || strings.HasSuffix(n, "_CA_BUNDLE") || strings.HasPrefix(n, "SSL_CERT_") {
		return false
	}
	return !slices.Contains([]string{
		"PATH", "PATHEXT", "HOME", "USERPROFILE", "USER", "LOGNAME", "SHELL", "ENV", "IFS", "CDPATH", "PS4", "PS1", "PROMPT_COMMAND", "EDITOR",
		"VISUAL",
		"PAGER", "LESSOPEN", "LESSCLOSE", "BROWSER", "TMPDIR", "TMP", "TEMP", "TERM", "TERMINFO", "LANG", "LANGUAGE", "PWD", "OLDPWD", "COMSPEC",
		"SYSTEMROOT",
		"ZDOTDIR", "CLASSPATH", "MAKEFLAGS", "CC", "CXX", "AWS_CONFIG_FILE", "KUBECONFIG", "DOCKER_HOST", "HISTFILE", "INPUTRC", "NLSPATH",
		"HOSTALIASES", "LOCALDOMAIN", "RES_OPTIONS",
		"GOFLAGS", "GOPATH", "GOROOT", "GOPROXY", "GOENV", "GOTOOLCHAIN", "GOBIN", "GONOSUMDB", "GOINSECURE",
	}, n)
}

// Command is what a person runs to get what a skill needs, "" when Hearth knows
// of none. Hearth never runs it. A download without a hash is none.
func (i Installer) Command(nodeManager string) string {
	safe := func(s string) bool {
		return s != "" && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("@/._-+[],=<>~", r) || r > 0x7e
		}) && !strings.ContainsAny(s, "<>~")
	}
	switch {
	case i.Kind == "brew" && safe(i.Formula):
		return "brew install " + i.Formula
	case i.Kind == "node" && safe(i.Package):
		switch nodeManager {
		case "pnpm":
			return "pnpm add --global --ignore-scripts " + i.Package
		case "yarn":
			return "yarn global add --ignore-scripts " + i.Package
		case "bun":
			return "bun add --global --ignore-scripts " + i.Package
		}
		return "npm install --global --ignore-scripts " + i.Package
	case i.Kind == "go" && safe(i.Module):
		return "go install " + i.Module
	case i.Kind == "uv" && safe(i.Package):
		return "uv tool install " + i.Package
	}
	return ""
}
