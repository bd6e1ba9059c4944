package plan

import (
	"maps"
	"slices"
	"strings"
)

// environment notes the variables that were asked for.
func (w *walker) environment(env map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		value := env[name]
		w.p.Env = append(w.p.Env, EnvChange{name, value})
		if !harmless(name, value) {
			w.doubt("environment", "sets the variable "+Show(name)+", which may change what runs")
		}
	}
}

// harmless: no program takes code, a file or an address from this variable. Any
// other variable is doubtful: what it does is known only to who reads it.
func harmless(name, value string) bool {
	for _, c := range []byte(value) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte("_.@+-", c) >= 0:
		case c == '/' && name == "TZ" && value[0] != '/' && !strings.Contains(value, ".."):
		default:
			return false
		}
	}
	switch name {
	case "LANG", "LANGUAGE", "TZ", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "CI",
		"LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME":
		return true
	}
	return false
}

func variableName(s string) bool {
	for i, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		case i > 0 && c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return s != "" && len(s) < 256
}
