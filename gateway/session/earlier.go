package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// pastOf finds a transcript that was put aside; nil when sessionID is "" or
// the one in use.
func (m *Manager) pastOf(tx *store.Tx, row Row, sessionID string) (*Past, error) {
	if sessionID == "" || sessionID == row.SessionID {
		return nil, nil
	}
	key, err := pastKey(row.Key, sessionID)
	if err != nil {
		return nil, noEarlier(sessionID)
	}
	p, ok, err := m.t.past.Get(tx, key)
	if err == nil && !ok {
		err = noEarlier(sessionID)
	}
	if err != nil {
		return nil, err
	}
	return m.counted(tx, p)
}

func noEarlier(sessionID string) error {
	return fmt.Errorf("the conversation %q is not kept in this chat: %w", clip(sessionID, 80), ErrNotFound)
}

// counted adds how many messages there are where an older version did not say.
func (m *Manager) counted(tx *store.Tx, p Past) (*Past, error) {
	if p.Messages > 0 {
		return &p, nil
	}
	n, err := m.t.countIn(tx, p.SessionID, p.Path)
	p.Messages = n
	return &p, err
}

// before is the conversation of a session that ended last before a time.
func (m *Manager) before(tx *store.Tx, key string, until int64) (*protocol.Earlier, error) {
	var last *Past
	for row, err := range m.t.past.Scan(tx, store.Range{Prefix: pastPrefix(key)}) {
		if err != nil {
			return nil, err
		}
		if p := row.Value; p.EndedAt < until && (last == nil || p.EndedAt > last.EndedAt) {
			last = &p
		}
	}
	if last == nil {
		return nil, nil
	}
	last, err := m.counted(tx, *last)
	if err != nil {
		return nil, err
	}
	e := last.present(key)
	return &e, nil
}

func (p Past) present(key string) protocol.Earlier {
	return protocol.Earlier{SessionKey: key, SessionID: p.SessionID, Title: p.Title, EndedAt: p.EndedAt, Messages: p.Messages}
}

// Earlier lists conversations that were put aside, the latest first.
func (m *Manager) Earlier(_ context.Context, p protocol.EarlierParams) (protocol.EarlierList, error) {
	out := protocol.EarlierList{Earlier: []protocol.Earlier{}}
	paths := map[string]Past{}
	err := m.DB.View(func(tx *store.Tx) error {
		r := store.Range{}
		if p.Key != "" {
			r.Prefix = pastPrefix(p.Key)
		}
		for row, err := range m.t.past.Scan(tx, r) {
			if err != nil {
				return err
			}
			if p.SessionID == "" || p.SessionID == row.Value.SessionID {
				out.Earlier = append(out.Earlier, row.Value.present(keyOfPast(row.Key)))
				paths[row.Value.SessionID] = row.Value
			}
		}
		slices.SortFunc(out.Earlier, func(a, b protocol.Earlier) int {
			return cmp.Or(cmp.Compare(b.EndedAt, a.EndedAt), cmp.Compare(a.SessionID, b.SessionID))
		})
		out.Total = len(out.Earlier)
		out.Earlier = out.Earlier[:min(out.Total, clamp(p.Limit, defaultList, maxList))]
		for i, e := range out.Earlier {
			if e.Messages > 0 {
				continue
			}
			c, err := m.counted(tx, paths[e.SessionID])
			if err != nil {
				return err
			}
			out.Earlier[i].Messages = c.Messages
		}
		return nil
	})
	return out, err
}

// Continue makes a conversation that was put aside a chat of its own, under a
// key that no session has. The session that it came from goes on as it is.
func (m *Manager) Continue(ctx context.Context, key, sessionID, newKey string) (Row, error) {
	var row, from Row
	err := m.DB.Update(ctx, store.Write{
		Do: func(tx *store.Tx) (err error) {
			var ok bool
			if from, ok, err = m.t.sessions.Get(tx, []byte(key)); err != nil || !ok {
				return cmp.Or(err, notFound(key))
			}
			p, err := m.pastOf(tx, from, sessionID)
			if err != nil {
				return err
			}
			if p == nil {
				return fmt.Errorf("the conversation %q is the one that is open in its chat: %w", clip(sessionID, 80), ErrConflict)
			}
			id, err := pastKey(key, sessionID)
			if err != nil {
				return err
			}
			if err := m.t.past.Delete(tx, id); err != nil {
				return err
			}
			row = from.continued(newKey, *p, m.nowMs())
			if from.Label == "" && row.Title == from.Title {
				if err := m.retitle(tx, &row, &from); err != nil {
					return err
				}
			}
			return m.t.putRow(tx, row)
		},
		Then: func() {
			m.count.Add(1)
			m.showRow(row, "create")
			m.showRow(from, "patch")
		},
	})
	return row, err
}

// retitle names two chats after what was said in each: one goes on with a
// conversation of the other, which kept the title of its first one.
func (m *Manager) retitle(tx *store.Tx, row, from *Row) error {
	was, err := m.firstWords(tx, row.SessionID, row.Path)
	if err != nil {
		return err
	}
	row.Title = cmp.Or(was, row.Title)
	if from.Title, err = m.firstWords(tx, from.SessionID, from.Path); err != nil {
		return err // "" is fresh: the next message names it
	}
	return m.t.putRow(tx, *from)
}

// firstWords are what a conversation is called after when nobody named it.
func (m *Manager) firstWords(tx *store.Tx, sessionID string, path Path) (string, error) {
	for row, err := range m.t.scan(tx, sessionID, path, 0, 0, false) {
		if err != nil {
			return "", err
		}
		// a command is about nothing
		if msg := row.Value; msg.Role == protocol.MessageUser && !msg.ExcludeFromContext && !strings.HasPrefix(msg.Text(), "/") {
			return clip(msg.Text(), 60), nil
		}
	}
	return "", nil
}

// continued is the row of a past transcript as a chat, with what the person
// chose for the chat that it comes from.
func (r Row) continued(key string, p Past, now int64) Row {
	out := Row{
		Key: key, SessionID: p.SessionID, AgentID: r.AgentID, CreatedAt: now, UpdatedAt: now,
		Title: p.Title, Preview: p.Preview, Messages: p.Messages, Usage: p.Usage, Compaction: p.Compaction, From: p.From,
		Path: p.Path, Put: p.Put, Category: r.Category,
		NextTurn: r.NextTurn,
		Model:    r.Model, Override: r.Override, Thinking: r.Thinking, Verbose: r.Verbose, Reasoning: r.Reasoning, Compactions: r.Compactions,
	}
	out.renew()
	return out
}
