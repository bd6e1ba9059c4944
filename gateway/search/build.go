package search

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/text"
)

const (
	// flushPostings and flushDocs bound what a builder holds in memory.
	flushPostings = 200_000
	flushDocs     = 20_000
	// writeRows bounds one transaction: accepting messages waits behind it.
	writeRows = 800
	// rowBytes is where a row of postings ends and the next one begins.
	rowBytes = 1 << 10
)

// builder collects the words of messages and writes them in the order of the
// index, in small transactions. The last one moves the progress; a crash
// before it only repeats the work, because the numbers come out the same.
type builder struct {
	x        *Index
	base     uint32 // number of the first message
	postings map[string][]uint32
	count    int
	docs     [][]byte
	progress map[string]progress
}

func (x *Index) newBuilder() *builder {
	return &builder{x: x, postings: map[string][]uint32{}, progress: map[string]progress{}}
}

func (b *builder) full() bool { return b.count >= flushPostings || len(b.docs) >= flushDocs }

// add takes a message up. What has no words for people only moves the progress.
func (b *builder) add(t transcript, seq int64, m *protocol.Message) {
	b.progress[t.id] = progress{SessionKey: t.key, UpTo: seq}
	body := searchable(m)
	if body == "" {
		return
	}
	n := uint32(len(b.docs)) // from base on
	b.docs = append(b.docs, docValue(t.id, seq))
	put := func(term []byte) {
		list := b.postings[string(term)]
		if k := len(list); k > 0 && list[k-1] == n {
			return
		}
		b.postings[string(term)] = append(list, n)
		b.count++
	}
	put(transcriptTerm(t.id))
	for tok := range tokens(text.Prefix(body, maxText)) {
		tok.addTerms(put)
	}
}

// searchable is what people read of a message.
func searchable(m *protocol.Message) string {
	if m.Role == protocol.MessageToolResult {
		return ""
	}
	return m.Text()
}

// transcriptTerm stands for all messages of a transcript. No word begins so.
func transcriptTerm(sessionID string) []byte { return append([]byte{1}, rawID(sessionID)...) }

// flush writes what was collected.
func (b *builder) flush(ctx context.Context) error {
	if len(b.progress) == 0 {
		return nil
	}
	err := b.x.DB.View(func(tx *store.Tx) error {
		st, _, err := b.x.t.state.Get(tx, stateKey)
		b.base = st.Next
		return err
	})
	if err != nil {
		return err
	}
	terms := slices.Sorted(maps.Keys(b.postings))
	for part := range slices.Chunk(terms, writeRows) {
		began := time.Now()
		err := b.x.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
			for _, term := range part {
				if err := b.putTerm(tx, term); err != nil {
					return err
				}
			}
			return nil
		}})
		if err != nil {
			return fmt.Errorf("write the search index: %w", err)
		}
		if len(part) == writeRows {
			if err := rest(ctx, time.Since(began)); err != nil {
				return err
			}
		}
	}
	err = b.x.DB.Update(ctx, store.Write{Do: b.finish})
	if err != nil {
		return fmt.Errorf("write the search index: %w", err)
	}
	clear(b.postings)
	clear(b.progress)
	b.docs, b.count = b.docs[:0], 0
	return nil
}

// rest leaves the store to others for as long as it was held, so that a first
// build is not felt.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(min(d, 100*time.Millisecond)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// finish makes the new messages part of the index.
func (b *builder) finish(tx *store.Tx) error {
	for i, v := range b.docs {
		if err := b.x.t.docs.PutRaw(tx, docKey(b.base+uint32(i)), v); err != nil {
			return err
		}
	}
	for id, p := range b.progress {
		if err := b.x.t.progress.Put(tx, []byte(id), p); err != nil {
			return err
		}
	}
	return b.x.t.state.Put(tx, stateKey, state{Version: version, Next: b.base + uint32(len(b.docs))})
}

// putTerm adds the messages of a term behind those that it has.
func (b *builder) putTerm(tx *store.Tx, term string) error {
	ids := b.postings[term]
	key, row, err := b.lastRow(tx, term)
	if err != nil {
		return err
	}
	for i, n := range ids {
		n += b.base
		if key == nil || len(row) >= rowBytes {
			if key != nil {
				if err := b.x.t.postings.PutRaw(tx, key, row); err != nil {
					return err
				}
			}
			key, row = rowKey(term, n), binary.BigEndian.AppendUint32(make([]byte, 0, 8+2*min(len(ids)-i, rowBytes/2)), n)
			continue
		}
		row = appendStep(row, n)
	}
	return b.x.t.postings.PutRaw(tx, key, row)
}

// lastRow is where the postings of a term go on; rows that a crash left of the
// same messages are taken away.
func (b *builder) lastRow(tx *store.Tx, term string) (key, row []byte, err error) {
	prefix := rowPrefix(term)
	for {
		key, row = nil, nil
		for k, v := range b.x.t.postings.ScanRaw(tx, store.Range{Prefix: prefix, Reverse: true}) {
			key, row = bytes.Clone(k), bytes.Clone(v)
			break
		}
		if key == nil {
			return nil, nil, nil
		}
		first := binary.BigEndian.Uint32(key[len(key)-4:])
		if first < b.base {
			break
		}
		if err := b.x.t.postings.Delete(tx, key); err != nil {
			return nil, nil, err
		}
	}
	if len(row) < 4 || binary.BigEndian.Uint32(row) >= b.base {
		row = rewrite(key, row, func(n uint32) bool { return n < b.base })
	}
	return key, row, nil
}

// A row of postings: the key ends with the first number, the value is the last
// number and the steps from each number to the next.

func rowPrefix(term string) []byte { return append([]byte(term), 0) }

func rowKey(term string, first uint32) []byte {
	return binary.BigEndian.AppendUint32(rowPrefix(term), first)
}

func appendStep(row []byte, n uint32) []byte {
	row = binary.AppendUvarint(row, uint64(n-binary.BigEndian.Uint32(row)))
	binary.BigEndian.PutUint32(row, n)
	return row
}

// eachPosting calls fn with the numbers of a row; what is damaged ends it.
func eachPosting(key, row []byte, fn func(n uint32)) {
	if len(key) < 4 || len(row) < 4 {
		return
	}
	n := binary.BigEndian.Uint32(key[len(key)-4:])
	fn(n)
	for rest := row[4:]; len(rest) > 0; {
		if step := rest[0]; step < 0x80 {
			n += uint32(step)
			rest = rest[1:]
		} else {
			step, k := binary.Uvarint(rest)
			if k <= 0 {
				return
			}
			n += uint32(step)
			rest = rest[k:]
		}
		fn(n)
	}
}

// rewrite makes a row anew with the numbers to keep; its first number must be
// one of them.
func rewrite(key, row []byte, keep func(uint32) bool) []byte {
	out := append([]byte(nil), key[len(key)-4:]...)
	eachPosting(key, row, func(n uint32) {
		if n > binary.BigEndian.Uint32(out) && keep(n) {
			out = appendStep(out, n)
		}
	})
	return out
}
