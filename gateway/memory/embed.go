package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	// embedBatch is how many chunks are asked for at a time.
	embedBatch = 64
	// embedRest is how long a service that failed is left alone.
	embedRest = time.Minute
)

// embedState is about vectors; Index.mu guards it.
type embedState struct {
	model   string         // that made those in the store
	done    map[uint32]int // segment → chunks with a vector
	known   bool           // done was read from the store
	problem string
	until   time.Time // nothing is asked before
}

// embedPending asks for the vectors that are missing. What fails is tried again
// later; words are found without.
func (x *Index) embedPending(ctx context.Context) {
	e := x.Embedder()
	if e == nil {
		return
	}
	x.mu.Lock()
	wait := x.Now().Before(x.embed.until)
	x.mu.Unlock()
	if wait {
		return
	}
	err := x.embedAll(ctx, e)
	if ctx.Err() != nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	before := x.embed.problem
	x.embed.problem = ""
	if err != nil {
		x.embed.problem, x.embed.until = err.Error(), x.Now().Add(embedRest)
	}
	if x.embed.problem != "" && x.embed.problem != before {
		x.Logger.Warn("memory is searched by words only for now: no vectors could be made", "model", e.Name(), "err", err)
	}
}

func (x *Index) embedAll(ctx context.Context, e Embedder) error {
	if err := x.sameModel(ctx, e.Name()); err != nil {
		return err
	}
	for _, key := range x.keys() {
		x.mu.Lock()
		var segs []seg
		if f := x.files[key]; f != nil {
			segs = slices.Clone(f.Segs)
		}
		x.mu.Unlock()
		for _, s := range segs {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := x.embedSegment(ctx, e, key, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *Index) keys() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Sorted(maps.Keys(x.files))
}

// sameModel throws vectors of another model away, and counts what there is.
func (x *Index) sameModel(ctx context.Context, name string) error {
	x.mu.Lock()
	model, known := x.embed.model, x.embed.known
	x.mu.Unlock()
	if model == name && known {
		return nil
	}
	if model != name {
		for n := sweepRows; n == sweepRows; {
			err := x.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) (err error) {
				if n, err = x.t.vectors.DeleteRange(tx, store.Range{}, sweepRows); err != nil {
					return err
				}
				_, err = x.t.signs.DeleteRange(tx, store.Range{}, sweepRows)
				return err
			}})
			if err != nil {
				return fmt.Errorf("remove the vectors of another model: %w", err)
			}
		}
		err := x.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
			st, _, err := x.t.state.Get(tx, stateKey)
			if err != nil {
				return err
			}
			st.Model = name
			return x.t.state.Put(tx, stateKey, st)
		}})
		if err != nil {
			return fmt.Errorf("note the model of the vectors: %w", err)
		}
	}
	done, err := x.countVectors()
	x.mu.Lock()
	x.embed.model, x.embed.done, x.embed.known = name, done, true
	x.mu.Unlock()
	return err
}

func (x *Index) countVectors() (map[uint32]int, error) {
	x.mu.Lock()
	var segs []seg
	for _, f := range x.files {
		segs = append(segs, f.Segs...)
	}
	x.mu.Unlock()
	done := map[uint32]int{}
	return done, x.DB.View(func(tx *store.Tx) error {
		for _, s := range segs {
			if r, ok := openVectors(x.t.vectors.GetRaw(tx, segKey(s.ID)), s.N); ok {
				for i := range s.N {
					if r.has(i) {
						done[s.ID]++
					}
				}
			}
		}
		return nil
	})
}

// embedSegment makes the vectors that a segment lacks.
func (x *Index) embedSegment(ctx context.Context, e Embedder, key string, s seg) error {
	x.mu.Lock()
	have := x.embed.done[s.ID]
	x.mu.Unlock()
	if have >= s.N {
		return nil
	}
	chunks, row, err := x.chunksOf(s)
	if err != nil || chunks == nil {
		return err
	}
	agent, rel := splitKey(key)
	h, _, err := x.open(agent, rel)
	if err != nil {
		return nil // it is gone, or cannot be read: the next pass sees that
	}
	defer h.Close()
	var todo []int
	var texts []string
	for i, c := range chunks {
		if row.dims > 0 && row.has(i) {
			continue
		}
		text, ok := readChunk(h, c)
		if !ok {
			x.Touch(agent)
			return nil // the file changed; the next pass takes it up
		}
		todo, texts = append(todo, i), append(texts, text)
	}
	for len(todo) > 0 {
		n := min(embedBatch, len(todo))
		vectors, err := embed(ctx, e, texts[:n])
		if err != nil {
			return err
		}
		if row.dims == 0 {
			row = newVectorRow(s.N, len(vectors[0]))
		}
		for k, v := range vectors {
			if len(v) != row.dims {
				return fmt.Errorf("the model made vectors of %d and of %d numbers", row.dims, len(v))
			}
			row.set(todo[k], v)
		}
		todo, texts = todo[n:], texts[n:]
	}
	return x.putVectors(ctx, s, row)
}

// embed asks and checks what comes back.
func embed(ctx context.Context, e Embedder, texts []string) ([][]float32, error) {
	vectors, err := e.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("the model made %d vectors for %d texts", len(vectors), len(texts))
	}
	for _, v := range vectors {
		if len(v) == 0 || len(v) > maxDims {
			return nil, fmt.Errorf("the model made a vector of %d numbers", len(v))
		}
	}
	return vectors, nil
}

// chunksOf reads where the chunks of a segment are, and a copy of its vectors.
func (x *Index) chunksOf(s seg) (chunks []placeOf, row vectorRow, err error) {
	err = x.DB.View(func(tx *store.Tx) error {
		sg, ok := openSegment(x.t.segments.GetRaw(tx, segKey(s.ID)), false)
		if !ok {
			return nil
		}
		for i := range sg.n {
			chunks = append(chunks, sg.chunk(i))
		}
		if r, ok := openVectors(x.t.vectors.GetRaw(tx, segKey(s.ID)), s.N); ok {
			row = vectorRow{slices.Clone(r.raw), r.dims}
		}
		return nil
	})
	return chunks, row, err
}

func (x *Index) putVectors(ctx context.Context, s seg, row vectorRow) error {
	count := 0
	for i := range s.N {
		if row.has(i) {
			count++
		}
	}
	signs := row.signs(s.N)
	err := x.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		if x.t.segments.GetRaw(tx, segKey(s.ID)) == nil {
			return nil // it was dropped meanwhile
		}
		if err := x.t.vectors.PutRaw(tx, segKey(s.ID), row.raw); err != nil {
			return err
		}
		return x.t.signs.PutRaw(tx, segKey(s.ID), signs)
	}})
	if err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	x.mu.Lock()
	if x.embed.done == nil {
		x.embed.done = map[uint32]int{}
	}
	x.embed.done[s.ID] = count
	x.mu.Unlock()
	return nil
}

// carry takes the vectors of chunks that did not change over to the new
// segments of their file, so that they are not paid for again.
func (x *Index) carry(ctx context.Context, old, row *file) error {
	had := map[[hashBytes]byte][]byte{}
	dims := 0
	for _, s := range old.Segs {
		chunks, r, err := x.chunksOf(s)
		if err != nil {
			return err
		}
		for i, c := range chunks {
			if r.dims > 0 && r.has(i) {
				had[c.hash], dims = r.at(i), r.dims
			}
		}
	}
	if len(had) == 0 {
		return nil
	}
	for _, s := range row.Segs {
		chunks, _, err := x.chunksOf(s)
		if err != nil {
			return err
		}
		r, some := newVectorRow(s.N, dims), false
		for i, c := range chunks {
			if v := had[c.hash]; len(v) == 4+dims {
				copy(r.at(i), v)
				some = true
			}
		}
		if some {
			if err := x.putVectors(ctx, s, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// readChunk reads a chunk from its file; ok is false when something else stands
// there by now.
func readChunk(h *os.File, p placeOf) (string, bool) {
	if p.bytes <= 0 || p.bytes > maxChunkBytes+pieceBytes {
		return "", false
	}
	buf := make([]byte, p.bytes)
	if _, err := h.ReadAt(buf, p.off); err != nil && !errors.Is(err, io.EOF) {
		return "", false
	}
	return string(buf), (chunk{text: buf}).hash() == p.hash
}
