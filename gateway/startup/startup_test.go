package startup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/recovery"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// A damaged database is said in our words, with what to do and without a promise.
func TestDamagedIsSaidInWords(t *testing.T) {
	dir := statedir.Dir(t.TempDir())
	inner := fmt.Errorf("%w: assertion failed: Page expected to be: 6, but self identifies as 42", store.ErrDamaged)
	err := Damaged(dir, Cannot("The messages of the last run could not be taken up", inner, "Keep a copy and report this"))
	said := err.Error()
	for _, want := range []string{dir.Store(), "hearth store check", "hearth store export"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
	for _, not := range []string{"assertion", "self identifies", "lost"} {
		if strings.Contains(said, not) {
			t.Errorf("it says %q: %s", not, said)
		}
	}
	if !recovery.IsDamaged(err) {
		t.Error("it is not known as damage any more")
	}
}
