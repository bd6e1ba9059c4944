// Package once lets something happen once by a key, also when it is asked for again
// after a restart: what clients do on messaging networks that is no message, such as a
// poll. What is about to happen is on disk before it does, and what came of it after.
// Messages have deliveries (package outbound), which keep that themselves.
package once

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// ErrOther: the key stands for something else.
var ErrOther = errors.New("this key was used for something else before")

// Unknown is what nobody knows the end of: it may have happened, and is not done again.
type Unknown struct{ Reason string }

func (e *Unknown) Error() string { return "it may or may not have happened: " + e.Reason }

const (
	keep   = 30 * 24 * time.Hour // as receipts of messages
	forget = 16                  // acts at most, with each that begins
)

// state is how far an act has come.
type state string

const (
	begun   state = "begun" // and of a run before this one, if nobody is at it
	done    state = "done"
	unknown state = "unknown"
)

// act is a row.
type act struct {
	State  state           `json:"state"`
	Print  string          `json:"print"` // of what was asked for
	At     int64           `json:"at"`    // when it began, in milliseconds
	Result json.RawMessage `json:"result,omitempty"`
	Reason string          `json:"reason,omitempty"`
}

// Book remembers what happened. Its methods may be called from several goroutines.
type Book struct {
	db    *store.DB
	now   func() time.Time
	log   *slog.Logger
	acts  store.Bucket[act]  // by key
	order store.Bucket[bool] // by when it began, and key

	mu      sync.Mutex
	running map[string]chan struct{} // closed at the end
}

// New returns a book in the store.
func New(db *store.DB, now func() time.Time, log *slog.Logger) *Book {
	return &Book{db: db, now: now, log: log, acts: store.NewBucket[act]("once.acts"), order: store.NewBucket[bool]("once.order"),
		running: map[string]chan struct{}{}}
}

// Do does something and returns its result, or the one of the first time. print tells
// what is asked for from anything else. An error of do means that nothing happened, and
// the key is free again; an *Unknown is kept. Whoever comes while it happens waits for it.
func (b *Book) Do(ctx context.Context, key, print string, do func() (json.RawMessage, error)) (json.RawMessage, error) {
	for {
		b.mu.Lock()
		other, busy := b.running[key]
		if !busy {
			b.running[key] = make(chan struct{})
		}
		b.mu.Unlock()
		if !busy {
			break
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		close(b.running[key])
		delete(b.running, key)
	}()
	was, there, err := b.begin(ctx, key, print)
	if err != nil {
		return nil, err
	}
	if there {
		return was.told(print)
	}
	return b.carryOut(context.WithoutCancel(ctx), key, print, do)
}

// told is what came of an act before.
func (a act) told(print string) (json.RawMessage, error) {
	switch {
	case a.Print != print:
		return nil, ErrOther
	case a.State == done:
		return a.Result, nil
	case a.State == begun:
		return nil, &Unknown{"Hearth stopped while it was done"}
	}
	return nil, &Unknown{a.Reason}
}

// begin notes that it is about to happen; there: it is not the first time.
func (b *Book) begin(ctx context.Context, key, print string) (was act, there bool, err error) {
	err = b.db.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		if was, there, err = b.acts.Get(tx, []byte(key)); err != nil || there {
			return err
		}
		now := b.now()
		if err := b.tidy(tx, now); err != nil {
			return err
		}
		was = act{State: begun, Print: print, At: now.UnixMilli()}
		if err := b.order.Put(tx, was.place(key), true); err != nil {
			return err
		}
		return b.acts.Put(tx, []byte(key), was)
	}})
	if err != nil {
		return was, false, fmt.Errorf("note what is about to happen: %w", err)
	}
	return was, there, nil
}

func (a act) place(key string) []byte { return append(store.Uint64Key(uint64(max(a.At, 0))), key...) }

// tidy forgets some of what is too old.
func (b *Book) tidy(tx *store.Tx, now time.Time) error {
	var old [][]byte
	before := string(store.Uint64Key(uint64(max(now.Add(-keep).UnixMilli(), 0))))
	for place := range b.order.ScanRaw(tx, store.Range{}) {
		if len(old) == forget || string(place[:8]) >= before {
			break
		}
		old = append(old, append([]byte(nil), place...))
	}
	for _, place := range old {
		if err := errors.Join(b.acts.Delete(tx, place[8:]), b.order.Delete(tx, place)); err != nil {
			return err
		}
	}
	return nil
}

func (b *Book) carryOut(ctx context.Context, key, print string, do func() (json.RawMessage, error)) (json.RawMessage, error) {
	result, err := do()
	var open *Unknown
	kept := b.db.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error {
		a, _, e := b.acts.Get(tx, []byte(key))
		switch {
		case e != nil:
			return e
		case errors.As(err, &open):
			a.State, a.Reason = unknown, open.Reason
		case err != nil:
			return errors.Join(b.acts.Delete(tx, []byte(key)), b.order.Delete(tx, a.place(key)))
		default:
			a.State, a.Result = done, result
		}
		a.Print = print
		return b.acts.Put(tx, []byte(key), a)
	}})
	if kept != nil && err == nil {
		b.log.Error("what was done is not noted; whoever asks for it again is told that nobody knows", "err", kept)
	}
	return result, err
}
