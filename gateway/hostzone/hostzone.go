// Package hostzone finds out what the time zone of this machine is called, which Go
// does not tell. What a zone says about a moment is package time's.
package hostzone

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Name is the name of the zone that this machine keeps: what TZ says, what the
// system is set to, and where neither tells a name the distance to UTC at now.
// Go itself calls it "Local", which tells nobody anything.
func Name(tz string, now time.Time) string {
	if name := now.Location().String(); name != "Local" && name != "" {
		return name
	}
	if tz = strings.TrimPrefix(tz, ":"); tz != "" {
		if name := known(inList(tz)); name != "" {
			return name
		}
		return offset(now)
	}
	if name := known(system()); name != "" {
		return name
	}
	return offset(now)
}

// inList is the name of a zone by the path of its file, or the name itself.
func inList(path string) string {
	path = filepath.ToSlash(path)
	if _, name, ok := strings.Cut(path, "zoneinfo/"); ok {
		path = name
	}
	return strings.TrimPrefix(strings.TrimPrefix(path, "posix/"), "right/")
}

// known is a name that is one.
func known(name string) string {
	if name == "" || name == "Local" || strings.HasPrefix(name, "/") {
		return ""
	}
	if _, err := time.LoadLocation(name); err != nil {
		return ""
	}
	return name
}

// linked reads the name out of a link into the list of zones, as systemd and
// macOS leave it, or out of the file beside it that Debian keeps.
func linked(link, file string) string {
	if to, err := os.Readlink(link); err == nil {
		if name := known(inList(to)); name != "" {
			return name
		}
		if to, err = filepath.EvalSymlinks(link); err == nil {
			if name := known(inList(to)); name != "" {
				return name
			}
		}
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(raw), "\n")
	return known(strings.TrimSpace(first))
}

func offset(now time.Time) string {
	_, s := now.Zone()
	sign := "+"
	if s < 0 {
		sign, s = "-", -s
	}
	return fmt.Sprintf("UTC%s%02d:%02d", sign, s/3600, s/60%60)
}
