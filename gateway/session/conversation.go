package session

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const (
	// defaultWindow is assumed of a model that does not tell its context window.
	defaultWindow = 32_000
	// bytesPerToken is a cautious estimate; a tokenizer would add 12 MB.
	bytesPerToken = 3
	// pictureSize is what a picture costs of a window, as bytes of text.
	pictureSize = 1600 * bytesPerToken
	// maxPictures is how many of the newest pictures a model is shown again.
	maxPictures = 8
	// answerShare of the window is left for the answer and the system prompt.
	answerShare = 4
)

// conversation is what the model is given for a run: the session up to the
// last message that it answers, the newest turns that fit the window, behind
// the summary that stands for older ones.
func (m *Manager) conversation(r *run, mdl Model, window int) (msgs []model.Message, bytes int, err error) {
	row, err := m.rowOf(r.rec.SessionKey)
	if err != nil {
		return nil, 0, err
	}
	row.SessionID = r.rec.SessionID
	turns, err := m.turns(row, r.turn+1, room(window))
	if err != nil {
		return nil, 0, err
	}
	current := map[string]bool{r.rec.ID: true}
	for _, f := range r.with {
		current[f.id] = true
	}
	for _, t := range turns {
		bytes += t.size()
	}
	msgs = toModel(turns, current)
	m.pictures(msgs, mdl.Images)
	if c := row.Compaction; c != nil {
		msgs = append([]model.Message{
			{Role: model.RoleUser, Blocks: []model.Block{{Text: "[Summary of the conversation so far]\n" + c.Summary}}}}, msgs...)
	}
	return msgs, bytes, nil
}

// pictures puts the newest pictures into a conversation if the model can see.
// The others stay without their bytes: the model is told that they were there.
func (m *Manager) pictures(msgs []model.Message, sees bool) {
	if !sees || m.Picture == nil {
		return
	}
	left := maxPictures
	for i, msg := range slices.Backward(msgs) {
		if left == 0 {
			return
		}
		if !slices.ContainsFunc(msg.Blocks, func(b model.Block) bool { return b.Image != nil }) {
			continue
		}
		blocks := slices.Clone(msg.Blocks) // the message is kept for the next turn as it is
		for j, b := range slices.Backward(blocks) {
			if b.Image == nil || left == 0 {
				continue
			}
			left--
			if p, err := m.Picture(b.Image.ID); err == nil {
				blocks[j].Image = &p
			} else {
				m.Logger.Warn("a picture could not be read; the model answers without it", "picture", b.Image.ID, "err", err)
			}
		}
		msgs[i].Blocks = blocks
	}
}

// room is how many bytes of conversation fit a window of so many tokens; 0 is
// an unknown window.
func room(window int) int {
	if window <= 0 {
		window = defaultWindow
	}
	return (window - window/answerShare) * bytesPerToken
}

// readTurns groups entries, newest first, into turns in order. What a summary
// stands for is left out. A turn that is its session's newest stays even when it
// is over the budget.
func readTurns(entries iter.Seq2[*entry, error], c *Compaction, budget int) (turns []turn, err error) {
	var t turn // newest first
	for e, err := range entries {
		if err != nil {
			return nil, err
		}
		if c != nil && e.seq <= c.UpTo {
			break
		}
		t = append(t, e)
		budget -= e.size
		if e.seq&0xffff != 0 {
			continue
		}
		if budget < 0 && len(turns) > 0 {
			break
		}
		slices.Reverse(t)
		turns = append(turns, t)
		t = nil
	}
	slices.Reverse(turns)
	return turns, nil
}

func sizeOf(m protocol.Message) (n int) {
	for _, b := range m.Content {
		n += len(b.Text) + len(b.Arguments) + 16
		if b.Type == protocol.BlockImage {
			n += pictureSize
		}
		if b.ThinkingSignature != "" { // reasoning that goes back to the model
			n += len(b.Thinking) + len(b.ThinkingSignature)
		}
	}
	return n
}

// toModel turns turns into what a provider takes. A turn that came to nothing
// is left out, and a tool call without a result gets one, because providers
// refuse both for ever (F-DB-08).
func toModel(turns []turn, current map[string]bool) []model.Message {
	var out []model.Message
	var dropped []string // since the last answer
	recent := recentFrom(turns)
	for _, turn := range turns {
		asked := turn[0]
		unanswered := len(turn) == 1 && asked.role == protocol.MessageUser
		switch {
		case asked.exclude:
			continue
		case unanswered && asked.dropped:
			dropped = append(dropped, "- "+clip(asked.words, 140))
			continue
		case unanswered && !current[asked.run] && !asked.answered:
			continue
		case len(dropped) > 0:
			note := "[These messages came while you were busy and were dropped from the queue; their beginnings:]\n" + strings.Join(dropped, "\n")
			out = append(out, model.Message{Role: model.RoleUser, Blocks: []model.Block{{Text: note}}})
			dropped = nil
		}
		for _, e := range turn {
			if mm := e.given(recent); e.says {
				out = append(closeCalls(out, mm), mm)
			}
		}
		out = closeCalls(out, model.Message{Role: model.RoleUser})
	}
	return out
}

func messageToModel(msg protocol.Message) (model.Message, bool) {
	switch msg.Role {
	case protocol.MessageUser:
		text := msg.ForAgent
		if text == "" {
			text = msg.Text()
		}
		for _, b := range msg.Content {
			if b.Type == protocol.BlockFile {
				text += "\n\n" + b.Text
			}
		}
		mm := model.Message{Role: model.RoleUser, Blocks: []model.Block{{Text: text}}}
		for _, b := range msg.Content {
			if b.Type == protocol.BlockImage {
				mm.Blocks = append(mm.Blocks, model.Block{Image: &model.Image{MIME: b.MimeType, ID: b.MediaID}})
			}
		}
		return mm, true
	case protocol.MessageToolResult:
		return model.Message{Role: model.RoleTool, Blocks: []model.Block{{ToolResult: &model.ToolResult{
			CallID: msg.ToolCallID, Name: msg.ToolName, Text: msg.Text(), IsError: msg.IsError,
		}}}}, true
	case protocol.MessageAssistant:
		mm := model.Message{Role: model.RoleAssistant}
		if msg.ForAgent != "" { // a note that brings somebody else's words
			mm.Blocks = append(mm.Blocks, model.Block{Text: msg.ForAgent})
			return mm, true
		}
		for _, b := range msg.Content {
			switch {
			case b.Type == protocol.BlockThinking && b.ThinkingSignature != "":
				mm.Blocks = append(mm.Blocks, model.Block{Thinking: b.Thinking, Signature: b.ThinkingSignature})
			case b.Type == protocol.BlockText && b.Text != "":
				mm.Blocks = append(mm.Blocks, model.Block{Text: b.Text})
			case b.Type == protocol.BlockToolCall:
				args := b.Arguments
				if len(args) == 0 {
					args = json.RawMessage("{}")
				}
				mm.Blocks = append(mm.Blocks, model.Block{ToolCall: &model.ToolCall{ID: b.ID, Name: b.Name, Arguments: args}})
			}
		}
		// Reasoning alone says nothing.
		return mm, slices.ContainsFunc(mm.Blocks, func(b model.Block) bool { return b.Signature == "" })
	}
	return model.Message{}, false
}

// closeCalls answers the open tool calls of the conversation when next is not
// a tool result.
func closeCalls(out []model.Message, next model.Message) []model.Message {
	if next.Role == model.RoleTool {
		return out
	}
	answered := map[string]bool{}
	for i := len(out) - 1; i >= 0; i-- {
		for _, b := range out[i].Blocks {
			if b.ToolResult != nil {
				answered[b.ToolResult.CallID] = true
			}
		}
		if out[i].Role == model.RoleTool {
			continue
		}
		if out[i].Role != model.RoleAssistant {
			return out
		}
		for _, b := range out[i].Blocks {
			if c := b.ToolCall; c != nil && !answered[c.ID] {
				out = append(out, model.Message{Role: model.RoleTool, Blocks: []model.Block{{ToolResult: &model.ToolResult{
					CallID: c.ID, Name: c.Name, IsError: true, Text: lostResult,
				}}}})
			}
		}
		return out
	}
	return out
}

// lostResult stands for a tool whose end nobody saw.
const lostResult = "Unknown: Hearth stopped while this tool ran. It may or may not have taken effect; it was not run again."
