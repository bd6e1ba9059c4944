package plan

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

type hashCache struct {
	now func() time.Time

	mu    sync.Mutex
	known map[string]hashed
}

type hashed struct {
	id   identity
	sum  [32]byte
	kind kind
}

// maxHashed is the largest file that is read for a plan.
const maxHashed = 1 << 30

var errTooLarge = errors.New("it is too large to be checked")

// hash reads each file once for one plan, whatever it is called there.
func (r *Resolver) hash(ctx context.Context, seen *folders, path string) ([32]byte, kind, error) {
	if h, ok := seen.hashes[path]; ok {
		return h.sum, h.kind, nil
	}
	sum, k, err := r.hashes.hash(ctx, path)
	if err == nil {
		if seen.hashes == nil {
			seen.hashes = make(map[string]hashed)
		}
		seen.hashes[path] = hashed{sum: sum, kind: k}
	}
	return sum, k, err
}

// hash is the SHA-256 of a file and what it begins with.
func (c *hashCache) hash(ctx context.Context, path string) ([32]byte, kind, error) {
	info, err := os.Stat(path)
	if err != nil {
		return [32]byte{}, kindUnknown, fmt.Errorf("look at a file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return [32]byte{}, kindUnknown, errNotProgram
	}
	id, ok := identify(info)
	if ok {
		c.mu.Lock()
		h, hit := c.known[path]
		c.mu.Unlock()
		if hit && h.id == id {
			return h.sum, h.kind, nil
		}
	}
	h, err := read(ctx, path)
	if err != nil {
		return [32]byte{}, kindUnknown, err
	}
	if ok && h.id == id && id.old(c.now()) {
		c.mu.Lock()
		if c.known == nil || len(c.known) >= maxCached {
			c.known = make(map[string]hashed)
		}
		c.known[path] = h
		c.mu.Unlock()
	}
	return h.sum, h.kind, nil
}

func read(ctx context.Context, path string) (hashed, error) {
	f, err := open(path)
	if err != nil {
		return hashed{}, fmt.Errorf("read a program: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return hashed{}, fmt.Errorf("read a program: %w", err)
	}
	if !info.Mode().IsRegular() {
		return hashed{}, errNotProgram
	}
	if info.Size() > maxHashed {
		return hashed{}, errTooLarge
	}
	head := make([]byte, 8)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return hashed{}, fmt.Errorf("read a program: %w", err)
	}
	sum := sha256.New()
	sum.Write(head[:n])
	if _, err := io.Copy(sum, whileWanted{ctx, f}); err != nil {
		return hashed{}, fmt.Errorf("read a program: %w", err)
	}
	h := hashed{kind: sniff(head[:n])}
	h.id, _ = identify(info)
	copy(h.sum[:], sum.Sum(nil))
	return h, nil
}

// whileWanted ends a long read when nobody waits for it any more.
type whileWanted struct {
	ctx context.Context
	r   io.Reader
}

func (w whileWanted) Read(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.r.Read(b)
}
