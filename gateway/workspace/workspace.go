// Package workspace owns the files of a workspace that tell an assistant who it
// is and how to work: their names, what they begin as, how they are read into
// text that is safe to show to a model, and how much of each is shown. Files are
// found through gateway/safepath, so that no link leads out and no secret of ours
// is read. It does not write the prompt (gateway/prompt does), and knows neither
// settings nor sessions.
package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/safepath"
)

// The files, in the order in which a model reads them.
const (
	Agents    = "AGENTS.md"
	Soul      = "SOUL.md"
	Tools     = "TOOLS.md"
	Identity  = "IDENTITY.md"
	User      = "USER.md"
	Heartbeat = "HEARTBEAT.md"
	Bootstrap = "BOOTSTRAP.md"
	Memory    = "MEMORY.md"
)

// Names lists them.
func Names() []string {
	return []string{Agents, Soul, Tools, Identity, User, Heartbeat, Bootstrap, Memory}
}

// Known reports whether a name is one of them.
func Known(name string) bool { return slices.Contains(Names(), name) }

// Optional reports files that are not missed when they are not there.
func Optional(name string) bool { return name == Bootstrap || name == Memory || name == Heartbeat }

// Reader says who reads.
type Reader struct {
	Helper    bool // a sub-agent
	Stranger  bool // the words are not the owner's, or others read along
	Heartbeat bool // heartbeats are on
}

// For lists the files that a reader gets. What is private to the owner is shown
// to nobody else.
func For(r Reader) []string {
	switch {
	case r.Helper && r.Stranger:
		return []string{Agents}
	case r.Helper:
		return []string{Agents, Tools}
	case r.Stranger:
		return []string{Agents, Soul, Identity}
	}
	names := Names()
	if !r.Heartbeat {
		names = slices.DeleteFunc(names, func(n string) bool { return n == Heartbeat })
	}
	return names
}

const (
	// DefaultFile and DefaultTotal are how many characters of a file, and of all,
	// are shown.
	DefaultFile  = 12_000
	DefaultTotal = 60_000
	// maxRead is the most that is read of a file, in bytes.
	maxRead = 1 << 20
	// MaxWrite is the largest file that Set takes.
	MaxWrite = 1 << 20
	// maxCached bounds the files that are remembered.
	maxCached = 512
)

// Limits are in characters.
type Limits struct{ File, Total int }

// File is one file as it is shown.
type File struct {
	Name    string
	Text    string // harmless, and cut
	Missing bool
	Problem string // why it is not shown
	Chars   int    // that it has
	Kept    int    // that are in Text
}

// Keeper reads workspaces. It is safe for concurrent use.
type Keeper struct {
	finder safepath.Finder
	now    func() time.Time
	mu     sync.Mutex
	cache  map[string]cached
}

type cached struct {
	info fs.FileInfo
	text string
	err  error
}

// New returns a keeper.
func New(finder safepath.Finder, now func() time.Time) *Keeper {
	return &Keeper{finder: finder, now: now, cache: make(map[string]cached)}
}

// Load reads files for a prompt. A folder that is not there has none of them.
func (k *Keeper) Load(dir string, names []string, limits Limits) []File {
	if limits.File <= 0 {
		limits.File = DefaultFile
	}
	if limits.Total <= 0 {
		limits.Total = DefaultTotal
	}
	root, err := os.OpenRoot(dir)
	if err == nil {
		defer root.Close()
	}
	left := limits.Total
	var out []File
	for _, name := range names {
		text, err := k.text(root, dir, name)
		f := File{Name: name}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			f.Missing = true
		case err != nil:
			f.Problem = err.Error()
		default:
			f.Text, f.Kept, f.Chars = cut(name, text, min(limits.File, left))
			left -= f.Kept
		}
		if Optional(name) && (f.Missing || f.Problem == "" && blank(text)) {
			continue // not missed; a ritual that was emptied is done
		}
		out = append(out, f)
	}
	return out
}

// text is a file's text, read again only when it is another one by now.
func (k *Keeper) text(root *os.Root, dir, name string) (string, error) {
	if root == nil {
		return "", fs.ErrNotExist
	}
	info, err := root.Stat(name)
	if err != nil {
		return "", plain(err)
	}
	key := filepath.Join(dir, name)
	k.mu.Lock()
	c, ok := k.cache[key]
	k.mu.Unlock()
	if ok && same(c.info, info) {
		return c.text, c.err
	}
	raw, at, err := k.read(dir, name)
	c = cached{info: at, err: err}
	if err == nil {
		c.text, c.err = decode(raw)
	}
	if at != nil && k.settled(at) {
		k.mu.Lock()
		if len(k.cache) >= maxCached {
			clear(k.cache)
		}
		k.cache[key] = c
		k.mu.Unlock()
	}
	return c.text, c.err
}

func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// settled: a file that changed in this very moment may change again without a
// new time.
func (k *Keeper) settled(info fs.FileInfo) bool {
	return k.now().Sub(info.ModTime()).Abs() > 50*time.Millisecond
}

// read returns what a file holds, at most maxRead of it.
func (k *Keeper) read(dir, name string) ([]byte, fs.FileInfo, error) {
	p, err := k.finder.Find(dir, name)
	if err != nil {
		return nil, nil, plain(err)
	}
	defer p.Close()
	if v, why := p.Judge(false); v != safepath.Free {
		return nil, nil, errors.New("it is not read, because " + why)
	}
	f, info, err := p.Open()
	if err != nil {
		return nil, nil, plain(err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxRead))
	if err != nil {
		return nil, nil, fmt.Errorf("it cannot be read: %w", plain(err))
	}
	return raw, info, nil
}

// plain takes the path out of an error: it is known, and may be private.
func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
