package host_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/host"
)

// TestOrder: features start as they are listed and close the other way round,
// one that is switched off is not made, and one that fails leaves the rest alone.
func TestOrder(t *testing.T) {
	var log []string
	entry := func(name string, err error) host.Entry {
		return host.Entry{Name: name, New: func() (host.Feature, error) {
			log = append(log, "new "+name)
			return host.Feature{Close: func(context.Context) error {
				log = append(log, "close "+name)
				return nil
			}}, err
		}}
	}
	h := host.New(host.Options{Enabled: func(name string) bool { return name != "off" }})
	h.Add(t.Context(), []host.Entry{
		entry("a", nil), entry("off", nil), entry("broken", errors.New("no disk")), entry("nothing", host.ErrOff),
		{Name: "panics", New: func() (host.Feature, error) { panic("oh") }}, entry("b", nil),
	})
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"new a", "new broken", "new nothing", "new b", "close b", "close a"}; !slices.Equal(log, want) {
		t.Errorf("%q, want %q", log, want)
	}
	if h.Complete() {
		t.Error("a list with features that are off is complete")
	}
	problems := h.Problems()
	if len(problems) != 2 || !strings.Contains(problems[0].Message, "broken") || !strings.Contains(problems[0].Message, "no disk") ||
		!strings.Contains(problems[1].Message, "features.panics") {
		t.Errorf("%+v", problems)
	}
}

// TestWorkIsSupervised: background work that fails or panics is reported and
// begins again; work that returns nil is done.
func TestWorkIsSupervised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		ctx, cancel := context.WithCancel(t.Context())
		h := host.New(host.Options{})
		h.Add(ctx, []host.Entry{{Name: "shaky", New: func() (host.Feature, error) {
			return host.Feature{Run: func(ctx context.Context) error {
				switch runs.Add(1) {
				case 1:
					return errors.New("lost the line")
				case 2:
					panic("oh")
				}
				<-ctx.Done()
				return ctx.Err()
			}}, nil
		}}, {Name: "short", New: func() (host.Feature, error) {
			return host.Feature{Run: func(context.Context) error { return nil }}, nil
		}}})
		done := make(chan struct{})
		go func() { h.Run(ctx); close(done) }()
		synctest.Wait()
		if p := h.Problems(); len(p) != 1 || !strings.Contains(p[0].Message, "lost the line") {
			t.Errorf("after a failure: %+v", p)
		}
		<-time.After(host.FirstPause)
		synctest.Wait()
		if p := h.Problems(); runs.Load() != 2 || len(p) != 1 || !strings.Contains(p[0].Message, "oh") {
			t.Errorf("after a panic, run %d: %+v", runs.Load(), p)
		}
		<-time.After(2 * host.FirstPause)
		synctest.Wait()
		if p := h.Problems(); runs.Load() != 3 || len(p) != 0 {
			t.Errorf("run %d: %+v", runs.Load(), p)
		}
		cancel()
		<-done
	})
}
