package launch

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
)

// passed are the variables of the gateway that commands get. Everything else
// stays here: there is no list of dangerous names, because it would never be
// complete.
var passed = []string{"HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY",
	"LC_NUMERIC", "LC_TIME", "TZ"}

// Passed are their names.
func Passed() []string { return slices.Clone(passed) }

// environment is all that a command gets: what is passed on, what is fixed,
// and what the approved plan asks for.
func (o Place) environment(p plan.Plan, temp string, tty bool, extra []string) []string {
	env := map[string]string{}
	for _, kv := range extra {
		name, value, _ := strings.Cut(kv, "=")
		if name != "" && !slices.Contains(passed, name) && !strings.ContainsRune(value, 0) {
			env[name] = value
		}
	}
	for _, kv := range o.Environ {
		name, value, _ := strings.Cut(kv, "=")
		if slices.Contains(passed, name) && value != "" && !strings.ContainsAny(value, "\n\x00") {
			env[name] = value
		}
	}
	delete(env, "HOME")
	if filepath.IsAbs(o.Home) {
		env["HOME"] = o.Home
	}
	env["PATH"] = o.Resolver.SearchPath()
	env["TERM"] = "dumb"
	if tty {
		env["TERM"] = "xterm-256color"
	}
	if temp != "" {
		env["TMPDIR"] = temp
	}
	for _, e := range p.Env {
		env[e.Name] = e.Value
	}
	out := make([]string, 0, len(env))
	for name, value := range env {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}
