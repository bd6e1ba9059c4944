package session

import (
	"cmp"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Past is a transcript that a reset put aside. It can be searched, read and
// continued, and goes with its session.
type Past struct {
	SessionID  string      `json:"sessionId"`
	Title      string      `json:"title,omitempty"`
	EndedAt    int64       `json:"endedAt"`
	Messages   int         `json:"messages,omitempty"` // 0: put aside by a version that did not count
	Preview    string      `json:"preview,omitempty"`
	Usage      model.Usage `json:"usage,omitzero"`
	Compaction *Compaction `json:"compaction,omitempty"`
	From       string      `json:"from,omitempty"` // this and what follows as in Row
	Path       Path        `json:"path,omitempty"`
	Put        []Put       `json:"putAway,omitempty"`
}

// pastPrefix begins the keys of a session's past transcripts. Session keys hold
// no control characters.
func pastPrefix(key string) []byte { return append([]byte(key), 0) }

func pastKey(key, sessionID string) ([]byte, error) {
	id, err := entryPrefix(sessionID)
	return append(pastPrefix(key), id...), err
}

// keyOfPast is the session that a row of past transcripts belongs to.
func keyOfPast(row []byte) string { return string(row[:max(0, len(row)-17)]) }

// putAside keeps what a reset leaves behind.
func (m *Manager) putAside(tx *store.Tx, r *Row) error {
	if r.Messages == 0 && r.Path == nil {
		return nil
	}
	key, err := pastKey(r.Key, r.SessionID)
	if err != nil {
		return err
	}
	return m.t.past.Put(tx, key, Past{
		SessionID: r.SessionID, Title: current(*r).title, EndedAt: m.nowMs(),
		Messages: r.Messages, Preview: r.Preview, Usage: r.Usage, Compaction: r.Compaction, From: r.From,
		Path: r.Path, Put: r.Put,
	})
}

// dropPast forgets a session's past transcripts and returns their ids.
func (m *Manager) dropPast(tx *store.Tx, key string) (ids []string, err error) {
	prefix := pastPrefix(key)
	for row, err := range m.t.past.Scan(tx, store.Range{Prefix: prefix}) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, row.Value.SessionID)
	}
	_, err = m.t.past.DeleteRange(tx, store.Range{Prefix: prefix}, len(ids)+1)
	return ids, err
}

// transcript is one conversation between two resets.
type transcript struct{ key, id, title string }

// Searchable is the sessions as package search reads them.
type Searchable struct{ m *Manager }

// Searchable gives the search index its messages.
func (m *Manager) Searchable() Searchable { return Searchable{m} }

// Transcripts implements search.Source.
func (s Searchable) Transcripts(key string, fn func(key, sessionID, title string) error) error {
	var all []transcript
	err := s.m.DB.View(func(tx *store.Tx) error {
		var err error
		if key != "" {
			all, err = s.ofSession(tx, key)
			return err
		}
		all, err = s.everything(tx)
		return err
	})
	if err != nil {
		return err
	}
	for _, t := range all { // outside of the transaction: fn takes its time
		if err := fn(t.key, t.id, t.title); err != nil {
			return err
		}
	}
	return nil
}

// ofSession lists a session's transcripts, the one in use last.
func (s Searchable) ofSession(tx *store.Tx, key string) (all []transcript, err error) {
	row, ok, err := s.m.t.sessions.Get(tx, []byte(key))
	if err != nil || !ok {
		return nil, err
	}
	for p, err := range s.m.t.past.Scan(tx, store.Range{Prefix: pastPrefix(key)}) {
		if err != nil {
			return nil, err
		}
		all = append(all, transcript{key, p.Value.SessionID, p.Value.Title})
	}
	return append(all, current(row)), nil
}

// everything lists all transcripts, past ones first, the last used last.
func (s Searchable) everything(tx *store.Tx) (all []transcript, err error) {
	for p, err := range s.m.t.past.Scan(tx, store.Range{}) {
		if err != nil {
			return nil, err
		}
		all = append(all, transcript{keyOfPast(p.Key), p.Value.SessionID, p.Value.Title})
	}
	for k := range s.m.t.recent.ScanRaw(tx, store.Range{Reverse: true}) {
		row, ok, err := s.m.t.sessions.Get(tx, k[8:])
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, current(row))
		}
	}
	return all, nil
}

func current(r Row) transcript {
	return transcript{r.Key, r.SessionID, cmp.Or(r.Label, r.Title)}
}

// Transcript implements search.Source.
func (s Searchable) Transcript(key, sessionID string) (title string, ok bool, err error) {
	err = s.m.DB.View(func(tx *store.Tx) error {
		row, found, err := s.m.t.sessions.Get(tx, []byte(key))
		if err != nil || !found {
			return err
		}
		if row.SessionID == sessionID {
			title, ok = current(row).title, true
			return nil
		}
		pk, err := pastKey(key, sessionID)
		if err != nil {
			return nil // no session of ours has such an id
		}
		p, found, err := s.m.t.past.Get(tx, pk)
		title, ok = p.Title, found
		return err
	})
	return title, ok, err
}

// Entries implements search.Source. A turn has settled when its run has ended.
func (s Searchable) Entries(sessionID string, after int64, limit int) (msgs []protocol.Message, settled int, err error) {
	prefix, err := entryPrefix(sessionID)
	if err != nil {
		return nil, 0, err
	}
	r := store.Range{Prefix: prefix}
	if after > 0 {
		if r.After, err = entryKey(sessionID, uint64(after)); err != nil {
			return nil, 0, err
		}
	}
	err = s.m.DB.View(func(tx *store.Tx) error {
		open := false
		for row, err := range s.m.t.entries.Scan(tx, r) {
			if err != nil {
				return err
			}
			if msgs = append(msgs, row.Value); !open {
				if open, err = s.open(tx, &row.Value); err != nil {
					return err
				}
			}
			if !open {
				settled = len(msgs)
			}
			if len(msgs) == limit {
				break
			}
		}
		return nil
	})
	return msgs, settled, err
}

// open reports whether a message begins a turn that has not ended.
func (s Searchable) open(tx *store.Tx, m *protocol.Message) (bool, error) {
	if m.Role != protocol.MessageUser || m.Hearth == nil || m.Hearth.State != protocol.ReceiptAccepted {
		return false, nil
	}
	run, ok, err := s.m.t.runs.Get(tx, []byte(m.Meta.RunID))
	return ok && !run.State.Ended(), err
}

// Shown implements search.Source.
func (s Searchable) Shown(key, sessionID string) (func(seq int64) bool, error) {
	var path Path
	err := s.m.DB.View(func(tx *store.Tx) error {
		row, ok, err := s.m.t.sessions.Get(tx, []byte(key))
		if err != nil || !ok {
			return err
		}
		path = row.Path
		past, err := s.m.pastOf(tx, row, sessionID)
		if past != nil {
			path = past.Path
		}
		if errors.Is(err, ErrNotFound) {
			err = nil // it went since; the search leaves it out
		}
		return err
	})
	return path.holds, err
}

// Entry implements search.Source.
func (s Searchable) Entry(sessionID string, seq int64) (msg protocol.Message, ok bool, err error) {
	err = s.m.DB.View(func(tx *store.Tx) error {
		msg, ok, err = s.m.t.getEntry(tx, sessionID, uint64(seq))
		return err
	})
	return msg, ok, err
}
