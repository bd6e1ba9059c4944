package backup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// partialPrefix begins the names of files that are being written.
const partialPrefix = ".hearth-backup-"

const nameTime = "20060102T150405Z"

// names of backups: hearth-20261123T081500Z-full.age.
var names = regexp.MustCompile(`^hearth-(\d{8}T\d{6}Z)-(full|part)\.age$`)

// Info is what can be said of a backup without opening it.
type Info struct {
	Name  string
	At    time.Time
	Full  bool
	Bytes int64  // of its file
	Base  string // the newest full one before it, "" for a full one or when that is not in the folder
}

func parseName(name string) (Info, bool) {
	m := names.FindStringSubmatch(name)
	if m == nil {
		return Info{}, false
	}
	at, err := time.Parse(nameTime, m[1])
	return Info{Name: name, At: at, Full: m[2] == "full"}, err == nil
}

// freeName is the name of a backup that is made now.
func freeName(place string, now time.Time, full bool) string {
	kind := "part"
	if full {
		kind = "full"
	}
	for at := now.UTC(); ; at = at.Add(time.Second) {
		stem := filepath.Join(place, "hearth-"+at.Format(nameTime)+"-")
		_, part := os.Lstat(stem + "part.age")
		_, whole := os.Lstat(stem + "full.age")
		if errors.Is(part, fs.ErrNotExist) && errors.Is(whole, fs.ErrNotExist) || part != nil && !errors.Is(part, fs.ErrNotExist) {
			return filepath.Base(stem) + kind + ".age"
		}
	}
}

// List are the backups of a place, the newest first.
func List(place string) ([]Info, error) {
	if err := Usable(place); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(place)
	if err != nil {
		return nil, fmt.Errorf("read the place for backups: %w", err)
	}
	var out []Info
	for _, f := range files {
		info, ok := parseName(f.Name())
		if !ok || !f.Type().IsRegular() {
			continue
		}
		if st, err := f.Info(); err == nil {
			info.Bytes = st.Size()
			out = append(out, info)
		}
	}
	slices.SortFunc(out, func(a, b Info) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(b.Name, a.Name)) })
	base := ""
	for i := len(out) - 1; i >= 0; i-- {
		if out[i].Full {
			base = out[i].Name
		} else {
			out[i].Base = base
		}
	}
	return out, nil
}

// Keep is how many backups are kept: the newest of each of the last days, weeks
// and months that have one.
type Keep struct{ Daily, Weekly, Monthly int }

// Surplus are the backups of a list, the newest first as List has it, that a
// rule does not keep. The newest one is kept in any case, and a full one as long as
// one that is kept builds upon it. Days are those of zone.
func Surplus(list []Info, k Keep, zone *time.Location) (out []Info) {
	kept := map[string]bool{}
	if len(list) > 0 {
		kept[list[0].Name] = true
	}
	rule := func(n int, of func(time.Time) string) {
		seen := map[string]bool{}
		for _, b := range list {
			period := of(b.At.In(zone))
			if !seen[period] && len(seen) < n {
				seen[period], kept[b.Name] = true, true
			}
		}
	}
	rule(k.Daily, func(t time.Time) string { return t.Format(time.DateOnly) })
	rule(k.Weekly, func(t time.Time) string { y, w := t.ISOWeek(); return fmt.Sprint(y, "-", w) })
	rule(k.Monthly, func(t time.Time) string { return t.Format("2006-01") })
	for _, b := range list {
		if kept[b.Name] && b.Base != "" {
			kept[b.Base] = true
		}
	}
	for _, b := range list {
		if !kept[b.Name] {
			out = append(out, b)
		}
	}
	return out
}

// Remove removes backups of a place, partial ones first, so that at no moment one
// is left without what it builds upon.
func Remove(place string, list []Info) error {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Info) int {
		switch {
		case a.Full == b.Full:
			return 0
		case b.Full:
			return -1
		}
		return 1
	})
	for _, b := range list {
		if _, ok := parseName(b.Name); !ok {
			return fmt.Errorf("%q is not the name of a backup", b.Name)
		}
		if err := os.Remove(filepath.Join(place, b.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove a backup: %w", err)
		}
	}
	return nil
}

// leftoverAge is longer than a backup takes.
const leftoverAge = 24 * time.Hour

// Sweep removes what backups that were cut short left in a place.
func Sweep(place string, now time.Time) {
	files, err := os.ReadDir(place)
	if err != nil {
		return // whoever needs the place says so
	}
	for _, f := range files {
		if st, err := f.Info(); err == nil && strings.HasPrefix(f.Name(), partialPrefix) && now.Sub(st.ModTime()) > leftoverAge {
			_ = os.Remove(filepath.Join(place, f.Name()))
		}
	}
}
