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
// many are only in the one that is kept. Nothing is ever removed.
func StoreBack(ctx context.Context, dir statedir.Dir, before string, now time.Time, count func(path string) (int, error)) (kept string,
	lost int, err error) {
	usable := store.Usable(dir.Store())
	if usable == nil {
		if _, err := os.Stat(dir.Store()); err != nil {
			return "", 0, nil // there is none yet
		}
		_, usable = store.Check(dir.Store())
	}
	if usable == nil {
		return "", 0, nil
	}
	if !errors.Is(usable, store.ErrNewer) && !errors.Is(usable, store.ErrDamaged) {
		return "", 0, usable
	}
	from := store.BeforeSchema(dir.Store(), store.Schema())
	if errors.Is(usable, store.ErrDamaged) || !isFile(from) {
		from = before
	}
	if !isFile(from) {
		return "", 0, fmt.Errorf("%w, and there is no copy of before the update", usable)
	}
	newer, cerr := count(dir.Store())
	if kept, err = store.Restore(dir.Store(), from, now.UTC().Format("20060102T150405Z")); err != nil {
		return kept, 0, fmt.Errorf("put the store of before the update back: %w", err)
	}
	if older, err := count(dir.Store()); err == nil && cerr == nil {
		lost = max(newer-older, 0)
	}
	return kept, lost, markPast(ctx, dir, now)
}

// markPast has nothing done again that the newer store did.
func markPast(ctx context.Context, dir statedir.Dir, now time.Time) error {
	db, err := store.Open(dir.Store(), store.Options{})
	if err != nil {
		return err
	}
	return errors.Join(db.MarkRestored(ctx, now), db.Close(ctx))
}
