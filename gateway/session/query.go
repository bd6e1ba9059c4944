package session

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/text"
)

const (
	defaultHistory = 200
	maxHistory     = 1000
	defaultList    = 100
	maxList        = 1000
)

// History is the newest page of a session in conversation order, with what is
// being said right now. The live part is read first: whatever ends in between
// is then in the page as well, never in neither.
func (m *Manager) History(ctx context.Context, key string, p protocol.ChatHistoryParams) (protocol.ChatHistory, error) {
	limit := clamp(p.Limit, defaultHistory, maxHistory)
	budget := p.MaxBytes
	if budget <= 0 || budget > protocol.MaxHistoryBytes {
		budget = protocol.MaxHistoryBytes
	}
	at := m.nowMs()
	live := m.peekLane(key).snapshot()
	h := protocol.ChatHistory{SessionKey: key, Messages: []protocol.Message{}}
	err := m.DB.View(func(tx *store.Tx) error {
		row, ok, err := m.t.sessions.Get(tx, []byte(key))
		if err != nil || !ok {
			return err
		}
		past, err := m.pastOf(tx, row, p.SessionID)
		if err != nil {
			return err
		}
		h.SessionID, h.ThinkingLevel, h.TotalMessages = row.SessionID, row.Thinking, row.Messages
		until, path := int64(math.MaxInt64), row.Path
		if past == nil {
			info := presentAs(row, live, at)
			h.SessionInfo = &info
		} else {
			h.SessionID, h.TotalMessages, until, path, live = past.SessionID, past.Messages, past.EndedAt, past.Path, laneState{}
		}
		h.Messages, h.HasMore, err = m.page(tx, h.SessionID, path, p.Before, limit, budget, p.MaxChars)
		if err != nil {
			return err
		}
		if err := m.versions(tx, h.SessionID, h.Messages); err != nil {
			return err
		}
		h.Branch = path.name()
		if h.Earlier, err = m.before(tx, key, until); err != nil {
			return err
		}
		return m.receipts(tx, p.InputRunIDs, &h)
	})
	if err != nil {
		return h, err
	}
	ended := false
	for i := range h.Messages {
		msg := &h.Messages[i]
		if !live.held && msg.Role == protocol.MessageUser && msg.Hearth != nil &&
			(msg.Meta.RunID == live.active || slices.Contains(live.joined, msg.Meta.RunID)) {
			if msg.Hearth.State == protocol.ReceiptAccepted {
				msg.Hearth = &protocol.MessageReceipt{State: protocol.ReceiptAnswering}
			} else if msg.Meta.RunID == live.active {
				ended = true
			}
		}
	}
	if n := len(h.Messages); n > 0 && live.text != "" && h.Messages[n-1].Role != protocol.MessageUser && h.Messages[n-1].Text() == live.text {
		live.text = "" // it was written to the transcript after the live part was read
	}
	if live.active != "" && !ended && !live.held {
		h.InFlightRun = &protocol.InFlightRun{RunID: live.active, Text: live.text, End: int64(live.end)}
	}
	return h, nil
}

// page reads backwards from before (0 = the end) and returns in order.
func (m *Manager) page(tx *store.Tx, sessionID string, path Path, before int64, limit, budget, maxChars int) (msgs []protocol.Message,
	more bool, err error) {
	msgs = []protocol.Message{}
	for row, err := range m.t.scan(tx, sessionID, path, 0, before, true) {
		if err != nil {
			return nil, false, err
		}
		msg := row.Value
		msg = *shown(&msg)
		cutBlocks(&msg, maxChars)
		budget -= sizeOf(msg) + 256
		if len(msgs) == limit || budget < 0 && len(msgs) > 0 {
			more = true
			break
		}
		msgs = append(msgs, msg)
	}
	slices.Reverse(msgs)
	return msgs, more, nil
}

// shown is a message without what only a model service can read, and without what
// models are told of files.
func shown(msg *protocol.Message) *protocol.Message {
	if msg == nil || !slices.ContainsFunc(msg.Content, func(b protocol.Block) bool {
		return b.ThinkingSignature != "" || b.Type == protocol.BlockFile
	}) {
		return msg
	}
	out := *msg
	out.Content = []protocol.Block{}
	for _, b := range msg.Content {
		if b.Type == protocol.BlockFile {
			b.Text = ""
		}
		if b.ThinkingSignature = ""; b.Type != protocol.BlockThinking || b.Thinking != "" {
			out.Content = append(out.Content, b)
		}
	}
	return &out
}

func cutBlocks(msg *protocol.Message, maxChars int) {
	if maxChars <= 0 {
		return
	}
	for i := range msg.Content {
		if t := &msg.Content[i].Text; len(*t) > maxChars {
			*t = text.Prefix(*t, maxChars) + "…"
		}
	}
}

// receipts answers clients that ask what became of their inputs.
func (m *Manager) receipts(tx *store.Tx, runIDs []string, h *protocol.ChatHistory) error {
	for _, id := range runIDs {
		rec, ok, err := m.t.runs.Get(tx, []byte(id))
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		asked, ok, err := m.t.getEntry(tx, rec.SessionID, seqOf(rec.Turn, 0))
		if err != nil {
			return err
		}
		if ok {
			h.InputReceipts = append(h.InputReceipts, protocol.InputReceipt{RunID: id, State: "consumed", ConsumedByEventID: asked.Meta.ID})
		}
	}
	return nil
}

// Export is one page of a session's transcript from its start.
func (m *Manager) Export(ctx context.Context, key, sessionID string, after int64, limit int) (protocol.TranscriptExport, error) {
	limit = clamp(limit, 500, maxHistory)
	out := protocol.TranscriptExport{Key: key, Messages: []protocol.Message{}}
	err := m.DB.View(func(tx *store.Tx) error {
		row, ok, err := m.t.sessions.Get(tx, []byte(key))
		if err != nil {
			return err
		}
		if !ok {
			return notFound(key)
		}
		past, err := m.pastOf(tx, row, sessionID)
		if err != nil {
			return err
		}
		path := row.Path
		if sessionID = row.SessionID; past != nil {
			sessionID, path = past.SessionID, past.Path
		}
		size := 0
		for e, err := range m.t.scan(tx, sessionID, path, after, 0, false) {
			if err != nil {
				return err
			}
			size += sizeOf(e.Value)
			if len(out.Messages) == limit || size > protocol.MaxHistoryBytes && len(out.Messages) > 0 {
				out.HasMore = true
				break
			}
			out.Messages = append(out.Messages, *shown(&e.Value))
		}
		return nil
	})
	return out, err
}

// List is a page of sessions, the last used first.
func (m *Manager) List(ctx context.Context, p protocol.SessionsListParams) (protocol.SessionsList, error) {
	limit := clamp(p.Limit, defaultList, maxList)
	offset := max(p.Offset, 0)
	out := protocol.SessionsList{
		TS: m.nowMs(), Path: m.DB.Path(), LimitApplied: limit, TotalCount: int(m.count.Load()),
		Owners: []string{}, Sessions: []protocol.SessionRow{},
	}
	filter := listFilter(p, m.nowMs())
	matched := 0
	err := m.DB.View(func(tx *store.Tx) error {
		for key := range m.t.recent.ScanRaw(tx, store.Range{}) {
			if filter == nil {
				if matched++; matched <= offset {
					continue
				}
			}
			if len(out.Sessions) == limit {
				out.HasMore = true
				break
			}
			row, ok, err := m.t.sessions.Get(tx, key[8:])
			if err != nil {
				return err
			}
			if !ok || filter != nil && !filter(row) {
				continue
			}
			if filter != nil {
				if matched++; matched <= offset {
					continue
				}
			}
			out.Sessions = append(out.Sessions, m.present(row))
		}
		return nil
	})
	out.Count = len(out.Sessions)
	if out.HasMore {
		next := offset + out.Count
		out.NextOffset = &next
	}
	return out, err
}

// listFilter returns nil when every session is meant.
func listFilter(p protocol.SessionsListParams, now int64) func(Row) bool {
	search := strings.ToLower(strings.TrimSpace(p.Search))
	if search == "" && p.AgentID == "" && p.ActiveMinutes <= 0 {
		return nil
	}
	return func(r Row) bool {
		if p.AgentID != "" && r.AgentID != p.AgentID {
			return false
		}
		if p.ActiveMinutes > 0 && now-r.UpdatedAt > int64(p.ActiveMinutes)*60_000 {
			return false
		}
		return search == "" || strings.Contains(strings.ToLower(r.Label+"\n"+r.subject()+"\n"+r.Title+"\n"+r.Preview+"\n"+r.Key), search)
	}
}

// Get returns one session; ok is false when there is none.
func (m *Manager) Get(key string) (row protocol.SessionRow, ok bool, err error) {
	err = m.DB.View(func(tx *store.Tx) error {
		r, found, err := m.t.sessions.Get(tx, []byte(key))
		if found {
			row, ok = m.present(r), true
		}
		return err
	})
	return row, ok, err
}

// Folder is the one that an editor works in which has this session, "" for none.
func (m *Manager) Folder(key string) (dir string, err error) {
	err = m.DB.View(func(tx *store.Tx) error {
		r, _, err := m.t.sessions.Get(tx, []byte(key))
		dir = r.Folder
		return err
	})
	return dir, err
}

// Why returns the record of a run, with its reasons; an empty runID means the
// last one of the session.
func (m *Manager) Why(key, runID string) (rec Run, err error) {
	err = m.DB.View(func(tx *store.Tx) error {
		if runID == "" {
			if runID, err = m.lastRun(tx, key); err != nil {
				return err
			}
		}
		var ok bool
		rec, ok, err = m.t.runs.Get(tx, []byte(runID))
		if err == nil && !ok {
			err = fmt.Errorf("message %q: %w", clip(runID, 80), ErrNotFound)
		}
		return err
	})
	return rec, err
}

// Accepted reports whether a message of that id was accepted before.
func (m *Manager) Accepted(runID string) (ok bool, err error) {
	err = m.DB.View(func(tx *store.Tx) error {
		_, ok, err = m.t.runs.Get(tx, []byte(runID))
		return err
	})
	return ok, err
}

// lastRun finds the newest message of a session that is not a command.
func (m *Manager) lastRun(tx *store.Tx, key string) (string, error) {
	row, ok, err := m.t.sessions.Get(tx, []byte(key))
	if err != nil || !ok {
		return "", cmp.Or(err, notFound(key))
	}
	for e, err := range m.t.scan(tx, row.SessionID, row.Path, 0, 0, true) {
		if err != nil {
			return "", err
		}
		if e.Value.Role == protocol.MessageUser && !e.Value.ExcludeFromContext {
			return e.Value.Meta.RunID, nil
		}
	}
	return "", notFound(key)
}

// Count is the number of sessions.
func (m *Manager) Count() int { return int(m.count.Load()) }

// CountAll counts the sessions, where Recover does not: what waits is not taken up.
func (m *Manager) CountAll() error {
	return m.DB.View(func(tx *store.Tx) error {
		m.count.Store(int64(m.t.recent.Count(tx)))
		return nil
	})
}

func (m *Manager) rowOf(key string) (row Row, err error) {
	err = m.DB.View(func(tx *store.Tx) error {
		var ok bool
		if row, ok, err = m.t.sessions.Get(tx, []byte(key)); err == nil && !ok {
			err = notFound(key)
		}
		return err
	})
	return row, err
}

func clamp(n, def, most int) int {
	if n <= 0 {
		return def
	}
	return min(n, most)
}
