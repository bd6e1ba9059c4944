package plan

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// place is what of an identity stays while things happen in a folder.
func place(info fs.FileInfo) identity {
	id, _ := identify(info)
	return identity{dev: id.dev, ino: id.ino}
}

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

// hash is the SHA-256 of a file and what it begins with.
func (c *hashCache) hash(path string) ([32]byte, kind, error) {
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
	h, err := read(path)
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

func read(path string) (hashed, error) {
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
	head := make([]byte, 8)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return hashed{}, fmt.Errorf("read a program: %w", err)
	}
	sum := sha256.New()
	sum.Write(head[:n])
	if _, err := io.Copy(sum, f); err != nil {
		return hashed{}, fmt.Errorf("read a program: %w", err)
	}
	h := hashed{kind: sniff(head[:n])}
	h.id, _ = identify(info)
	copy(h.sum[:], sum.Sum(nil))
	return h, nil
}
