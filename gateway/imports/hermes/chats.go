package hermes

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/sqlite"
)

const (
	maxMessages = 5_000_000
	maxMessage  = 32 << 20
)

// chat is a session of state.db.
type chat struct {
	id, title string
	created   int64
	archived  bool
	rows      []int64
}

// readChats hands over the sessions, in the order in which they began.
func (h home) readChats(ctx context.Context) error {
	const name = "state.db"
	if !h.t.Has(name) {
		return nil
	}
	db, closeDB, err := h.t.Database(ctx, name)
	if err != nil {
		return h.give(imports.Left(imports.Chats, name, imports.Why(err), 1))
	}
	defer closeDB()
	all, err := chatsOf(ctx, db)
	if err != nil {
		return h.give(imports.Left(imports.Chats, name, imports.Why(err), 1))
	}
	for _, c := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := h.give(imports.Item{Kind: imports.Chats, ID: c.id, Name: cmp.Or(c.title, c.id), Chat: &imports.Chat{
			Title: c.title, CreatedAt: c.created, Archived: c.archived, Messages: messages(db, c.rows),
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

func chatsOf(ctx context.Context, db *sqlite.File) ([]*chat, error) {
	var all []*chat
	byID := map[string]*chat{}
	for r, err := range db.Rows("sessions") {
		if err != nil {
			return nil, err
		}
		c := &chat{id: r.Text("id"), title: r.Text("title"), created: int64(r.Real("started_at") * 1000), archived: r.Int("archived") != 0}
		if r.Err() != nil {
			return nil, r.Err()
		}
		all, byID[c.id] = append(all, c), c
	}
	n := 0
	for r, err := range db.Rows("messages") {
		if err != nil {
			return nil, err
		}
		if n++; n > maxMessages || ctx.Err() != nil {
			return nil, cmp.Or(ctx.Err(), fmt.Errorf("the database has more than %d messages", maxMessages))
		}
		if c := byID[r.Text("session_id")]; c != nil {
			c.rows = append(c.rows, r.ID)
		}
	}
	all = slices.DeleteFunc(all, func(c *chat) bool { return len(c.rows) == 0 })
	slices.SortStableFunc(all, func(a, b *chat) int { return cmp.Compare(a.created, b.created) })
	return all, nil
}

func messages(db *sqlite.File, rows []int64) iter.Seq2[imports.Message, error] {
	return func(yield func(imports.Message, error) bool) {
		for _, id := range rows {
			r, err := db.Row("messages", id)
			if err == nil && r == nil {
				err = sqlite.ErrDamaged
			}
			if err != nil {
				yield(imports.Message{}, err)
				return
			}
			m, ok := messageOf(r)
			if err := r.Err(); err != nil {
				yield(imports.Message{}, err)
				return
			}
			if ok && !yield(m, nil) {
				return
			}
		}
	}
}

func messageOf(r *sqlite.Row) (m imports.Message, ok bool) {
	m.ID, m.Timestamp = fmt.Sprint(r.ID), int64(r.Real("timestamp")*1000)
	switch r.Text("role") {
	case "user":
		m.Role = protocol.MessageUser
	case "assistant":
		m.Role = protocol.MessageAssistant
	case "tool":
		m.Role, m.ToolCallID, m.ToolName = protocol.MessageToolResult, r.Text("tool_call_id"), r.Text("tool_name")
	default:
		m.Role = protocol.MessageSystem
	}
	if r.Text("display_kind") == "hidden" {
		return m, false
	}
	text := "[Not imported: more than 32 MB]"
	if r.Size() <= maxMessage {
		text = words(r.Text("content"))
	}
	if text = strings.TrimSpace(text); text != "" {
		m.Content = protocol.TextBlocks(text)
	}
	m.Content = append(m.Content, calls(r.Text("tool_calls"))...)
	return m, len(m.Content) > 0
}

// words are the text of a content, which may be a list of parts behind a mark.
func words(s string) string {
	rest, ok := strings.CutPrefix(s, "\x00json:")
	if !ok {
		if rest, ok = strings.CutPrefix(s, "\x01json:"); !ok {
			return s
		}
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal([]byte(rest), &parts) != nil {
		return rest
	}
	var out []string
	for _, p := range parts {
		switch {
		case p.Text != "":
			out = append(out, p.Text)
		case strings.Contains(p.Type, "image"):
			out = append(out, "[picture]")
		}
	}
	return strings.Join(out, "\n")
}

func calls(raw string) (out []protocol.Block) {
	if raw == "" {
		return nil
	}
	var list []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
	if json.Unmarshal([]byte(raw), &list) != nil {
		return nil
	}
	for _, c := range list {
		b := protocol.Block{Type: protocol.BlockToolCall, ID: c.ID, Name: c.Function.Name}
		if json.Valid([]byte(c.Function.Arguments)) {
			b.Arguments = json.RawMessage(c.Function.Arguments)
		}
		out = append(out, b)
	}
	return out
}
