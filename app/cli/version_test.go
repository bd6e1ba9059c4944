package cli

import (
	"strings"
	"testing"
)

// Whoever has the program has the licences of what it is made of.
func TestVersionShowsLicenses(t *testing.T) {
	code, out, errs := run(t, t.TempDir(), "", "version", "--licenses")
	if code != 0 || errs != "" {
		t.Fatalf("%d %s", code, errs)
	}
	for _, words := range []string{"\ngo.etcd.io/bbolt v", "\nthe Go standard library\n", "\nQuickJS-ng ", "\nhighlight.js ",
		"The Go Authors"} {
		if !strings.Contains(out, words) {
			t.Errorf("%q is missing", words)
		}
	}
	if _, out, _ = run(t, t.TempDir(), "", "version"); strings.Contains(out, "bbolt") {
		t.Error("shown without being asked for")
	}
}
