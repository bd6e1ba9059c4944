package session

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Session pruning: old tool results are trimmed before the model
// is asked, the newest are whole, and the transcript keeps every word.
func TestPruneTrimsOnlyOldToolResults(t *testing.T) {
	turn := func(size int) []protocol.Message {
		return []protocol.Message{
			{Role: protocol.MessageUser, Content: protocol.TextBlocks(strings.Repeat("u", size))},
			{Role: protocol.MessageAssistant, Content: protocol.TextBlocks("calls")},
			{Role: protocol.MessageToolResult, Content: protocol.TextBlocks(strings.Repeat("r", size))},
			{Role: protocol.MessageAssistant, Content: protocol.TextBlocks("done")},
		}
	}
	turns := [][]protocol.Message{turn(hardResult + 1), turn(softResult + 1), turn(10), turn(hardResult + 1), turn(hardResult + 1)}
	stored := turns[0][2]
	prune(turns)
	if len(stored.Text()) != hardResult+1 {
		t.Error("the transcript's own entry was changed")
	}
	if got := turns[0][2].Text(); got != clearedResult {
		t.Errorf("a large old result is %d bytes", len(got))
	}
	if got := len(turns[1][2].Text()); got > 2*keepEnds+200 || got < 2*keepEnds {
		t.Errorf("a middling old result is %d bytes", got)
	}
	if got := len(turns[2][2].Text()); got != 10 {
		t.Errorf("a small old result is %d bytes", got)
	}
	if got := len(turns[4][2].Text()); got != hardResult+1 {
		t.Errorf("the newest result is %d bytes", got)
	}
	if got := len(turns[0][0].Text()); got != hardResult+1 {
		t.Errorf("the person's words were cut to %d bytes", got)
	}
}
