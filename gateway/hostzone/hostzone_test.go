package hostzone

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Timezone page: "Host timezone if userTimezone unset": by its name, where
// neither TZ nor a setting gives one.
func TestNameOfTheHostsZone(t *testing.T) {
	dir := t.TempDir()
	link := func(name, to string) string {
		p := filepath.Join(dir, name)
		if err := os.Symlink(to, p); err != nil {
			t.Skip(err)
		}
		return p
	}
	file := filepath.Join(dir, "timezone")
	if err := os.WriteFile(file, []byte("Asia/Tokyo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ link, file, want string }{
		{link("linux", "/usr/share/zoneinfo/Europe/Vienna"), file, "Europe/Vienna"},
		{link("relative", "../usr/share/zoneinfo/posix/Europe/Vienna"), file, "Europe/Vienna"},
		{link("mac", "/var/db/timezone/zoneinfo/America/Argentina/Ushuaia"), "", "America/Argentina/Ushuaia"},
		{filepath.Join(dir, "none"), file, "Asia/Tokyo"},
		{link("nonsense", "/usr/share/zoneinfo/Mars/Olympus"), "", ""},
		{filepath.Join(dir, "none"), filepath.Join(dir, "none"), ""},
	} {
		if got := linked(tc.link, tc.file); got != tc.want {
			t.Errorf("%s: %q, want %q", filepath.Base(tc.link), got, tc.want)
		}
	}
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.FixedZone("Local", -(3*3600+30*60)))
	for tz, want := range map[string]string{"Europe/Vienna": "Europe/Vienna", ":/usr/share/zoneinfo/Asia/Tokyo": "Asia/Tokyo",
		"Mars/Olympus": "UTC-03:30"} {
		if got := Name(tz, at); got != want {
			t.Errorf("TZ=%s: %q, want %q", tz, got, want)
		}
	}
	if got := Name("", at.In(time.UTC)); got != "UTC" {
		t.Errorf("a clock with a name: %q", got)
	}
	if got := Name("", at); got == "Local" || got == "" {
		t.Errorf("this machine: %q", got)
	}
}

func TestEveryZoneOfWindowsIsKnown(t *testing.T) {
	for theirs, ours := range ofWindows() {
		if known(ours) == "" {
			t.Errorf("%s is %s, which is unknown", theirs, ours)
		}
	}
	if n := len(ofWindows()); n < 130 {
		t.Errorf("%d zones only", n)
	}
}
