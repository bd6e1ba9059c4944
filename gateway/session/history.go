package session

import (
	"cmp"
	"container/list"
	"encoding/json"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// keptHistory bounds what all kept histories take together, in bytes.
const keptHistory = 8 << 20

// histories keeps the newest entries of the transcripts that were used last, in
// the form in which models are given them, so that a turn does not read and decode
// what the turn before it read. What is kept is what the store says: entries come
// in by being decoded from the bytes that the store has, and the one place that
// writes transcripts (tables.putEntry, tables.deleteEntries) tells every change of
// a transcript once it is on disk.
type histories struct {
	mu    sync.Mutex
	limit int
	size  int
	all   map[string]*history // by session id
	order *list.List          // of *history, the last used first
}

// history is one transcript from some entry on to its end.
type history struct {
	id      string
	path    Path     // the branch that is kept
	from    int64    // the position from which on no entry is missing; notRead at first, 0 = from the beginning
	entries []*entry // in order; the slice is replaced or appended to, never written to
	size    int
	changes int // of the transcript since it is here
	at      *list.Element
}

const notRead = math.MaxInt64

func newHistories(limit int) *histories {
	return &histories{limit: limit, all: map[string]*history{}, order: list.New()}
}

// backwards yields the entries of a transcript that concern models and stand
// before a position, the newest first. What is not here is read from the store,
// no further than wanted, and kept.
func (h *histories) backwards(db *store.DB, t *tables, sessionID string, path Path, before int64) iter.Seq2[*entry, error] {
	return func(yield func(*entry, error) bool) {
		one, seen := h.open(sessionID, path)
		for _, e := range slices.Backward(seen.entries) {
			if e.seq < before && !yield(e, nil) {
				h.shorten(one, e.seq)
				return
			}
		}
		if seen.from == 0 {
			return
		}
		var older []*entry // newest first
		left := false
		reached, err := t.olderEntries(db, sessionID, path, seen.from, func(e *entry) bool {
			older = append(older, e)
			left = e.seq < before && !yield(e, nil)
			return !left
		})
		if err != nil && !left {
			yield(nil, err)
		}
		if err == nil {
			h.extend(one, seen, older, reached)
		}
	}
}

// olderEntries reads the entries before a position, the newest first, until more
// returns false. It returns the position that it reached, 0 for the beginning.
func (t *tables) olderEntries(db *store.DB, sessionID string, path Path, from int64, more func(*entry) bool) (reached int64, err error) {
	before := from
	if from == notRead {
		before = 0
	}
	err = db.View(func(tx *store.Tx) error {
		for row, err := range t.scan(tx, sessionID, path, 0, before, true) {
			if err != nil {
				return err
			}
			reached = row.Value.Meta.Seq
			if e := entryOf(row.Value); e != nil && !more(e) {
				return nil
			}
		}
		reached = 0
		return nil
	})
	return reached, err
}

// open returns what is kept of a transcript, and how it is now; from now on its
// changes are counted.
func (h *histories) open(sessionID string, path Path) (*history, history) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one, ok := h.all[sessionID]
	if ok && !slices.Equal(one.path, path) {
		h.drop(one)
		ok = false
	}
	if !ok {
		one = &history{id: sessionID, path: path, from: notRead}
		one.at = h.order.PushFront(one)
		h.all[sessionID] = one
		h.grow(one, historyOverhead)
	}
	h.order.MoveToFront(one.at)
	return one, *one
}

// historyOverhead is what a history takes beside its entries, by estimate.
const historyOverhead = 512

// extend adds what was read behind what is kept, unless that is another by now, or
// the transcript is. older is newest first.
func (h *histories) extend(one *history, seen history, older []*entry, reached int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all[one.id] != one || one.changes != seen.changes || one.from != seen.from {
		return
	}
	slices.Reverse(older)
	one.entries, one.from = append(older, one.entries...), reached
	h.grow(one, weightOf(older))
}

// shorten leaves out what a reader did not come to: the entries before a position.
// It waits until that is worth while.
func (h *histories) shorten(one *history, seq int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all[one.id] != one {
		return
	}
	if first, _ := slices.BinarySearchFunc(one.entries, seq, bySeq); first > len(one.entries)/2 {
		h.cut(one, first)
	}
}

func bySeq(e *entry, seq int64) int { return cmp.Compare(e.seq, seq) }

func (h *histories) cut(one *history, first int) {
	out := one.entries[:first]
	one.entries = slices.Clone(one.entries[first:])
	if one.from = notRead; len(one.entries) > 0 {
		one.from = one.entries[0].seq
	}
	one.size -= weightOf(out)
	h.size -= weightOf(out)
}

// changed takes in an entry that is on disk now, as it is there.
func (h *histories) changed(sessionID string, seq int64, raw []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.all[sessionID]
	if one == nil {
		return
	}
	if one.changes++; seq < one.from || !one.path.holds(seq) {
		return
	}
	var msg protocol.Message
	if err := json.Unmarshal(raw, &msg); err != nil {
		h.drop(one)
		return
	}
	e := entryOf(msg)
	at, there := slices.BinarySearchFunc(one.entries, seq, bySeq)
	switch {
	case e == nil && !there:
	case e != nil && at == len(one.entries):
		one.entries = append(one.entries, e)
		h.grow(one, e.weight())
	case e != nil && there:
		more := e.weight() - one.entries[at].weight()
		one.entries = slices.Clone(one.entries)
		one.entries[at] = e
		h.grow(one, more)
	default:
		h.drop(one)
	}
}

// forget takes a transcript out whose entries were deleted.
func (h *histories) forget(sessionID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if one := h.all[sessionID]; one != nil {
		h.drop(one)
	}
}

func (h *histories) drop(one *history) {
	delete(h.all, one.id)
	h.order.Remove(one.at)
	h.size -= one.size
}

// grow counts what one takes more, and makes room for it: those that were not
// used for the longest time go first, then its own oldest entries.
func (h *histories) grow(one *history, more int) {
	one.size += more
	h.size += more
	for h.size > h.limit && h.order.Back() != one.at {
		h.drop(h.order.Back().Value.(*history))
	}
	if h.size <= h.limit || len(one.entries) == 0 {
		return
	}
	first, over := 0, h.size-h.limit
	for ; first < len(one.entries) && over > 0; first++ {
		over -= one.entries[first].weight()
	}
	h.cut(one, first)
}
