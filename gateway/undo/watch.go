package undo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	// maxWatched bounds one file that a command is about to write.
	maxWatched = 64 << 20
	// maxWatchedAll bounds all of one command's, which are in memory for a moment.
	maxWatchedAll = 256 << 20
)

// Watched are files that a command is about to write: what they held is kept,
// and what they hold afterwards is not known before Settle.
type Watched struct {
	Kept   int
	Missed []string // of which no copy could be kept: too large, no files, not to be touched

	log  *Log
	keys [][]byte
	recs []record
}

// Watch keeps what is in files that a command will write. When it returns, all
// of that is on disk.
func (l *Log) Watch(ctx context.Context, turn Turn, paths []string) (*Watched, error) {
	w := &Watched{log: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	added := int64(0)
	for _, path := range paths {
		c, err := l.content(path, maxWatchedAll-added)
		if err != nil || slices.ContainsFunc(w.recs, func(r record) bool { return r.Path == c.Path }) {
			if err != nil {
				w.Missed = append(w.Missed, path)
			}
			continue
		}
		r := record{
			RunID: turn.RunID, SessionKey: turn.SessionKey, CallID: turn.CallID, Tool: turn.Tool, At: l.opts.Now().UnixMilli(),
			Path: c.Path, Folders: c.Folders, Before: markOf(c.Before), Open: true,
		}
		if c.Before != nil {
			if err := l.putCopy(r.Before.Hash, c.Before.Data); err != nil {
				return nil, fmt.Errorf("keep a copy of %s: %w", c.Path, err)
			}
			added += r.Before.Size
		}
		w.recs = append(w.recs, r)
	}
	if w.Kept = len(w.recs); w.Kept == 0 {
		return w, nil
	}
	var err error
	w.keys, err = l.write(ctx, w.recs, added)
	return w, err
}

// content reads what is in a file now.
func (l *Log) content(path string, room int64) (c Change, err error) {
	if !filepath.IsAbs(path) {
		return c, fmt.Errorf("nobody knows where %q is", path)
	}
	p, err := l.opts.Finder.FindAbs(path)
	if err != nil {
		return c, err
	}
	defer p.Close()
	if v, why := p.Judge(true); v == safepath.Never {
		return c, errors.New(why)
	}
	c.Path, c.Folders = p.Path, p.Missing()
	f, st, err := p.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer f.Close()
	room = min(room, maxWatched)
	data, err := io.ReadAll(io.LimitReader(f, room+1))
	if err == nil && int64(len(data)) > room {
		err = fmt.Errorf("%s is too large to keep a copy", path)
	}
	c.Before = &Content{data, st.Mode().Perm()}
	return c, err
}

// Settle takes down what the files hold now that the command has ended. Those
// that it did not change are forgotten.
func (w *Watched) Settle(ctx context.Context) error {
	l := w.log
	if w.Kept == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	after := make([]*mark, len(w.recs))
	for i, r := range w.recs {
		var err error
		if after[i], err = l.markNow(r.Path); err != nil {
			return fmt.Errorf("look at what a command wrote to %s: %w", r.Path, err)
		}
	}
	err := l.opts.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		for i, r := range w.recs {
			if after[i].same(r.Before) {
				if err := l.rows.Delete(tx, w.keys[i]); err != nil {
					return err
				}
				continue
			}
			if _, there, err := l.rows.Get(tx, w.keys[i]); err != nil || !there {
				return err // it was the oldest, and too much was kept
			}
			r.After, r.Open = after[i], false
			if err := l.rows.Put(tx, w.keys[i], r); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		return fmt.Errorf("write down what a command changed: %w", err)
	}
	return nil
}

// markNow names what is in a file now, whatever its size; nil = there is none.
func (l *Log) markNow(path string) (*mark, error) {
	p, err := l.opts.Finder.FindAbs(path)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	f, st, err := p.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return nil, err
	}
	return &mark{Hash: hex.EncodeToString(h.Sum(nil)), Size: n, Mode: st.Mode().Perm()}, nil
}
