package move_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/move"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// A Hearth without a note is awake. One whose note says nothing sleeps, and nobody
// but its person wakes it.
func TestSleeps(t *testing.T) {
	dir := statedir.Dir(filepath.Join(t.TempDir(), "state"))
	if s := move.Asleep(dir); s.Sleeps() || s != (move.State{}) {
		t.Errorf("nothing was noted: %+v", s)
	}
	for _, note := range []string{"", "{", "{}", `{"phase":""}`, `{"phase":1}`} {
		if err := os.WriteFile(move.Path(dir), []byte(note), 0o600); err != nil {
			t.Fatal(err)
		}
		if s := move.Asleep(dir); s.Phase != move.Left {
			t.Errorf("%q: %+v", note, s)
		}
		if err := move.Wake(t.Context(), dir, false); err == nil {
			t.Errorf("%q: woken without a word", note)
		}
	}
}
