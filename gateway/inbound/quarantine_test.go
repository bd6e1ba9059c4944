package inbound

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// What is put aside is told to its sender, kept whole, and tried again or
// dropped when the owner says so.
func TestFault_F_CHAN_07_WhatWasPutAsideIsDecided(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, h *house) {
		broken, panics := true, 0
		h.Broken = func(string, any) { panics++ }
		h.sessions.try = func(a Accepted) error {
			if broken && strings.HasPrefix(a.CommandBody, "poison") {
				panic("boom")
			}
			return nil
		}
		long := "poison " + strings.Repeat("x", 1000)
		h.receive(dm("1", long))
		h.receive(dm("2", "poison two"))
		pass(time.Minute)
		list, err := h.Quarantine()
		if err != nil || len(list) != 2 || panics != 6 {
			t.Fatalf("%+v, %v, %d panics", list, err, panics)
		}
		if len(h.told) != 2 || !strings.Contains(h.told[0], "put aside and is not lost") {
			t.Errorf("told %q", h.told)
		}
		h.restart()
		broken = false
		if err := h.Retry(t.Context(), list[0].ID); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.want(long)
		if err := h.Drop(t.Context(), list[1].ID); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{h.Retry(t.Context(), list[0].ID), h.Drop(t.Context(), list[1].ID)} {
			if !errors.Is(err, ErrNotAside) {
				t.Errorf("decided twice: %v", err)
			}
		}
		if left, err := h.Quarantine(); err != nil || len(left) != 0 {
			t.Errorf("%+v, %v", left, err)
		}
	})
}

// The same for a message that broke before it could be kept, and for one of an
// earlier Hearth, which kept its beginning only.
func TestRetryBeforeItWasKept(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, h *house) {
		h.Gate.IsCommand = func(string) bool { panic("boom") }
		for range 2 {
			if h.Receive(t.Context(), dm("1", "poison")) == nil {
				t.Fatal("acknowledged")
			}
		}
		h.receive(dm("1", "poison"))
		list, err := h.Quarantine()
		if err != nil || len(list) != 1 || len(h.told) != 1 {
			t.Fatalf("%+v, %v, told %q", list, err, h.told)
		}
		if err := h.Retry(t.Context(), list[0].ID); err == nil {
			t.Error("it failed again, but nothing says so")
		}
		h.Gate.IsCommand = func(string) bool { return false }
		if err := h.Retry(t.Context(), list[0].ID); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.want("poison")
		err = h.DB.Update(t.Context(), store.Write{Do: func(tx *store.Tx) error {
			return h.Gate.t.quarantine.Put(tx, store.Uint64Key(99), quarantineRow{Quarantined: Quarantined{Preview: "old"}})
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Retry(t.Context(), 99); !errors.Is(err, ErrNotWhole) {
			t.Error(err)
		}
	})
}

// A turn that its session does not want is no silence either.
func TestARefusedMessageIsTold(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, h *house) {
		h.sessions.try = func(Accepted) error { return fmt.Errorf("%w: the queue is full", ErrRefused) }
		h.receive(dm("1", "one too many"))
		synctest.Wait()
		if len(h.told) != 1 || !strings.Contains(h.told[0], "not taken: the queue is full.") {
			t.Errorf("told %q", h.told)
		}
	})
}
