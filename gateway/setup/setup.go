// Package setup is a person's first steps with Hearth: which there are, which
// are done or were skipped, what is being tried now, and what could be tried on
// this computer. It keeps them in the store, so that they go on where they were
// after a restart, and it holds messages back until a model was chosen to answer
// them. Every step can be skipped.
//
// It asks no model, keeps no key and reads no settings itself: its Backend does. It
// does not know who shows the steps.
package setup

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// Step is one of the first steps.
type Step string

// The steps, in their order.
const (
	Model    Step = "model"    // which model answers
	Name     Step = "name"     // what the assistant is called, and how it sounds
	Phone    Step = "phone"    // a first device
	Telegram Step = "telegram" // a first messaging network
	Leave    Step = "leave"    // where Hearth is when nobody looks
)

// Steps lists them.
func Steps() []Step { return []Step{Model, Name, Phone, Telegram, Leave} }

// State is how far a step is.
type State string

// States of a step.
const (
	Open    State = "open"
	Done    State = "done"
	Skipped State = "skipped"
	// Again: it was taken before, and the person wants to choose anew. Nothing waits
	// for that.
	Again State = "again"
)

// Record is what is kept.
type Record struct {
	Steps map[Step]State `json:"steps"`
	// Model is the one that was chosen here, and Line how its test went.
	Model string   `json:"model,omitempty"`
	Line  string   `json:"line,omitempty"`
	Notes []string `json:"notes,omitempty"`
	// Pull is a model whose download goes on after a restart.
	Pull string `json:"pull,omitempty"`
	// Pending is an account that was added here and has not worked yet.
	Pending string `json:"pending,omitempty"`
}

// Of is the state of one step.
func (r Record) Of(s Step) State {
	if st := r.Steps[s]; st != "" {
		return st
	}
	return Open
}

// Complete reports whether no step is open.
func (r Record) Complete() bool {
	return !slices.ContainsFunc(Steps(), func(s Step) bool { return r.Of(s) == Open || r.Of(s) == Again })
}

func (r Record) clone() Record {
	r.Steps, r.Notes = maps.Clone(r.Steps), slices.Clone(r.Notes)
	if r.Steps == nil {
		r.Steps = map[Step]State{}
	}
	return r
}

// Book is the record, and the gate. It is safe for concurrent use.
type Book struct {
	db  *store.DB
	row store.Bucket[Record]

	writing sync.Mutex // one change after the other

	mu      sync.Mutex
	rec     Record
	flip    chan struct{} // closed and replaced when those who wait should look again
	waiting int
	through bool   // nothing waits: nobody shows the steps
	changed func() // never nil
}

// The record's place in its table.
const only = "first"

// Load reads the record. For someone who used Hearth before there were first
// steps, they are all behind them.
func Load(ctx context.Context, db *store.DB, usedBefore func() (bool, error)) (*Book, error) {
	b := &Book{db: db, row: store.NewBucket[Record]("setup"), changed: func() {}, flip: make(chan struct{})}
	known := false
	err := db.View(func(tx *store.Tx) (err error) {
		b.rec, known, err = b.row.Get(tx, []byte(only))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the first steps: %w", err)
	}
	b.rec = b.rec.clone()
	if known {
		return b, nil
	}
	used, err := usedBefore()
	if err != nil {
		return nil, fmt.Errorf("find out whether Hearth was used before: %w", err)
	}
	return b, b.Change(ctx, func(r *Record) {
		for _, s := range Steps() {
			if used {
				r.Steps[s] = Done
			}
		}
	})
}

// Subscribe has changed called after every change; it must not block. One can
// be told.
func (b *Book) Subscribe(changed func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed = changed
}

func (b *Book) told() func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// LetThrough has no message wait, whatever the steps say: nobody shows them.
func (b *Book) LetThrough() {
	b.mu.Lock()
	b.through = true
	b.mu.Unlock()
	b.Wake()
}

// Around reports whether the person looks around first: the guide answers then,
// whatever was found on this computer.
func (b *Book) Around() bool { return b.Get().Of(Model) == Skipped }

// Get returns what holds now.
func (b *Book) Get() Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rec.clone()
}

// Change writes the record, then lets it hold.
func (b *Book) Change(ctx context.Context, edit func(*Record)) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	next := b.Get()
	edit(&next)
	err := b.db.Update(ctx, store.Write{Do: func(tx *store.Tx) error { return b.row.Put(tx, []byte(only), next) }})
	if err != nil {
		return fmt.Errorf("keep the first steps: %w", err)
	}
	b.mu.Lock()
	b.rec = next
	b.mu.Unlock()
	b.Wake()
	b.told()()
	return nil
}

// Set marks one step.
func (b *Book) Set(ctx context.Context, s Step, st State) error {
	return b.Change(ctx, func(r *Record) { r.Steps[s] = st })
}

// Held reports whether messages wait for a model.
func (b *Book) Held() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held()
}

// held is Held; b.mu is held.
func (b *Book) held() bool { return b.rec.Of(Model) == Open && !b.through }

// Waiting is how many messages wait.
func (b *Book) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting
}

// Wake makes those who wait look again.
func (b *Book) Wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.flip)
	b.flip = make(chan struct{})
}

// Await waits with a message until a model was chosen, or its own turn has one:
// chosen is asked whenever something has changed.
func (b *Book) Await(ctx context.Context, chosen func() bool) error {
	count := func(n int) {
		b.mu.Lock()
		b.waiting += n
		b.mu.Unlock()
		b.told()()
	}
	counted := false
	defer func() {
		if counted {
			count(-1)
		}
	}()
	for {
		b.mu.Lock()
		held, flip := b.held(), b.flip
		b.mu.Unlock()
		if !held || chosen() {
			return nil
		}
		if !counted {
			counted = true
			count(1)
		}
		select {
		case <-flip:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
