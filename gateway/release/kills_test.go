package release

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/internal/seed"
)

// TestFault_F_OPS_UpdateKilled kills an update at random moments, where the test of
// every step kills it at known ones: the programs are of one version, every message
// is there, and the next try ends well.
func TestFault_F_OPS_UpdateKilled(t *testing.T) {
	progs := working(t, "0.2.0", "")
	bin := filepath.Join(t.TempDir(), "kill")
	cmd := exec.Command("go", "build", "-o", bin, "./testdata/kill")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := newPublisher(t)
	p.release(7, "0.2.0", progs, nil)
	r := seed.New(t)
	want, kills, usual := seed.Rounds(6, 100), 0, time.Duration(0)
	found := map[string]int{}
	for round := 0; kills < want && round < 10*want; round++ {
		h := newPerson(t, p)
		h.filled(5)
		try := func(kill bool) bool {
			cmd := exec.CommandContext(t.Context(), bin, h.in.Root, string(h.dir), p.url, "1:"+p.roots[0].text)
			began := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if kill {
				timer := time.AfterFunc(time.Duration(r.Int64N(int64(cmp.Or(usual, time.Second)*11/10))), func() { _ = cmd.Process.Kill() })
				defer timer.Stop()
			}
			err := cmd.Wait()
			var ended *exec.ExitError
			if err != nil && !(kill && errors.As(err, &ended) && ended.ExitCode() == -1) {
				t.Fatalf("round %d: %v", round, err)
			}
			if err == nil {
				usual = time.Since(began)
			}
			return err != nil
		}
		if try(round > 0) {
			kills++
		}
		found[h.whole()]++
		if got, err := count(h.dir.Store()); err != nil || got != 5 {
			t.Errorf("round %d: %d messages, %v", round, got, err)
		}
		if st, err := Read(h.dir); err != nil || st.Trial == nil && h.whole() == "0.2.0" {
			t.Errorf("round %d: the new version is there and nobody watches it (%v)", round, err)
		}
		if try(false); h.whole() != "0.2.0" || !h.in.Has("0.1.0") {
			t.Errorf("round %d: the next try: %s", round, h.whole())
		}
	}
	t.Logf("%d kills; programs then: %v", kills, found)
}
