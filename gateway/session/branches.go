package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// What the branches of a transcript are used for: answering a message again, going
// back, going to another version, and a new chat from a message on. Nothing of it
// removes an entry.

// Why a branch was not begun or changed.
var (
	// ErrBusy: an answer is being made, or messages wait for one.
	ErrBusy = errors.New("an answer is being made in this chat; stop it or wait for it, then try again")
	// ErrNotYours: the message came from somewhere else, and its answer would go there.
	ErrNotYours = errors.New("this message did not come from here, so it cannot be answered again; branch into a new chat instead")
	// ErrNoQuestion: nobody asked what is to be answered again.
	ErrNoQuestion = errors.New("this is no answer to a message, so there is nothing to ask again")
)

// Put is a summary of a branch that is not in use.
type Put struct {
	Compaction Compaction `json:"compaction"`
	Path       Path       `json:"path"` // what it stands for
}

// maxPut bounds the summaries that are kept for other branches.
const maxPut = 8

// Again says which message a turn is said or asked again for: it begins a branch
// beside that message, and what stood there stays.
type Again struct {
	Entry string // id of the person's message, or of something in the answer to it
	// Words is set when the person said something else; otherwise the same message is
	// asked again, with its pictures.
	Words bool
}

// AnswerAgain accepts a message in the place of another one. One transaction holds the
// branch, the message and its run, so that a crash leaves the old branch as it was or
// the new one whole. Unless the turn's Again has Words, its Text, ForAgent, Hints and
// Pictures are those of the old message.
func (m *Manager) AnswerAgain(ctx context.Context, turn Turn) (Accepted, error) {
	if acc, known, err := m.again(turn.RunID, turn.SessionKey, turn.Again); known || err != nil {
		return acc, err
	}
	err := m.DB.View(func(tx *store.Tx) error {
		row, ok, err := m.t.sessions.Get(tx, []byte(turn.SessionKey))
		if err != nil || !ok {
			return cmp.Or(err, notFound(turn.SessionKey))
		}
		msg, rec, err := m.askedAt(tx, row, turn.Again.Entry)
		if err != nil {
			return err
		}
		for _, b := range msg.Content {
			if b.Type == protocol.BlockImage {
				turn.Pictures = append(turn.Pictures, b)
			}
		}
		turn.Outside = rec.Outside
		if turn.Again.Words {
			return nil
		}
		turn.Text, turn.ForAgent, turn.Terms = msg.Text(), msg.ForAgent, rec.Terms
		model := turn.Model
		if turn.Hints, turn.Model = rec.Hints, cmp.Or(model, rec.Model); model != "" {
			turn.Hints.Model = ""
		}
		return nil
	})
	if err != nil {
		return Accepted{}, err
	}
	return m.Submit(ctx, turn)
}

// again looks up a run that was accepted to answer a message again.
func (m *Manager) again(runID, key string, a Again) (acc Accepted, known bool, err error) {
	err = m.DB.View(func(tx *store.Tx) error {
		old, ok, err := m.t.runs.Get(tx, []byte(runID))
		if err != nil || !ok {
			return err
		}
		if old.SessionKey != key || old.Again != a.Entry {
			return ErrConflict
		}
		acc, known = Accepted{Run: old, Duplicate: true, Live: !old.State.Ended()}, true
		return nil
	})
	return acc, known, err
}

// askedAt finds the message that an entry of the branch in use belongs to, and its
// run. It is an error if the owner did not write it here.
func (m *Manager) askedAt(tx *store.Tx, row Row, id string) (msg protocol.Message, rec Run, err error) {
	at, err := m.entryOn(tx, row, id)
	if err != nil {
		return msg, rec, err
	}
	if at.Role != protocol.MessageUser {
		var ok bool
		if at, ok, err = m.t.getEntry(tx, row.SessionID, seqOf(uint64(at.Meta.Seq)>>16, 0)); err != nil {
			return msg, rec, err
		} else if !ok || at.Role != protocol.MessageUser {
			return msg, rec, ErrNoQuestion
		}
	}
	if at.ExcludeFromContext {
		return msg, rec, ErrNoQuestion
	}
	if at.Origin != nil || at.Provenance != nil {
		return msg, rec, ErrNotYours
	}
	rec.Outside = true // where nobody can tell
	if at.Meta.RunID != "" {
		var ok bool
		if rec, ok, err = m.t.runs.Get(tx, []byte(at.Meta.RunID)); err != nil {
			return msg, rec, err
		} else if ok && (!rec.Owner || rec.Route != "" || rec.Relay.From != "") {
			return msg, rec, ErrNotYours
		}
	}
	return at, rec, nil
}

// instead makes the branch in use end before the message that an entry belongs to.
func (m *Manager) instead(tx *store.Tx, row *Row, id string) error {
	if err := m.free(tx, *row); err != nil {
		return err
	}
	asked, _, err := m.askedAt(tx, *row, id)
	if err != nil {
		return err
	}
	return m.goBack(tx, row, uint64(asked.Meta.Seq)>>16)
}

// entryOn finds an entry of the branch in use by its id.
func (m *Manager) entryOn(tx *store.Tx, row Row, id string) (protocol.Message, error) {
	return m.findEntry(tx, row, row.Path, id)
}

// findEntry finds an entry of a branch by its id, looking from its end.
func (m *Manager) findEntry(tx *store.Tx, row Row, path Path, id string) (msg protocol.Message, err error) {
	if id == "" {
		return msg, noEntry(id)
	}
	if path == nil {
		path = Path{{0, openEnd}}
	}
	for _, s := range slices.Backward(path) {
		r, err := s.within(row.SessionID, 0, 0)
		if err != nil {
			return msg, err
		}
		r.Reverse = true
		for key, raw := range m.t.entries.ScanRaw(tx, r) {
			if !bytes.Contains(raw, []byte(id)) {
				continue // decoding is what takes time
			}
			if msg, _, err = m.t.entries.Get(tx, key); err != nil {
				return msg, err
			}
			if msg.Meta != nil && msg.Meta.ID == id {
				return msg, nil
			}
		}
	}
	return protocol.Message{}, noEntry(id)
}

func noEntry(id string) error {
	return fmt.Errorf("the message %q is not in this chat: %w", clip(id, 80), ErrNotFound)
}

// free is nil when a branch may be changed: nothing is answered and nothing waits.
// It looks at what is written too, because the lane hears of a message only after
// its transaction.
func (m *Manager) free(tx *store.Tx, row Row) error {
	if l := m.peekLane(row.Key); l != nil && !l.idle() {
		return ErrBusy
	}
	last, ok, err := m.t.getEntry(tx, row.SessionID, seqOf(row.NextTurn-1, 0))
	if err != nil || !ok {
		return err
	}
	if open, err := (Searchable{m}).open(tx, &last); err != nil || open {
		return cmp.Or(err, ErrBusy)
	}
	return nil
}

// goBack makes the branch in use end before a turn.
func (m *Manager) goBack(tx *store.Tx, row *Row, turn uint64) error {
	all, err := m.t.forksOf(tx, row.SessionID)
	if err != nil {
		return err
	}
	return m.use(tx, row, all.path(all.parent(turn), row.NextTurn))
}

// use makes a branch the one in use, with its summary and what lists show of it.
func (m *Manager) use(tx *store.Tx, row *Row, path Path) (err error) {
	put := slices.Clone(row.Put)
	if c := row.Compaction; c != nil {
		put = append(put, Put{*c, row.Path.until(uint64(c.UpTo) >> 16)})
	}
	best := -1
	for i, p := range put {
		if slices.Equal(p.Path, path.until(uint64(p.Compaction.UpTo)>>16)) && (best < 0 || p.Compaction.UpTo >= put[best].Compaction.UpTo) {
			best = i
		}
	}
	row.Path, row.Compaction, row.Used = path, nil, 0
	if best >= 0 {
		row.Compaction = &put[best].Compaction
		put = slices.Delete(slices.Clone(put), best, best+1)
	}
	row.Put = put[max(0, len(put)-maxPut):]
	if row.Messages, err = m.t.countIn(tx, row.SessionID, path); err != nil {
		return err
	}
	row.Preview = ""
	for e, err := range m.t.scan(tx, row.SessionID, path, 0, 0, true) {
		if err != nil {
			return err
		}
		if text := e.Value.Text(); text != "" && e.Value.Role != protocol.MessageToolResult {
			row.Preview = clip(text, 120)
			break
		}
	}
	return nil
}

// Rewind makes the branch in use end before a message, which it returns, or behind
// the turn of an answer. What is said next begins another branch there.
func (m *Manager) Rewind(ctx context.Context, key, id string) (msg protocol.Message, err error) {
	_, err = m.editIn(ctx, key, "branch", false, func(tx *store.Tx, r *Row) error {
		msg = protocol.Message{}
		if err := m.free(tx, *r); err != nil {
			return err
		}
		at, err := m.entryOn(tx, *r, id)
		if err != nil {
			return err
		}
		turn := uint64(at.Meta.Seq) >> 16
		if at.Role == protocol.MessageUser {
			msg = at
			return m.goBack(tx, r, turn)
		}
		all, err := m.t.forksOf(tx, r.SessionID)
		if err != nil {
			return err
		}
		return m.use(tx, r, all.path(turn, r.NextTurn))
	})
	return msg, err
}

// Switch makes another branch the one in use: the one that ends with an entry, or,
// of those through it, the one that was written last.
func (m *Manager) Switch(ctx context.Context, key, id string) error {
	_, err := m.editIn(ctx, key, "branch", false, func(tx *store.Tx, r *Row) error {
		if err := m.free(tx, *r); err != nil {
			return err
		}
		at, err := m.findEntry(tx, *r, nil, id)
		if err != nil {
			return err
		}
		all, err := m.t.forksOf(tx, r.SessionID)
		if err != nil {
			return err
		}
		return m.use(tx, r, all.path(all.newest(uint64(at.Meta.Seq)>>16, r.NextTurn-1), r.NextTurn))
	})
	return err
}

// Branches lists the branches of a session's transcript, the one that was written
// last first.
func (m *Manager) Branches(key string) (out []protocol.SessionBranch, err error) {
	out = []protocol.SessionBranch{}
	err = m.DB.View(func(tx *store.Tx) error {
		row, ok, err := m.t.sessions.Get(tx, []byte(key))
		if err != nil || !ok || row.Messages == 0 && row.Path == nil {
			return err
		}
		all, err := m.t.forksOf(tx, row.SessionID)
		if err != nil {
			return err
		}
		used := row.Path.name()
		ends := all.leaves(row.NextTurn - 1)
		if len(row.Path) > 0 { // one that was gone back on ends where no other does
			if leaf := row.Path[len(row.Path)-1].To; leaf < openEnd && !slices.Contains(ends, leaf) {
				ends = append(ends, leaf)
			}
		}
		for _, leaf := range ends {
			path := all.path(leaf, row.NextTurn)
			b, err := m.branch(tx, row.SessionID, path)
			if err != nil {
				return err
			}
			if b.LeafEntryID == "" {
				continue
			}
			b.Active = path.name() == used
			out = append(out, b)
		}
		return nil
	})
	return out, err
}

// leaves are the turns that branches end with, the last one first.
func (f forks) leaves(last uint64) (out []uint64) {
	parents := map[uint64]bool{}
	for _, x := range f {
		parents[x.parent] = true
	}
	for end := last; ; {
		at, ok := f.begun(end)
		if !parents[end] {
			out = append(out, end)
		}
		if !ok {
			return out
		}
		end = at.turn - 1
	}
}

// branch is what lists show of one.
func (m *Manager) branch(tx *store.Tx, sessionID string, path Path) (b protocol.SessionBranch, err error) {
	if b.MessageCount, err = m.t.countIn(tx, sessionID, path); err != nil {
		return b, err
	}
	for e, err := range m.t.scan(tx, sessionID, path, 0, 0, true) {
		if err != nil {
			return b, err
		}
		if b.LeafEntryID == "" {
			b.LeafEntryID, b.UpdatedAt = e.Value.Meta.ID, time.UnixMilli(e.Value.Timestamp).UTC().Format(time.RFC3339)
		}
		if e.Value.Role == protocol.MessageUser {
			b.Headline = clip(e.Value.Text(), 120)
			break
		}
	}
	return b, nil
}

// versions notes on the messages of a page which other versions they have.
func (m *Manager) versions(tx *store.Tx, sessionID string, msgs []protocol.Message) error {
	all, err := m.t.forksOf(tx, sessionID)
	if err != nil || len(all) == 0 {
		return err
	}
	for i := range msgs {
		seq := uint64(msgs[i].Meta.Seq)
		if seq&0xffff != 0 {
			continue
		}
		v := &protocol.MessageVersions{Same: true}
		for _, turn := range all.children(all.parent(seq >> 16)) {
			msg, ok, err := m.t.getEntry(tx, sessionID, seqOf(turn, 0))
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if v.Entries = append(v.Entries, msg.Meta.ID); turn == seq>>16 {
				v.At = len(v.Entries)
			}
			v.Same = v.Same && msg.Text() == msgs[i].Text()
		}
		if len(v.Entries) > 1 {
			msgs[i].Versions = v
		}
	}
	return nil
}
