// Package file holds the tools that read and change files: read, write, edit
// and apply_patch. It owns what they take and say, encodings, line ends, diffs
// and patches. Where a path leads and what is protected is package place's;
// who decides about the rest, and where copies for taking things back are kept,
// is handed in.
//
// A change is prepared in full, then asked for when that is needed, then copied
// away, then done. What was asked for is what is done: if a file changed in
// between, nothing happens.
package file

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/document"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/undo"
)

// maxChange is the largest file that is changed: its old content is kept.
const maxChange = 64 << 20

// Ask is what the owner decides about.
type Ask struct {
	Tool    string
	Path    string // where it really is: absolute, without links
	Written string // the path as the model wrote it
	Change  bool   // false: it is only read
	Reason  string // why it is asked
	// Folder is set when one yes may be about reading all that is in it: a clean
	// path without links, which holds Path or is it (place.Folder).
	Folder string
	New    bool   // Change: there is no such file yet
	Gone   bool   // Change: it is removed
	Runs   bool   // Change: programs, or the assistant, later do what stands in it
	Diff   string // Change: what would be different
	Digest [sha256.Size]byte
}

// Keeper keeps copies of what a change takes away, durably, before it happens.
type Keeper interface {
	Keep(ctx context.Context, turn undo.Turn, changes []undo.Change) error
}

// Options of the tools.
type Options struct {
	Finder safepath.Finder
	// Permit asks the owner and waits; an error says why not. nil refuses
	// everything that is not free.
	Permit func(ctx context.Context, call tool.Call, ask Ask) error
	// Undo keeps copies. nil keeps none.
	Undo Keeper
	// Outside reports whether a call's turn has read text from outside: then what
	// later prompts and programs obey is not changed without the owner. nil: none has.
	Outside func(call tool.Call) bool
	// Told hears of such a change that was not asked for. nil: nobody does.
	Told func(call tool.Call, rel string)
	// Document reads the text of files that are no text themselves; nil: nothing does.
	Document func(ctx context.Context, name, mimeType string, data []byte) (*document.Document, error)
	// Sees tells whether a model is shown pictures; nil: none is.
	Sees func(ref model.Ref) bool
}

// files is what the tools share.
type files struct {
	Options
	last lastRead
	mu   sync.Mutex // one change after the other
}

// New returns the tools.
func New(opts Options) []tool.Tool {
	f := &files{Options: opts}
	return []tool.Tool{&readTool{f}, &writeTool{f}, &editTool{f}, &patchTool{f}}
}

// ErrRefused means that the file may not be touched.
var ErrRefused = errors.New("refused")

// allow asks for what is not free.
func (f *files) allow(ctx context.Context, call tool.Call, p *safepath.Path, ask Ask) error {
	v, why := f.judge(call, p, ask.Change)
	switch {
	case v == safepath.Never:
		return fmt.Errorf("%w: %s is never touched by tools, because %s", ErrRefused, p.Name(), why)
	case v == safepath.Free:
		return nil
	case f.Permit == nil:
		return fmt.Errorf("%w: %s needs the owner's approval, because %s, and nobody can be asked here", ErrRefused, p.Name(), why)
	}
	ask.Path, ask.Reason, ask.Runs = p.Path, why, ask.Change && (p.Runs() || p.Heeds() != "")
	if !ask.Change {
		ask.Folder = p.Folder()
	}
	return f.Permit(ctx, call, ask)
}

// judge is what the place says, and what the turn has read.
func (f *files) judge(call tool.Call, p *safepath.Path, change bool) (safepath.Verdict, string) {
	v, why := p.Judge(change)
	if heeds := p.Heeds(); v == safepath.Free && change && heeds != "" && f.Outside != nil && f.Outside(call) {
		return safepath.Ask, heeds + ", and this answer has read text from outside"
	}
	return v, why
}

// find looks a path up for a call; never allowed places end here.
func (f *files) find(call tool.Call, raw string) (*safepath.Path, error) {
	p, err := f.Finder.FindFrom(call.Workspace, call.Folder, raw)
	if err != nil {
		return nil, err
	}
	if v, why := p.Judge(false); v == safepath.Never {
		p.Close()
		return nil, fmt.Errorf("%w: %s is never touched by tools, because %s", ErrRefused, raw, why)
	}
	return p, nil
}

// old is a file as it is before a change.
type old struct {
	info fs.FileInfo // nil: there is none
	raw  []byte
	enc  encoding
	text string // without byte order mark
	mime string // set when it is no text
}

// load reads a file that is about to change.
func load(p *safepath.Path) (old, error) {
	h, st, err := p.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return old{}, nil
	}
	if err != nil {
		return old{}, fmt.Errorf("%s: %w", p.Name(), err)
	}
	defer h.Close()
	if st.Size() > maxChange {
		return old{}, fmt.Errorf("%s has %s, and files of more than %s are not changed: no copy could be kept", p.Name(), size(st.Size()),
			size(maxChange))
	}
	o := old{info: st, raw: make([]byte, 0, st.Size()+1)}
	if o.raw, err = readAll(h, o.raw); err != nil {
		return old{}, fmt.Errorf("read %s: %w", p.Name(), err)
	}
	if int64(len(o.raw)) != st.Size() {
		return old{}, safepath.ErrMoved
	}
	if o.enc, o.mime = kindOf(o.raw); o.mime == "" {
		o.text = o.enc.decode(o.raw)
	}
	return o, nil
}

// readAll reads into a buffer that is large enough if nothing changes.
func readAll(r io.Reader, buf []byte) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			if len(buf) > maxChange {
				return nil, safepath.ErrMoved
			}
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// change is one file's part of what a call does.
type change struct {
	place   *safepath.Path
	written string // the path as it was given
	old     old
	new     []byte // nil: the file is removed
	mode    fs.FileMode
	diff    diff
}

// commit asks, keeps and does, all of it or nothing.
func (f *files) commit(ctx context.Context, call tool.Call, name string, changes []change) error {
	for i := range changes {
		c := &changes[i]
		ask := Ask{Tool: name, Written: c.written, Change: true, Diff: c.diff.text, New: c.old.info == nil, Gone: c.new == nil}
		if v, _ := f.judge(call, c.place, true); v == safepath.Ask {
			ask.Digest = c.digest()
		}
		if err := f.allow(ctx, call, c.place, ask); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	kept := make([]undo.Change, len(changes))
	for i, c := range changes {
		if err := c.place.Unchanged(c.old.info); err != nil {
			return fmt.Errorf("%s: %w", c.place.Name(), err)
		}
		kept[i] = c.undo()
	}
	if f.Undo != nil {
		turn := undo.Turn{RunID: call.RunID, SessionKey: call.SessionKey, CallID: call.ID, Tool: name}
		if err := f.Undo.Keep(ctx, turn, kept); err != nil {
			return fmt.Errorf("nothing was changed, because no copy for undo could be kept: %w", err)
		}
	}
	for i := range changes {
		if err := changes[i].do(); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", changes[i].place.Name(), err), takeBack(changes[:i]))
		}
	}
	for i := range changes {
		if p := changes[i].place; f.Told != nil && p.Heeds() != "" {
			f.Told(call, p.Rel)
		}
	}
	return nil
}

func (c *change) do() error {
	if c.new == nil {
		return c.place.Remove(c.old.info)
	}
	return c.place.Replace(c.new, c.mode, c.old.info)
}

// takeBack restores what the first of several changes did, after a later one
// failed.
func takeBack(done []change) error {
	var errs []error
	for _, c := range done {
		now, err := c.place.Stat()
		switch {
		case err != nil:
		case c.old.info == nil:
			err = c.place.Remove(now)
		default:
			err = c.place.Replace(c.old.raw, c.old.info.Mode(), now)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s could not be put back (undo still can): %w", c.place.Name(), err))
		}
	}
	return errors.Join(errs...)
}

func (c *change) undo() undo.Change {
	u := undo.Change{Path: c.place.Path, Folders: c.place.Missing()}
	if c.old.info != nil {
		u.Before = &undo.Content{Data: c.old.raw, Mode: c.old.info.Mode().Perm()}
	}
	if c.new != nil {
		u.After = &undo.Content{Data: c.new, Mode: c.mode}
	}
	return u
}

// digest binds an approval to the path, what was there and what will be.
func (c *change) digest() [sha256.Size]byte {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(c.place.Path), c.old.raw, c.new} {
		fmt.Fprintf(h, "%d:%t:", len(part), part == nil)
		h.Write(part)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// details is what surfaces get to show.
type details struct {
	Path             string   `json:"path"`
	Diff             string   `json:"diff,omitempty"`
	FirstChangedLine int      `json:"firstChangedLine,omitempty"`
	Added            int      `json:"added"`
	Removed          int      `json:"removed"`
	Created          bool     `json:"created,omitempty"`
	Deleted          bool     `json:"deleted,omitempty"`
	Files            []string `json:"files,omitempty"` // apply_patch
}

func (c *change) details() details {
	return details{
		Path: c.place.Path, Diff: c.diff.text, FirstChangedLine: c.diff.first, Added: c.diff.added, Removed: c.diff.removed,
		Created: c.old.info == nil && c.new != nil, Deleted: c.new == nil,
	}
}

func result(text string, d details) (tool.Result, error) {
	raw, err := json.Marshal(d)
	if err != nil {
		return tool.Result{}, fmt.Errorf("describe the change: %w", err)
	}
	return tool.Result{Text: text, Details: raw}, nil
}

// fresh is the mode of new files.
const fresh fs.FileMode = 0o644

func (o old) mode() fs.FileMode {
	if o.info == nil {
		return fresh
	}
	return o.info.Mode().Perm()
}

// arguments reads a call's arguments.
func arguments(call tool.Call, into any) error {
	if err := json.Unmarshal(call.Args, into); err != nil {
		return fmt.Errorf("the arguments cannot be read: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
}
