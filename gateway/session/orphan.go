package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Gone is a transcript whose session was deleted. Kept: whoever deleted it wanted
// the transcript to stay; otherwise its messages are being removed.
type Gone struct {
	Kept bool `json:"kept,omitempty"`
}

// Orphans are rows that belong to nothing any more, which only a crash of an older
// version, a repaired file or a fault leaves.
type Orphans struct {
	Transcripts []string // ids of transcripts without a session
	Messages    int      // in them
	Unlisted    []string // keys of sessions that the list of recent ones lacks
	Listed      int      // rows of that list without a session
	Past        int      // past transcripts of sessions that are gone
}

// None reports whether all is in order.
func (o Orphans) None() bool {
	return len(o.Transcripts) == 0 && len(o.Unlisted) == 0 && o.Listed == 0 && o.Past == 0
}

// markGone notes what becomes of the transcripts of a session that is deleted.
func (m *Manager) markGone(tx *store.Tx, kept bool, ids ...string) error {
	for _, id := range ids {
		if err := m.t.gone.Put(tx, []byte(id), Gone{Kept: kept}); err != nil {
			return err
		}
	}
	return nil
}

// finishDeletions removes what a crash left of conversations that were deleted.
func (m *Manager) finishDeletions(ctx context.Context) error {
	var ids []string
	err := m.DB.View(func(tx *store.Tx) error {
		for row, err := range m.t.gone.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			if !row.Value.Kept {
				ids = append(ids, string(row.Key))
			}
		}
		return nil
	})
	for _, id := range ids {
		if err == nil {
			err = m.deleteEntries(ctx, id)
		}
	}
	return err
}

// orphanRows are Orphans as their rows are named.
type orphanRows struct {
	Orphans
	listed [][]byte // rows of the list of recent sessions
	past   [][]byte
}

// Orphans looks for them. It reads keys, not messages.
func (m *Manager) Orphans(context.Context) (Orphans, error) {
	o, err := m.orphans()
	return o.Orphans, err
}

func (m *Manager) orphans() (out orphanRows, err error) {
	err = m.DB.View(func(tx *store.Tx) error {
		known := map[[16]byte]bool{}
		know := func(id string) {
			if raw, ok := RawID(id); ok {
				known[raw] = true
			}
		}
		for row, err := range m.t.sessions.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			know(row.Value.SessionID)
			if !m.t.recent.Has(tx, recentKey(row.Value.UpdatedAt, row.Value.Key)) {
				out.Unlisted = append(out.Unlisted, row.Value.Key)
			}
		}
		for key := range m.t.recent.ScanRaw(tx, store.Range{}) {
			row, ok, err := m.t.sessions.Get(tx, key[min(8, len(key)):])
			if err != nil {
				return err
			}
			if !ok || !bytes.Equal(recentKey(row.UpdatedAt, row.Key), key) {
				out.listed = append(out.listed, bytes.Clone(key))
			}
		}
		for row, err := range m.t.past.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			if m.t.sessions.Has(tx, []byte(keyOfPast(row.Key))) {
				know(row.Value.SessionID)
			} else { // its transcript is an orphan then
				out.past = append(out.past, bytes.Clone(row.Key))
			}
		}
		for row := range m.t.gone.ScanRaw(tx, store.Range{}) {
			know(string(row))
		}
		return m.lost(tx, known, &out.Orphans)
	})
	out.Listed, out.Past = len(out.listed), len(out.past)
	return out, err
}

// lost finds transcripts that nothing knows, stepping from one to the next.
func (m *Manager) lost(tx *store.Tx, known map[[16]byte]bool, out *Orphans) error {
	for after := []byte(nil); ; {
		var id []byte
		for key := range m.t.entries.ScanRaw(tx, store.Range{After: after}) {
			id = bytes.Clone(key[:min(16, len(key))])
			break
		}
		if len(id) < 16 {
			return nil
		}
		if !known[[16]byte(id)] {
			out.Transcripts = append(out.Transcripts, textOfID(id))
			for range m.t.entries.ScanRaw(tx, store.Range{Prefix: id}) {
				out.Messages++
			}
		}
		after = append(id, bytes.Repeat([]byte{0xff}, 9)...) // behind its last message
	}
}

func textOfID(id []byte) string {
	h := hex.EncodeToString(id)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// Adopt gives every orphan its place: a transcript becomes an archived chat of the
// default agent's, whose words count as read from outside, and the list of recent
// sessions is put in order. Nothing that was said is removed.
func (m *Manager) Adopt(ctx context.Context) (Orphans, error) {
	found, err := m.orphans()
	if err != nil || found.None() {
		return found.Orphans, err
	}
	err = m.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		for _, key := range found.listed {
			if err := m.t.recent.Delete(tx, key); err != nil {
				return err
			}
		}
		for _, key := range found.past {
			if err := m.t.past.Delete(tx, key); err != nil {
				return err
			}
		}
		for _, key := range found.Unlisted {
			row, ok, err := m.t.sessions.Get(tx, []byte(key))
			if err != nil {
				return err
			}
			if ok {
				if err := m.t.putRow(tx, row); err != nil {
					return err
				}
			}
		}
		return nil
	}})
	for _, id := range found.Transcripts {
		if err == nil {
			err = m.adopt(ctx, id)
		}
	}
	if err != nil {
		return found.Orphans, fmt.Errorf("give lost conversations a place: %w", err)
	}
	return found.Orphans, m.DB.View(func(tx *store.Tx) error {
		m.count.Store(int64(m.t.recent.Count(tx)))
		return nil
	})
}

// adopt makes a chat of a transcript.
func (m *Manager) adopt(ctx context.Context, id string) error {
	prefix, err := entryPrefix(id)
	if err != nil {
		return err
	}
	key := "agent:" + DefaultAgent + ":recovered:" + id
	var row Row
	return m.DB.Update(ctx, store.Write{
		Do: func(tx *store.Tx) error {
			row = Row{Key: key, SessionID: id, AgentID: DefaultAgent, From: "recovered", NextTurn: 1}
			for e, err := range m.t.entries.Scan(tx, store.Range{Prefix: prefix}) {
				if err != nil {
					return err
				}
				row.take(e.Value)
			}
			row.Title = cmp.Or(row.Title, "Recovered")
			row.UpdatedAt = cmp.Or(row.UpdatedAt, m.nowMs())
			row.CreatedAt = cmp.Or(row.CreatedAt, row.UpdatedAt)
			row.Archived, row.ArchivedAt = true, m.nowMs()
			return m.t.putRow(tx, row)
		},
		Then: func() { m.Publish.SessionChanged(m.changed(row, "recovered", "", "")) },
	})
}

// take counts a message of its transcript that is there already.
func (r *Row) take(msg protocol.Message) {
	if msg.Meta != nil {
		r.NextTurn = max(r.NextTurn, uint64(msg.Meta.Seq)>>16+1)
	}
	if msg.Role == protocol.MessageUser {
		r.Title = cmp.Or(r.Title, firstWords(msg.Text()))
	}
	if text := msg.Text(); text != "" && msg.Role != protocol.MessageToolResult {
		r.Preview = clip(text, 120)
	}
	r.Messages++
	r.CreatedAt = cmp.Or(r.CreatedAt, msg.Timestamp)
	r.UpdatedAt = max(r.UpdatedAt, msg.Timestamp)
}
