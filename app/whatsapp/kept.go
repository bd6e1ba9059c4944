package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// kept is what the account keeps in the gateway's store: small values by name, in
// pages, so that each change writes little. What belongs together is changed together:
// it is written into a journal first, which the next start finishes.
type kept struct {
	durable channel.Durable

	changing sync.Mutex // held by who changes several values
	mu       sync.Mutex
	all      map[string][]byte
}

// pages is how many there are. A page has at most 1 MB.
const pages = 64

const journalKey = "journal"

func pageKey(n int) string { return fmt.Sprintf("page-%02d", n) }

func pageOf(name string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return int(h.Sum32() % pages)
}

// openKept reads all that is kept.
func openKept(ctx context.Context, d channel.Durable) (*kept, error) {
	k := &kept{durable: d, all: map[string][]byte{}}
	if d == nil {
		return k, nil
	}
	for n := range pages {
		page, err := k.read(ctx, pageKey(n))
		if err != nil {
			return nil, err
		}
		maps.Copy(k.all, page)
	}
	journal, err := k.read(ctx, journalKey)
	if err != nil || len(journal) == 0 {
		return k, err
	}
	return k, k.finish(ctx, journal)
}

func (k *kept) read(ctx context.Context, key string) (map[string][]byte, error) {
	b, err := k.durable.Get(ctx, key)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	var page map[string][]byte
	if err := json.Unmarshal(b, &page); err != nil {
		return nil, fmt.Errorf("read what was kept of the account (%s): %w", key, err)
	}
	return page, nil
}

// get is a value, nil for none.
func (k *kept) get(name string) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.all[name]
}

// below are the values whose names begin with something, by the rest of the name.
func (k *kept) below(prefix string) map[string][]byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := map[string][]byte{}
	for name, v := range k.all {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			out[rest] = v
		}
	}
	return out
}

// changes are values that change together; nil removes one.
type changes map[string][]byte

// together marks a context in which changes are gathered.
type together struct{}

// change changes values: at once, or with the others of the same context.
func (k *kept) change(ctx context.Context, c changes) error {
	if all, ok := ctx.Value(together{}).(changes); ok {
		maps.Copy(all, c)
		k.apply(c)
		return nil
	}
	k.changing.Lock()
	defer k.changing.Unlock()
	return k.commit(ctx, c)
}

// group does something whose changes are kept together, or not at all.
func (k *kept) group(ctx context.Context, do func(context.Context) error) error {
	if _, inside := ctx.Value(together{}).(changes); inside {
		return do(ctx)
	}
	k.changing.Lock()
	defer k.changing.Unlock()
	k.mu.Lock()
	before := maps.Clone(k.all)
	k.mu.Unlock()
	all := changes{}
	err := do(context.WithValue(ctx, together{}, all))
	if err == nil {
		err = k.commit(ctx, all)
	}
	if err != nil {
		k.mu.Lock()
		k.all = before
		k.mu.Unlock()
	}
	return err
}

func (k *kept) apply(c changes) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for name, v := range c {
		if v == nil {
			delete(k.all, name)
		} else {
			k.all[name] = slices.Clone(v)
		}
	}
}

// commit writes changes down. The lock of changes is held.
func (k *kept) commit(ctx context.Context, c changes) error {
	if len(c) == 0 {
		return nil
	}
	if k.durable == nil {
		k.apply(c)
		return nil
	}
	if len(dirty(c)) > 1 {
		b, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("keep what belongs together: %w", err)
		}
		if err := k.durable.Put(ctx, journalKey, b); err != nil {
			return err
		}
		return k.finish(context.WithoutCancel(ctx), c)
	}
	return k.write(ctx, c)
}

// finish does what the journal says, and empties it.
func (k *kept) finish(ctx context.Context, c changes) error {
	if err := k.write(ctx, c); err != nil {
		return err
	}
	return k.durable.Put(ctx, journalKey, nil)
}

func (k *kept) write(ctx context.Context, c changes) error {
	k.apply(c)
	for n := range dirty(c) {
		page := map[string][]byte{}
		k.mu.Lock()
		for name, v := range k.all {
			if pageOf(name) == n {
				page[name] = v
			}
		}
		k.mu.Unlock()
		b, err := json.Marshal(page)
		if err != nil {
			return fmt.Errorf("keep a page: %w", err)
		}
		if err := k.durable.Put(ctx, pageKey(n), b); err != nil {
			return err
		}
	}
	return nil
}

// dirty are the pages that changes are on.
func dirty(c changes) map[int]bool {
	out := map[int]bool{}
	for name := range c {
		out[pageOf(name)] = true
	}
	return out
}
