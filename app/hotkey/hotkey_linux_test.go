package hotkey

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/app/desktoptest"
)

func TestTheKeyIsHeardEverywhereAndCanBeTaken(t *testing.T) {
	desktoptest.Need(t, "DISPLAY")
	if os.Getenv("WAYLAND_DISPLAY") != "" {
		desktoptest.Missing(t, "this is a Wayland session")
	}
	c, err := Parse("ctrl+alt+space")
	if err != nil {
		t.Fatal(err)
	}
	listen := func(ctx context.Context) (presses chan struct{}, ended chan error) {
		t.Helper()
		presses, ended = make(chan struct{}, 9), make(chan error, 1)
		ready := make(chan struct{})
		go func() {
			ended <- Listen(ctx, c, func() { close(ready) }, func() { presses <- struct{}{} })
		}()
		select {
		case <-ready:
		case err := <-ended:
			t.Fatal(err)
		}
		return presses, ended
	}
	ctx, cancel := context.WithCancel(t.Context())
	presses, ended := listen(ctx)
	key := func(chord string) {
		t.Helper()
		if out, err := exec.Command("xdotool", "key", chord).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	key("alt+space")
	key("ctrl+alt+a")
	key("ctrl+alt+space")
	select {
	case <-presses:
	case <-time.After(10 * time.Second):
		t.Fatal("the key was not heard")
	}
	if len(presses) > 0 {
		t.Error("another key was heard")
	}
	if err := Listen(t.Context(), c, func() { t.Error("taken twice") }, func() {}); !errors.Is(err, ErrTaken) {
		t.Errorf("a second program: %v", err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	again, stop := context.WithCancel(t.Context())
	_, ended = listen(again) // free again
	stop()
	<-ended
}

func TestFault_NoKeyUnderWayland(t *testing.T) {
	t.Setenv("WAYLAND_DISPLAY", "wayland-0")
	if err := Listen(t.Context(), Chord{Ctrl: true, Key: "a"}, func() {}, func() {}); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}
