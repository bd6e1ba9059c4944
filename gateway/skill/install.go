package skill

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Plan is what bringing a skill in, or accepting it as it is, would mean. It is
// what a person decides about: nothing was written yet.
type Plan struct {
	Spec
	Dir      string // where it would lie
	From     string
	Hash     string // of all files, what the decision is bound to
	Files    []PlannedFile
	Bytes    int64
	Update   bool     // one of this name is there
	Same     bool     // and nothing is different
	Diff     string   // of texts that are different
	Findings []string // what a person should look at first
	Refused  string   // why it is not done unless it is forced
}

// PlannedFile is one file and what becomes of it.
type PlannedFile struct {
	Path       string
	Bytes      int
	Executable bool
	Change     string // added, changed, removed, same
}

var (
	// ErrMoved means that the files are not those that were shown.
	ErrMoved = errors.New("the files are not those that were shown any more, so nothing was done; look at it again")
	// ErrRefused means that a plan needs to be forced.
	ErrRefused = errors.New("this is not done by itself")
)

// Gather makes files of what was read elsewhere, by their paths in the skill's
// folder, within the limits of every skill.
func Gather(all map[string][]byte) (Files, error) {
	g := gather{}
	for p, data := range all {
		if err := g.add(File{Path: p, Data: data}); err != nil {
			return nil, err
		}
	}
	return g.done(), nil
}

// Plan says what installing files would mean. from is for people.
func (l *Library) Plan(files Files, from string) (Plan, error) {
	p, _, err := l.plan(files, from)
	return p, err
}

func (l *Library) plan(files Files, from string) (Plan, Lock, error) {
	data, _ := files.get(FileName)
	spec, err := Parse(data)
	if err != nil {
		return Plan{}, Lock{}, err
	}
	lock, err := ReadLock(l.LockFile)
	if err != nil {
		return Plan{}, lock, err
	}
	dir, err := l.managedDir(spec.Name)
	if err != nil {
		return Plan{}, lock, err
	}
	p := Plan{Spec: spec, Dir: dir, From: clean(from, 500), Hash: files.Hash(), Findings: Findings(files)}
	var before Files
	if root, err := os.OpenRoot(dir); err == nil {
		p.Update = true
		before, err = readFolder(root, ".")
		_ = root.Close()
		if err != nil {
			before = nil // what is there is not a skill any more; it is replaced as a whole
		}
	}
	p.compare(before, files)
	if was, ok := lock.Skills[dir]; ok && was.Name != spec.Name {
		return p, lock, invalid("the skill %s is installed, and its name differs from %s only in a way that file systems do not see; remove "+
			"it first", was.Name, spec.Name)
	}
	p.judgeVersion(before)
	return p, lock, nil
}

// managedDir is where an installed skill of a name lies.
func (l *Library) managedDir(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	return filepath.Join(real(l.Managed), strings.ReplaceAll(folded(name), " ", "-")), nil
}

// real is a path without links, as far as it is there.
func real(dir string) string {
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		return r
	}
	return filepath.Clean(dir)
}

// compare fills in what is different.
func (p *Plan) compare(before, after Files) {
	changed := false
	for _, f := range after {
		pf := PlannedFile{Path: f.Path, Bytes: len(f.Data), Executable: f.Executable, Change: "added"}
		p.Bytes += int64(len(f.Data))
		if old, ok := before.get(f.Path); ok {
			if pf.Change = "same"; string(old) != string(f.Data) {
				pf.Change = "changed"
				p.Diff += diff(f.Path, old, f.Data)
			}
		} else if len(p.Diff) < maxShown {
			p.Diff += diff(f.Path, nil, f.Data) // whoever says yes has seen it
		}
		changed = changed || pf.Change != "same"
		p.Files = append(p.Files, pf)
	}
	for _, f := range before {
		if _, ok := after.get(f.Path); !ok {
			p.Files = append(p.Files, PlannedFile{Path: f.Path, Bytes: len(f.Data), Change: "removed"})
			changed = true
		}
	}
	p.Same = p.Update && !changed
	p.shorten()
}

// shorten cuts what is shown to what somebody reads.
func (p *Plan) shorten() {
	if len(p.Diff) >= maxShown {
		p.Diff = strings.ToValidUTF8(p.Diff[:maxShown], "") + "\n(there is more; look into the files)\n"
	}
}

// judgeVersion refuses to go back, and other bytes under one version
// (A-SKILL-02).
func (p *Plan) judgeVersion(before Files) {
	data, ok := before.get(FileName)
	if !ok || p.Same {
		return
	}
	old, err := Parse(data)
	if err != nil || old.Version == "" || p.Version == "" {
		return
	}
	switch c := compareVersions(p.Version, old.Version); {
	case c < 0:
		p.Refused = "version " + p.Version + " is older than " + old.Version + ", which is installed"
	case c == 0:
		p.Refused = "its files are not those of version " + old.Version + " that is installed, but it has the same version"
	}
}

// Install brings files in as a plan with this hash said. It is the one way in
// (A-SKILL-09). Nothing of it is run.
func (l *Library) Install(ctx context.Context, files Files, from, hash string, force bool) (Plan, error) {
	l.install.Lock()
	defer l.install.Unlock()
	if err := ctx.Err(); err != nil {
		return Plan{}, err
	}
	p, lock, err := l.plan(files, from)
	switch {
	case err != nil:
		return p, err
	case p.Hash != hash:
		return p, ErrMoved
	case p.Refused != "" && !force:
		return p, fmt.Errorf("%w: %s", ErrRefused, p.Refused)
	}
	if err := os.MkdirAll(l.Managed, 0o700); err != nil {
		return p, fmt.Errorf("make the folder of installed skills: %w", err)
	}
	root, err := os.OpenRoot(l.Managed)
	if err != nil {
		return p, fmt.Errorf("open the folder of installed skills: %w", err)
	}
	defer func() { _ = root.Close() }()
	if p.Dir, err = l.managedDir(p.Name); err != nil { // the folder is there now
		return p, err
	}
	if err := replace(root, filepath.Base(p.Dir), files); err != nil {
		return p, err
	}
	lock.Skills[p.Dir] = lockOf(p.Name, p.From, files, l.Now())
	if err := l.writeLock(lock); err != nil {
		return p, err
	}
	l.Refresh()
	return p, nil
}

// replace writes a folder beside its place, reads it back, and moves it there.
func replace(root *os.Root, name string, files Files) (err error) {
	fresh, old := ".new-"+nonce(), ".old-"+nonce()
	defer func() {
		if err != nil {
			_ = root.RemoveAll(fresh)
		}
	}()
	if err := writeFolder(root, fresh, files); err != nil {
		return err
	}
	again, err := readFolder(root, fresh)
	if err != nil {
		return err
	}
	if again.Hash() != files.Hash() && filepath.Separator == '/' {
		return ErrMoved
	}
	if _, err := root.Lstat(name); err == nil {
		if err := root.Rename(name, old); err != nil {
			return fmt.Errorf("put the old files of %s aside: %w", name, err)
		}
	}
	if err := root.Rename(fresh, name); err != nil {
		_ = root.Rename(old, name)
		return fmt.Errorf("put the files of %s in place: %w", name, err)
	}
	_ = root.RemoveAll(old)
	return nil
}

func writeFolder(root *os.Root, dir string, files Files) error {
	if err := root.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of the skill: %w", err)
	}
	for _, f := range files {
		if err := memberPath(f.Path); err != nil {
			return err
		}
		at := path.Join(dir, f.Path)
		if err := root.MkdirAll(path.Dir(at), 0o700); err != nil {
			return fmt.Errorf("make a folder of the skill: %w", err)
		}
		mode := fs.FileMode(0o600)
		if f.Executable {
			mode = 0o700
		}
		h, err := root.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
		_, err = h.Write(f.Data)
		if cerr := h.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	return nil
}

func nonce() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// maxShown is how much of the texts of a skill is shown to who decides about it.
const maxShown = 100 << 10

// Inspect says what a skill that is there already consists of, for somebody who
// is to confirm it.
func (l *Library) Inspect(workspace, name string) (Plan, error) {
	s, err := l.forOwner(workspace, name)
	if err != nil {
		return Plan{}, err
	}
	p, _, _, err := l.inspect(s)
	return p, err
}

func (l *Library) inspect(s Status) (Plan, Files, Lock, error) {
	lock, err := ReadLock(l.LockFile)
	if err != nil {
		return Plan{}, nil, lock, err
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return Plan{}, nil, lock, fmt.Errorf("open %s: %w", s.Dir, err)
	}
	defer func() { _ = root.Close() }()
	files, err := readFolder(root, ".")
	if err != nil {
		return Plan{}, nil, lock, err
	}
	data, _ := files.get(FileName)
	spec, err := Parse(data)
	if err != nil {
		return Plan{}, nil, lock, err
	}
	was, known := lock.Skills[s.Dir]
	p := Plan{Spec: spec, Dir: s.Dir, From: was.From, Hash: files.Hash(), Findings: Findings(files), Update: known, Same: known &&
		was.differs(files) == ""}
	for _, f := range files {
		pf := PlannedFile{Path: f.Path, Bytes: len(f.Data), Executable: f.Executable, Change: "same"}
		switch sum, ok := was.Files[f.Path]; {
		case !ok:
			pf.Change = "added"
		case sum != f.sum():
			pf.Change = "changed"
		}
		if pf.Change != "same" && len(p.Diff) < maxShown {
			p.Diff += diff(f.Path, nil, f.Data) // what it was is not kept: the whole text
		}
		p.Bytes += int64(len(f.Data))
		p.Files = append(p.Files, pf)
	}
	p.shorten()
	for name := range was.Files {
		if _, ok := files.get(name); !ok {
			p.Files = append(p.Files, PlannedFile{Path: name, Change: "removed"})
		}
	}
	return p, files, lock, nil
}

// Confirm accepts a skill as it is, when it still has the hash that was shown.
func (l *Library) Confirm(workspace, name, hash string) (Plan, error) {
	l.install.Lock()
	defer l.install.Unlock()
	s, err := l.forOwner(workspace, name)
	if err != nil {
		return Plan{}, err
	}
	if s.Source == Bundled {
		return Plan{}, invalid("%s came with Hearth: there is nothing to confirm. When it was changed, Hearth restores it at its next start",
			s.Name)
	}
	p, files, lock, err := l.inspect(s)
	switch {
	case err != nil:
		return p, err
	case p.Hash != hash:
		return p, ErrMoved
	}
	lock.Skills[s.Dir] = lockOf(p.Name, p.From, files, l.Now())
	if err := l.writeLock(lock); err != nil {
		return p, err
	}
	l.trusted(s.Dir)
	l.Refresh()
	return p, nil
}

// Remove takes an installed skill away.
func (l *Library) Remove(name string) error {
	l.install.Lock()
	defer l.install.Unlock()
	lock, err := ReadLock(l.LockFile)
	if err != nil {
		return err
	}
	dir, err := l.managedDir(name)
	if err != nil {
		return ErrNotFound
	}
	root, err := os.OpenRoot(l.Managed)
	if err != nil {
		return ErrNotFound
	}
	defer func() { _ = root.Close() }()
	base := filepath.Base(dir)
	if _, err := root.Lstat(base); err != nil {
		return ErrNotFound
	}
	if err := root.RemoveAll(base); err != nil {
		return fmt.Errorf("remove the skill %s: %w", name, err)
	}
	delete(lock.Skills, dir)
	if err := l.writeLock(lock); err != nil {
		return err
	}
	l.Refresh()
	return nil
}

// Ship writes the skills that came with Hearth where a model can read them, and
// takes away what is not among them.
func (l *Library) Ship(shipped fs.FS) error {
	if err := os.MkdirAll(l.Bundled, 0o700); err != nil {
		return fmt.Errorf("make the folder of bundled skills: %w", err)
	}
	root, err := os.OpenRoot(l.Bundled)
	if err != nil {
		return fmt.Errorf("open the folder of bundled skills: %w", err)
	}
	defer func() { _ = root.Close() }()
	have, err := fs.ReadDir(shipped, ".")
	if err != nil {
		return err
	}
	keep, ships := map[string]bool{}, map[string]Locked{}
	for _, d := range have {
		if !d.IsDir() {
			continue
		}
		keep[d.Name()] = true
		files, err := shippedFiles(shipped, d.Name())
		if err != nil {
			return err
		}
		ships[d.Name()] = lockOf(d.Name(), "", files, l.Now())
		if now, err := readFolder(root, d.Name()); err == nil && now.Hash() == files.Hash() {
			continue
		}
		if err := replace(root, d.Name(), files); err != nil {
			return err
		}
	}
	l.ships = ships
	return sweep(root, keep)
}

func shippedFiles(shipped fs.FS, dir string) (files Files, err error) {
	err = fs.WalkDir(shipped, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(shipped, p)
		files = append(files, File{Path: strings.TrimPrefix(p, dir+"/"), Data: data})
		return err
	})
	files.sort()
	return files, err
}

func sweep(root *os.Root, keep map[string]bool) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, n := range names {
		if !keep[n] {
			if err := root.RemoveAll(n); err != nil {
				return err
			}
		}
	}
	return nil
}
