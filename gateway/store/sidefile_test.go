package store

import (
	"os"
	"path/filepath"
	"testing"
)

// A list of what was removed that cannot be read keeps nobody from starting, and
// is kept for whoever wants to look at it.
func TestFault_F_DB_07_DamagedListIsSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "removed.json")
	id := func(s string) string { return s }
	b, _, err := OpenSideFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"one", "two"} {
		if err := NewSideTable(b, "t", id).Save(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := NewSideTable(b, "t", id).Forget(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Error(st, err)
	}
	b, aside, err := OpenSideFile(path)
	if all, lerr := NewSideTable(b, "t", id).Load(t.Context()); err != nil || lerr != nil || aside != "" || len(all) != 1 ||
		all[0] != "two" {
		t.Error(all, aside, err, lerr)
	}
	for _, damage := range []string{"", "null", `{"t":{"one":`, "\x00\x00"} {
		if err := os.WriteFile(path, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		b, aside, err := OpenSideFile(path)
		if err != nil || aside == "" {
			t.Fatalf("%q: %v, %v", damage, aside, err)
		}
		if kept, _ := os.ReadFile(aside); string(kept) != damage {
			t.Errorf("%q is lost", damage)
		}
		if err := NewSideTable(b, "t", id).Save(t.Context(), "x"); err != nil {
			t.Error(err)
		}
	}
}
