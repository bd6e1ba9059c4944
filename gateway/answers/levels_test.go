package answers

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestQuotedReasoning(t *testing.T) {
	msg := &protocol.Message{Content: []protocol.Block{{Type: protocol.BlockThinking, Thinking: "first\n"},
		{Type: protocol.BlockText, Text: "said"}, {Type: protocol.BlockThinking, Thinking: "second"}}}
	if got := quoted(thoughtsOf(msg)); got != "> first\n> second" {
		t.Errorf("got %q", got)
	}
	if got := quoted(" \n"); got != "" {
		t.Errorf("nothing is quoted as %q", got)
	}
	if got := quoted(strings.Repeat("ä", 2*maxThoughts)); len([]rune(got)) != maxThoughts+3 {
		t.Errorf("%d characters", len([]rune(got)))
	}
}

// /verbose shows tool lines that the account's settings hide.
func TestVerboseOverToolLines(t *testing.T) {
	for verbose, want := range map[string][2]bool{"": {true, true}, "on": {false, true}, "full": {false, false}} {
		how := streaming{hideTools: true, hideCommands: true}
		levels{verbose: verbose}.toolLines(&how)
		if how.hideTools != want[0] || how.hideCommands != want[1] {
			t.Errorf("%q: %+v", verbose, how)
		}
	}
}

func TestCommandOfATool(t *testing.T) {
	for args, want := range map[string]string{`{"command":"ls -l"}`: "ls -l", `{}`: "", `{"command":3}`: "", "": ""} {
		if got := commandOf([]byte(args)); got != want {
			t.Errorf("%s: %q", args, got)
		}
	}
}
