package search

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// sweepRows is how many rows one step of a sweep looks at.
const sweepRows = 20_000

// forget takes transcripts out of the index, words and all: what was deleted
// must not be readable in the store's file.
func (x *Index) forget(ctx context.Context, gone func(sessionKey, sessionID string) bool) error {
	var ids []string
	var dead *bitmap
	err := x.DB.View(func(tx *store.Tx) error {
		for row, err := range x.t.progress.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			if gone(row.Value.SessionKey, string(row.Key)) {
				ids = append(ids, string(row.Key))
			}
		}
		if len(ids) == 0 {
			return nil
		}
		st, _, err := x.t.state.Get(tx, stateKey)
		if err != nil {
			return err
		}
		dead = newBitmap(st.Next)
		for _, id := range ids {
			x.addRows(tx, append(transcriptTerm(id), 0), dead)
		}
		return nil
	})
	if err != nil || len(ids) == 0 {
		return err
	}
	// Where they are goes first, so that nothing finds them from here on.
	if err := x.forgetDocs(ctx, dead); err != nil {
		return err
	}
	if err := x.sweep(ctx, dead); err != nil {
		return err
	}
	return x.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		for _, id := range ids {
			if err := x.t.progress.Delete(tx, []byte(id)); err != nil {
				return err
			}
		}
		return nil
	}})
}

func (x *Index) forgetDocs(ctx context.Context, dead *bitmap) error {
	var keys [][]byte
	for n := range dead.descending() {
		keys = append(keys, docKey(n))
	}
	for len(keys) > 0 {
		part := keys[:min(len(keys), writeRows)]
		keys = keys[len(part):]
		err := x.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
			for _, k := range part {
				if err := x.t.docs.Delete(tx, k); err != nil {
					return err
				}
			}
			return nil
		}})
		if err != nil {
			return fmt.Errorf("take a conversation out of the search index: %w", err)
		}
	}
	return nil
}

// change is a row of postings that a sweep writes anew: old goes, and with a
// value the rest of it stands at key.
type change struct{ old, key, value []byte }

// sweep takes the dead messages out of all postings. The transcripts' own rows
// come first in the order, so a sweep that is cut short is begun anew by its
// progress rows and finds what it needs only if those go last: they are skipped
// here until the end of the pass.
func (x *Index) sweep(ctx context.Context, dead *bitmap) error {
	words := store.Range{After: []byte{2}}
	if err := x.sweepRange(ctx, dead, words); err != nil {
		return err
	}
	return x.sweepRange(ctx, dead, store.Range{Prefix: []byte{1}})
}

func (x *Index) sweepRange(ctx context.Context, dead *bitmap, r store.Range) error {
	for {
		var changes []change
		seen := 0
		err := x.DB.View(func(tx *store.Tx) error {
			for k, v := range x.t.postings.ScanRaw(tx, r) {
				if seen++; seen > sweepRows || len(changes) >= writeRows {
					break
				}
				r.After = bytes.Clone(k)
				if c, hit := without(k, v, dead); hit {
					changes = append(changes, c)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if seen == 0 {
			return nil
		}
		if err := x.apply(ctx, changes); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (x *Index) apply(ctx context.Context, changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	return x.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		for _, c := range changes {
			if err := x.t.postings.Delete(tx, c.old); err != nil {
				return err
			}
			if c.key == nil {
				continue
			}
			if err := x.t.postings.PutRaw(tx, c.key, c.value); err != nil {
				return err
			}
		}
		return nil
	}})
}

// without is a row less the dead messages; hit is false when it has none.
func without(key, row []byte, dead *bitmap) (c change, hit bool) {
	eachPosting(key, row, func(n uint32) { hit = hit || dead.has(n) })
	if !hit {
		return c, false
	}
	c.old = bytes.Clone(key)
	eachPosting(key, row, func(n uint32) {
		switch {
		case dead.has(n):
		case c.key == nil:
			c.key = binary.BigEndian.AppendUint32(bytes.Clone(key[:len(key)-4]), n)
			c.value = binary.BigEndian.AppendUint32(nil, n)
		default:
			c.value = appendStep(c.value, n)
		}
	})
	return c, true
}
