package modelcheck

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/provider"
)

// words puts a test that went well into a line: "answered in 1.2 s · 32K context
// verified · tools work".
func (t *check) words() {
	parts := []string{fmt.Sprintf("answered in %.1f s", t.res.Took.Seconds())}
	if c := t.contextWords(); c != "" {
		parts = append(parts, c)
	}
	switch t.found.Tools {
	case provider.ToolsWork:
		parts = append(parts, "tools work")
	case provider.ToolsFail:
		parts = append(parts, "no tools")
		t.note("It cannot call tools, so it is used for talking only. For files, commands and the web pick a model that can.")
	}
	t.res.Line = strings.Join(parts, " · ")
	if w := t.windowNow(); w > 0 && w < GoodWindow {
		t.note(fmt.Sprintf("Its context of %s tokens is small: long conversations are summarized early, and tools need room. 16,000 or more "+
			"is better; for a model of Ollama set contextWindow in models.providers.", Thousands(w)))
	}
}

func (t *check) contextWords() string {
	most := max(t.target.ContextWindow, t.choice.Trained)
	switch {
	case t.found.Window == 0:
		return ""
	case t.found.Window < most:
		return fmt.Sprintf("really %s of %s tokens of context", Thousands(t.found.Window), Thousands(most))
	}
	return kilo(t.found.Window) + " context verified"
}

// windowNow is how much of a conversation the model is sent.
func (t *check) windowNow() int {
	if t.found.Limit > 0 {
		return t.found.Window
	}
	return t.target.ContextWindow
}

// kilo is 32768 as 32K, 40000 as 40K.
func kilo(n int) string {
	if n%1024 == 0 {
		return strconv.Itoa(n/1024) + "K"
	}
	return strconv.Itoa((n+500)/1000) + "K"
}

// Thousands is 32768 as 32,768.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
