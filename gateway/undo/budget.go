package undo

import (
	"path/filepath"
	"time"

	"github.com/hearth-assistant/hearth/gateway/statedir"
)

const (
	defaultBytes = 2 << 30
	// diskShare of what is free on the disk, with what the copies take of it, is the
	// most that they take where nobody says more; but smallest is always theirs.
	diskShare = 10
	smallest  = 64 << 20
	// fresh is how long nobody expects a copy to be gone.
	fresh = time.Hour
)

// Usage is what the copies take of the disk.
type Usage struct {
	Bytes, Limit int64
	// Shed are files of which the newest copy had to go although they had been changed
	// within the hour, since the start; ShedAt is when.
	Shed   []string
	ShedAt time.Time
}

// Usage tells it.
func (l *Log) Usage() Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Usage{Bytes: l.held, Limit: l.limit(), Shed: append([]string(nil), l.shed...), ShedAt: l.shedAt}
}

// SetMost takes over who says how many bytes the copies may take; 0 leaves it to the
// disk.
func (l *Log) SetMost(most func() int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.most = most
}

// limit is how many bytes the copies may take.
func (l *Log) limit() int64 {
	if l.opts.MaxBytes > 0 {
		return l.opts.MaxBytes
	}
	if l.most != nil {
		if n := l.most(); n > 0 {
			return n
		}
	}
	free, ok := l.opts.Free()
	if !ok {
		return defaultBytes
	}
	return max(smallest, min(defaultBytes, (free+l.held)/diskShare))
}

// freeOf is how much the disk of a folder still takes.
func freeOf(dir string) func() (int64, bool) { return statedir.Dir(filepath.Clean(dir)).Free }

// maxShed is how many files are named.
const maxShed = 20

// tellShed says which files can be taken back no more although they were changed just
// now: the newest row of each of them is among those that go.
func (l *Log) tellShed(rows []row, gone int) {
	since := l.opts.Now().Add(-fresh).UnixMilli()
	kept := map[string]bool{}
	for _, r := range rows[gone:] {
		kept[r.Path] = true
	}
	var shed []string
	for _, r := range rows[:gone] {
		if r.Before != nil && r.At >= since && !kept[r.Path] {
			kept[r.Path] = true // once
			shed = append(shed, r.Path)
		}
	}
	if len(shed) == 0 {
		return
	}
	l.shed, l.shedAt = shed[:min(len(shed), maxShed)], l.opts.Now()
	l.opts.Logger.Warn("files that were changed within the hour cannot be taken back any more: their copies took more than undo.maxMB allows",
		"files", len(shed), "such as", shed[0], "limit", l.limit())
}
