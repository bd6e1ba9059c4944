package inbound

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func (h *house) heardOf() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.told...)
}

// What is older than a day when Hearth comes back is left out, and whoever wrote
// it is told once, also over a crash. What is younger is read.
func TestFault_F_CHAN_06_WhatIsTooOldIsToldOf(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, h *house) {
		old := time.Now().Add(-30 * time.Hour)
		for i := range 3 {
			in := dm(fmt.Sprint(i), fmt.Sprintf("old %d", i))
			in.At = old.Add(time.Duration(i) * time.Hour)
			h.receive(in)
			h.receive(in) // the network brings it again
		}
		other := by(dm("9", "of somebody else"), "43", "Bob")
		other.At = old
		h.receive(other)
		young := dm("10", "of this morning")
		young.At = time.Now().Add(-5 * time.Hour)
		h.receive(young)
		if told := h.heardOf(); len(told) != 0 {
			t.Errorf("told before it is over: %q", told)
		}
		h.restart()
		pass(time.Minute)
		h.want("of this morning")
		told := strings.Join(h.heardOf(), "\n")
		if n := len(h.heardOf()); n != 2 {
			t.Fatalf("told %d times: %q", n, told)
		}
		for _, want := range []string{"telegram 42 While I was away 3 messages", old.UTC().Format("2 January 15:04"), "older than a day",
			"telegram 43 While I was away a message"} {
			if !strings.Contains(told, want) {
				t.Errorf("%q is missing in %q", want, told)
			}
		}
		h.restart()
		pass(time.Minute)
		if n := len(h.heardOf()); n != 2 {
			t.Error("told again")
		}
	})
}

// More than is read of one person is left out and told of; others are not
// affected, and what is written now is read.
func TestFault_F_CHAN_06_WhatIsTooMuchIsToldOf(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, h *house) {
		began := time.Now().Add(-time.Hour)
		for i := range maxBacklog + 20 {
			in := dm(fmt.Sprint(i), fmt.Sprint(i))
			in.At = began.Add(time.Duration(i) * time.Millisecond)
			h.receive(in)
		}
		other := by(dm("1", "of Bob"), "43", "Bob")
		other.At = began
		h.receive(other)
		h.receive(dm("now", "now"))
		pass(time.Minute)
		bodies := h.sessions.bodies()
		if strings.Contains(bodies, fmt.Sprint(maxBacklog)) || !strings.Contains(bodies, fmt.Sprint(maxBacklog-1)) ||
			!strings.Contains(bodies, "of Bob") || !strings.Contains(bodies, "now") {
			t.Errorf("read: %q", bodies)
		}
		if told := h.heardOf(); len(told) != 1 || !strings.Contains(told[0], "20 messages") || !strings.Contains(told[0], "first 500") {
			t.Errorf("%q", told)
		}
		pass(2 * backlogOver)
		again := dm("later", "of the next time")
		again.At = time.Now().Add(-time.Hour)
		h.receive(again)
		pass(time.Minute)
		if !strings.Contains(h.sessions.bodies(), "of the next time") {
			t.Error("the next backlog is not read")
		}
	})
}

// A clock that is years off leaves nothing out, nor does age what a person wants
// tried again.
func TestFault_F_CHAN_06_AWrongClockLeavesNothingOut(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, h *house) {
		in := dm("1", "hello")
		in.At = time.Now().AddDate(-3, 0, 0)
		h.receive(in)
		in = dm("2", "from the future")
		in.At = time.Now().AddDate(3, 0, 0)
		h.receive(in)
		in = dm("3", "put aside two days ago")
		in.At = time.Now().Add(-48 * time.Hour)
		if err := h.receiveAgain(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		synctest.Wait()
		for _, want := range []string{"hello", "from the future", "put aside"} {
			if !strings.Contains(h.sessions.bodies(), want) {
				t.Errorf("%q was left out", want)
			}
		}
		if told := h.heardOf(); len(told) != 0 {
			t.Errorf("%q", told)
		}
	})
}
