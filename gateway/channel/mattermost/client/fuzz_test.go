package client

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzEvent: whatever comes by the socket is an event or nothing, and a post in it can
// be looked at.
func FuzzEvent(f *testing.F) {
	for _, s := range []string{`{"event":"hello","seq":0}`, `{"event":"posted","data":{"post":"{\"message\":\"@hearth x\"}"},"seq":-1}`,
		`[]`, `{"event":7}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		ev, ok := parseEvent(frame)
		var p post
		if !ok || json.Unmarshal([]byte(ev.Data.Post), &p) != nil {
			return
		}
		_ = fromProgram(p)
		if command, mentioned := addressed(p.Message, "hearth"); command != "" && (!mentioned || !strings.Contains(p.Message, command)) {
			t.Errorf("%q is no part of %q", command, p.Message)
		}
	})
}

// FuzzDefused: a text that was defused says the same, and calls nobody.
func FuzzDefused(f *testing.F) {
	for _, s := range []string{"@all", "`@all`", "```\n@all\n```", "> - `@`@here", "a@b.c", "\\@all", "~~~\n@x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := defused(s)
		if !utf8.ValidString(out) || strings.ReplaceAll(out, unseen, "") != strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), unseen, "") {
			t.Errorf("%q became %q", s, out)
		}
		if !strings.Contains(s, "`") && !strings.Contains(s, "~~~") && strings.Contains(" "+out, " @all") {
			t.Errorf("%q calls all", out)
		}
	})
}
