package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// SideFile is a small file beside the store for what must survive that an older
// copy of the store is put in its place: above all, what somebody took away from
// somebody. It is written as a whole, so it is for little that seldom changes.
type SideFile struct {
	path string

	mu     sync.Mutex
	tables map[string]map[string]json.RawMessage
}

// OpenSideFile reads the file at path, or begins one. When the file cannot be
// understood it is set aside under another name and told as aside; the store
// then says what it still knows.
func OpenSideFile(path string) (b *SideFile, aside string, err error) {
	b = &SideFile{path: path, tables: map[string]map[string]json.RawMessage{}}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return b, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("read what was removed: %w", err)
	}
	if json.Unmarshal(raw, &b.tables) == nil && b.tables != nil {
		return b, "", nil
	}
	b.tables = map[string]map[string]json.RawMessage{}
	aside = path + ".damaged"
	if err := os.Rename(path, aside); err != nil {
		return nil, "", fmt.Errorf("%s is damaged and cannot be set aside: %w", path, err)
	}
	return b, aside, nil
}

// change edits a table and makes it durable; on an error nothing was changed.
func (b *SideFile) change(name, id string, v json.RawMessage) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	before, had := b.tables[name][id]
	if v == nil && !had || had && string(before) == string(v) {
		return nil
	}
	b.set(name, id, v)
	raw, err := json.Marshal(b.tables)
	if err == nil {
		err = statedir.WriteFile(b.path, append(raw, '\n'))
	}
	if err != nil {
		b.set(name, id, before)
	}
	return err
}

func (b *SideFile) set(name, id string, v json.RawMessage) {
	if v == nil {
		delete(b.tables[name], id)
		return
	}
	if b.tables[name] == nil {
		b.tables[name] = map[string]json.RawMessage{}
	}
	b.tables[name][id] = v
}

// SideTable is a SmallTable in a SideFile. Its methods may be called at the same time.
type SideTable[T any] struct {
	b    *SideFile
	name string
	id   func(T) string
}

// NewSideTable keeps values in the table called name.
func NewSideTable[T any](b *SideFile, name string, id func(T) string) SideTable[T] {
	return SideTable[T]{b: b, name: name, id: id}
}

// Load returns all values, in no order.
func (s SideTable[T]) Load(context.Context) (all []T, err error) {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	for id, raw := range s.b.tables[s.name] {
		var v T
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil, fmt.Errorf("%s: %s/%s: %w", s.b.path, s.name, id, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// Save returns when the value is durable.
func (s SideTable[T]) Save(_ context.Context, v T) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.b.change(s.name, s.id(v), raw)
}

// Forget returns when there durably is no value of this id.
func (s SideTable[T]) Forget(_ context.Context, id string) error {
	return s.b.change(s.name, id, nil)
}
