package session

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func user(run, text string) protocol.Message {
	return protocol.Message{Role: protocol.MessageUser, Content: protocol.TextBlocks(text), Meta: &protocol.MessageMeta{RunID: run}}
}

func said(text string) protocol.Message {
	return protocol.Message{Role: protocol.MessageAssistant, Content: protocol.TextBlocks(text), Meta: &protocol.MessageMeta{}}
}

func called(ids ...string) protocol.Message {
	m := protocol.Message{Role: protocol.MessageAssistant, Meta: &protocol.MessageMeta{}}
	for _, id := range ids {
		m.Content = append(m.Content, protocol.Block{Type: protocol.BlockToolCall, ID: id, Name: "x", Arguments: json.RawMessage("{}")})
	}
	return m
}

func result(id string) protocol.Message {
	return protocol.Message{Role: protocol.MessageToolResult, ToolCallID: id, ToolName: "x", Content: protocol.TextBlocks("r"),
		Meta: &protocol.MessageMeta{}}
}

func render(msgs []model.Message) string {
	var out []string
	for _, m := range msgs {
		s := string(m.Role)
		for _, b := range m.Blocks {
			switch {
			case b.ToolCall != nil:
				s += ":call " + b.ToolCall.ID
			case b.ToolResult != nil:
				s += fmt.Sprintf(":result %s", b.ToolResult.CallID)
				if b.ToolResult.IsError {
					s += "!"
				}
			default:
				s += ":" + b.Text
			}
		}
		out = append(out, s)
	}
	return strings.Join(out, " | ")
}

// entriesOf is a conversation as it is kept for models.
func entriesOf(turns [][]protocol.Message) (out []turn) {
	for _, msgs := range turns {
		var t turn
		for _, msg := range msgs {
			t = append(t, entryOf(msg))
		}
		out = append(out, t)
	}
	return out
}

// F-DB-08: whatever a crash left in a transcript, the next request is one that
// providers accept: every call has its result, and turns that came to nothing
// are left out.
func TestFault_F_DB_08_RequestIsAlwaysWellFormed(t *testing.T) {
	type turns = [][]protocol.Message
	for name, tc := range map[string]struct {
		turns turns
		want  string
	}{
		"plain":       {turns{{user("1", "a"), said("b")}, {user("2", "c")}}, "user:a | assistant:b | user:c"},
		"failed turn": {turns{{user("1", "a")}, {user("2", "c")}}, "user:c"},
		"call and result": {turns{{user("1", "a"), called("k"), result("k"), said("b")}, {user("2", "c")}},
			"user:a | assistant:call k | tool:result k | assistant:b | user:c"},
		"lost result": {turns{{user("1", "a"), called("k")}, {user("2", "c")}}, "user:a | assistant:call k | tool:result k! | user:c"},
		"one of two lost": {turns{{user("1", "a"), called("k", "l"), result("k")}, {user("2", "c")}}, "user:a | assistant:call k:call l | " +
			"tool:result k | tool:result l! | user:c"},
		"lost, then an end": {turns{{user("1", "a"), called("k"), said("b")}, {user("2", "c")}}, "user:a | assistant:call k | tool:result k! " +
			"| assistant:b | user:c"},
		"empty answer":       {turns{{user("1", "a"), said("")}, {user("2", "c")}}, "user:a | user:c"},
		"injected note":      {turns{{said("note")}, {user("2", "c")}}, "assistant:note | user:c"},
		"current turn, tool": {turns{{user("2", "c"), called("k")}}, "user:c | assistant:call k | tool:result k!"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := render(toModel(entriesOf(tc.turns), map[string]bool{"2": true})); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestCanonical(t *testing.T) {
	for _, tc := range []struct{ key, agent, want, err string }{
		{"main", "", "agent:main:main", ""},
		{"", "", "agent:main:main", ""},
		{"main", "work", "agent:work:main", ""},
		{"agent:main:chat:1", "", "agent:main:chat:1", ""},
		{"notes", "", "agent:main:notes", ""},
		{"agent:main:", "", "", "should read"},
		{"agent:main", "", "", "should read"},
		{"a\nb", "", "", "control"},
		{"a\u2028b", "", "", "control"},
		{"a\xffb", "", "", "UTF-8"},
		{strings.Repeat("k", 600), "", "", "at most"},
		{"x", "../etc", "", "agent id"},
		{"agent:a b:c", "", "", "agent id"},
		{"emoji-🔥-עברית", "", "agent:main:emoji-🔥-עברית", ""},
	} {
		got, err := Canonical(tc.key, tc.agent)
		if tc.err == "" && (err != nil || got != tc.want) || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("Canonical(%q, %q) = %q, %v; want %q %q", tc.key, tc.agent, got, err, tc.want, tc.err)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"main", "agent:main:x", "agent::", "\x00", "agent:a:b:c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		key, err := Canonical(s, "")
		if err != nil {
			return
		}
		if again, err := Canonical(key, "other"); err != nil || again != key {
			t.Errorf("canonical form %q of %q is not stable: %q, %v", key, s, again, err)
		}
	})
}
