package config

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hearth-assistant/hearth/internal/seed"
)

// watched is a file under Watch; until waits for a snapshot that fits.
type watched struct {
	*File
	t    *testing.T
	path string
	news chan struct{}
}

func watch(t *testing.T, path string, opts Options) *watched {
	t.Helper()
	goleak.VerifyNone(t, goleak.IgnoreCurrent())
	w := &watched{t: t, path: path, news: make(chan struct{}, 1)}
	opts.OnChange = func(*Snapshot) {
		select {
		case w.news <- struct{}{}:
		default:
		}
	}
	w.File = open(t, path, opts)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Watch(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Watch: %v", err)
		}
	})
	return w
}

func (w *watched) until(what string, fits func(*Snapshot) bool) *Snapshot {
	w.t.Helper()
	limit := time.NewTimer(10 * time.Second)
	defer limit.Stop()
	for {
		if s := w.Snapshot(); fits(s) {
			return s
		}
		select {
		case <-w.news:
		case <-limit.C:
			w.t.Fatalf("never saw: %s; have %+v", what, w.Snapshot())
		}
	}
}

func (w *watched) untilPort(port int) {
	w.t.Helper()
	w.until(fmt.Sprintf("port %d", port), func(s *Snapshot) bool { return s.Valid && door(s.Config).Port == port })
}

func portText(port int) string { return fmt.Sprintf("// edited\n{ gateway: { port: %d } }\n", port) }

// swap saves as editors do: a new file, renamed over the old one.
func swap(t *testing.T, path, text string) {
	t.Helper()
	put(t, path+".new", text)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func TestWatchFollowsEveryKindOfSave(t *testing.T) {
	path := place(t, portText(1))
	w := watch(t, path, Options{Debounce: 5 * time.Millisecond, Poll: time.Hour})
	w.untilPort(1)
	put(t, path, portText(2))
	w.untilPort(2)
	swap(t, path, portText(3))
	w.untilPort(3)

	put(t, path, "{ gateway: { port: ")
	s := w.until("the broken text", func(s *Snapshot) bool { return !s.Valid })
	if door(s.Config).Port != 3 || s.Origin != FromRunning || len(s.Problems()) == 0 {
		t.Errorf("while broken: %+v", s)
	}
	put(t, path, portText(4))
	w.untilPort(4)

	put(t, path, "")
	w.until("the emptied file", func(s *Snapshot) bool { return !s.Valid && door(s.Config).Port == 4 })
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s = w.until("the deleted file", func(s *Snapshot) bool { return !s.Exists })
	if s.Valid || door(s.Config).Port != 4 || s.Problems()[0].Code != ProblemMissing {
		t.Errorf("while deleted: %+v %v", s, s.Problems())
	}
	put(t, path, portText(5))
	w.untilPort(5)
}

// TestWatchHearsNoNeighbours: the database lies beside the file and is written with
// every message; what tells of the file must not tell of that.
func TestWatchHearsNoNeighbours(t *testing.T) {
	path := place(t, portText(1))
	w := newWatcher(open(t, path, Options{}))
	t.Cleanup(w.close)
	hears := func(want ...string) {
		t.Helper()
		if got := slices.Sorted(maps.Keys(w.heard)); !slices.Equal(got, want) {
			t.Errorf("notices come of %q, want %q", got, want)
		}
	}
	hears(path)
	swap(t, path, portText(2))
	w.look()
	hears(path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.look()
	hears(filepath.Dir(path)) // until there is a file again
	put(t, path, portText(3))
	w.look()
	hears(path)
}

func TestWatchWithoutNotices(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	path := filepath.Join(dir, "hearth.json")
	w := watch(t, path, Options{Debounce: time.Millisecond, Poll: 10 * time.Millisecond})
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, path, portText(2))
	w.untilPort(2)
	if err := os.Rename(dir, dir+"-old"); err != nil {
		t.Fatal(err)
	}
	w.until("the lost folder", func(s *Snapshot) bool { return !s.Exists && door(s.Config).Port == 2 })
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, path, portText(3))
	w.untilPort(3)
}

func TestWatchSymlinkSwap(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "hearth.json")
	for i := 1; i <= 2; i++ {
		sub := filepath.Join(dir, fmt.Sprint("v", i))
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(sub, "real.json"), portText(i))
	}
	link := func(i int) {
		if err := os.Symlink(filepath.Join(fmt.Sprint("v", i), "real.json"), path+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	link(1)
	w := watch(t, path, Options{Debounce: 5 * time.Millisecond, Poll: time.Hour})
	w.untilPort(1)
	link(2)
	w.untilPort(2)
	put(t, filepath.Join(dir, "v2", "real.json"), portText(3)) // behind the link
	w.untilPort(3)
	if _, err := w.SetPath(t.Context(), "gateway.port", "4"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("an edit replaced the symlink")
	}
	if got := get(t, filepath.Join(dir, "v2", "real.json")); got != portText(4) {
		t.Errorf("behind the link: %s", got)
	}
}

// TestFault_F_CFG_02: random hand edits of every kind while Watch runs and our
// own edits go on. Settings in use were always valid ones, the text of the
// person is never rewritten by reading, and the last valid edit ends in use.
func TestFault_F_CFG_02_EditRaces(t *testing.T) {
	path := place(t, portText(1))
	w := watch(t, path, Options{Debounce: time.Millisecond, Poll: 20 * time.Millisecond})
	rng := seed.Fixed(t, 3)
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	last := 1
	for i := range rounds {
		port := 1000 + i
		switch rng.IntN(8) {
		case 0:
			put(t, path, portText(port))
			last = port
		case 1:
			swap(t, path, portText(port))
			last = port
		case 2:
			text := portText(port)
			put(t, path, text[:rng.IntN(len(text)-4)]) // an editor stops half way …
			put(t, path, text)                         // … and goes on
			last = port
		case 3:
			put(t, path, "{ gateway: { bind: 'nowhere' } }")
			if rng.IntN(2) == 0 {
				w.until("the refused bind", func(s *Snapshot) bool { return !s.Valid })
			}
			put(t, path, portText(port))
			last = port
		case 4:
			if err := os.Chmod(path, 0o400); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, 0o600); err != nil {
				t.Fatal(err)
			}
		case 5:
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			put(t, path, portText(port))
			last = port
		case 6:
			if _, err := w.SetPath(t.Context(), "gateway.port", fmt.Sprint(port)); err != nil {
				t.Fatalf("round %d: %v", i, err)
			}
			last = port
		default:
			w.untilPort(last)
		}
		if s := w.Snapshot(); door(s.Config).Bind != "loopback" {
			t.Fatalf("round %d: settings in use: %+v", i, s.Config)
		}
		if got := get(t, path); got != portText(last) {
			t.Fatalf("round %d: the file holds %q, want port %d", i, got, last)
		}
	}
	w.untilPort(last)
	if got := get(t, path+".last-good"); got != portText(last) {
		t.Errorf("last good copy: %q", got)
	}
}
