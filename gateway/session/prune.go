package session

import (
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const (
	// keepResults is how many of the newest assistant messages keep the tool
	// results around them whole.
	keepResults = 3
	// softResult is the size above which an older result is cut to its ends.
	softResult = 4 << 10
	// keepEnds is what stays of each end.
	keepEnds = 1500
	// clearedResult stands for a result that is old and large.
	clearedResult = "[Old tool result cleared to save room. Call the tool again if it is needed.]"
	// hardResult is the size above which nothing of an old result stays.
	hardResult = 50 << 10
)

// prune trims old tool results of what a model is about to be given. The transcript is not touched: turns are
// copies.
func prune(turns [][]protocol.Message) {
	seen := 0
	for i := len(turns) - 1; i >= 0; i-- {
		for j := len(turns[i]) - 1; j >= 0; j-- {
			m := &turns[i][j]
			switch m.Role {
			case protocol.MessageAssistant:
				seen++
			case protocol.MessageToolResult:
				if seen >= keepResults {
					trim(m)
				}
			}
		}
	}
}

func trim(m *protocol.Message) {
	text := m.Text()
	switch {
	case len(text) <= softResult:
	case len(text) > hardResult:
		m.Content = protocol.TextBlocks(clearedResult)
	default:
		head := strings.ToValidUTF8(text[:keepEnds], "")
		tail := strings.ToValidUTF8(text[len(text)-keepEnds:], "")
		m.Content = protocol.TextBlocks(head + "\n[…cut…]\n" + tail)
	}
}
