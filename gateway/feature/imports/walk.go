package imports

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Bounds of what a report names.
const (
	maxNames = 4000 // in all
	maxLeft  = 100  // reasons
	maxName  = 120
	maxWhy   = 300
)

// walk goes through a source once. task is the one that imports; "": nothing is
// written. tell is told how far it is.
type walk struct {
	*feature
	from string
	task string
	tell func(n int, doing string)
	rows map[imports.Kind]*protocol.ImportRow
	left []protocol.ImportLeft
	rep  *protocol.ImportReport
	n    int
	told int // names in the report
}

// outcome is what became, or would become, of an item.
type outcome int

const (
	fresh   outcome = iota
	grown           // more of it came
	already         // it is here
	nothing         // and is no item at all
)

// leftError is why one item is not taken; the walk goes on.
type leftError struct{ why string }

func (e *leftError) Error() string { return e.why }

func leave(format string, a ...any) error { return &leftError{fmt.Sprintf(format, a...)} }

// walk goes through what is asked for; n is how many things there are.
func (f *feature) walk(ctx context.Context, p protocol.ImportParams, task string, tell func(n int, doing string)) (
	rep protocol.ImportReport, n int, err error) {
	rep = protocol.ImportReport{From: p.From, Path: p.Path, Dry: task == "", Rows: []protocol.ImportRow{}, Left: []protocol.ImportLeft{}}
	if err := os.MkdirAll(f.scratch(), 0o700); err != nil {
		return rep, 0, fmt.Errorf("make a folder for copies: %w", err)
	}
	who, tree, err := f.choose(p)
	if err != nil {
		return rep, 0, err
	}
	defer func() { err = errors.Join(err, tree.Close()) }()
	rep.From, rep.Program, rep.Path = who.id, who.name, tree.Path
	w := &walk{feature: f, from: who.id, task: task, tell: tell, rows: map[imports.Kind]*protocol.ImportRow{}, rep: &rep}
	err = who.read(ctx, tree, func(it imports.Item) error { return w.item(ctx, it) })
	for _, k := range imports.Kinds() {
		if r := w.rows[k]; r != nil {
			rep.Rows = append(rep.Rows, *r)
		}
	}
	rep.Left = append(rep.Left, w.left...)
	if err != nil {
		return rep, w.n, fmt.Errorf("import from %s: %w", who.name, err)
	}
	return rep, w.n, nil
}

func (w *walk) row(k imports.Kind) *protocol.ImportRow {
	r := w.rows[k]
	if r == nil {
		r = &protocol.ImportRow{Kind: string(k)}
		w.rows[k] = r
	}
	return r
}

// item takes one thing, or says what would become of it.
func (w *walk) item(ctx context.Context, it imports.Item) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	w.n++
	if w.tell != nil {
		w.tell(w.n, imports.Line(it.Name, maxName))
	}
	if it.Kind == imports.Settings && it.Settings != nil {
		return w.settings(ctx, it)
	}
	if it.Why != "" {
		w.leave(it.Kind, it.Name, it.Why, max(it.Many, 1))
		return nil
	}
	got, err := w.take(ctx, it)
	var left *leftError
	switch {
	case errors.As(err, &left):
		w.leave(it.Kind, it.Name, left.why, 1)
	case err != nil && (ctx.Err() != nil || errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrClosed) || errors.Is(err, store.ErrGone)):
		return err
	case err != nil:
		w.Log.Warn("something could not be imported", "kind", it.Kind, "err", err)
		w.leave(it.Kind, it.Name, err.Error(), 1)
	default:
		w.count(it.Kind, it.Name, got)
	}
	return nil
}

func (w *walk) take(ctx context.Context, it imports.Item) (outcome, error) {
	switch {
	case it.Chat != nil:
		return w.chat(ctx, it)
	case it.File != nil:
		return w.file(ctx, it)
	case it.Skill != nil:
		return w.skill(ctx, it)
	case it.Job != nil:
		return w.job(ctx, it)
	case it.Server != nil:
		return w.server(ctx, it)
	case it.Key != nil:
		return w.key(ctx, it)
	case it.Person != nil:
		return w.person(ctx, it)
	}
	return nothing, leave("nothing is made of it")
}

func (w *walk) count(k imports.Kind, name string, got outcome) {
	r := w.row(k)
	switch got {
	case fresh:
		r.New++
	case grown:
		r.Grown++
	case already:
		r.Here++
	case nothing:
		return
	}
	r.Found++
	if got == already {
		r.Kept = w.tellName(r.Kept, name)
	} else {
		r.Names = w.tellName(r.Names, name)
	}
}

// tellName adds a name to those that the report names, as long as it is not too many.
func (w *walk) tellName(list []string, name string) []string {
	if w.told++; w.told > maxNames {
		return list
	}
	return append(list, imports.Line(name, maxName))
}

// leave notes that something is not taken, once for each reason.
func (w *walk) leave(k imports.Kind, name, why string, many int) {
	r := w.row(k)
	r.Found, r.Left = r.Found+many, r.Left+many
	why = imports.Line(why, maxWhy)
	i := slices.IndexFunc(w.left, func(l protocol.ImportLeft) bool { return l.Kind == string(k) && l.Why == why })
	if i < 0 {
		if len(w.left) >= maxLeft {
			return // counted in its row
		}
		i, w.left = len(w.left), append(w.left, protocol.ImportLeft{Kind: string(k), Why: why, Names: []string{}})
	}
	l := &w.left[i]
	l.Many, l.Names = l.Many+many, w.tellName(l.Names, name)
}

func (w *walk) note(format string, a ...any) {
	if s := fmt.Sprintf(format, a...); !slices.Contains(w.rep.Notes, s) {
		w.rep.Notes = append(w.rep.Notes, s)
	}
}
