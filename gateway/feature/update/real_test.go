package update_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/release"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// A person updates twice while messages arrive, the second time to a
// version that changes the database, and goes back. No message that was acknowledged
// is lost without a word.
func TestFault_F_UPG_01_UpdatesWhileMessagesArrive(t *testing.T) {
	h := newHouse(t)
	h.publishReal("0.3.0")
	h.start()
	h.runs("0.2.0")
	if out, err := h.says("update", "--check"); err != nil || !strings.Contains(out, "There is a new version: 0.3.0 (this is 0.2.0)") {
		t.Fatalf("%v %s", err, out)
	}
	k := h.talk()
	if out, err := h.says("update"); err != nil || !strings.Contains(out, "Hearth 0.3.0 runs") {
		t.Fatalf("%v %s", err, out)
	}
	<-time.After(200 * time.Millisecond) // and some more messages
	k.end()
	t.Logf("0.2.0 to 0.3.0: %d messages, the longest wait for one %v", k.acked, k.worst.Round(time.Millisecond))
	if k.worst > 20*time.Second {
		t.Errorf("nothing was taken for %v", k.worst)
	}
	if out, _ := exec.Command(filepath.Join(h.root, "hearth-channels")).CombinedOutput(); string(out) != "0.3.0\n" {
		t.Errorf("hearth-channels is %s", out)
	}
	h.until("kept", func(s release.State) bool { return s.Trial == nil && s.Last != nil && s.Last.Result == release.Updated })

	// The program that watched over 0.3.0 is still the parent; it makes room for the next.
	h.publishReal("0.4.0")
	if out, err := h.says("update"); err != nil || !strings.Contains(out, "Hearth 0.4.0 runs") {
		t.Fatalf("%v %s", err, out)
	}
	h.has(k.acked)
	if out, err := h.says("chat", "--session", "agent:main:main", "said to the new one"); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	// Back: 0.3.0 cannot use the new database. What is only in it is told and kept.
	out, err := h.says("update", "--back", "--yes")
	if err != nil || !strings.Contains(out, "Hearth 0.3.0 is back") || !strings.Contains(out, "2 messages") {
		t.Fatalf("%v %s", err, out)
	}
	h.runs("0.3.0")
	h.has(k.acked)
	st, err := release.Read(h.dir)
	if err != nil || st.Last.Result != release.WentBack || st.Last.Lost != 2 {
		t.Fatalf("%+v %v", st.Last, err)
	}
	if _, err := os.Stat(st.Last.Kept); err != nil {
		t.Error("the newer database was not kept:", err)
	}
	if out, _ := h.says("doctor"); !strings.Contains(out, "went back from 0.4.0 to 0.3.0") {
		t.Errorf("the doctor does not tell: %s", out)
	}
	if out, _ := h.says("update"); !strings.Contains(out, "tried and taken back") {
		t.Errorf("it is offered again: %s", out)
	}
}

// Versions that pass the rehearsal and then hang or crash are taken back by
// themselves, with nothing lost, and the doctor tells.
func TestFault_F_UPG_01_BadVersionsAreTakenBack(t *testing.T) {
	for fault, says := range map[string]string{"hang": "did not answer within", "crash": "crashed 3 times"} {
		t.Run(fault, func(t *testing.T) {
			h := newHouse(t)
			h.start()
			h.runs("0.2.0")
			k := h.talk()
			h.publishFaulty("0.5.0", fault)
			out, err := h.says("update")
			if err == nil || !strings.Contains(out, "was taken back") || !strings.Contains(out, says) {
				t.Fatalf("%v %s", err, out)
			}
			h.runs("0.2.0")
			k.end()
			if k.acked == 0 {
				t.Error("nothing was said")
			}
			if out, _ := h.says("doctor"); !strings.Contains(out, "the update to 0.5.0 was taken back") &&
				!strings.Contains(out, "The update to 0.5.0 was taken back") {
				t.Errorf("the doctor does not tell: %s", out)
			}
			if out, err := exec.Command(filepath.Join(h.root, "hearth"), "version").CombinedOutput(); !strings.Contains(string(out), "0.2.0") {
				t.Errorf("%s %v", out, err)
			}
			if _, err := h.says("update"); err != nil {
				t.Errorf("a version that was taken back is not simply left out: %v", err)
			}
		})
	}
}

// The change is killed at every step, from the end of the old version to the first
// answer of the new one. The next start goes on: the new version runs, or the old one
// does and says why, and the messages are there.
func TestFault_F_UPG_02_TheChangeIsKilled(t *testing.T) {
	steps := []struct{ point, want string }{
		{"update:link@2", "0.4.0"}, {"update:switched", "0.4.0"},
		// Each start of the new version dies at these two, so it is taken back; after the
		// last step of the migration there is nothing more that could kill it.
		{"migrate:copied", "0.2.0"}, {"migrate:step", "0.2.0"}, {"migrate:stepped", "0.4.0"},
		// What follows is tried with --long.
		{"update:adopted", "0.4.0"}, {"update:link@1", "0.4.0"}, {"update:entry@1", "0.4.0"}, {"update:entry@2", "0.4.0"},
		{"update:switch", "0.4.0"}, {"update:link@4", "0.4.0"},
	}
	for _, c := range steps[:seed.Rounds(5, len(steps))] {
		t.Run(c.point, func(t *testing.T) {
			h := newHouse(t)
			h.publishReal("0.4.0")
			h.env = []string{"HEARTH_FAILPOINT=" + c.point}
			h.start()
			h.runs("0.2.0")
			k := h.talk()
			h.env = nil
			update := h.hearth("update") // it waits for what becomes of it
			if err := update.Start(); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(c.point, "update:") {
				_ = h.gateway.Wait() // killed, and started again as a service does
				if h.gateway.ProcessState.ExitCode() != -1 {
					t.Fatalf("it was not killed: %v", h.gateway.ProcessState)
				}
				if out, err := h.says("version"); err != nil || !strings.Contains(out, "0.2.0") && !strings.Contains(out, "0.4.0") {
					t.Errorf("the installation is broken: %v %s", err, out)
				}
				h.start()
			}
			h.runs(c.want)
			_ = update.Wait()
			h.until("decided", func(s release.State) bool { return s.Last != nil || s.Trial != nil && !s.Trial.Healthy.IsZero() })
			h.runs(c.want) // which at first may have been the version of before
			k.end()
			st := h.until("at an end", func(s release.State) bool { return s.Trial == nil })
			if want := map[string]string{"0.4.0": release.Updated, "0.2.0": release.RolledBack}[c.want]; st.Last.Result != want {
				t.Errorf("%+v", st.Last)
			}
			t.Logf("%d messages, the longest wait for one %v", k.acked, k.worst.Round(time.Millisecond))
		})
	}
}
