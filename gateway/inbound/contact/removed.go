package contact

import (
	"context"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// Removed keeps, apart from the store, whose right to write was taken away, so
// that an older copy of the store does not let them in again (F-DB-07).
type Removed interface {
	Load(ctx context.Context) ([]Person, error)
	Save(ctx context.Context, p Person) error
	Forget(ctx context.Context, id string) error
}

// RemovedID is under which id a Removed keeps a person.
func RemovedID(p Person) string { return string(key(p.Channel, p.Account, p.ID)) }

// Recall makes the book keep to what was removed, and returns how many people
// the store, an older copy of itself, had let in again.
func (b *Book) Recall(ctx context.Context, removed Removed) (n int, err error) {
	b.removed = removed
	all, err := removed.Load(ctx)
	if err != nil {
		return 0, fmt.Errorf("load who was removed: %w", err)
	}
	for _, p := range all {
		var was bool
		err := b.db.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error {
			was = b.contacts.Has(tx, []byte(RemovedID(p)))
			return b.contacts.Delete(tx, []byte(RemovedID(p)))
		}})
		if err != nil {
			return n, fmt.Errorf("remove a person again: %w", err)
		}
		if was {
			n++
		}
	}
	return n, nil
}

// gone notes that somebody was removed. It comes before the store's own change:
// a crash in between takes away rather than gives.
func (b *Book) gone(ctx context.Context, p Person) error {
	if b.removed == nil {
		return nil
	}
	return b.removed.Save(ctx, p)
}

// back notes that somebody was let in again.
func (b *Book) back(ctx context.Context, p Person) error {
	if b.removed == nil {
		return nil
	}
	return b.removed.Forget(ctx, RemovedID(p))
}
