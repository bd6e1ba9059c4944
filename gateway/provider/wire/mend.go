package wire

import "github.com/hearth-assistant/hearth/gateway/model"

// interrupted stands in for a result that never came: every service refuses a
// conversation in which a tool call has no result.
const interrupted = "This tool call was interrupted; it has no result."

// Mend returns the conversation in the shape that all services accept: each
// tool call is followed at once by exactly one result, results without a call
// and messages without content are gone. The messages given are not changed.
func Mend(messages []model.Message) []model.Message {
	results := map[string]*model.ToolResult{}
	for _, m := range messages {
		for _, b := range m.Blocks {
			if r := b.ToolResult; r != nil && m.Role == model.RoleTool {
				if _, twice := results[r.CallID]; !twice {
					results[r.CallID] = r
				}
			}
		}
	}
	out := make([]model.Message, 0, len(messages))
	for _, m := range messages {
		if m.Role == model.RoleTool {
			continue // comes behind its call
		}
		kept := model.Message{Role: m.Role}
		for _, b := range m.Blocks {
			if b.ToolResult == nil && (b.Text != "" || b.Thinking != "" || b.ToolCall != nil) {
				kept.Blocks = append(kept.Blocks, b)
			}
		}
		if len(kept.Blocks) == 0 {
			continue
		}
		out = append(out, kept)
		for _, b := range kept.Blocks {
			if b.ToolCall != nil {
				out = append(out, model.Message{Role: model.RoleTool, Blocks: []model.Block{{ToolResult: resultFor(b.ToolCall, results)}}})
			}
		}
	}
	return out
}

// resultFor takes the result of a call out of results, or makes one.
func resultFor(c *model.ToolCall, results map[string]*model.ToolResult) *model.ToolResult {
	r, ok := results[c.ID]
	if !ok {
		return &model.ToolResult{CallID: c.ID, Name: c.Name, Text: interrupted, IsError: true}
	}
	delete(results, c.ID)
	return r
}

// Text joins the text blocks of a message.
func Text(m model.Message) string {
	s := ""
	for _, b := range m.Blocks {
		s += b.Text
	}
	return s
}
