package secret

import (
	"slices"
	"strings"
	"time"
)

// Items is the content of a store that is one file, by name.
type Items map[string]Item

// Item is one secret in such a file.
type Item struct {
	Value string `json:"value"`
	At    int64  `json:"at"` // ms
}

// Secret returns one.
func (i Items) Secret(name string) (Secret, error) {
	it, ok := i[name]
	if !ok {
		return Secret{}, ErrNotFound
	}
	return New(it.Value), nil
}

// Put keeps one.
func (i Items) Put(name string, s Secret, now time.Time) {
	i[name] = Item{s.Reveal(), now.UnixMilli()}
}

// Remove takes one away.
func (i Items) Remove(name string) error {
	if _, ok := i[name]; !ok {
		return ErrNotFound
	}
	delete(i, name)
	return nil
}

// Entries tells what there is, by name.
func (i Items) Entries() []Entry {
	out := make([]Entry, 0, len(i))
	for name, it := range i {
		out = append(out, Entry{Name: name, UpdatedAt: time.UnixMilli(it.At)})
	}
	slices.SortStableFunc(out, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return out
}
