package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/undo"
)

const (
	// MaxEdit is the largest file that is changed: its old content is kept.
	MaxEdit = 8 << 20
	// maxNote is the longest note.
	maxNote = 64 << 10
	// maxDay is how many files a day may fill.
	maxDay = 100
	// What others are remembered with is bounded: they choose how often they write.
	maxOtherNote  = 4 << 10
	maxOtherFile  = 64 << 10
	maxOtherTotal = 1 << 20
)

var (
	// ErrChanged: somebody changed the file since it was read.
	ErrChanged = errors.New("the file was changed by somebody else meanwhile; read it again and make your change in what it says now")
	// ErrLines: the file has not so many.
	ErrLines = errors.New("these lines are not in the file; read it again")
	// ErrTooLarge: the file is not changed, only read and found.
	ErrTooLarge = errors.New("files of more than 8 MB are not changed here, because no copy would be kept; edit the file with your own editor")
	// ErrFull: of somebody who is not the owner nothing more is kept.
	ErrFull = errors.New("there is 1 MB of notes about this person or group, and no more is kept; the owner can remove some (`hearth " +
		"memory show --all`)")
)

// Content is a whole memory file, for an editor.
type Content struct {
	Path, Text, Hash string // Hash goes back with a change
}

// Load reads a whole file of up to MaxEdit bytes. One that is missing is empty.
func (x *Index) Load(s Scope, rel string) (Content, error) {
	rel, err := s.clean(rel)
	if err != nil {
		return Content{}, err
	}
	p, err := x.find(s.Agent, rel)
	if err != nil {
		return Content{}, err
	}
	defer p.Close()
	old, err := load(p)
	if err != nil {
		return Content{}, err
	}
	return Content{Path: rel, Text: strings.ToValidUTF8(string(old.data), "\uFFFD"), Hash: old.hash()}, nil
}

// before is a file as it is before a change.
type before struct {
	info fs.FileInfo // nil: there is none
	data []byte
}

func (b before) hash() string {
	if b.info == nil {
		return ""
	}
	sum := sha256.Sum256(b.data)
	return hex.EncodeToString(sum[:])
}

func load(p *safepath.Path) (before, error) {
	h, st, err := p.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return before{}, nil
	}
	if err != nil {
		return before{}, err
	}
	defer h.Close()
	data, err := io.ReadAll(io.LimitReader(h, MaxEdit+1))
	switch {
	case err != nil:
		return before{}, fmt.Errorf("read %s: %w", p.Name(), err)
	case len(data) > MaxEdit:
		return before{}, ErrTooLarge
	}
	return before{st, data}, nil
}

// Change is what was done, to take it back.
type Change struct {
	UndoID string // the turn that takes it back, "" = nothing was changed
	Paths  []string
	Notes  int // how many notes went
}

// Set replaces a file. hash must be that of its content now, "" for a new file.
func (x *Index) Set(ctx context.Context, s Scope, rel, text, hash string) (Change, error) {
	if len(text) > MaxEdit {
		return Change{}, ErrTooLarge
	}
	return x.edit(ctx, s, rel, "memory", func(b before) ([]byte, error) {
		if b.hash() != hash {
			return nil, ErrChanged
		}
		return []byte(text), nil
	})
}

// Forget takes lines out of a file, the whole file when from is 0. text, when
// given, is what the person saw there: when something else stands there now,
// nothing is changed.
func (x *Index) Forget(ctx context.Context, s Scope, rel string, from, to int, text string) (Change, error) {
	return x.edit(ctx, s, rel, "forget", func(b before) ([]byte, error) {
		if b.info == nil {
			return nil, ErrNoFile
		}
		if from <= 0 {
			return nil, nil
		}
		lines := strings.SplitAfter(string(b.data), "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		if to < from {
			to = from
		}
		if from > len(lines) || to > len(lines) {
			return nil, fmt.Errorf("%w: %s has %d", ErrLines, rel, len(lines))
		}
		if text != "" && strings.TrimSpace(legible(strings.Join(lines[from-1:to], ""))) != strings.TrimSpace(text) {
			return nil, ErrChanged
		}
		return []byte(strings.Join(lines[:from-1], "") + strings.Join(lines[to:], "")), nil
	})
}

// UnreadError is that notes may be left in files that could not be read or changed; the
// others are done.
type UnreadError struct {
	Change Change
	Paths  []string
	Err    error // of the first
}

func (e *UnreadError) Error() string {
	return "change " + strings.Join(e.Paths, ", ") + ": " + e.Err.Error()
}

func (e *UnreadError) Unwrap() error { return e.Err }

// ForgetSource takes every note out that came from a source: a conversation, a
// run or a person. Files that cannot be changed are an UnreadError.
func (x *Index) ForgetSource(ctx context.Context, s Scope, source string) (Change, error) {
	there, err := list(ctx, x.Workspace(s.Agent))
	if err != nil {
		return Change{}, err
	}
	x.edits.Lock()
	defer x.edits.Unlock()
	out, left := Change{}, &UnreadError{}
	turn := undo.Turn{RunID: x.NewID(), Tool: "forget"}
	for _, f := range there {
		if !s.Has(f.rel) || f.size > MaxEdit {
			continue
		}
		n := 0
		changed, err := x.editOne(ctx, s, f.rel, turn, func(b before) ([]byte, error) {
			var rest string
			if rest, n = without(string(b.data), source); n == 0 {
				return b.data, nil
			}
			if strings.TrimSpace(rest) == "" {
				return nil, nil
			}
			return []byte(rest), nil
		})
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case err != nil:
			left.Paths, left.Err = append(left.Paths, f.rel), cmp.Or(left.Err, err)
		case changed:
			out.Paths, out.Notes, out.UndoID = append(out.Paths, f.rel), out.Notes+n, turn.RunID
		}
	}
	x.Touch(s.Agent)
	if left.Err != nil {
		left.Change = out
		return out, left
	}
	return out, nil
}

// Keep adds a note to the day's file, with its origin. What stands there or in
// MEMORY.md already is left out; Change has no UndoID when nothing was new.
func (x *Index) Keep(ctx context.Context, s Scope, text string, o Origin) (Change, error) {
	longest, largest := maxNote, MaxEdit-1024
	if s.Of != "" {
		longest, largest = maxOtherNote, maxOtherFile
		if err := x.room(ctx, s); err != nil {
			return Change{}, err
		}
	}
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "")
	}
	now := x.Now()
	long, err := x.Load(s, s.longTerm())
	if err != nil {
		if errors.Is(err, ErrNoWorkspace) {
			return Change{}, err
		}
		long.Text = "" // it is not needed to keep a note
	}
	text = known(tame(text), long.Text)
	for n := 1; n <= maxDay; n++ {
		rel := s.folder() + "/" + now.Format(dayForm)
		if n > 1 {
			rel += fmt.Sprintf("-%d", n)
		}
		c, err := x.editAs(ctx, s, rel+".md", undo.Turn{RunID: x.NewID(), SessionKey: o.Session, Tool: o.By, Aside: s.Of != ""},
			func(b before) ([]byte, error) {
				if len(b.data)+len(text) > largest {
					return nil, ErrTooLarge
				}
				fresh := known(text, string(b.data))
				if fresh == "" {
					return b.data, nil
				}
				head := string(b.data)
				switch {
				case head == "":
				case strings.HasSuffix(head, "\n\n"):
				case strings.HasSuffix(head, "\n"):
					head += "\n"
				default:
					head += "\n\n"
				}
				return []byte(head + o.line(now) + "\n\n" + fresh + "\n"), nil
			})
		if !errors.Is(err, ErrTooLarge) {
			return c, err
		}
	}
	return Change{}, fmt.Errorf("%d files of notes are full today; tidy them", maxDay)
}

// room reports whether more may be kept of somebody who is not the owner.
func (x *Index) room(ctx context.Context, s Scope) error {
	there, err := list(ctx, x.Workspace(s.Agent))
	if err != nil {
		return err
	}
	var total int64
	for _, f := range there {
		if s.Has(f.rel) {
			total += f.size
		}
	}
	if total >= maxOtherTotal {
		return ErrFull
	}
	return nil
}

// longTerm is the scope's file that is kept by hand.
func (s Scope) longTerm() string {
	if s.Of != "" {
		return s.folder() + "/" + LongTerm
	}
	return LongTerm
}

func (x *Index) edit(ctx context.Context, s Scope, rel, tool string, fn func(before) ([]byte, error)) (Change, error) {
	return x.editAs(ctx, s, rel, undo.Turn{RunID: x.NewID(), Tool: tool}, fn)
}

func (x *Index) editAs(ctx context.Context, s Scope, rel string, turn undo.Turn, fn func(before) ([]byte, error)) (Change, error) {
	rel, err := s.clean(rel)
	if err != nil {
		return Change{}, err
	}
	x.edits.Lock()
	defer x.edits.Unlock()
	changed, err := x.editOne(ctx, s, rel, turn, fn)
	if err != nil || !changed {
		return Change{}, err
	}
	x.Touch(s.Agent)
	return Change{UndoID: turn.RunID, Paths: []string{rel}}, nil
}

// editOne changes a file: fn gives its new content, nil to remove it. A copy of
// the old one is kept first. The caller holds edits.
func (x *Index) editOne(ctx context.Context, s Scope, rel string, turn undo.Turn, fn func(before) ([]byte, error)) (changed bool,
	err error) {
	p, err := x.find(s.Agent, rel)
	if err != nil {
		return false, err
	}
	defer p.Close()
	old, err := load(p)
	if err != nil {
		return false, err
	}
	data, err := fn(old)
	if err != nil || data != nil && string(data) == string(old.data) && old.info != nil || data == nil && old.info == nil {
		return false, err
	}
	if len(data) == 0 && old.info == nil {
		return false, nil
	}
	mode := fs.FileMode(0o600)
	c := undo.Change{Path: p.Path, Folders: p.Missing()}
	if old.info != nil {
		mode = old.info.Mode().Perm()
		c.Before = &undo.Content{Data: old.data, Mode: mode}
	}
	if data != nil {
		c.After = &undo.Content{Data: data, Mode: mode}
	}
	if x.Undo != nil {
		if err := x.Undo.Keep(ctx, turn, []undo.Change{c}); err != nil {
			return false, fmt.Errorf("nothing was changed, because no copy for undo could be kept: %w", err)
		}
	}
	if data == nil {
		err = p.Remove(old.info)
	} else {
		err = p.Replace(data, mode, old.info)
	}
	if errors.Is(err, safepath.ErrMoved) {
		err = ErrChanged
	}
	return err == nil, err
}
