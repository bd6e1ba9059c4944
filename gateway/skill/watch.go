package skill

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// maxWatched bounds how many folders the system is asked to watch.
const maxWatched = 1000

// Watch follows changes of the places of the workspaces until ctx ends. changed
// is called after each that may matter.
func (l *Library) Watch(ctx context.Context, workspaces func() []string, changed func()) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	watched := map[string]bool{}
	look := time.NewTimer(0)
	defer look.Stop()
	last := ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case ev, ok := <-w.Events:
			if !ok {
				return nil
			}
			if l.concerns(ev.Name, workspaces()) {
				look.Reset(l.Debounce())
			}
		case err, ok := <-w.Errors:
			if !ok {
				return nil
			}
			l.Logger.Debug("skills: file notices", "err", err)
			look.Reset(l.Debounce())
		case <-l.ended:
			look.Reset(l.Debounce())
		case <-look.C:
			now, more := l.follow(w, watched, workspaces())
			if more { // what came into it before it was watched gave no notice
				look.Reset(l.Debounce())
			}
			if last != "" && now != last && l.Watching() {
				l.Refresh()
				changed()
			}
			last = now
		}
	}
}

// follow asks for notices of every place and every skill in it. Of a place that
// is missing the next folder above it that is there is watched, so that it is
// seen when it comes. What
// it returns is another text when something is different, and whether there are
// folders that were not watched before.
func (l *Library) follow(w *fsnotify.Watcher, watched map[string]bool, workspaces []string) (is string, more bool) {
	want := map[string]bool{}
	sum := sha256.New()
	for _, ws := range workspaces {
		for _, r := range l.Roots(ws) {
			want[r.Dir] = true
			for d := filepath.Dir(r.Dir); ; d = filepath.Dir(d) {
				want[d] = true
				if _, err := os.Stat(d); err == nil || d == filepath.Dir(d) {
					break
				}
			}
		}
		for _, s := range l.scan(ws) {
			_, _ = fmt.Fprintf(sum, "%q %+v\n", ws, s)
			folders(s.Dir, want)
		}
	}
	for dir := range watched {
		if !want[dir] {
			_ = w.Remove(dir)
			delete(watched, dir)
		}
	}
	for dir := range want {
		if err := w.Add(dir); err == nil { // again is harmless and follows a folder that was replaced
			more = more || !watched[dir]
			watched[dir] = true
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), more
}

// concerns drops notices about what lies beside a place.
func (l *Library) concerns(name string, workspaces []string) bool {
	for _, ws := range workspaces {
		for _, r := range l.Roots(ws) {
			if name == r.Dir || strings.HasPrefix(name, r.Dir+string(filepath.Separator)) ||
				strings.HasPrefix(r.Dir, name+string(filepath.Separator)) {
				return true
			}
		}
	}
	return false
}

// folders adds a folder and those in it.
func folders(dir string, to map[string]bool) {
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return nil // what cannot be read is not watched
		case len(to) >= maxWatched:
			return fs.SkipAll
		}
		to[p] = true
		return nil
	})
}
