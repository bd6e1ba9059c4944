package release

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// TestFault_F_OPS_StoppedWhileTheStoreIsExchanged: whoever is stopped when the older
// store is back and nobody has heard of it is told at the next start where the newer one
// is and how much is only in that; and who was stopped before, too.
func TestFault_F_OPS_StoppedWhileTheStoreIsExchanged(t *testing.T) {
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, stopped := range map[string]func(t *testing.T, dir statedir.Dir, back func(context.Context) (string, int, error)){
		"nowhere": func(*testing.T, statedir.Dir, func(context.Context) (string, int, error)) {},
		"after it": func(t *testing.T, _ statedir.Dir, back func(context.Context) (string, int, error)) {
			ctx, stop := context.WithCancel(t.Context())
			stop()
			if _, _, err := back(ctx); !errors.Is(err, context.Canceled) {
				t.Fatalf("it was not stopped: %v", err)
			}
		},
		"before it": func(t *testing.T, dir statedir.Dir, _ func(context.Context) (string, int, error)) {
			x := &Exchange{From: BeforeUpdate(dir), Kept: store.ReplacedName(dir.Store(), "then"), Lost: 3}
			if _, err := Change(dir, func(s *State) { s.Exchange = x }); err != nil {
				t.Fatal(err)
			}
		},
		"when it has its other name": func(t *testing.T, dir statedir.Dir, _ func(context.Context) (string, int, error)) {
			x := &Exchange{From: BeforeUpdate(dir), Kept: store.ReplacedName(dir.Store(), "then"), Lost: 3}
			if _, err := Change(dir, func(s *State) { s.Exchange = x }); err != nil {
				t.Fatal(err)
			}
			if err := os.Link(dir.Store(), x.Kept); err != nil {
				t.Skip(err)
			}
		},
		"where no file has two names": func(t *testing.T, dir statedir.Dir, _ func(context.Context) (string, int, error)) {
			x := &Exchange{From: BeforeUpdate(dir), Kept: store.ReplacedName(dir.Store(), "then"), Lost: 3}
			if _, err := Change(dir, func(s *State) { s.Exchange = x }); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(dir.Store(), x.Kept); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := statedir.Dir(t.TempDir())
			db, err := store.Open(dir.Store(), store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(db.Copy(t.Context(), BeforeUpdate(dir)), db.Close(t.Context())); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dir.Store(), []byte("a newer version wrote this, and it was damaged"), 0o600); err != nil {
				t.Fatal(err)
			}
			newer, err := os.Stat(dir.Store())
			if err != nil {
				t.Fatal(err)
			}
			count := func(path string) (int, error) {
				if is, err := os.Stat(path); err != nil || !os.SameFile(is, newer) {
					return 4, err
				}
				return 7, nil
			}
			back := func(ctx context.Context) (string, int, error) {
				now = now.Add(time.Minute)
				return StoreBack(ctx, dir, BeforeUpdate(dir), now, count)
			}
			stopped(t, dir, back)
			kept, lost, err := back(t.Context())
			if err != nil || lost != 3 {
				t.Fatalf("kept %q, lost %d, %v", kept, lost, err)
			}
			if is, err := os.Stat(kept); err != nil || !os.SameFile(is, newer) {
				t.Fatalf("the newer one is not at %q: %v", kept, err)
			}
			if _, err := store.Check(dir.Store()); err != nil {
				t.Fatal(err)
			}
			st, err := Change(dir, func(s *State) { s.Going = &Going{}; s.Gone(now, kept, lost) })
			if err != nil || st.Exchange != nil {
				t.Fatalf("it is told again: %+v %v", st.Exchange, err)
			}
		})
	}
}
