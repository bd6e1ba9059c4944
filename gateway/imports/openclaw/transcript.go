package openclaw

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/imports/source"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const maxEvent = 32 << 20 // bytes of one line

// event is a line of a transcript.
type event struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Timestamp json.RawMessage `json:"timestamp"`
	Message   *said           `json:"message"`
	Summary   string          `json:"summary"`
}

// said is a message as the program keeps it.
type said struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Timestamp  json.RawMessage `json:"timestamp"`
	Provider   string          `json:"provider"`
	Model      string          `json:"model"`
	ToolCallID string          `json:"toolCallId"`
	ToolName   string          `json:"toolName"`
	IsError    bool            `json:"isError"`
	Error      string          `json:"errorMessage"`
}

// part is one of the content of a message.
type part struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	MimeType  string          `json:"mimeType"`
	FileName  string          `json:"fileName"`
}

// messageOf is the message of a line; ok is false for lines that are about the
// session and say nothing.
func messageOf(line []byte, place int) (m imports.Message, ok bool, err error) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return m, false, source.ErrNotJSON //nolint:nilerr // what a parser says of it helps nobody
	}
	at := moment(e.Timestamp)
	m.ID = e.ID
	if m.ID == "" {
		m.ID = fmt.Sprintf("#%d", place)
	}
	switch {
	case e.Type == "message" && e.Message != nil:
		ok = e.Message.into(&m)
		if t := moment(e.Message.Timestamp); t != 0 {
			at = t
		}
	case (e.Type == "compaction" || e.Type == "branch_summary") && strings.TrimSpace(e.Summary) != "":
		m.Role, ok = protocol.MessageSystem, true
		m.Content = protocol.TextBlocks("[Summary] " + e.Summary)
	}
	m.Timestamp = at
	return m, ok, nil
}

func (s *said) into(m *imports.Message) bool {
	switch s.Role {
	case "user":
		m.Role = protocol.MessageUser
	case "assistant":
		m.Role, m.Provider, m.Model = protocol.MessageAssistant, s.Provider, s.Model
	case "toolResult", "tool":
		m.Role, m.ToolCallID, m.ToolName, m.IsError = protocol.MessageToolResult, s.ToolCallID, s.ToolName, s.IsError
	case "system", "custom", "bashExecution":
		m.Role = protocol.MessageSystem
	default:
		return false
	}
	m.Content = blocks(s.Content)
	if len(m.Content) == 0 && s.Error != "" {
		m.Content = protocol.TextBlocks("[Error] " + s.Error)
	}
	return len(m.Content) > 0
}

// blocks are the parts that are kept: what was said, and which tools were called.
// Reasoning stays behind, because only the service that made it can read it; a
// picture is named.
func blocks(raw json.RawMessage) (out []protocol.Block) {
	var whole string
	if json.Unmarshal(raw, &whole) == nil {
		if whole == "" {
			return nil
		}
		return protocol.TextBlocks(whole)
	}
	var parts []part
	if json.Unmarshal(raw, &parts) != nil {
		return nil
	}
	for _, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text":
			if p.Text != "" {
				out = append(out, protocol.Block{Type: protocol.BlockText, Text: p.Text})
			}
		case "toolCall", "toolUse", "tool_use":
			if !json.Valid(p.Arguments) || bytes.Equal(p.Arguments, []byte("null")) {
				p.Arguments = nil
			}
			out = append(out, protocol.Block{Type: protocol.BlockToolCall, ID: p.ID, Name: p.Name, Arguments: p.Arguments})
		case "image", "audio", "video", "file", "document":
			out = append(out, protocol.Block{Type: protocol.BlockText, Text: named(p)})
		}
	}
	return out
}

// named stands for what is not taken along.
func named(p part) string {
	name := p.FileName
	if name == "" {
		name = p.MimeType
	}
	return "[" + strings.TrimSpace(p.Type+" "+name) + "]"
}

// moment is a time in milliseconds: a number of them, or a date.
func moment(raw json.RawMessage) int64 {
	var n float64
	if json.Unmarshal(raw, &n) == nil {
		if n > 0 && n < 1e14 {
			return int64(n)
		}
		return 0
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		if at, err := time.Parse(time.RFC3339Nano, s); err == nil && at.Year() > 1970 {
			return at.UnixMilli()
		}
	}
	return 0
}

// ErrLong is told in a chat for what is too long to be a message.
var errLong = errors.New("a line of its transcript has more than 32 MB")

// messages reads a transcript from its lines. A line that cannot be read becomes a
// line that says so, in its place, and the rest is read.
func messages(lines iter.Seq2[source.Element, error]) iter.Seq2[imports.Message, error] {
	return func(yield func(imports.Message, error) bool) {
		place := 0
		for l, err := range lines {
			if err != nil {
				yield(imports.Message{}, err)
				return
			}
			place++
			var m imports.Message
			ok := false
			if err = errLong; !l.TooLong {
				m, ok, err = messageOf(l.Data, place)
			}
			if err != nil {
				m = unreadable(place, err)
				ok = true
			}
			if ok && !yield(m, nil) {
				return
			}
		}
	}
}

func unreadable(place int, err error) imports.Message {
	m := imports.Message{ID: fmt.Sprintf("#%d", place), Unread: true}
	m.Role, m.Content = protocol.MessageSystem, protocol.TextBlocks("[Not imported: line "+fmt.Sprint(place)+": "+imports.Why(err)+"]")
	return m
}
