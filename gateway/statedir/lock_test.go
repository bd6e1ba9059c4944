package statedir

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
)

func TestLock(t *testing.T) {
	d := Dir(t.TempDir())
	unlock, err := d.Lock(t.Context(), "logins")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Lock(ctx, "logins"); !errors.Is(err, context.Canceled) {
		t.Errorf("two hold it: %v", err)
	}
	other, err := d.Lock(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	other()
	got := make(chan error)
	go func() {
		again, err := d.Lock(t.Context(), "logins")
		if err == nil {
			again()
		}
		got <- err
	}()
	unlock()
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestHeld(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("not told there")
	}
	d := Dir(t.TempDir())
	if d.Held() {
		t.Error("held without a store")
	}
	f, err := os.Create(d.Store())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if d.Held() {
		t.Error("held by nobody")
	}
	if busy, err := tryLock(f); busy || err != nil {
		t.Fatal(busy, err)
	}
	if !d.Held() {
		t.Error("not held by somebody")
	}
}
