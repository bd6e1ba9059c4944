package wire

import (
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// interrupted stands in for a result that never came: every service refuses a
// conversation in which a tool call has no result.
const interrupted = "This tool call was interrupted; it has no result."

// unseen stands for a picture whose bytes are not at hand.
const unseen = "[A picture that is not shown to you.]"

// Mend returns the conversation in the shape that all services accept: each
// tool call is followed at once by exactly one result, ids of calls are
// unique, results without a call and messages without content are gone. The
// messages given are not changed.
func Mend(messages []model.Message) []model.Message {
	m := mender{out: make([]model.Message, 0, len(messages)), waiting: map[string]int{}, used: map[string]int{}}
	for _, msg := range messages {
		if msg.Role == model.RoleTool {
			m.results(msg)
		} else {
			m.message(msg)
		}
	}
	return m.out
}

type mender struct {
	out     []model.Message
	waiting map[string]int // where the result of the last call with this id stands, as long as none came
	used    map[string]int
}

// results fills in what came for calls; the rest is dropped.
func (m *mender) results(msg model.Message) {
	for _, b := range msg.Blocks {
		r := b.ToolResult
		if r == nil {
			continue
		}
		at, ok := m.waiting[r.CallID]
		if !ok {
			continue
		}
		delete(m.waiting, r.CallID)
		to := *m.out[at].Blocks[0].ToolResult
		if len(msg.Blocks) == 1 && r.CallID == to.CallID && r.Name == to.Name && r.Details == nil {
			m.out[at] = msg // as it is, with what is remembered of it
			continue
		}
		to.Text, to.Images, to.IsError = r.Text, r.Images, r.IsError
		m.out[at] = model.Message{Role: model.RoleTool, Blocks: []model.Block{{ToolResult: &to}}}
	}
}

func (m *mender) message(msg model.Message) {
	if plain(msg) {
		m.out = append(m.out, msg)
		return
	}
	var kept []model.Block
	var results []*model.ToolResult
	changed := false
	for _, b := range msg.Blocks {
		switch {
		case b.ToolCall != nil:
			call := *b.ToolCall
			if m.used[call.ID]++; m.used[call.ID] > 1 {
				call.ID = fmt.Sprintf("%s_%d", call.ID, m.used[call.ID]) // unique within a run, but not within a conversation
				changed = true
			}
			results = append(results, &model.ToolResult{CallID: call.ID, Name: call.Name, Text: interrupted, IsError: true})
			m.waiting[b.ToolCall.ID] = len(m.out) + len(results) // behind the message and the results before
			b = model.Block{ToolCall: &call}
		case b.Image != nil && len(b.Image.Data) == 0:
			b, changed = model.Block{Text: unseen}, true
		case b.Text == "" && b.Thinking == "" && b.Signature == "" && b.Image == nil:
			changed = true
			continue
		}
		kept = append(kept, b)
	}
	if len(kept) == 0 {
		return
	}
	if changed {
		msg = model.Message{Role: msg.Role, Blocks: kept}
	}
	m.out = append(m.out, msg)
	for _, r := range results {
		m.out = append(m.out, model.Message{Role: model.RoleTool, Blocks: []model.Block{{ToolResult: r}}})
	}
}

// plain reports whether nothing of a message needs a second look, as of most.
func plain(msg model.Message) bool {
	for i := range msg.Blocks {
		b := &msg.Blocks[i]
		if b.ToolCall != nil || b.Image != nil || b.Text == "" && b.Thinking == "" && b.Signature == "" {
			return false
		}
	}
	return len(msg.Blocks) > 0
}

// Text joins the text blocks of a message.
func Text(m model.Message) string {
	s := ""
	for _, b := range m.Blocks {
		s += b.Text
	}
	return s
}

// DataURL is a picture as an address that holds it.
func DataURL(i model.Image) string {
	return "data:" + i.MIME + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}

// WithoutSignatures is the conversation with nothing that a service signed. The
// messages given are not changed.
func WithoutSignatures(messages []model.Message) []model.Message {
	out := make([]model.Message, len(messages))
	for i, m := range messages {
		out[i].Role = m.Role
		for _, b := range m.Blocks {
			if b.Signature == "" {
				out[i].Blocks = append(out[i].Blocks, b)
			}
		}
	}
	return slices.DeleteFunc(out, func(m model.Message) bool { return len(m.Blocks) == 0 })
}

func signed(messages []model.Message) bool {
	return slices.ContainsFunc(messages, func(m model.Message) bool {
		return slices.ContainsFunc(m.Blocks, func(b model.Block) bool { return b.Signature != "" })
	})
}
