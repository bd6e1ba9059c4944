package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// TestFault_F_DB_02_StoreCommands: what is left of a damaged database can be seen,
// saved and replaced by people who have no gateway that starts.
func TestFault_F_DB_02_StoreCommands(t *testing.T) {
	home := t.TempDir()
	dir := statedir.Dir(home)
	expect := func(code int, in, want string, args ...string) string {
		t.Helper()
		got, out, errs := run(t, home, in, args...)
		if got != code || !strings.Contains(out+errs, want) {
			t.Errorf("%v: exit code %d\n%s%s", args, got, out, errs)
		}
		return out
	}
	expect(exitFailure, "", "there is no database", "store", "export")
	expect(exitFailure, "", "there is no store yet", "store", "check")
	expect(exitFailure, "", "there is no copy", "store", "restore", "--yes")

	db, err := store.Open(dir.Store(), store.Options{ReserveBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	sessions, entries := store.NewBucket[map[string]any]("sessions"), store.NewBucket[map[string]any]("entries")
	key := make([]byte, 24)
	err = db.Update(t.Context(), store.Write{Do: func(tx *store.Tx) error {
		if err := sessions.Put(tx, []byte("agent:main:main"), map[string]any{"sessionId": "00000000-0000-0000-0000-000000000000"}); err != nil {
			return err
		}
		key[23] = 1
		if err := entries.Put(tx, key,
			map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "bread"}}}); err != nil {
			return err
		}
		key[0] = 9 // of a session that is gone
		return entries.Put(tx, key, map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "butter"}}})
	}})
	if err != nil {
		t.Fatal(err)
	}
	expect(exitFailure, "", "the gateway is running", "store", "check")
	expect(exitFailure, "", "the gateway is running", "store", "restore", "--yes")
	if err := db.Copy(t.Context(), dir.LastGood()); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(exitOK, "", "all of them can be read", "store", "check")
	out := expect(exitOK, "", "2 messages of 2 sessions", "store", "export")
	if !strings.Contains(out, `"sessionKey":"agent:main:main"`) || !strings.Contains(out, `"sessionKey":"lost:09`) ||
		!strings.Contains(out, "butter") {
		t.Error(out)
	}
	half, err := os.ReadFile(dir.Store())
	if err != nil {
		t.Fatal(err)
	}
	clear(half[2*os.Getpagesize():]) // all but its two beginnings
	if err := os.WriteFile(dir.Store(), half, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(exitFailure, "", "of its pages and records (of everything that Hearth keeps) cannot be read", "store", "check")
	expect(exitOK, "", "of the conversations could not be read (`hearth store check` counts those of all", "store", "export")
	if err := os.Truncate(dir.Store(), 0); err != nil {
		t.Fatal(err)
	}
	expect(exitFailure, "", "hearth store restore", "store", "check")
	expect(exitFailure, "", "the database:", "doctor")
	expect(exitFailure, "n\n", "nothing was changed", "store", "restore")
	expect(exitFailure, "", "nothing was changed", "store", "restore")
	expect(exitOK, "y\n", "is the database now", "store", "restore")
	expect(exitOK, "", "2 messages of 2 sessions", "store", "export", "--out", filepath.Join(home, "all.jsonl"))
	if kept, _ := filepath.Glob(dir.Store() + ".replaced-" + time.Now().UTC().Format("2006") + "*"); len(kept) != 1 {
		t.Errorf("what was replaced is lost: %v", kept)
	}
}
