package session

import "github.com/hearth-assistant/hearth/gateway/agent"

// How much of a model's window a conversation takes: as the service counts it, or
// by the estimate that compaction goes by.

// estimate is what a model is given, in tokens.
func estimate(t agent.Turn) int {
	n := len(t.System)
	for _, s := range t.Tools {
		n += len(s.Name) + len(s.Description) + len(s.Schema)
	}
	for _, msg := range t.Messages {
		for _, b := range msg.Blocks {
			n += len(b.Text) + 16
			if b.ToolCall != nil {
				n += len(b.ToolCall.Arguments)
			}
			if b.ToolResult != nil {
				n += len(b.ToolResult.Text)
			}
			if b.Image != nil {
				n += pictureSize
			}
		}
	}
	return n / bytesPerToken
}

// fill notes how full the window was with a message of the model.
func (e *ending) fill(ev agent.Event) {
	if e.builtIn {
		return
	}
	if u := ev.Last; u.Input+u.CacheRead+u.CacheWrite > 0 {
		e.used = u.Total()
		return
	}
	n := 0
	for _, b := range ev.Message.Blocks {
		n += len(b.Text)
		if b.ToolCall != nil {
			n += len(b.ToolCall.Arguments)
		}
	}
	e.used = e.sent + n/bytesPerToken
}
