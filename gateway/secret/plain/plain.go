// Package plain keeps secrets in a private file that is not encrypted: what
// most programs do, and here only by an explicit choice. Every program that the
// user runs can read it.
package plain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Store is a secret.Store in an open file.
type Store struct {
	path string
	now  func() time.Time
	mu   sync.Mutex
}

// New returns the store in a file, which is not looked at yet.
func New(path string, now func() time.Time) *Store { return &Store{path: path, now: now} }

func (s *Store) load() (secret.Items, error) {
	items := secret.Items{}
	info, err := os.Lstat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return items, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("the file of secrets %s is not a file of its own (a link, or a folder)", s.path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("other users of this machine can use the file of secrets, so it is not read; run: chmod 600 %s", s.path)
	}
	b, err := os.ReadFile(s.path)
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(b, &items) != nil {
		return nil, fmt.Errorf("the file of secrets %s is damaged; restore it from a backup, or move it away to start an empty one", s.path)
	}
	return items, nil
}

// Get returns a secret.
func (s *Store) Get(_ context.Context, name string) (secret.Secret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	items, err := s.load()
	if err != nil {
		return secret.Secret{}, err
	}
	return items.Secret(name)
}

// Set keeps a secret.
func (s *Store) Set(_ context.Context, name string, v secret.Secret) error {
	return s.change(func(items secret.Items) error {
		items.Put(name, v, s.now())
		return nil
	})
}

// Delete removes a secret.
func (s *Store) Delete(_ context.Context, name string) error {
	return s.change(func(items secret.Items) error { return items.Remove(name) })
}

func (s *Store) change(edit func(secret.Items) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	items, err := s.load()
	if err != nil {
		return err
	}
	if err := edit(items); err != nil {
		return err
	}
	if len(items) == 0 {
		return os.Remove(s.path)
	}
	b, err := json.Marshal(items)
	if err != nil {
		return err
	}
	return statedir.WriteFile(s.path, append(b, '\n'))
}

// List names what is kept.
func (s *Store) List(context.Context) ([]secret.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	items, err := s.load()
	if err != nil {
		return nil, err
	}
	return items.Entries(), nil
}
