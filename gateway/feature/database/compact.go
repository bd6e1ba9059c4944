package database

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/task"
)

// The database is compacted unasked when more than half of it, and more than
// compactFree, is not in use, while nobody waits for an answer, and not again before
// compactEvery.
const (
	compactFree  = 64 << 20
	compactEvery = 24 * time.Hour
)

// compacted is how the last compaction ended.
type compacted struct {
	at, back int64
	problem  string
}

// compactNow gives back what the database does not use, as a task, beside everything
// else.
func (f *feature) compactNow(ctx context.Context, _ method.None) (protocol.StoreStatus, error) {
	if !store.CompactsOpen {
		return protocol.StoreStatus{}, protocol.Invalid("On Windows the database can be made smaller only while nobody has it open. "+
			"Stop the gateway, then run `hearth store compact`.").With("code", "STOP_FIRST")
	}
	return f.begin(ctx, protocol.TaskStoreCompact, "Compacting the database", f.giveBack)
}

// giveBack compacts, and says what came of it.
func (f *feature) giveBack(ctx context.Context, t task.Task) (string, error) {
	before, after, err := f.o.Store.Compact(ctx, func(bytes int64) { f.o.Tasks.Progress(t.ID, min(bytes, t.Total), t.Total, "") })
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		err = fmt.Errorf("%w. Nothing was changed%s", err, nextStep(err))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.compact = compacted{at: f.o.Now().UnixMilli(), back: max(before-after, 0)}
	if err != nil {
		f.compact.problem = protocol.Sentence(err.Error())
		return "", err
	}
	return fmt.Sprintf("It had %d MB and has %d MB now.", before>>20, after>>20), nil
}

// nextStep is what a person can do about a compaction that did not come to its end.
func nextStep(err error) string {
	switch {
	case errors.Is(err, store.ErrNoRoom), errors.Is(err, store.ErrFull):
		return "; make room on the disk, and compact it again"
	case errors.Is(err, store.ErrBehind):
		return "; compact it again when less is going on, or stop the gateway and run `hearth store compact`"
	case errors.Is(err, store.ErrDamaged):
		return "; `hearth store check` says what is left"
	}
	return "; compact it again, and look into `hearth logs` when it fails again"
}

// compactWhenDue compacts unasked.
func (f *feature) compactWhenDue(ctx context.Context) {
	u := f.o.Store.Usage()
	active, queued := f.o.Load()
	if !store.CompactsOpen || !wasteful(u) || active+queued > 0 || f.o.Store.Problem() != nil {
		return
	}
	f.mu.Lock()
	due := f.itself.IsZero() || f.o.Now().Sub(f.itself) >= compactEvery
	if due {
		f.itself = f.o.Now()
	}
	f.mu.Unlock()
	if !due {
		return
	}
	if _, err := f.compactNow(ctx, method.None{}); err != nil {
		f.o.Log.Info("the database is not compacted now", "err", err)
	}
}

// wasteful: so much is not in use that writing it anew is worth it.
func wasteful(u store.Usage) bool { return u.Free > compactFree && u.Free > u.Bytes/2 }
