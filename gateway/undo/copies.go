package undo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func markOf(c *Content) *mark {
	if c == nil {
		return nil
	}
	return &mark{Hash: hashOf(c.Data), Size: int64(len(c.Data)), Mode: c.Mode.Perm()}
}

func (l *Log) copyPath(hash string) string { return filepath.Join(l.opts.Dir, hash[:2], hash) }

// putCopy keeps data under its hash. When it returns, the copy survives a loss
// of power.
func (l *Log) putCopy(hash string, data []byte) error {
	path := l.copyPath(hash)
	if st, err := os.Stat(path); err == nil && st.Size() == int64(len(data)) {
		return nil
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := statedir.WriteFile(path, data); err != nil {
		return err
	}
	return statedir.SyncDir(l.opts.Dir) // dir may be new in it
}

// getCopy returns a kept copy, if it still is what was kept.
func (l *Log) getCopy(m *mark) ([]byte, error) {
	data, err := os.ReadFile(l.copyPath(m.Hash))
	if err != nil || hashOf(data) != m.Hash {
		return nil, ErrDamaged
	}
	return data, nil
}

// Tidy forgets what is too old, and the oldest of what is too much.
func (l *Log) Tidy(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tidy(ctx)
}

func (l *Log) tidy(ctx context.Context) error {
	rows, err := l.all()
	if err != nil {
		return fmt.Errorf("read the list of file changes: %w", err)
	}
	limit := l.opts.Now().Add(-l.opts.Keep).UnixMilli()
	gone := 0
	for gone < len(rows) && rows[gone].At < limit {
		gone++
	}
	if much := tooMuch(rows, l.limit()); much > gone {
		defer l.tellShed(rows, much)
		gone = much
	}
	if gone > 0 {
		err := l.opts.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
			for _, r := range rows[:gone] {
				if err := l.rows.Delete(tx, r.key); err != nil {
					return err
				}
			}
			return nil
		}})
		if err != nil {
			return fmt.Errorf("forget old file changes: %w", err)
		}
	}
	l.held = bytesOf(rows[gone:])
	return l.sweep(rows[gone:])
}

// tooMuch is how many of the oldest rows have to go for their copies to fit.
func tooMuch(rows []row, most int64) int {
	seen, total := map[string]bool{}, int64(0)
	for i, r := range slices.Backward(rows) {
		if r.Before == nil || seen[r.Before.Hash] {
			continue
		}
		seen[r.Before.Hash] = true
		if total += r.Before.Size; total > most {
			return i + 1
		}
	}
	return 0
}

// sweep removes copies that nothing needs: the list's end decides, so a stop at
// any moment leaves too much and never too little.
func (l *Log) sweep(rows []row) error {
	needed := map[string]bool{}
	for _, r := range rows {
		if r.Before != nil {
			needed[r.Before.Hash] = true
		}
	}
	return filepath.WalkDir(l.opts.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || needed[d.Name()] {
			return err
		}
		return os.Remove(path)
	})
}
