package undo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/safepath"
)

// Action is what taking back does to a file.
type Action string

const (
	Restore  Action = "restore"  // the old content comes back
	Recreate Action = "recreate" // the file comes back
	Delete   Action = "delete"   // the file, which the turn made, goes
	Nothing  Action = "nothing"  // it is as it was
	Conflict Action = "conflict" // it was changed since, and is left alone
	Failed   Action = "failed"   // it cannot be done, or could not
)

// Item is one file of a plan.
type Item struct {
	Path   string
	Action Action
	Reason string // Conflict, Failed
	Bytes  int64  // of what comes back
	// Forced: a conflict that force overrides.
	Forced bool
	Done   bool // Apply: it happened
}

// Plan is what taking a turn back does, or did.
type Plan struct {
	RunID string
	Items []Item
	// UndoID is the turn of taking back, "" when nothing was done.
	UndoID string
}

// Summary is one turn that changed files, newest first in a list.
type Summary struct {
	RunID, SessionKey string
	At                time.Time // of its last change
	Tools             []string
	Paths             []string
	UndoOf            string // it took that turn back
	UndoneBy          string // the newest turn that took it back
	Aside             bool   // somebody else's doing
}

// Turns lists what can be taken back.
func (l *Log) Turns(limit int) ([]Summary, error) {
	rows, err := l.all()
	if err != nil {
		return nil, fmt.Errorf("read the list of file changes: %w", err)
	}
	byRun := map[string]*Summary{}
	undone := map[string]string{}
	var order []*Summary
	for _, r := range slices.Backward(rows) {
		s := byRun[r.RunID]
		if s == nil {
			s = &Summary{RunID: r.RunID, SessionKey: r.SessionKey, At: time.UnixMilli(r.At), UndoOf: r.UndoOf, UndoneBy: undone[r.RunID],
				Aside: r.Aside}
			byRun[r.RunID], order = s, append(order, s)
		}
		if r.UndoOf != "" && undone[r.UndoOf] == "" {
			undone[r.UndoOf] = r.RunID
		}
		if !slices.Contains(s.Paths, r.Path) {
			s.Paths = append(s.Paths, r.Path)
		}
		if !slices.Contains(s.Tools, r.Tool) {
			s.Tools = append(s.Tools, r.Tool)
		}
	}
	if limit > 0 && len(order) > limit {
		order = order[:limit]
	}
	out := make([]Summary, len(order))
	for i, s := range order {
		out[i] = *s
	}
	return out, nil
}

// Last is the newest turn of a session, or of all for "", that was not taken
// back and is no taking back itself. What others did aside is none of "all".
func (l *Log) Last(sessionKey string) (runID string, err error) {
	turns, err := l.Turns(0)
	if err != nil {
		return "", err
	}
	for _, t := range turns {
		if t.UndoOf == "" && t.UndoneBy == "" && (sessionKey == "" && !t.Aside || sessionKey != "" && t.SessionKey == sessionKey) {
			return t.RunID, nil
		}
	}
	return "", ErrNoLast
}

// maxNow is the largest file that taking back replaces: it keeps a copy.
const maxNow = 256 << 20

// step is one file of a plan with what it takes.
type step struct {
	Item
	place   *safepath.Path
	info    fs.FileInfo // as it is, nil = there is none
	now     *Content
	before  *mark
	data    []byte // of before
	open    bool   // nobody knows what the turn left there
	folders []string
}

// Preview says what Apply would do. It changes nothing.
func (l *Log) Preview(runID string) (Plan, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	steps, err := l.plan(runID, false)
	closeAll(steps)
	return Plan{RunID: runID, Items: items(steps)}, err
}

// Apply takes a turn back: what was not changed since, and with force also what
// was.
func (l *Log) Apply(ctx context.Context, runID string, force bool) (Plan, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	steps, err := l.plan(runID, force)
	defer closeAll(steps)
	if err != nil {
		return Plan{}, err
	}
	turn := Turn{RunID: "undo-" + l.opts.NewID(), Tool: "undo", undoOf: runID}
	if rows, err := l.of(runID); err == nil {
		turn.SessionKey = rows[0].SessionKey
	}
	var changes []Change
	for _, s := range steps {
		if s.acts() {
			c := Change{Path: s.Path, Folders: s.place.Missing(), Before: s.now}
			if s.before != nil {
				c.After = &Content{s.data, s.before.Mode}
			}
			changes = append(changes, c)
		}
	}
	plan := Plan{RunID: runID}
	if len(changes) > 0 {
		if err := l.keep(ctx, turn, changes); err != nil {
			return Plan{}, fmt.Errorf("nothing was changed, because no copy of what is there now could be kept: %w", err)
		}
		plan.UndoID = turn.RunID
	}
	for _, s := range steps {
		if !s.acts() {
			continue
		}
		if err := s.do(); err != nil {
			s.Action, s.Reason = Failed, err.Error()
			continue
		}
		s.Done = true
		l.removeFolders(s)
	}
	plan.Items = items(steps)
	return plan, nil
}

func (s *step) acts() bool {
	return s.Action == Restore || s.Action == Recreate || s.Action == Delete
}

func (s *step) do() error {
	if s.before == nil {
		return s.place.Remove(s.info)
	}
	return s.place.Replace(s.data, s.before.Mode, s.info)
}

// removeFolders removes the folders that the turn made for a file that is gone
// again, as far as they are empty.
func (l *Log) removeFolders(s *step) {
	if s.before != nil {
		return
	}
	for _, f := range slices.Backward(s.folders) {
		p, err := l.opts.Finder.FindAbs(f)
		if err != nil {
			return
		}
		err = p.RemoveFolder()
		p.Close()
		if err != nil {
			return // somebody else's files are in it
		}
	}
}

func items(steps []*step) []Item {
	out := make([]Item, len(steps))
	for i, s := range steps {
		out[i] = s.Item
	}
	return out
}

func closeAll(steps []*step) {
	for _, s := range steps {
		if s.place != nil {
			s.place.Close()
		}
	}
}

// plan looks at each file of a turn once, as it is now.
func (l *Log) plan(runID string, force bool) ([]*step, error) {
	rows, err := l.of(runID)
	if err != nil {
		return nil, err
	}
	byPath := map[string]*step{}
	after := map[string]*mark{}
	var steps []*step
	for _, r := range rows {
		s := byPath[r.Path]
		if s == nil {
			s = &step{Item: Item{Path: r.Path}, before: r.Before}
			byPath[r.Path], steps = s, append(steps, s)
		}
		s.folders = append(s.folders, r.Folders...)
		after[r.Path], s.open = r.After, r.Open
	}
	for _, s := range steps {
		if err := l.look(s, after[s.Path], force); err != nil {
			s.Action, s.Reason = Failed, err.Error()
		}
	}
	return steps, nil
}

// look decides about one file.
func (l *Log) look(s *step, after *mark, force bool) (err error) {
	if s.place, err = l.opts.Finder.FindAbs(s.Path); err != nil {
		return err
	}
	if s.place.Path != s.Path {
		return errors.New("a link stands in its way now")
	}
	if v, why := s.place.Judge(true); v == safepath.Never {
		return errors.New(why)
	}
	if err := s.read(); err != nil {
		return err
	}
	now := markOf(s.now)
	if s.before != nil {
		s.Bytes = s.before.Size
	}
	switch {
	case now.same(s.before):
		s.Action = Nothing
		return nil
	case s.open && !force:
		s.Action, s.Reason = Conflict, "the command that writes it still runs, or Hearth ended before it did, so nobody knows whether it was "+
			"changed since"
		return nil
	case !now.same(after) && !force:
		s.Action, s.Reason = Conflict, "it was changed since"
		return nil
	}
	s.Forced = s.open || !now.same(after)
	switch {
	case s.before == nil:
		s.Action = Delete
	case now == nil:
		s.Action = Recreate
	default:
		s.Action = Restore
	}
	if s.before != nil {
		s.data, err = l.getCopy(s.before)
	}
	return err
}

func (s *step) read() error {
	f, st, err := s.place.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxNow+1))
	if err != nil {
		return err
	}
	if len(data) > maxNow {
		return fmt.Errorf("it has grown to more than %d MB, of which no copy can be kept; move it away first", maxNow>>20)
	}
	s.info, s.now = st, &Content{data, st.Mode().Perm()}
	return nil
}
