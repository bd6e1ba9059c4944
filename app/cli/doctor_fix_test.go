package cli

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// TestDoctorMendsWhatLiesInFiles: certificates that are over, half of a copy of the
// database, and a folder that others can look into. The plan is shown first, and
// nothing happens without a yes.
func TestDoctorMendsWhatLiesInFiles(t *testing.T) {
	dir := statedir.Dir(filepath.Join(t.TempDir(), "state"))
	if err := dir.Ensure(); err != nil {
		t.Fatal(err)
	}
	doctor := func(in string, args ...string) string {
		t.Helper()
		_, out, errs := run(t, string(dir), in, append([]string{"doctor"}, args...)...)
		return out + errs
	}
	// Of a gateway that was used eleven years ago: its authority is over too.
	then := func() time.Time { return time.Now().AddDate(-11, 0, 0) }
	old, err := identity.Open(identity.Options{Path: dir.Identity(), Write: statedir.WriteFile, Now: then, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(string(dir), ".hearth.db.last-good.123456")
	marker := filepath.Join(string(dir), ".hearth.db.installed") // says that there was a database; it stays
	long := time.Now().Add(-2 * time.Hour)
	for _, path := range []string{half, marker} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
	}
	said := doctor("n\n", "--fix")
	for _, want := range []string{"This would be mended", "no longer valid", "half of a copy of the database"} {
		if !strings.Contains(said, want) {
			t.Errorf("the plan lacks %q:\n%s", want, said)
		}
	}
	if v, err := identity.Look(dir.Identity()); err != nil || !v.Over(time.Now()) {
		t.Fatalf("something was mended without a yes: %+v %v", v, err)
	}
	doctor("y\n", "--fix")
	v, err := identity.Look(dir.Identity())
	if err != nil || v.Over(time.Now()) {
		t.Errorf("the certificates hold until %+v: %v", v, err)
	}
	now, err := identity.Open(identity.Options{Path: dir.Identity(), Write: statedir.WriteFile, Now: time.Now, Random: rand.Reader})
	if err != nil || now.ID() != old.ID() || now.Pins()[0] != old.Pins()[0] {
		t.Errorf("devices do not know it any more: %v", err)
	}
	if _, err := os.Stat(half); err == nil {
		t.Error("half of the copy is left")
	}
	if _, err := os.Stat(marker); err != nil {
		t.Error("what is no copy was removed:", err)
	}
	if said := doctor(""); strings.Contains(said, "no longer valid") || !strings.Contains(said, "is renewed before") {
		t.Errorf("afterwards it says %s", said)
	}
}

// A folder that cannot be used is told once, and nothing in it is called well or mended.
func TestDoctorOfAFolderThatCannotBeUsed(t *testing.T) {
	home := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(home, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, _ := run(t, home, "", "doctor")
	if code != exitFailure || strings.Count(out, "it is a file") != 1 || strings.Contains(out, "ok  ") ||
		strings.Contains(out, "gateway.json") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if code, _, errs := run(t, home, "", "status"); code != exitConfig || !strings.Contains(errs, folderAdvice) {
		t.Errorf("exit code %d:\n%s", code, errs)
	}
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		return // may write everywhere
	}
	home = t.TempDir()
	if err := os.Chmod(home, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, out, _ := run(t, home, "", "doctor"); !strings.Contains(out, "cannot be written") || strings.Contains(out, "secrets") {
		t.Error(out)
	}
	if _, out, _ := run(t, home, "", "doctor", "--fix", "--yes"); !strings.Contains(out, "done folder") {
		t.Error(out)
	}
}
