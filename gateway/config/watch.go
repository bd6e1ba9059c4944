package config

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// seldom is how many times longer the file is not looked at while notices come.
const seldom = 15

// Watch follows hand edits until ctx ends, then returns nil. It listens for
// notices of the file, and anew after each, because editors replace it; and looks
// at the file now and then, because some disks send no notices: seldom while there
// are notices, so that an idle gateway sleeps.
func (f *File) Watch(ctx context.Context) error {
	w := newWatcher(f)
	defer w.close()
	poll := time.NewTicker(w.every(f.opts.Poll))
	defer poll.Stop()
	quiet := time.NewTimer(0) // read once at the start: an edit may have come before us
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case ev, ok := <-w.events():
			if !ok {
				w.close()
				poll.Reset(f.opts.Poll)
			} else if w.concerns(ev) {
				quiet.Reset(f.opts.Debounce)
			}
		case err, ok := <-w.errors():
			if ok {
				f.opts.Logger.Debug("config: file notices", "err", err)
			}
			quiet.Reset(f.opts.Debounce)
		case <-poll.C:
			if w.moved() {
				quiet.Reset(f.opts.Debounce)
			}
		case <-quiet.C:
			w.look()
			poll.Reset(w.every(f.opts.Poll))
			if err := f.Reload(ctx); err != nil && ctx.Err() == nil {
				f.opts.Logger.Warn("config: read the settings again", "err", err)
			}
		}
	}
}

// watcher pairs the notices of the system with what the file looked like last.
type watcher struct {
	path   string
	notify *fsnotify.Watcher // nil when the system gives none: polling remains
	heard  map[string]bool   // files and folders that notices come of
	seen   stamp
}

// stamp tells two states of a file apart without reading it.
type stamp struct {
	target string
	exists bool
	size   int64
	mode   fs.FileMode
	mtime  time.Time
	info   fs.FileInfo
}

func newWatcher(f *File) *watcher {
	w := &watcher{path: f.path, heard: map[string]bool{}}
	n, err := fsnotify.NewWatcher()
	if err != nil {
		f.opts.Logger.Debug("config: no file notices, the file is polled", "err", err)
	} else {
		w.notify = n
	}
	w.look()
	return w
}

func (w *watcher) close() {
	if w.notify != nil {
		_ = w.notify.Close()
		w.notify = nil
	}
}

func (w *watcher) events() <-chan fsnotify.Event {
	if w.notify == nil {
		return nil
	}
	return w.notify.Events
}

func (w *watcher) errors() <-chan error {
	if w.notify == nil {
		return nil
	}
	return w.notify.Errors
}

// every is how often the file is looked at: seldom when notices come of it.
func (w *watcher) every(poll time.Duration) time.Duration {
	for _, name := range w.tell() {
		if w.notify == nil || !w.heard[name] {
			return poll
		}
	}
	return seldom * poll
}

// concerns drops notices about neighbours, our own copies among them. One about
// a folder is of its end, or of its being moved.
func (w *watcher) concerns(ev fsnotify.Event) bool {
	base := filepath.Base(ev.Name)
	return w.heard[ev.Name] || base == filepath.Base(w.path) || base == filepath.Base(w.seen.target)
}

// tell is what tells of changes: the file. A folder is listened to only where there
// is no file yet, or a link to it, which says nothing when it is made to lead
// elsewhere: the database lies in the same folder, and each page that is written of
// it would wake the gateway.
func (w *watcher) tell() []string {
	file := w.seen.target
	if !w.seen.exists {
		file = filepath.Dir(file)
	}
	if w.seen.target == w.path {
		return []string{file}
	}
	return []string{filepath.Dir(w.path), file}
}

// look remembers the state of the file and listens to what tells of changes.
func (w *watcher) look() {
	w.seen = stampOf(w.path)
	if w.notify == nil {
		return
	}
	names := w.tell()
	for name := range w.heard {
		if !slices.Contains(names, name) {
			_ = w.notify.Remove(name)
			delete(w.heard, name)
		}
	}
	for _, name := range names {
		// Adding twice is harmless and finds what was put in its place.
		if err := w.notify.Add(name); err == nil {
			w.heard[name] = true
		} else {
			delete(w.heard, name)
		}
	}
}

// moved says whether the file looks different from the last look.
func (w *watcher) moved() bool {
	now := stampOf(w.path)
	old := w.seen
	return now.target != old.target || now.exists != old.exists || now.size != old.size || now.mode != old.mode ||
		!now.mtime.Equal(old.mtime) || now.exists && !os.SameFile(now.info, old.info)
}

func stampOf(path string) stamp {
	s := stamp{target: target(path)}
	info, err := os.Stat(s.target)
	if err != nil {
		return s
	}
	s.exists, s.size, s.mode, s.mtime, s.info = true, info.Size(), info.Mode(), info.ModTime(), info
	return s
}
