package session

import (
	"slices"
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

// recentFrom is the position from which on results of tools are given whole: that
// of the third newest message of the model.
func recentFrom(turns []turn) int64 {
	seen := 0
	for _, t := range slices.Backward(turns) {
		for _, e := range slices.Backward(t) {
			if e.role != protocol.MessageAssistant {
				continue
			}
			if seen++; seen == keepResults {
				return e.seq
			}
		}
	}
	return 0
}

// shortResult is what is given of an old result; ok is false when that is all of it.
func shortResult(text string) (short string, ok bool) {
	switch {
	case len(text) <= softResult:
		return text, false
	case len(text) > hardResult:
		return clearedResult, true
	}
	head := strings.ToValidUTF8(text[:keepEnds], "")
	tail := strings.ToValidUTF8(text[len(text)-keepEnds:], "")
	return head + "\n[…cut…]\n" + tail, true
}
