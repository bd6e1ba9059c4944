package node

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// What a node declares anew is not what was approved.
func TestSec_A_NODE_02_WideningWaits(t *testing.T) {
	b := newBench(t)
	b.join("n", "device.info")
	b.approve("n")
	w := b.join("n", "device.info", "system.run", "system.run.prepare")
	i, _ := b.Get("n")
	if !slices.Equal(i.Commands, []string{"device.info"}) || i.Request == nil || !slices.Contains(i.Request.New, "system.run") {
		t.Fatalf("%+v", i)
	}
	var refused *NotAllowedError
	if _, err := b.Invoke(t.Context(), Call{NodeID: "n", Command: "system.run"}); !errors.As(err, &refused) {
		t.Errorf("system.run: %v", err)
	}
	// A decision is about what was shown.
	old := i.Request.ID
	b.join("n", "device.info", "system.run", "screen.snapshot")
	if _, err := b.Decide(t.Context(), old, true, "test"); !errors.Is(err, ErrNoRequest) {
		t.Errorf("an older request was approved: %v", err)
	}
	b.approve("n")
	if i, _ := b.Get("n"); !slices.Contains(i.Commands, "system.run") {
		t.Errorf("after the approval: %+v", i)
	}
	// Narrower: what is not offered now cannot be called.
	b.join("n", "device.info")
	if _, err := b.Invoke(t.Context(), Call{NodeID: "n", Command: "system.run"}); !errors.As(err, &refused) {
		t.Errorf("not offered: %v", err)
	}
	if got := w.closed(); !strings.Contains(got, "replaced") {
		t.Errorf("the older connection: %q", got)
	}
}

// What a device says that it is, once it was approved, opens nothing: it waits
// for a person again, and may do what it could before and no more.
func TestSec_A_PAIR_08_AnotherKindOfDeviceOpensNothing(t *testing.T) {
	b := newBench(t)
	joinAs := func(platform, family string) {
		t.Helper()
		err := b.Join(t.Context(), Hello{ID: "n", About: About{ClientID: "x", Platform: platform, DeviceFamily: family},
			Surface: Surface{Commands: []string{"device.info", "system.run", "system.run.prepare"}}, Conn: newWire()})
		if err != nil {
			t.Fatal(err)
		}
	}
	may := func() []string {
		i, _ := b.Get("n")
		return i.Commands
	}
	joinAs("android 16", "Pixel")
	b.approve("n")
	if got := may(); !slices.Equal(got, []string{"device.info"}) {
		t.Fatalf("a phone may %v", got)
	}
	for _, says := range [][2]string{{"macos 26", "Mac"}, {"linux", ""}, {"m\u0430cos", ""}, {"", ""}, {"", "windows"}} {
		before := len(b.alarms())
		joinAs(says[0], says[1])
		if got := may(); !slices.Equal(got, []string{"device.info"}) {
			t.Errorf("as %q it may %v", says, got)
		}
		if len(b.alarms()) != before+1 || len(b.Requests()) != 1 {
			t.Errorf("as %q: alarms %q, requests %+v", says, b.alarms(), b.Requests())
		}
	}
	joinAs("macos 26", "Mac")
	b.approve("n")
	if got := may(); !slices.Contains(got, "system.run") {
		t.Errorf("approved anew it may %v", got)
	}
	before := len(b.alarms())
	joinAs("macOS 27.1", "Mac") // its system was updated
	if len(b.alarms()) != before || len(b.Requests()) != 0 {
		t.Errorf("an update: %q, %+v", b.alarms(), b.Requests())
	}
}

// A no is remembered for exactly what was asked.
func TestRejectedIsNotAskedAgain(t *testing.T) {
	b := newBench(t)
	b.join("n", "device.info")
	q := b.Requests()[0]
	if _, err := b.Decide(t.Context(), q.ID, false, "test"); err != nil {
		t.Fatal(err)
	}
	b.join("n", "device.info")
	if len(b.Requests()) != 0 {
		t.Error("asked again")
	}
	b.join("n", "device.info", "location.get")
	if len(b.Requests()) != 1 {
		t.Error("something else was not asked")
	}
}

// A code of a person approves what is harmless, once, and nothing more.
func TestSec_A_NODE_02_CodesApproveNoPrograms(t *testing.T) {
	b := newBench(t)
	w := newWire()
	if err := b.Join(t.Context(), Hello{ID: "n", About: About{Platform: "linux"},
		Surface: Surface{Commands: []string{"location.get", "system.run"}}, Conn: w, Trusted: true}); err != nil {
		t.Fatal(err)
	}
	i, _ := b.Get("n")
	if !slices.Equal(i.Commands, []string{"location.get"}) || i.Request == nil || !slices.Equal(i.Request.New, []string{"system.run"}) {
		t.Errorf("%+v", i)
	}
}

// An answer of an older connection is nobody's.
func TestSec_A_NODE_10_NewestConnectionCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		old := b.joinFrom("n", "10.0.0.2", "device.info")
		b.approve("n")
		done := b.call(Call{NodeID: "n", Command: "device.info"})
		q := <-old.asked
		next := b.joinFrom("n", "10.0.0.3", "device.info")
		if got := <-done; !errors.Is(got.err, ErrGone) {
			t.Errorf("the open call: %v", got.err)
		}
		if b.Answer("n", old, good(q.ID, "n", `{}`)) || b.Answer("n", next, good(q.ID, "n", `{}`)) {
			t.Error("an answer from before was taken")
		}
		if old.closed() == "" || len(b.alarms()) == 0 || !strings.Contains(b.alarms()[0], "copied") {
			t.Errorf("old %q, alarms %q", old.closed(), b.alarms())
		}
		b.Leave(t.Context(), "n", old) // the older one is gone at last
		if i, _ := b.Get("n"); !i.Connected {
			t.Error("the newer connection was taken for the older")
		}
	})
}

// Names and lists of a node are cleaned and bounded before anybody sees them.
func TestSurfacesAreCleaned(t *testing.T) {
	s := Surface{Commands: []string{"b", "a", "a", "x y", "\x1b[2J", ""}, Permissions: map[string]bool{"camera": true, "\n": true}}.clean()
	if !slices.Equal(s.Commands, []string{"a", "b"}) || len(s.Permissions) != 1 {
		t.Errorf("%+v", s)
	}
}
