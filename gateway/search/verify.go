package search

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Bounds of a look at the index: the newest transcripts, and messages of each.
const (
	verifyTranscripts = 500
	verifyMessages    = 8
	verifyTerms       = 16
)

// Health is how well the index fits what was said.
type Health struct {
	Building bool   // it is being made, so nothing is known yet
	Looked   int    // messages that were looked up
	Missing  int    // of them: messages that a search would not find
	Behind   int    // transcripts of which the index has less than it believes is there
	Broken   string // what is wrong with the index as a whole, "" for nothing
}

// OK reports whether nothing is wrong.
func (h Health) OK() bool { return h.Building || h.Missing == 0 && h.Behind == 0 && h.Broken == "" }

// Verify looks the newest messages of the newest transcripts up in the index.
func (x *Index) Verify(ctx context.Context) (h Health, err error) {
	x.mu.Lock()
	h.Building = x.building
	x.mu.Unlock()
	if h.Building {
		return h, nil
	}
	if h.Broken, err = x.whole(); err != nil || h.Broken != "" {
		return h, err
	}
	var all []transcript
	err = x.Source.Transcripts("", func(key, id, _ string) error {
		all = append(all, transcript{key: key, id: id})
		return nil
	})
	if err != nil {
		return h, err
	}
	for _, t := range all[max(0, len(all)-verifyTranscripts):] {
		if ctx.Err() != nil {
			return h, context.Cause(ctx)
		}
		if err := x.verify(t, &h); err != nil {
			return h, err
		}
	}
	return h, nil
}

// whole says what is wrong with the index as such.
func (x *Index) whole() (broken string, err error) {
	err = x.DB.View(func(tx *store.Tx) error {
		st, ok, err := x.t.state.Get(tx, stateKey)
		switch {
		case err != nil:
			return err
		case !ok || st.Version != version:
			broken = "it is of another version"
			return nil
		}
		for k := range x.t.docs.ScanRaw(tx, store.Range{Reverse: true}) {
			if len(k) != 4 || binary.BigEndian.Uint32(k) >= st.Next {
				broken = "it numbers messages beyond its end"
			}
			break
		}
		return nil
	})
	return broken, err
}

// verify looks at one transcript.
func (x *Index) verify(t transcript, h *Health) error {
	seen, err := x.seen(t.id)
	if err != nil {
		return err
	}
	x.mu.Lock()
	expected := x.dirty[t.key] > 0 // it is about to be taken up
	x.mu.Unlock()
	rest, settled, err := x.Source.Entries(t.id, seen.UpTo, 1)
	if err != nil {
		return err
	}
	if len(rest) > 0 && settled > 0 && !expected {
		h.Behind++
	}
	after := max(seen.UpTo-verifyMessages<<16, 0)
	msgs, _, err := x.Source.Entries(t.id, after, readEntries)
	if err != nil {
		return err
	}
	n := 0
	for i := len(msgs) - 1; i >= 0 && n < verifyMessages; i-- {
		if msgs[i].Meta.Seq > seen.UpTo {
			continue
		}
		found, words, err := x.has(t, &msgs[i])
		if err != nil {
			return err
		}
		if words {
			n++
			h.Looked++
		}
		if words && !found {
			h.Missing++
		}
	}
	return nil
}

// has reports whether a message is found by its first words; words is false when it
// has none.
func (x *Index) has(t transcript, m *protocol.Message) (found, words bool, err error) {
	var terms []string
	for tok := range tokens(text.Prefix(searchable(m), maxText)) {
		tok.addTerms(func(b []byte) { terms = append(terms, string(b)) })
		if len(terms) >= verifyTerms {
			break
		}
	}
	if len(terms) == 0 {
		return false, false, nil
	}
	err = x.DB.View(func(tx *store.Tx) error {
		n, ok := x.number(tx, t.id, m.Meta.Seq)
		for _, term := range terms {
			ok = ok && x.listed(tx, term, n)
		}
		found = ok
		return nil
	})
	if err != nil {
		return false, true, fmt.Errorf("look a message up in the search index: %w", err)
	}
	return found, true, nil
}

// number is what a message of the end of a transcript is called in the index.
func (x *Index) number(tx *store.Tx, id string, seq int64) (n uint32, ok bool) {
	want, rows := string(docValue(id, seq)), 0
	for k, v := range x.t.postings.ScanRaw(tx, store.Range{Prefix: append(transcriptTerm(id), 0), Reverse: true}) {
		eachPosting(k, v, func(one uint32) {
			if string(x.t.docs.GetRaw(tx, docKey(one))) == want {
				n, ok = one, true
			}
		})
		if rows++; ok || rows == 2 { // a message that is looked up stands near the end
			break
		}
	}
	return n, ok
}

// listed reports whether a message stands among those that have a term.
func (x *Index) listed(tx *store.Tx, term string, n uint32) (there bool) {
	r := store.Range{Prefix: rowPrefix(term), Reverse: true}
	if n < math.MaxUint32 {
		r.Before = rowKey(term, n+1)
	}
	for k, v := range x.t.postings.ScanRaw(tx, r) {
		eachPosting(k, v, func(one uint32) { there = there || one == n })
		break
	}
	return there
}

// Rebuild throws the index away and has Run make it anew. Until that is done a
// search says that it is not complete.
func (x *Index) Rebuild(ctx context.Context) error {
	err := x.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		return x.t.state.Put(tx, stateKey, state{})
	}})
	if err != nil {
		return fmt.Errorf("throw the search index away: %w", err)
	}
	x.mu.Lock()
	x.building = true
	x.mu.Unlock()
	select {
	case x.wake <- struct{}{}:
	default:
	}
	return nil
}
