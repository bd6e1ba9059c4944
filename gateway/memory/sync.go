package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	// quiet is how long a change is waited for before files are read.
	quiet = 2 * time.Second
	// every is how often the dates of the files are looked at without a reason.
	every = time.Minute
	// racy: a file that was changed this shortly before it was read may have been
	// changed again under the same date.
	racy = 2 * time.Second
	// maxTotal is how much of all files of an agent is indexed.
	maxTotal = 512 << 20
)

// Run keeps the index of an agent up to date until ctx ends. Others are looked
// at when they are used.
func (x *Index) Run(ctx context.Context, agent string) {
	for {
		if err := x.Sync(ctx, agent); err != nil && ctx.Err() == nil {
			x.Logger.Warn("memory could not be indexed; it is tried again in a minute", "err", err)
		}
		x.embedPending(ctx)
		select {
		case <-x.wake:
			select {
			case <-time.After(quiet):
			case <-ctx.Done():
				return
			}
		case <-time.After(every):
		case <-ctx.Done():
			return
		}
	}
}

// Touch says that files may have changed. It does not block.
func (x *Index) Touch(agent string) {
	select {
	case x.wake <- agent:
	default:
	}
}

// Sync makes the index agree with the files.
func (x *Index) Sync(ctx context.Context, agent string) error {
	select {
	case <-x.syncing:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { x.syncing <- struct{}{} }()
	err := x.sync(ctx, agent)
	x.mu.Lock()
	x.busy, x.problem = "", ""
	if err != nil {
		x.problem = err.Error()
	}
	x.mu.Unlock()
	return err
}

// Rebuild throws the index away and makes it anew.
func (x *Index) Rebuild(ctx context.Context, agent string) error {
	select {
	case <-x.syncing:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { x.syncing <- struct{}{} }()
	if err := x.clear(ctx, state{Version: version, Shape: x.shape()}); err != nil {
		return err
	}
	return x.sync(ctx, agent)
}

func (x *Index) sync(ctx context.Context, agent string) error {
	x.mu.Lock()
	loaded := x.loaded
	x.mu.Unlock()
	if !loaded {
		if err := x.load(ctx); err != nil {
			return err
		}
	}
	there, err := list(ctx, x.Workspace(agent))
	if err != nil {
		return err
	}
	alive := make(map[string]bool, len(there))
	var total int64
	for _, f := range there {
		key := fileKey(agent, f.rel)
		alive[key] = true
		if total += f.size; total > maxTotal {
			if err := x.put(ctx, key, &file{Size: f.size, Mtime: f.mtime, Why: "all notes together are more than 512 MB"}); err != nil {
				return err
			}
			continue
		}
		if x.current(key, f) {
			continue
		}
		if err := x.take(ctx, agent, f); err != nil {
			return err
		}
	}
	for _, key := range x.gone(agent, alive) {
		if err := x.put(ctx, key, nil); err != nil {
			return err
		}
	}
	return nil
}

// current reports whether a file is in the index as it is.
func (x *Index) current(key string, f found) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	have := x.files[key]
	if have == nil || have.Size != f.size || !have.Mtime.Equal(f.mtime) {
		return false
	}
	young := have.Indexed.Sub(have.Mtime) < racy && f.size < 1<<20
	return !young || x.Now().Sub(have.Indexed) < racy
}

func (x *Index) gone(agent string, alive map[string]bool) (out []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for key := range x.files {
		if a, _ := splitKey(key); a == agent && !alive[key] {
			out = append(out, key)
		}
	}
	return out
}

// take reads a file into new segments. One that cannot be read is left out and
// says why; it does not keep the others from being found.
func (x *Index) take(ctx context.Context, agent string, f found) error {
	x.mu.Lock()
	x.busy = f.rel
	x.mu.Unlock()
	key := fileKey(agent, f.rel)
	row := &file{Size: f.size, Mtime: f.mtime, Indexed: x.Now()}
	segs, err := x.read(ctx, agent, f)
	switch {
	case errors.Is(err, ErrNoFile), errors.Is(err, ErrNoWorkspace):
		return x.put(ctx, key, nil)
	case isUnreadable(err):
		row.Why = err.Error()
	case err != nil:
		return err
	default:
		row.Segs = segs
	}
	return x.put(ctx, key, row)
}

// unreadableError is about one file, not about the index.
type unreadableError struct{ err error }

func (e *unreadableError) Error() string { return e.err.Error() }
func (e *unreadableError) Unwrap() error { return e.err }

func isUnreadable(err error) bool {
	var u *unreadableError
	return errors.As(err, &u)
}

func (x *Index) read(ctx context.Context, agent string, f found) (segs []seg, err error) {
	h, _, err := x.open(agent, f.rel)
	switch {
	case errors.Is(err, ErrNoFile), errors.Is(err, ErrNoWorkspace):
		return nil, err
	case err != nil:
		return nil, &unreadableError{err}
	}
	defer h.Close()
	defer func() {
		if err == nil {
			return
		}
		ids := make([]uint32, len(segs))
		for i, s := range segs {
			ids[i] = s.ID
		}
		err = errors.Join(err, x.drop(context.WithoutCancel(ctx), ids))
	}()
	set := x.Settings().filled()
	chunks := newChunker(io.LimitReader(h, maxTotal), set.Tokens, set.Overlap)
	context := contextWords(f.rel)
	b := newBuilder()
	flush := func() error {
		if b.n == 0 {
			return nil
		}
		s, err := x.write(ctx, b)
		if err == nil {
			segs, b = append(segs, s), newBuilder()
		}
		return err
	}
	for ctx.Err() == nil {
		c, err := chunks.next()
		switch {
		case errors.Is(err, io.EOF):
			return segs, flush()
		case err != nil:
			return segs, &unreadableError{err}
		}
		if b.add(c, context); b.full() {
			if err := flush(); err != nil {
				return segs, err
			}
		}
	}
	return segs, ctx.Err()
}

func (x *Index) write(ctx context.Context, b *builder) (s seg, err error) {
	raw := b.encode()
	err = x.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		id, err := x.t.segments.NextSeq(tx)
		if err != nil {
			return err
		}
		s = seg{ID: uint32(id), N: b.n, Words: b.total}
		return x.t.segments.PutRaw(tx, segKey(s.ID), raw)
	}})
	if err != nil {
		return s, fmt.Errorf("write the index of memory: %w", err)
	}
	return s, nil
}

// put makes a file's new row count, nil for none, and drops what it had.
func (x *Index) put(ctx context.Context, key string, row *file) error {
	x.mu.Lock()
	old := x.files[key]
	x.mu.Unlock()
	if row != nil && old != nil && row.Why != "" && old.Why == row.Why && old.Size == row.Size && old.Mtime.Equal(row.Mtime) {
		return nil
	}
	if row != nil && old != nil {
		if err := x.carry(ctx, old, row); err != nil {
			return err
		}
	}
	err := x.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		if row == nil {
			return x.t.files.Delete(tx, []byte(key))
		}
		return x.t.files.Put(tx, []byte(key), *row)
	}})
	if err != nil {
		return fmt.Errorf("write the index of memory: %w", err)
	}
	x.mu.Lock()
	if row == nil {
		delete(x.files, key)
	} else {
		x.files[key] = row
	}
	x.mu.Unlock()
	if old == nil {
		return nil
	}
	ids := make([]uint32, len(old.Segs))
	for i, s := range old.Segs {
		ids[i] = s.ID
	}
	return x.drop(ctx, ids)
}

// Status is what there is, for people.
type Status struct {
	Files, Chunks, Vectors int
	Bytes                  int64
	Skipped                []Skipped
	Indexing               string // the file that is read now
	Problem                string
	Embedder               string // "" = none
	EmbedProblem           string
}

// Skipped is a file that is not in the index.
type Skipped struct{ Path, Why string }

// Status says how the index of an agent stands.
func (x *Index) Status(agent string) Status {
	st := Status{}
	if e := x.Embedder(); e != nil {
		st.Embedder = e.Name()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for key, f := range x.files {
		a, rel := splitKey(key)
		if a != agent {
			continue
		}
		st.Files++
		st.Bytes += f.Size
		st.Chunks += f.chunks()
		for _, s := range f.Segs {
			st.Vectors += x.embed.done[s.ID]
		}
		if f.Why != "" {
			st.Skipped = append(st.Skipped, Skipped{rel, strings.TrimSpace(f.Why)})
		}
	}
	st.Indexing, st.Problem, st.EmbedProblem = x.busy, x.problem, x.embed.problem
	return st
}
