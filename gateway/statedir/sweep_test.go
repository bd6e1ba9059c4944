package statedir

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestFault_F_CRASH_LeftoversAreTidied: a kill in the middle of a write leaves a
// file that nobody would ever look at again.
func TestFault_F_CRASH_LeftoversAreTidied(t *testing.T) {
	d := Dir(t.TempDir())
	now := time.Unix(1_800_000_000, 0)
	for name, age := range map[string]time.Duration{
		".gateway.json.2913574930": 2 * time.Hour, ".hearth.db.last-good.812739812": 2 * time.Hour,
		".gateway.json.1111111111": time.Second, // somebody writes it just now
		".hearth.db.installed":     2 * time.Hour, "hearth.db": 2 * time.Hour, "gateway.log.1": 2 * time.Hour, ".mine": 2 * time.Hour,
	} {
		path := filepath.Join(string(d), name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	d.Sweep(now)
	var left []string
	files, _ := os.ReadDir(string(d))
	for _, f := range files {
		left = append(left, f.Name())
	}
	if want := []string{".gateway.json.1111111111", ".hearth.db.installed", ".mine", "gateway.log.1", "hearth.db"}; !slices.Equal(left, want) {
		t.Errorf("left: %v", left)
	}
}
