package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
)

// What lies in a folder of the owner's may have been written by the owner or by
// a command of the assistant's. The owner's own skills are used as they are; what
// appeared or changed while a tool was at work that can write there is not, until
// the owner has looked at it (A-SKILL-11). The two are told apart by time: whoever
// runs something that can write calls Busy before, and what it returns after. A
// skill that is different to the last look is the owner's only when nothing was
// busy since that look.

// seen is what was found at the last looks.
type seen struct {
	mu     sync.Mutex
	loaded bool
	kept   kept
	trust  bool // nothing was at work while nobody looked before the first look
	active int
	turn   uint64            // counts beginnings
	base   map[string]uint64 // by workspace: turn at the last look
}

// kept is the part that is on disk, by folder.
type kept struct {
	// Quiet: Hearth ended in order, and nothing was at work after the last look.
	Quiet bool              `json:"quiet"`
	Own   map[string]string `json:"own"` // as the owner wrote it
	New   map[string]string `json:"new"` // names of those that a tool may have written: they wait for the owner
}

// moment is when a look began.
type moment struct {
	turn  uint64
	quiet bool
}

// Busy says that something begins that can write into folders of skills. What it
// returns says that it has ended.
func (l *Library) Busy() (done func()) {
	l.seen.mu.Lock()
	l.seen.active++
	l.seen.turn++
	l.seen.mu.Unlock()
	return sync.OnceFunc(func() {
		l.seen.mu.Lock()
		l.seen.active--
		l.seen.mu.Unlock()
		select {
		case l.ended <- struct{}{}: // the watcher looks what it left
		default:
		}
	})
}

// Open looks at the skills of the workspaces for the first time, before any tool
// is at work: what changed since Hearth ended is the owner's.
func (l *Library) Open(workspaces []string) {
	for _, ws := range workspaces {
		l.scan(ws)
	}
	l.seen.mu.Lock()
	defer l.seen.mu.Unlock()
	l.load()
	if l.seen.kept.Quiet {
		l.seen.kept.Quiet = false // until Close
		l.keep()
	}
}

// Close is the last look, when no tool is at work any more.
func (l *Library) Close(workspaces []string) {
	for _, ws := range workspaces {
		l.scan(ws)
	}
	l.seen.mu.Lock()
	defer l.seen.mu.Unlock()
	l.load()
	l.seen.kept.Quiet = l.seen.active == 0
	l.keep()
}

// load reads what is on disk, once. The caller holds mu.
func (l *Library) load() {
	s := &l.seen
	if s.loaded {
		return
	}
	s.loaded, s.base = true, map[string]uint64{}
	raw, err := os.ReadFile(l.SeenFile)
	if err == nil {
		err = json.Unmarshal(raw, &s.kept)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // the first start: no tool ever ran
		s.kept.Quiet = true
	case err != nil:
		l.Logger.Error("which skills were there before is not known; those of workspaces wait until they are trusted", "err", err)
		s.kept = kept{}
	}
	if s.kept.Own == nil {
		s.kept.Own = map[string]string{}
	}
	if s.kept.New == nil {
		s.kept.New = map[string]string{}
	}
	s.trust = s.kept.Quiet
}

// keep writes it. The caller holds mu.
func (l *Library) keep() {
	raw, err := json.MarshalIndent(l.seen.kept, "", "  ")
	if err == nil {
		err = l.Write(l.SeenFile, append(raw, '\n'))
	}
	if err != nil {
		l.Logger.Error("which skills are there could not be kept; they may have to be trusted again", "err", err)
	}
}

func (l *Library) look() moment {
	l.seen.mu.Lock()
	defer l.seen.mu.Unlock()
	return moment{l.seen.turn, l.seen.active == 0}
}

// vouch says of the skills in the owner's folders, found by a look that began at
// m, which may be used.
func (l *Library) vouch(m moment, workspace string, found []Skill) {
	l.seen.mu.Lock()
	defer l.seen.mu.Unlock()
	l.load()
	s := &l.seen
	base, looked := s.base[workspace]
	quiet := m.quiet && s.active == 0 && s.turn == m.turn && base == m.turn && (looked || s.trust)
	before := kept{Own: maps.Clone(s.kept.Own), New: maps.Clone(s.kept.New)}
	there := map[string]bool{}
	for i := range found {
		k := &found[i]
		there[k.Dir] = true
		if k.Source != Workspace && k.Source != Extra || k.Problem != "" || k.Trust == Confirmed {
			continue
		}
		own, known := s.kept.Own[k.Dir]
		_, waits := s.kept.New[k.Dir]
		switch {
		case known && own == k.print:
			delete(s.kept.New, k.Dir)
			continue
		case quiet && !waits:
			s.kept.Own[k.Dir] = k.print
			continue
		case !waits:
			s.kept.New[k.Dir] = k.Name
			l.Logger.Warn("a skill appeared or changed while a tool was at work; it is not used until you trust it", "skill", k.Name, "dir", k.Dir)
		}
		k.Trust, k.Problem = Waiting, newWords(known || k.Trust == Changed, k.Name)
	}
	if quiet { // the owner took these away
		for dir := range s.kept.New {
			if !there[dir] && inPlaces(dir, l.Roots(workspace)) {
				delete(s.kept.New, dir)
			}
		}
	}
	if m.quiet && s.active == 0 && s.turn == m.turn {
		s.base[workspace] = m.turn
	}
	if !maps.Equal(before.Own, s.kept.Own) || !maps.Equal(before.New, s.kept.New) {
		l.keep()
	}
}

// shellWord is a name as one word of a command that a person copies.
func shellWord(name string) string {
	if name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == "" {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

func newWords(changed bool, name string) string {
	what := "it is new"
	if changed {
		what = "it was changed"
	}
	return what + ", and a command of the assistant's may have done that; look at it, then run `hearth skills trust " +
		shellWord(name) + "`"
}

func inPlaces(dir string, roots []Root) bool {
	for _, r := range roots {
		if (r.Source == Workspace || r.Source == Extra) && strings.HasPrefix(dir, real(r.Dir)) {
			return true
		}
	}
	return false
}

// trusted forgets that a skill waits, and takes it as it is.
func (l *Library) trusted(dir string) {
	l.seen.mu.Lock()
	defer l.seen.mu.Unlock()
	l.load()
	if _, waits := l.seen.kept.New[dir]; waits {
		delete(l.seen.kept.New, dir)
		l.keep()
	}
}

// Waiting are the names of the skills that the owner has to look at.
func (l *Library) Waiting() []string {
	l.seen.mu.Lock()
	defer l.seen.mu.Unlock()
	return slices.Sorted(maps.Values(l.seen.kept.New))
}

// fingerprint tells a folder apart from the same one with another content. It
// follows no link. What is beyond the limits of a skill has none.
func fingerprint(root *os.Root, dir string) (string, error) {
	sum := sha256.New()
	left, count := int64(maxTotal), 0
	dir = path.Clean(dir)
	err := fs.WalkDir(root.FS(), dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := p
		if dir != "." {
			rel = strings.TrimPrefix(strings.TrimPrefix(p, dir), "/")
		}
		if count++; count > maxFiles {
			return invalid("it holds more than %d files and folders", maxFiles)
		}
		switch {
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir(), d.Name() == ".DS_Store", d.Name() == "Thumbs.db":
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			to, err := root.Readlink(p)
			_, _ = fmt.Fprintf(sum, "l %q %q\n", rel, to)
			return err
		case !d.Type().IsRegular():
			_, _ = fmt.Fprintf(sum, "o %q %v\n", rel, d.Type())
			return nil
		}
		return printFile(sum, root, p, rel, &left)
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// printFile adds a file to a fingerprint: what is in it, or of those that are too
// large in all, how it is described.
func printFile(to io.Writer, root *os.Root, p, rel string, left *int64) error {
	f, err := root.Open(p)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(to, "f %q %v %d\n", rel, st.Mode()&0o111 != 0, st.Size())
	if *left -= st.Size(); *left < 0 {
		_, err = fmt.Fprintf(to, "%d\n", st.ModTime().UnixNano())
		return err
	}
	_, err = io.Copy(to, io.LimitReader(f, maxTotal))
	return err
}
