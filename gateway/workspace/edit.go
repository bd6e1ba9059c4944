package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/undo"
)

var (
	// ErrUnknown means a name that is none of ours.
	ErrUnknown = errors.New("this is no file of a workspace; there are AGENTS.md, SOUL.md, TOOLS.md, IDENTITY.md, USER.md, HEARTBEAT.md, " +
		"BOOTSTRAP.md and MEMORY.md")
	// ErrStale means that the file is not what the caller knows.
	ErrStale = errors.New("the file changed since you read it; read it again and repeat your change")
	// ErrTooLarge means that it cannot be edited here.
	ErrTooLarge = errors.New("the file is larger than 1 MB; edit it in the folder")
)

// Entry is a file as it stands on the disk.
type Entry struct {
	Name, Path string
	Missing    bool
	Size       int64
	UpdatedAt  time.Time
	Hash       string // of Content, hex
	Content    string // as it is, also what is not shown to a model
}

// Undo keeps copies of what is changed.
type Undo interface {
	Keep(ctx context.Context, turn undo.Turn, changes []undo.Change) error
}

// Get reads one file for a person who edits it.
func (k *Keeper) Get(dir, name string) (Entry, error) {
	if !Known(name) {
		return Entry{}, ErrUnknown
	}
	p, err := k.finder.Find(dir, name)
	if err != nil {
		return Entry{}, fmt.Errorf("%s: %w", name, err)
	}
	defer p.Close()
	e := Entry{Name: name, Path: p.Path}
	raw, info, err := k.read(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		e.Missing = true
		return e, nil
	}
	if err != nil {
		return e, fmt.Errorf("%s: %w", name, err)
	}
	if info.Size() > MaxWrite || len(raw) >= maxRead {
		return e, fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	e.Size, e.UpdatedAt, e.Content, e.Hash = info.Size(), info.ModTime(), string(raw), hashOf(raw)
	return e, nil
}

// Set writes one file as a whole, with a copy of what was there. hash is that
// of what the caller knows; "" overwrites whatever there is.
func (k *Keeper) Set(ctx context.Context, u Undo, turn undo.Turn, dir, name, content, hash string) (Entry, error) {
	if len(content) > MaxWrite {
		return Entry{}, fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	old, err := k.Get(dir, name)
	if err != nil {
		return Entry{}, err
	}
	if hash != "" && hash != old.Hash {
		return Entry{}, ErrStale
	}
	p, err := k.finder.Find(dir, name)
	if err != nil {
		return Entry{}, fmt.Errorf("%s: %w", name, err)
	}
	defer p.Close()
	if v, why := p.Judge(true); v == safepath.Never || !p.Inside {
		return Entry{}, fmt.Errorf("%s is not written, because %s", name, why)
	}
	info, err := p.Stat()
	if err != nil {
		return Entry{}, fmt.Errorf("%s: %w", name, err)
	}
	if (info == nil) != old.Missing || info != nil && (info.Size() != old.Size || !info.ModTime().Equal(old.UpdatedAt)) {
		return Entry{}, ErrStale
	}
	mode := fs.FileMode(0o644)
	change := undo.Change{Path: p.Path, Folders: p.Missing(), After: &undo.Content{Data: []byte(content), Mode: mode}}
	if info != nil {
		mode = info.Mode().Perm()
		change.Before, change.After.Mode = &undo.Content{Data: []byte(old.Content), Mode: mode}, mode
	}
	if err := u.Keep(ctx, turn, []undo.Change{change}); err != nil {
		return Entry{}, fmt.Errorf("nothing was changed, because no copy for undo could be kept: %w", err)
	}
	if err := p.Replace([]byte(content), mode, info); err != nil {
		return Entry{}, fmt.Errorf("%s: %w", name, err)
	}
	return k.Get(dir, name)
}

func hashOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
