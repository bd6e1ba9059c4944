package plan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// settled is how long a file must have been left alone before what was read of
// it is kept: two changes within one tick of a file system's clock look like one.
const settled = 3 * time.Second

// maxCached bounds the memory of each cache; a cleared one fills itself again.
const maxCached = 4096

// identity tells a file's states apart without reading it. The change time is in
// it, which nobody but the kernel can set.
type identity struct {
	dev, ino     uint64
	size         int64
	mtime, ctime int64 // nanoseconds
}

// old: left alone for so long that a change from now on will show.
func (id identity) old(now time.Time) bool {
	return id != identity{} && now.Sub(time.Unix(0, max(id.mtime, id.ctime))) > settled
}

// folders is the state of the searched folders and all above them while one plan
// is made. While it is the same, names lead where they led.
type folders struct {
	ids     []identity
	settled bool
	hashes  map[string]hashed // of what was read for this plan
}

// watched is the searched folders and everything above them, once each.
func watched(list []string) []string {
	var out []string
	for _, dir := range list {
		for {
			if !slices.Contains(out, dir) {
				out = append(out, dir)
			}
			up := filepath.Dir(dir)
			if up == dir {
				break
			}
			dir = up
		}
	}
	return out
}

func (r *Resolver) folders() *folders {
	f := &folders{ids: make([]identity, len(r.watched)), settled: true}
	now := r.now()
	for i, dir := range r.watched {
		id, ok := identifyPath(dir)
		if ok && !id.old(now) {
			f.settled = false
		}
		f.ids[i] = id
	}
	return f
}

// lookCache keeps what paths lead to.
type lookCache struct {
	mu    sync.Mutex
	ids   []identity // of the folders, for all entries
	known map[string]looked
}

type looked struct {
	full string
	id   identity
	w    where
}

func (c *lookCache) get(key string, f *folders) (where, bool) {
	c.mu.Lock()
	l, ok := c.known[key]
	ok = ok && slices.Equal(c.ids, f.ids)
	c.mu.Unlock()
	if !ok {
		return where{}, false
	}
	id, ok := identifyPath(l.full)
	return l.w, ok && id == l.id
}

func (c *lookCache) put(key string, l looked, f *folders) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxCached || !slices.Equal(c.ids, f.ids) {
		c.known, c.ids = make(map[string]looked), f.ids
	}
	c.known[key] = l
}

// dirCache keeps where links lead: as long as a path leads to the same folder,
// it leads there by the same name.
type dirCache struct {
	mu    sync.Mutex
	known map[string]realDir
}

type realDir struct {
	id   identity
	real string
}

var errNoFolder = errors.New("it is not a folder that can be looked into")

func (c *dirCache) real(path string) (string, identity, error) {
	id, ok := identifyPath(path)
	id = identity{dev: id.dev, ino: id.ino}
	if ok {
		c.mu.Lock()
		d, hit := c.known[path]
		c.mu.Unlock()
		if hit && d.id == id {
			if again, ok := identifyPath(d.real); ok && again.dev == id.dev && again.ino == id.ino {
				return d.real, id, nil
			}
		}
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", identity{}, fmt.Errorf("follow the links of a folder: %w", err)
	}
	info, err := os.Stat(real)
	if err != nil || !info.IsDir() {
		return "", identity{}, errNoFolder
	}
	if ok {
		c.mu.Lock()
		if c.known == nil || len(c.known) >= maxCached {
			c.known = make(map[string]realDir)
		}
		c.known[path] = realDir{id, real}
		c.mu.Unlock()
	}
	return real, id, nil
}
