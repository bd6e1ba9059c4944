package lookup

import (
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Set replaces the settings, as config.File.Set does, with the keys of the text
// kept as Keep does.
func (s *Secrets) Set(ctx context.Context, baseHash, raw string) (snap *config.Snapshot, notes []string, err error) {
	return s.edit(ctx, raw, func(raw string) (*config.Snapshot, error) { return s.o.Settings.Set(ctx, baseHash, raw) })
}

// Patch changes the settings, as config.File.MergePatch does, with the keys of
// the patch kept as Keep does.
func (s *Secrets) Patch(ctx context.Context, baseHash, raw string) (snap *config.Snapshot, notes []string, err error) {
	return s.edit(ctx, raw, func(raw string) (*config.Snapshot, error) { return s.o.Settings.MergePatch(ctx, baseHash, raw) })
}

func (s *Secrets) edit(ctx context.Context, raw string, edit func(raw string) (*config.Snapshot, error)) (snap *config.Snapshot,
	notes []string, err error) {
	notes, err = s.Keep(ctx, raw, func(raw string) (err error) {
		snap, err = edit(raw)
		return err
	})
	if errors.Is(err, config.ErrStale) {
		// Whoever reads the settings again because of it must read the new ones,
		// which may not have been noticed yet.
		if again := s.o.Settings.Reload(ctx); again != nil {
			s.o.Logger.Warn("the settings that were changed could not be read", "err", again)
		}
	}
	return snap, notes, err
}
