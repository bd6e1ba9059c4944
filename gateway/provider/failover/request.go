package failover

import (
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
)

const (
	// goOn follows an answer that broke off when another attempt takes it up.
	goOn = "[Your answer was interrupted here by a failure of the connection. Go on exactly behind its last character. Do not repeat " +
		"anything, do not apologize, do not mention this note.]"
	// leftOut stands for the oldest part where a model has less room.
	leftOut = "[The beginning of this conversation was left out, because it does not fit this model.]"

	unknownWindow = 32_000 // tokens, of a model that does not tell
	bytesPerToken = 3      // a cautious estimate
)

// request is the turn's request as this candidate can take it.
func (c *call) request() model.Request {
	req := c.req
	req.Model = c.target.Ref.Model
	if c.target.MaxTokens > 0 {
		req.MaxTokens = c.target.MaxTokens
	}
	if n := req.Asked().MaxTokens; n > 0 && (req.MaxTokens == 0 || n < req.MaxTokens) {
		req.MaxTokens = n // never more than the owner allows
	}
	if !c.target.Images {
		req.Messages = withoutImages(req.Messages)
	}
	if !c.target.Tools {
		req.Tools, req.Messages = nil, withoutTools(req.Messages)
	}
	if w := windowOf(c.target.ContextWindow); w < windowOf(c.window) {
		req.Messages = fit(req.Messages, (w-w/4)*bytesPerToken-len(req.System))
	}
	if c.said != "" {
		req.Messages = append(slices.Clone(req.Messages),
			model.Message{Role: model.RoleAssistant, Blocks: []model.Block{{Text: c.said}}},
			model.Message{Role: model.RoleUser, Blocks: []model.Block{{Text: goOn}}})
	}
	return req
}

func windowOf(n int) int {
	if n <= 0 {
		return unknownWindow
	}
	return n
}

// withoutTools tells tool calls and their results as text, for a model that
// knows neither.
func withoutTools(msgs []model.Message) []model.Message {
	if !slices.ContainsFunc(msgs, usesTools) {
		return msgs
	}
	out := make([]model.Message, 0, len(msgs))
	for _, m := range msgs {
		if !usesTools(m) {
			out = append(out, m)
			continue
		}
		plain := model.Message{Role: m.Role}
		for _, b := range m.Blocks {
			switch {
			case b.ToolCall != nil:
				b = model.Block{Text: "[I used the tool " + b.ToolCall.Name + " with " + string(b.ToolCall.Arguments) + "]"}
			case b.ToolResult != nil:
				plain.Role = model.RoleUser
				b = model.Block{Text: "[Result of the tool " + b.ToolResult.Name + ":]\n" + b.ToolResult.Text}
			}
			plain.Blocks = append(plain.Blocks, b)
		}
		out = append(out, plain)
	}
	return out
}

// unseen stands for a picture that a model cannot take.
const unseen = "[Here is a picture that you cannot see. Say so if it matters.]"

// withoutImages is the conversation for a model that takes no pictures.
func withoutImages(msgs []model.Message) []model.Message {
	if !slices.ContainsFunc(msgs, shows) {
		return msgs
	}
	out := slices.Clone(msgs)
	for i, m := range out {
		if !shows(m) {
			continue
		}
		blocks := slices.Clone(m.Blocks)
		for j, b := range blocks {
			switch {
			case b.Image != nil:
				blocks[j] = model.Block{Text: unseen}
			case b.ToolResult != nil && len(b.ToolResult.Images) > 0:
				res := *b.ToolResult
				res.Images, res.Text = nil, res.Text+"\n"+unseen
				blocks[j] = model.Block{ToolResult: &res}
			}
		}
		out[i].Blocks = blocks
	}
	return out
}

func shows(m model.Message) bool {
	return slices.ContainsFunc(m.Blocks, func(b model.Block) bool {
		return b.Image != nil || b.ToolResult != nil && len(b.ToolResult.Images) > 0
	})
}

func usesTools(m model.Message) bool {
	return slices.ContainsFunc(m.Blocks, func(b model.Block) bool { return b.ToolCall != nil || b.ToolResult != nil })
}

// fit leaves out the oldest turns. What the person said last, and what followed
// it, always stays.
func fit(msgs []model.Message, room int) []model.Message {
	size, from := 0, len(msgs)
	for i := len(msgs) - 1; i >= 0; i-- {
		size += sizeOf(msgs[i])
		if msgs[i].Role != model.RoleUser {
			continue
		}
		if size > room && from < len(msgs) {
			break
		}
		from = i
	}
	if from == 0 || from == len(msgs) {
		return msgs
	}
	note := model.Message{Role: model.RoleUser, Blocks: []model.Block{{Text: leftOut}}}
	return append([]model.Message{note}, msgs[from:]...)
}

func sizeOf(m model.Message) (n int) {
	for _, b := range m.Blocks {
		n += len(b.Text) + 16
		if b.ToolCall != nil {
			n += len(b.ToolCall.Arguments)
		}
		if b.ToolResult != nil {
			n += len(b.ToolResult.Text)
		}
	}
	return n
}

// sureRepeat is how many bytes of the beginning are no coincidence.
const sureRepeat = 24

// overlap takes out what a continuing attempt repeats of what was said: models
// that do not understand the note begin anew.
type overlap struct {
	said string
	held string
	done bool
}

// next returns what of the words is new.
func (o *overlap) next(words string) string {
	if o.done || o.said == "" {
		return words
	}
	o.held += words
	switch {
	case len(o.held) <= len(o.said) && strings.HasPrefix(o.said, o.held):
		return ""
	case strings.HasPrefix(o.held, o.said):
		o.done = true
		return o.held[len(o.said):]
	}
	o.done = true
	return o.held
}

// rest is what was held back when the stream ends: the beginning of a repeat
// that is too short to be one.
func (o *overlap) rest() string {
	if o.done || o.said == "" || o.held == o.said || len(o.held) >= sureRepeat {
		return ""
	}
	return o.held
}
