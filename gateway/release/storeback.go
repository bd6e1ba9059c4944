package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// BeforeUpdate is where the store is kept as it was before a new version began.
func BeforeUpdate(dir statedir.Dir) string { return dir.Store() + ".before-update" }

// StoreBack makes the store, which nobody has open, one that this build can use: as
// it is, when it can; else the copy of before it was changed, with the newer one kept
// under the name that is returned. count counts the messages of a store; lost is how
// many are only in the one that is kept. Nothing is ever removed. Whoever is stopped
// within it and calls it again is told the same: that stands in the State until Gone
// or TakenBack.
func StoreBack(ctx context.Context, dir statedir.Dir, before string, now time.Time, count func(path string) (int, error)) (kept string,
	lost int, err error) {
	st, err := Read(dir)
	if err != nil {
		return "", 0, err
	}
	usable := store.Usable(dir.Store())
	there := isFile(dir.Store())
	if usable == nil && there {
		_, usable = store.Check(dir.Store())
	}
	x := st.Exchange
	switch {
	case usable == nil && x != nil && isFile(x.Kept): // it was done, by who was stopped then
		return x.finish(ctx, dir, now)
	case usable == nil: // or there is none yet
		return "", 0, nil
	case !errors.Is(usable, store.ErrNewer) && !errors.Is(usable, store.ErrDamaged):
		return "", 0, usable
	}
	from := store.BeforeSchema(dir.Store(), store.Schema())
	if errors.Is(usable, store.ErrDamaged) || !isFile(from) {
		from = before
	}
	if !isFile(from) {
		return "", 0, fmt.Errorf("%w, and there is no copy of before the update", usable)
	}
	if x == nil || !same(x.Kept, dir.Store()) { // else it was about to be done
		x = &Exchange{From: from, Kept: store.ReplacedName(dir.Store(), now.UTC().Format("20060102T150405.000Z"))}
	}
	newer, nerr := count(dir.Store())
	if older, err := count(x.From); err == nil && nerr == nil {
		x.Lost = max(newer-older, 0)
	}
	if _, err := Change(dir, func(s *State) { s.Exchange = x }); err != nil {
		return "", 0, err
	}
	if err := store.Restore(dir.Store(), x.From, x.Kept); err != nil {
		return "", 0, fmt.Errorf("put the store of before the update back: %w", err)
	}
	return x.finish(ctx, dir, now)
}

// same reports whether two names are those of one file.
func same(a, b string) bool {
	x, xerr := os.Stat(a)
	y, yerr := os.Stat(b)
	return xerr == nil && yerr == nil && os.SameFile(x, y)
}

// finish does what is left when the newer store has its other name.
func (x *Exchange) finish(ctx context.Context, dir statedir.Dir, now time.Time) (kept string, lost int, err error) {
	if !isFile(dir.Store()) { // on a file system without hard links
		if err := store.Restore(dir.Store(), x.From, x.Kept); err != nil {
			return x.Kept, x.Lost, fmt.Errorf("put the store of before the update back: %w", err)
		}
	}
	return x.Kept, x.Lost, markPast(ctx, dir, now)
}

// markPast has nothing done again that the newer store did.
func markPast(ctx context.Context, dir statedir.Dir, now time.Time) error {
	db, err := store.Open(dir.Store(), store.Options{})
	if err != nil {
		return err
	}
	return errors.Join(db.MarkRestored(ctx, now), db.Close(context.WithoutCancel(ctx)))
}
