package codemode_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/codemode"
	"github.com/hearth-assistant/hearth/gateway/codemode/engine"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

const slowProgram = `text("before"); const got = await tools.slow({}); text("after"); return got + "!"`

// suspended is a program that waits for the slow tool.
func suspended(t *testing.T, w *world) codemode.Result {
	t.Helper()
	w.set.Timeout = 300 * time.Millisecond
	res := w.run(slowProgram)
	if res.Status != codemode.Waiting || res.Reason != codemode.ReasonTools || res.RunID == "" || len(res.Pending) != 1 ||
		res.Pending[0].Tool != "hearth:core:slow" ||
		len(res.Output) != 1 || res.Output[0].Text != "before" || w.waiting() != 1 {
		t.Fatalf("%s", res.JSON())
	}
	w.set.Timeout = patience
	return res
}

func TestCodeMode_WaitResumesASuspendedProgram(t *testing.T) {
	w := newWorld(t)
	res := suspended(t, w)
	w.set.Timeout = 50 * time.Millisecond
	again := w.wait(res.RunID) // nothing has come: it waits on, and its snapshot stays
	if again.Status != codemode.Waiting || again.RunID != res.RunID || w.waiting() != 1 {
		t.Errorf("%s", again.JSON())
	}
	w.set.Timeout = patience
	w.slow <- "late"
	end := w.wait(res.RunID)
	if end.Status != codemode.Completed || string(end.Value) != `"late!"` || len(end.Output) != 1 || end.Output[0].Text != "after" {
		t.Errorf("%s", end.JSON())
	}
	if s := end.Telemetry.Snapshots; s.Saved != 1 || s.Restored != 1 || s.Bytes == 0 || end.Telemetry.Wait != 2 || w.waiting() != 0 {
		t.Errorf("%+v, %d wait", end.Telemetry, w.waiting())
	}
	w.wantFail(w.wait(res.RunID), engine.InvalidInput, "ended already")
}

// exec waits for calls by itself as long as it may.
func TestCodeMode_QuickCallsAreSettledInPlace(t *testing.T) {
	w := newWorld(t)
	go func() { w.slow <- "soon" }()
	if res := w.run(slowProgram); res.Status != codemode.Completed || res.Telemetry.Snapshots.Saved != 0 {
		t.Errorf("%s", res.JSON())
	}
}

func TestCodeMode_Yield(t *testing.T) {
	w := newWorld(t)
	res := w.run(`let n = 1; await yield_control("first"); n++; await yield_control(); return ++n`)
	for range 2 {
		if res.Status != codemode.Waiting || res.Reason != codemode.ReasonYield || len(res.Pending) > 0 {
			t.Fatalf("%s", res.JSON())
		}
		res = w.wait(res.RunID)
	}
	if string(res.Value) != "3" || w.waiting() != 0 {
		t.Errorf("%s", res.JSON())
	}
}

// Calls that nobody awaits are waited for before a program is complete.
func TestCodeMode_UnawaitedCallsBelongToTheProgram(t *testing.T) {
	w := newWorld(t)
	w.set.Timeout = 300 * time.Millisecond
	res := w.run(`tools.slow({}).then(v => text("then " + v)); return 7`)
	if res.Status != codemode.Waiting {
		t.Fatalf("%s", res.JSON())
	}
	w.slow <- "x"
	res = w.wait(res.RunID)
	if string(res.Value) != "7" || len(res.Output) != 1 || res.Output[0].Text != "then x" {
		t.Errorf("%s", res.JSON())
	}
}

func TestCodeMode_WaitFailsForWhatIsNotItsOwn(t *testing.T) {
	w := newWorld(t)
	res := suspended(t, w)
	for name, s := range map[string]tool.Scope{
		"another run":     {RunID: "r2", SessionKey: "agent:main:main", SessionID: "s1"},
		"another session": {RunID: "r9", SessionKey: "agent:main:other", SessionID: "s2"},
	} {
		got := w.parse(w.use(t.Context(), s, codemode.Wait, "c", map[string]string{"runId": res.RunID}))
		if got.Code != engine.InvalidInput || got.Status != codemode.Failed {
			t.Errorf("%s: %s", name, got.JSON())
		}
	}
	w.wantFail(w.wait("no-such-program"), engine.InvalidInput, "no program of this answer")
	if w.waiting() != 1 {
		t.Error("asking for it took it away")
	}
	// The same run id in another session is another run's as well, also after a start.
	w.Close()
	w.boot()
	s := scope("r1")
	s.SessionID = "s2"
	if got := w.parse(w.use(t.Context(), s, codemode.Wait, "c", map[string]string{"runId": res.RunID})); got.Code != engine.InvalidInput {
		t.Errorf("%s", got.JSON())
	}
}

func TestCodeMode_ExpiredSnapshots(t *testing.T) {
	w := newWorld(t)
	res := suspended(t, w)
	w.advance(16 * time.Minute) // the clock jumps over the time
	w.wantFail(w.wait(res.RunID), engine.SnapshotExpired, "too long")
	w.wantFail(w.wait(res.RunID), engine.SnapshotExpired, "too long")
	if w.waiting() != 0 {
		t.Error("it is still in the store")
	}
	// And by itself, when nobody asks; a clock that jumps back does not help it.
	w.set.TTL = 50 * time.Millisecond
	res = suspended(t, w)
	w.advance(-24 * time.Hour)
	for w.waiting() > 0 {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("it stays")
		}
	}
	w.wantFail(w.wait(res.RunID), engine.SnapshotExpired, "")
	if n := w.run(`return 1`).Telemetry.Snapshots.Expired; n != 2 {
		t.Errorf("%d expired", n)
	}
}

// The end of a run ends its programs and what they called.
func TestCodeMode_TheEndOfARunEndsItsPrograms(t *testing.T) {
	w := newWorld(t)
	res := suspended(t, w)
	w.Over(t.Context(), "r1")
	for w.waiting() > 0 {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("it stays")
		}
	}
	w.wantFail(w.wait(res.RunID), engine.InvalidInput, "")
	for {
		rec := strings.Join(w.recorded(), "\n")
		if strings.Contains(rec, "end c1 c1/1 true") {
			break
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatalf("the call goes on: %s", rec)
		}
	}
}

func TestCodeMode_AbortedWhileItRuns(t *testing.T) {
	w := newWorld(t)
	for name, code := range map[string]string{"computing": `for (;;) {}`, "waiting for a call": slowProgram} {
		ctx, stop := context.WithTimeout(t.Context(), 150*time.Millisecond)
		res := w.parse(w.use(ctx, scope("r1"), codemode.Exec, "c", map[string]string{"code": code}))
		stop()
		if res.Status != codemode.Failed || res.Code != engine.Aborted && res.Code != engine.Timeout {
			t.Errorf("%s: %s", name, res.JSON())
		}
	}
	// And one that waits, while wait waits for it.
	res := suspended(t, w)
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	got := w.parse(w.use(ctx, scope("r1"), codemode.Wait, "c", map[string]string{"runId": res.RunID}))
	if got.Code != engine.Aborted {
		t.Errorf("%s", got.JSON())
	}
	w.wantFail(w.wait(res.RunID), engine.Aborted, "")
	if w.waiting() != 0 {
		t.Error("it is still in the store")
	}
}

// A start of Hearth: what has come stays, what was under way is lost and told so,
// and nothing runs twice.
func TestCodeMode_SnapshotsSurviveAStart(t *testing.T) {
	w := newWorld(t)
	w.set.Timeout = 300 * time.Millisecond
	res := w.run(`const [a, b] = await Promise.allSettled([tools.slow({n: 1}), tools.slow({n: 2})]);
		return [a.value ?? a.reason.message, b.value ?? b.reason.message].sort()`)
	w.slow <- "came"
	for {
		if strings.Contains(strings.Join(w.recorded(), " "), "end c1") {
			break
		}
	}
	w.sync()
	w.boot() // as after a kill: nothing was said to anybody
	w.set.Timeout = patience
	before := len(w.calls())
	end := w.wait(res.RunID)
	if end.Status != codemode.Completed || !strings.Contains(string(end.Value), "came") || !strings.Contains(string(end.Value),
		"slow was interrupted") {
		t.Errorf("%s", end.JSON())
	}
	if len(w.calls()) != before {
		t.Errorf("it ran again: %q", w.calls())
	}
}

// sync waits until everything that was handed to the store is in it.
func (w *world) sync() {
	w.t.Helper()
	if err := w.db.Update(w.t.Context(), store.Write{Do: func(*store.Tx) error { return nil }}); err != nil {
		w.t.Fatal(err)
	}
}

func TestCodeMode_TidyAfterAStart(t *testing.T) {
	w := newWorld(t)
	suspended(t, w)
	w.Close()
	w.boot()
	if err := w.Sweep(t.Context(), func(id string) bool { return id == "r1" }); err != nil || w.waiting() != 1 {
		t.Errorf("%d, %v", w.waiting(), err)
	}
	if err := w.db.View(func(tx *store.Tx) error {
		if !w.Suspended(tx, "r1") || w.Suspended(tx, "r") {
			t.Error("wrong runs wait")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := w.Sweep(t.Context(), func(string) bool { return false }); err != nil || w.waiting() != 0 {
		t.Errorf("%d, %v", w.waiting(), err)
	}
}

// What comes back from the store is what was put there, or nothing.
func TestSec_A_BOX_09_TamperedSnapshots(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"one bit":   func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"truncated": func(b []byte) []byte { return b[:len(b)/2] },
		"empty":     func([]byte) []byte { return []byte{} },
		"longer":    func(b []byte) []byte { return append(b, 0) },
		"zeroes":    func(b []byte) []byte { return bytes.Repeat([]byte{0}, len(b)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			res := suspended(t, w)
			w.tamper(change)
			go func() {
				select {
				case w.slow <- "x":
				case <-t.Context().Done():
				}
			}()
			w.wantFail(w.wait(res.RunID), engine.SnapshotRestoreFailed, "brought back")
			if w.waiting() != 0 {
				t.Error("it is still in the store")
			}
		})
	}
	// One program's snapshot in the place of another's.
	w := newWorld(t)
	a := suspended(t, w)
	w.set.Timeout = 300 * time.Millisecond
	b := w.run(`return "mine" + await tools.slow({})`)
	var first []byte
	w.tamper(func(s []byte) []byte {
		if first == nil {
			first = s
		}
		return first
	})
	w.set.Timeout = patience
	go func() { w.slow <- "x"; w.slow <- "y" }()
	got := []engine.Code{w.wait(a.RunID).Code, w.wait(b.RunID).Code}
	if got[0] != engine.SnapshotRestoreFailed && got[1] != engine.SnapshotRestoreFailed {
		t.Errorf("%q", got)
	}
}

// tamper changes every snapshot of the store.
func (w *world) tamper(change func([]byte) []byte) {
	w.t.Helper()
	b := store.NewBucket[[]byte]("codemode.snapshots")
	err := w.db.Update(w.t.Context(), store.Write{Do: func(tx *store.Tx) error {
		all := map[string][]byte{}
		for k, v := range b.ScanRaw(tx, store.Range{}) {
			all[string(k)] = bytes.Clone(v)
		}
		for k, v := range all {
			if err := b.PutRaw(tx, []byte(k), change(v)); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestCodeMode_SnapshotCap(t *testing.T) {
	w := newWorld(t)
	w.set.Timeout, w.set.Snapshot = 100*time.Millisecond, 1024
	res := w.run(slowProgram)
	w.wantFail(res, engine.SnapshotLimitExceeded, "1024")
	if w.waiting() != 0 {
		t.Error("something waits")
	}
}

func TestCodeMode_LiveSnapshotsAreBounded(t *testing.T) {
	w := newWorld(t)
	w.set.Timeout = patience
	for i := range 64 {
		if res := w.run(fmt.Sprintf(`await yield_control(); return %d`, i)); res.Status != codemode.Waiting {
			t.Fatalf("%d: %s", i, res.JSON())
		}
	}
	w.wantFail(w.run(`await yield_control()`), engine.SnapshotLimitExceeded, "too many")
	w.Over(t.Context(), "r1")
	if res := w.run(`await yield_control()`); res.Status != codemode.Waiting {
		t.Errorf("their places are not free: %s", res.JSON())
	}
}

// A person who decides is no reason to give up control or to fail.
func TestCodeMode_ApprovalsStopTheClock(t *testing.T) {
	w := newWorld(t)
	w.set.Timeout = time.Second
	done := make(chan codemode.Result, 1)
	go func() { done <- w.run(`return await tools.held({})`) }()
	select {
	case res := <-done:
		t.Fatalf("it did not wait for the person: %s", res.JSON())
	case <-time.After(1200 * time.Millisecond):
	}
	close(w.held)
	if res := <-done; string(res.Value) != `"allowed"` {
		t.Errorf("%s", res.JSON())
	}
}

func TestCodeMode_ProgramsOfManyRunsBesideEachOther(t *testing.T) {
	w := newWorld(t)
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			s := scope(fmt.Sprint("run", i))
			res := w.parse(w.use(t.Context(), s, codemode.Exec, "c",
				map[string]string{"code": fmt.Sprintf(`await yield_control(); return [%d, await tools.read({path: "%d"})]`, i, i)}))
			res = w.parse(w.use(t.Context(), s, codemode.Wait, "d", map[string]string{"runId": res.RunID}))
			if want := fmt.Sprintf(`[%d,"read {\"path\":\"%d\"}"]`, i, i); string(res.Value) != want {
				t.Errorf("%s, want %s", res.JSON(), want)
			}
			w.Over(t.Context(), s.RunID)
		})
	}
	all.Wait()
	if w.waiting() != 0 {
		t.Error("something waits")
	}
}

// A program that expired while Hearth was off is told so, and nothing of a run is
// left when it ends, waited for or not.
func TestCodeMode_ExpiredAndLeftOverAStart(t *testing.T) {
	w := newWorld(t)
	res := suspended(t, w)
	w.boot()
	w.advance(time.Hour)
	if err := w.Sweep(t.Context(), func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	w.wantFail(w.wait(res.RunID), engine.SnapshotExpired, "too long")
	if w.waiting() != 0 {
		t.Error("it is still in the store")
	}
	suspended(t, w)
	w.boot()
	if err := w.db.View(func(tx *store.Tx) error { w.Suspended(tx, "r1"); return nil }); err != nil {
		t.Fatal(err)
	}
	w.Over(t.Context(), "r1")
	if w.waiting() != 0 {
		t.Error("a run that is over left something")
	}
}
