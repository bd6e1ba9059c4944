package lookup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/secret/keeper"
)

// Keep runs an edit of the settings whose text may hold keys: where there is
// a place for them, they go there and the text refers to them. notes says so to
// a person. An edit that fails leaves the store as it was.
func (s *Secrets) Keep(ctx context.Context, raw string, edit func(raw string) error) (notes []string, err error) {
	text, found, err := s.o.Settings.Sections().Hoist(raw)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		s.Hide(f.Value)
	}
	if len(found) == 0 {
		return nil, edit(raw)
	}
	status := s.keeper.Status(ctx)
	if !status.Ready() {
		note := "The key of " + paths(found) + " stands in the settings file, where your other programs can read it. " + status.Message
		return []string{strings.TrimSpace(note)}, edit(raw)
	}
	undo, err := s.storeKeys(ctx, found)
	if err != nil {
		return nil, err
	}
	if err := edit(text); err != nil {
		return nil, errors.Join(err, undo())
	}
	return []string{"The key of " + paths(found) + " went into the " + placeWords(status.Place) + "; the settings file only refers to it."},
		nil
}

// storeKeys keeps all or none; undo puts back what was there before.
func (s *Secrets) storeKeys(ctx context.Context, found []config.Hoisted) (undo func() error, err error) {
	var steps []func() error
	undo = func() error {
		var errs []error
		for _, step := range steps {
			errs = append(errs, step())
		}
		return errors.Join(errs...)
	}
	for _, f := range found {
		old, err := s.Store().Get(ctx, f.Path)
		switch {
		case errors.Is(err, secret.ErrNotFound):
			steps = append(steps, func() error { return s.Store().Delete(ctx, f.Path) })
		case err == nil:
			steps = append(steps, func() error { return s.Store().Set(ctx, f.Path, old) })
		}
		if err := s.Store().Set(ctx, f.Path, f.Value); err != nil {
			steps = steps[:len(steps)-1]
			return undo, errors.Join(fmt.Errorf("keep the key of %s: %w", f.Path, err), undo())
		}
	}
	s.refs.Forget()
	return undo, nil
}

func paths(found []config.Hoisted) string {
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = f.Path
	}
	return strings.Join(names, ", ")
}

func placeWords(place string) string {
	switch place {
	case keeper.Keychain:
		return "system's keychain"
	case keeper.Plain:
		return "file of secrets"
	}
	return place
}

// Migrate moves every key that the settings hold into the store.
func (s *Secrets) Migrate(ctx context.Context) ([]string, error) {
	snap := s.o.Settings.Snapshot()
	found := snap.Literals()
	if len(found) == 0 {
		return []string{}, nil
	}
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	_, err := s.Keep(ctx, snap.Raw, func(raw string) error {
		_, err := s.o.Settings.Set(ctx, snap.Hash, raw)
		return err
	})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = f.Path
	}
	return names, nil
}

// ready is an error in words when nothing can be kept now.
func (s *Secrets) ready(ctx context.Context) error {
	st := s.keeper.Status(ctx)
	switch {
	case st.Ready():
		return nil
	case st.State == "locked":
		return fmt.Errorf("%w. %s", secret.ErrLocked, st.Message)
	}
	return fmt.Errorf("%w. %s", secret.ErrUnavailable, st.Message)
}
