package pause_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/store"
)

func open(t *testing.T, path string) (*pause.Switch, func()) {
	t.Helper()
	db, err := store.Open(path, store.Options{NoSync: true, ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := pause.Open(db, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s.Follow(nil)
	return s, func() {
		s.Close()
		if err := db.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatEachLevelStops(t *testing.T) {
	s, done := open(t, filepath.Join(t.TempDir(), "db"))
	defer done()
	for _, c := range []struct {
		level                pause.Level
		tool, local, service bool
	}{
		{pause.Off, false, false, false}, {pause.Tools, true, false, false}, {pause.Network, true, false, true},
		{pause.Everything, true, true, true},
	} {
		if _, err := s.Set(t.Context(), c.level, 0, "test", ""); err != nil {
			t.Fatal(err)
		}
		for act, want := range map[pause.Act]bool{pause.UseTool: c.tool, pause.CallModel: c.local, pause.CallService: c.service} {
			err := s.Check(act)
			var paused *pause.Error
			if errors.As(err, &paused) != want {
				t.Errorf("%s, act %d: %v", c.level, act, err)
			}
		}
	}
	for _, bad := range []pause.Level{"", "all", "TOOLS"} {
		if _, err := s.Set(t.Context(), bad, 0, "test", ""); !errors.Is(err, pause.ErrLevel) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := s.Set(t.Context(), pause.Tools, -time.Second, "test", ""); !errors.Is(err, pause.ErrLength) {
		t.Errorf("a pause of a negative length: %v", err)
	}
}

func TestPauseOutlivesARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	s, done := open(t, path)
	if _, err := s.Set(t.Context(), pause.Everything, 0, "the owner", "lunch"); err != nil {
		t.Fatal(err)
	}
	done()
	s, done = open(t, path)
	defer done()
	if st := s.Get(); st.Level != pause.Everything || st.By != "the owner" || st.Reason != "lunch" {
		t.Errorf("%+v", st)
	}
}

func TestPauseEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "db")
		s, done := open(t, path)
		if _, err := s.Set(t.Context(), pause.Tools, time.Hour, "test", ""); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := s.Wait(t.Context(), pause.UseTool); err != nil || time.Since(start) != time.Hour {
			t.Errorf("waited %v, %v", time.Since(start), err)
		}
		if _, err := s.Set(t.Context(), pause.Tools, time.Hour, "test", ""); err != nil {
			t.Fatal(err)
		}
		done()
		<-time.After(2 * time.Hour) // while nothing runs
		s, done = open(t, path)
		defer done()
		if err := s.Check(pause.UseTool); err != nil {
			t.Error(err)
		}
	})
}

func TestWaitEndsWithResumeOrContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, done := open(t, filepath.Join(t.TempDir(), "db"))
		defer done()
		if _, err := s.Set(t.Context(), pause.Everything, 0, "test", ""); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		given, resumed := make(chan error, 1), make(chan error, 1)
		go func() { given <- s.Wait(ctx, pause.CallModel) }()
		go func() { resumed <- s.Wait(t.Context(), pause.CallModel) }()
		synctest.Wait()
		stop()
		if err := <-given; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if _, err := s.Set(t.Context(), pause.Tools, 0, "test", ""); err != nil { // less is enough
			t.Fatal(err)
		}
		if err := <-resumed; err != nil {
			t.Error(err)
		}
	})
}
