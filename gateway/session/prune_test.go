package session

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Session pruning: old tool results are trimmed before the model
// is asked, the newest are whole, and the transcript keeps every word.
func TestPruneTrimsOnlyOldToolResults(t *testing.T) {
	seq := int64(0)
	say := func(role, text string) protocol.Message {
		seq++
		return protocol.Message{Role: role, Content: protocol.TextBlocks(text), Meta: &protocol.MessageMeta{Seq: seq}}
	}
	turn := func(size int) []protocol.Message {
		call := say(protocol.MessageAssistant, "")
		call.Content = []protocol.Block{{Type: protocol.BlockToolCall, ID: "c", Name: "x"}}
		result := say(protocol.MessageToolResult, strings.Repeat("r", size))
		result.ToolCallID = "c"
		return []protocol.Message{say(protocol.MessageUser, strings.Repeat("u", size)), call, result, say(protocol.MessageAssistant, "done")}
	}
	turns := entriesOf([][]protocol.Message{turn(hardResult + 1), turn(softResult + 1), turn(10), turn(hardResult + 1), turn(hardResult + 1)})
	given := toModel(turns, nil)
	result := func(turn int) string { return given[4*turn+2].Blocks[0].ToolResult.Text }
	if len(turns[0][2].words) != hardResult+1 || len(turns[0][2].said.Blocks[0].ToolResult.Text) != hardResult+1 {
		t.Error("the transcript's own entry was changed")
	}
	if got := result(0); got != clearedResult {
		t.Errorf("a large old result is %d bytes", len(got))
	}
	if got := len(result(1)); got > 2*keepEnds+200 || got < 2*keepEnds {
		t.Errorf("a middling old result is %d bytes", got)
	}
	if got := len(result(2)); got != 10 {
		t.Errorf("a small old result is %d bytes", got)
	}
	if got := len(result(4)); got != hardResult+1 {
		t.Errorf("the newest result is %d bytes", got)
	}
	if got := len(given[0].Blocks[0].Text); got != hardResult+1 {
		t.Errorf("the person's words were cut to %d bytes", got)
	}
}
