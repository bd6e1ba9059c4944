package zone

import (
	"archive/zip"
	"go/build"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFind: every zone that Go knows is in the packed list and can be read.
func TestFind(t *testing.T) {
	z, err := zip.OpenReader(filepath.Join(build.Default.GOROOT, "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	n := 0
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		n++
		data, err := find(f.Name)
		if err != nil {
			t.Errorf("%s: %v; run: go generate ./gateway/zone", f.Name, err)
			continue
		}
		if _, err := time.LoadLocationFromTZData(f.Name, data); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	if n < 400 {
		t.Errorf("Go's list has %d zones only", n)
	}
}

// TestFindTimes: what is unpacked says the right time, in winter and summer.
func TestFindTimes(t *testing.T) {
	for _, tt := range []struct {
		zone, at, want string
	}{
		{"Europe/Vienna", "2026-01-15T12:00:00Z", "13:00 CET"},
		{"Europe/Vienna", "2026-07-15T12:00:00Z", "14:00 CEST"},
		{"America/New_York", "2026-07-15T12:00:00Z", "08:00 EDT"},
		{"America/Argentina/Ushuaia", "2026-07-15T12:00:00Z", "09:00 -03"},
		{"Asia/Kathmandu", "2026-07-15T12:00:00Z", "17:45 +0545"},
		{"Japan", "2026-07-15T12:00:00Z", "21:00 JST"},
		{"UTC", "2026-07-15T12:00:00Z", "12:00 UTC"},
	} {
		data, err := find(tt.zone)
		if err != nil {
			t.Errorf("%s: %v", tt.zone, err)
			continue
		}
		zone, err := time.LoadLocationFromTZData(tt.zone, data)
		if err != nil {
			t.Errorf("%s: %v", tt.zone, err)
			continue
		}
		at, err := time.Parse(time.RFC3339, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := at.In(zone).Format("15:04 MST"); got != tt.want {
			t.Errorf("%s at %s: %s, want %s", tt.zone, tt.at, got, tt.want)
		}
	}
}

func TestLoad(t *testing.T) {
	for _, name := range []string{"Mars/Olympus", "Europe", "Europe/", "Others", "../packed/Europe", "", "Europe/Vienna\n", "Local"} {
		_, std := time.LoadLocation(name)
		if _, err := Load(name); (err == nil) != (std == nil) {
			t.Errorf("Load(%q): %v, and the standard library says %v", name, err, std)
		}
	}
	if at, err := Load("Europe/Vienna"); err != nil || at.String() != "Europe/Vienna" {
		t.Errorf("Load(Europe/Vienna) = %v, %v", at, err)
	}
}

// TestHere: the system's own answer is not replaced, nor is nonsense followed.
func TestHere(t *testing.T) {
	for _, tz := range []string{"", ":", "/etc/localtime", "UTC", "Mars/Olympus"} {
		if at := Here(tz); at != nil {
			t.Errorf("Here(%q) = %v, want none", tz, at)
		}
	}
}
