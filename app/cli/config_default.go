package cli

import (
	"encoding/json"
	"strings"

	"github.com/hearth-assistant/hearth/docs"
)

// printDefault answers for a setting that is not set: with its default where that
// is a value, else with what the manual says of it.
func (a *app) printDefault(path string) error {
	words := docs.Default(path)
	value, closed := strings.CutSuffix(strings.TrimPrefix(words, "`"), "`")
	if json.Valid([]byte(words)) {
		value, words, closed = words, "`"+words+"`", true
	}
	switch {
	case words == "" || words == "—":
		return &failure{exitFailure, line(path) + " is not set", "docs/configuration.md says what holds without it"}
	case !strings.HasPrefix(words, "`") || !closed || strings.Contains(value, "`"):
		return &failure{exitFailure, line(path) + " is not set. Without it: " + line(words), "docs/configuration.md says more"}
	}
	var text string
	if json.Unmarshal([]byte(value), &text) == nil {
		value = text
	}
	if a.asJSON {
		if b := json.RawMessage(value); value != text && json.Valid(b) {
			return a.out().json(b)
		}
		return a.out().json(value)
	}
	return a.out().print(value, "\n")
}
