package imports

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Bounds of one transaction, so that nobody waits long behind it, and of one
// message.
const (
	batchMessages = 200
	batchBytes    = 2 << 20
	mostMessages  = 1000 // where no message of a person comes
	maxWords      = 256 << 10
)

// chat takes a conversation, or what was said in it since.
func (w *walk) chat(ctx context.Context, it imports.Item) (outcome, error) {
	c := it.Chat
	rec, known, err := w.recorded(it)
	if err != nil {
		return nothing, err
	}
	held := map[string]bool{}
	if known {
		var there bool
		if held, there, err = w.Sessions.Held(rec.Key, rec.SessionID); err != nil {
			return nothing, err
		}
		if !there {
			return already, nil // it was begun anew or removed here, and stays so
		}
	}
	b := &batch{w: w, it: it, to: session.Taken{
		Key: rec.Key, SessionID: rec.SessionID, From: w.from, Title: imports.Line(c.Title, 60), CreatedAt: c.CreatedAt, Archived: c.Archived,
	}}
	if !known {
		b.to.Key = "agent:" + w.agent(c.Agent) + ":" + w.from + ":" + digest(w.from, it.ID)[:16]
	}
	all, news := 0, 0 // with lines that could not be read
	var said, newSaid, unread int
	used := map[string]int{}
	for m, err := range c.Messages {
		if err != nil {
			w.count2(said, newSaid, unread)
			return nothing, leave("after %d messages: %v", said, err)
		}
		all++
		if m.Unread {
			unread++
		} else {
			said++
		}
		if used[m.ID]++; used[m.ID] > 1 {
			m.ID = fmt.Sprintf("%s/%d", m.ID, used[m.ID])
		}
		id := messageID(w.from, it.ID, m.ID)
		if held[id] {
			continue
		}
		news++
		if !m.Unread {
			newSaid++
		}
		if err := b.add(ctx, id, m); err != nil {
			return nothing, err
		}
	}
	if err := b.write(ctx); err != nil {
		return nothing, err
	}
	w.count2(said, newSaid, unread)
	switch {
	case all == 0:
		return nothing, leave("nothing was said in it")
	case !known:
		return fresh, nil
	case news > 0:
		return grown, nil
	}
	return already, nil
}

// count2 counts what was said in a chat, and tells of lines in it that could not be read.
func (w *walk) count2(said, news, unread int) {
	r := w.row(imports.Chats)
	r.Messages, r.NewSaid = r.Messages+said, r.NewSaid+news
	if unread > 0 {
		w.note("Lines of chats could not be read; where they stood, the chat says so.")
	}
}

// agent is whose a chat is here.
func (w *walk) agent(name string) string {
	if a, ok := w.Agents.Book().Get(name); ok {
		return a.ID
	}
	return w.Agents.Book().Default().ID
}

// batch collects messages of one conversation for a transaction.
type batch struct {
	w     *walk
	it    imports.Item
	to    session.Taken
	msgs  []protocol.Message
	bytes int
}

func (b *batch) add(ctx context.Context, id string, m imports.Message) error {
	if b.w.task == "" {
		return nil
	}
	enough := len(b.msgs) >= batchMessages || b.bytes >= batchBytes
	if enough && m.Role == protocol.MessageUser || len(b.msgs) >= mostMessages || b.bytes >= 4*batchBytes {
		if err := b.write(ctx); err != nil {
			return err
		}
	}
	msg := tidy(m.Message)
	msg.Meta = &protocol.MessageMeta{ID: id}
	b.msgs = append(b.msgs, msg)
	for _, c := range msg.Content {
		b.bytes += len(c.Text) + len(c.Arguments)
	}
	return nil
}

// write takes what was collected into the store, with the memory that it was.
func (b *batch) write(ctx context.Context) error {
	if len(b.msgs) == 0 {
		return nil
	}
	began := time.Now()
	row, err := b.w.Sessions.Take(ctx, b.to, b.msgs, func(tx *store.Tx, row session.Row) error {
		return b.w.taken.Put(tx, b.w.recordKey(b.it), record{At: b.w.Now().UnixMilli(), Key: row.Key, SessionID: row.SessionID})
	})
	if err != nil {
		return err
	}
	b.to.SessionID, b.msgs, b.bytes = row.SessionID, nil, 0
	return rest(ctx, time.Since(began))
}

// rest leaves the store to others for as long as it was held.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(min(d, 100*time.Millisecond)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tidy makes a stranger's message one that can be kept: whole letters, and not
// longer than anybody reads.
func tidy(m protocol.Message) protocol.Message {
	out := protocol.Message{
		Role: m.Role, Timestamp: m.Timestamp, IsError: m.IsError,
		Provider: imports.Line(m.Provider, 60), Model: imports.Line(m.Model, 100),
		ToolCallID: imports.Line(m.ToolCallID, 200), ToolName: imports.Line(m.ToolName, 100),
	}
	for _, b := range m.Content {
		b.Text = words(b.Text)
		b.ID, b.Name = imports.Line(b.ID, 200), imports.Line(b.Name, 100)
		if len(b.Arguments) > maxWords {
			b.Arguments = []byte(`{}`)
		}
		out.Content = append(out.Content, b)
	}
	return out
}

func words(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	if len(s) > maxWords {
		return text.Prefix(s, maxWords) + "\n[…]"
	}
	return s
}
