package source

import (
	"strings"
)

const maxVariables = 1 << 20

// Variables reads a file of lines NAME=value, as programs keep keys in. What is no
// such line is passed over.
func Variables(t *Tree, name string) map[string]string {
	out := map[string]string{}
	raw, err := t.Read(name, maxVariables)
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "export ")
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok || key == "" || strings.HasPrefix(key, "#") {
			continue
		}
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		out[key] = value
	}
	return out
}
