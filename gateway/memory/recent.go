package memory

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"
)

// maxWindows bounds how far one day's file is read, in readings of Get.
const maxWindows = 32

// Days bounds what Recent gives.
type Days struct {
	Days  int // today is the first
	File  int // characters of one file
	Total int // characters of all
}

// Note is a day's file, or its end.
type Note struct {
	Path, Text string
	Cut        bool // there is more before it
}

// Recent gives the notes of the last days, the newest first. Of a long file it
// is the end: that is what was noted last.
func (x *Index) Recent(ctx context.Context, s Scope, today time.Time, d Days) (out []Note, err error) {
	there, err := list(ctx, x.Workspace(s.Agent))
	if err != nil {
		return nil, err
	}
	left := d.Total
	for day := range d.Days {
		date := today.AddDate(0, 0, -day).Format(dayForm)
		var names []string
		for _, f := range there {
			if path.Dir(f.rel) == s.folder() && strings.HasPrefix(path.Base(f.rel), date) {
				names = append(names, f.rel)
			}
		}
		slices.SortFunc(names, func(a, b string) int {
			return -strings.Compare(strings.TrimSuffix(a, ".md"), strings.TrimSuffix(b, ".md"))
		})
		for _, rel := range names {
			if left <= 0 {
				return out, nil
			}
			note, n, err := x.tail(ctx, s, rel, min(d.File, left))
			if errors.Is(err, ErrNoFile) {
				continue // gone by now
			}
			if err != nil {
				return out, err
			}
			if n > 0 {
				out, left = append(out, note), left-n
			}
		}
	}
	return out, nil
}

// tail is the end of a file, at most limit characters of it, from a line's
// beginning where there is one.
func (x *Index) tail(ctx context.Context, s Scope, rel string, limit int) (note Note, chars int, err error) {
	e, err := x.Get(ctx, s, rel, 1, 0)
	text := e.Text
	for n := 1; err == nil && e.More && n < maxWindows; n++ {
		before := e.Text
		e, err = x.Get(ctx, s, rel, e.To+1, 0)
		text = before + e.Text
		note.Cut = true
	}
	if err != nil {
		return note, 0, err
	}
	note.Path = rel
	all := []rune(strings.TrimSpace(text))
	if len(all) > limit {
		note.Cut = true
		all = all[len(all)-limit:]
		if i := slices.Index(all, '\n'); i >= 0 {
			all = all[i+1:]
		}
	}
	note.Text = strings.TrimSpace(string(all))
	return note, len(all), nil
}
