package clock

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// A zone that there is not is named, where the settings name none.
func TestUnknownZone(t *testing.T) {
	for tz, want := range map[string]string{
		"": "", "UTC": "", "Europe/Vienna": "", ":Asia/Tokyo": "", "/etc/passwd": "",
		"Europe/Wien": "Europe/Wien", "CET-1CEST": "CET-1CEST", ":Mars/Base": "Mars/Base", "/no/zone": "/no/zone",
	} {
		for setting, want := range map[string]string{"": want, "Asia/Tokyo": ""} {
			file, err := config.Open(filepath.Join(t.TempDir(), "hearth.json"), config.Options{Sections: config.Sections{Section}})
			if err != nil {
				t.Fatal(err)
			}
			if setting != "" {
				if _, err := file.Set(t.Context(), file.Snapshot().Hash, `{agents: {defaults: {userTimezone: "`+setting+`"}}}`); err != nil {
					t.Fatal(err)
				}
			}
			c := New(file, func(string) string { return tz }, time.Now)
			if got := c.Unknown(); got != want {
				t.Errorf("TZ=%q with %q: %q, want %q", tz, setting, got, want)
			}
		}
	}
}
