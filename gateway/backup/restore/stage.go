package restore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/backup"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Options of a restore; all are needed but Settings.
type Options struct {
	Dir    statedir.Dir
	Config string // where hearth.json goes
	Home   string // the person's folder here
	File   string // the backup
	Key    backup.Key
	Now    time.Time
	// Settings joins the saved settings with those that are here, for keys that the
	// backup does not hold; nil: they are taken as they are.
	Settings func(saved []byte) ([]byte, error)
	// Moved: it comes from another machine that does no more of it. What was to be
	// done is done here, and who this Hearth is comes along.
	Moved bool
}

// Verified is what was read of a backup that is good.
type Verified struct {
	Manifest *backup.Manifest
	Files    int
	Records  int // of the database
}

// Verify reads a backup whole and rehearses a restore of it, in a folder beside the
// state folder that is removed again.
func Verify(ctx context.Context, state statedir.Dir, file string, key backup.Key, now time.Time) (v Verified, err error) {
	dir, err := verifying(state, now)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	into := filepath.Join(dir, "all")
	if v.Manifest, err = backup.Unpack(ctx, file, key, into); err != nil {
		return v, err
	}
	for _, f := range v.Manifest.Files {
		if !f.Dir {
			v.Files++
		}
	}
	if v.Records, err = store.Check(filepath.Join(into, filepath.FromSlash(backup.StorePath))); err != nil {
		return v, fmt.Errorf("the database of the backup: %w", err)
	}
	return v, nil
}

// verifying makes a folder on the disk of the state folder, which has room for what a
// backup holds: what is for temporary files may be in memory. Only where that may not be
// written it is there. What a Verify that was killed left a day ago is removed: it is of
// no use, and readable.
func verifying(state statedir.Dir, now time.Time) (string, error) {
	pattern := beside(string(state), "verifying-*")
	left, _ := filepath.Glob(pattern)
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && now.Sub(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(dir)
		}
	}
	dir, err := os.MkdirTemp(filepath.Dir(pattern), filepath.Base(pattern))
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		dir, err = os.MkdirTemp("", "hearth-verify-*")
	}
	if err != nil {
		return "", fmt.Errorf("make a folder to unpack it in: %w", err)
	}
	return dir, nil
}

// Running reports whether a gateway has the state folder in use.
func Running(dir statedir.Dir) bool { return store.InUse(dir.Store()) }

// Staged is a backup that was unpacked and found good. Nothing was changed yet.
type Staged struct {
	Manifest *backup.Manifest
	Records  int    // of the database
	Values   []byte // of the secrets, nil for none
	Changes  []Change
	journal  Journal
	dir      statedir.Dir
	folder   string // what was unpacked, until it is moved
}

// Change is what a restore would do to one folder.
type Change struct {
	To      string // the folder
	Known   bool   // it is there now
	Same    int    // files that are as they were saved
	Differ  int
	Missing int // files that only the backup has
	Newer   int // files that only are here: they are kept aside
}

// Stage unpacks a backup and compares all of it with its sums.
func Stage(ctx context.Context, o Options) (s *Staged, err error) {
	if Half(o.Dir) {
		return nil, ErrHalf
	}
	stamp := o.stamp()
	s = &Staged{dir: o.Dir, folder: beside(string(o.Dir), "restoring-"+stamp)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Drop())
		}
	}()
	if s.Manifest, err = backup.Unpack(ctx, o.File, o.Key, s.folder); err != nil {
		return s, err
	}
	db := filepath.Join(s.folder, filepath.FromSlash(backup.StorePath))
	if s.Records, err = store.Check(db); err != nil {
		return s, fmt.Errorf("look at the database of the backup: %w", err)
	}
	if s.Values, err = os.ReadFile(filepath.Join(s.folder, filepath.FromSlash(backup.ValuesPath))); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return s, err
	}
	s.journal = Journal{Phase: Swapping, At: o.Now.UTC(), Backup: s.Manifest.Name, Saved: s.Manifest.At}
	if !o.Moved {
		if err := s.mark(ctx, o, db); err != nil {
			return s, err
		}
	}
	if err := s.keepOwn(o); err != nil {
		return s, err
	}
	return s, s.place(o, stamp)
}

// stamp is the moment in names beside the folders, a later one where an earlier
// restore used it. What one that was killed while it unpacked has left is removed: it
// is of no use, and readable.
func (o Options) stamp() string {
	left, _ := filepath.Glob(beside(string(o.Dir), "restoring-*"))
	for _, dir := range left {
		_ = os.RemoveAll(dir)
	}
	for at := o.Now; ; at = at.Add(time.Second) {
		stamp := at.Format("20060102-150405")
		taken := false
		for _, word := range []string{"restoring-", "restored-", "replaced-"} {
			taken = taken || there(beside(string(o.Dir), word+stamp))
		}
		if !taken {
			return stamp
		}
	}
}

// mark notes in the unpacked store that it takes the place of a newer one.
func (s *Staged) mark(ctx context.Context, o Options, path string) error {
	db, err := store.Open(path, store.Options{ReserveBytes: -1})
	if err != nil {
		return fmt.Errorf("look at the database of the backup: %w", err)
	}
	err = db.MarkRestored(ctx, o.Now)
	if err := errors.Join(err, db.Close(ctx)); err != nil {
		return fmt.Errorf("set the database of the backup to now: %w", err)
	}
	return nil
}

// keepOwn takes over what stays: who this Hearth is, where the backup does not say;
// what was taken away from devices and people since; the settings.
func (s *Staged) keepOwn(o Options) error {
	state := filepath.Join(s.folder, backup.RootState)
	files, err := os.ReadDir(string(o.Dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	removed := filepath.Base(o.Dir.Removed())
	for _, f := range files {
		to := filepath.Join(state, f.Name())
		own := f.Name() == removed || backup.SecretFile(f.Name()) && !there(to)
		if !own || o.Moved || !f.Type().IsRegular() {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(string(o.Dir), f.Name()))
		if err == nil {
			err = statedir.WriteFile(to, raw)
		}
		if err != nil {
			return err
		}
	}
	saved, err := os.ReadFile(filepath.Join(s.folder, filepath.FromSlash(backup.SettingsPath)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && o.Settings != nil {
		saved, err = o.Settings(saved)
	}
	if err != nil {
		return fmt.Errorf("read the settings of the backup: %w", err)
	}
	if filepath.Dir(o.Config) == filepath.Clean(string(o.Dir)) {
		return statedir.WriteFile(filepath.Join(state, filepath.Base(o.Config)), saved)
	}
	fresh := beside(o.Config, "restoring")
	s.journal.Moves = append(s.journal.Moves, Move{To: o.Config, New: fresh, Old: beside(o.Config, "replaced")})
	return statedir.WriteFile(fresh, saved)
}

// place puts each folder beside the one that it is to replace.
func (s *Staged) place(o Options, stamp string) error {
	roots := make([]string, 0, len(s.Manifest.Roots))
	for name := range s.Manifest.Roots {
		roots = append(roots, name)
	}
	// Folders inside of the state folder come first: they go there with it.
	slices.SortFunc(roots, func(a, b string) int { return strings.Compare(b, a) })
	for _, name := range roots {
		from := filepath.Join(s.folder, filepath.FromSlash(name))
		if !there(from) {
			continue
		}
		to, err := o.target(name, s.Manifest)
		if err != nil {
			return err
		}
		if rel, err := filepath.Rel(string(o.Dir), to); err == nil && filepath.IsLocal(rel) && rel != "." {
			s.Changes = append(s.Changes, compare(name, to, s.Manifest))
			if err := os.Rename(from, filepath.Join(s.folder, backup.RootState, rel)); err != nil {
				return err
			}
			continue
		}
		m := Move{To: to, New: beside(to, "restored-"+stamp), Old: beside(to, "replaced-"+stamp)}
		s.journal.Moves = append(s.journal.Moves, m)
		if err := s.settle(from, m); err != nil {
			return fmt.Errorf("put what was saved of %s beside it: %w", to, err)
		}
		s.Changes = append(s.Changes, compare(name, to, s.Manifest))
	}
	return os.RemoveAll(s.folder)
}

// settle moves an unpacked folder, copying it where it must go to another disk.
func (s *Staged) settle(from string, m Move) error {
	if there(m.Old) {
		return fmt.Errorf("%s is there already", m.Old)
	}
	// Of a restore that was killed at this very moment's stamp, before it changed anything.
	if err := os.RemoveAll(m.New); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(m.New), 0o700); err != nil {
		return err
	}
	if os.Rename(from, m.New) == nil {
		return nil
	}
	if err := os.CopyFS(m.New, os.DirFS(from)); err != nil {
		return err
	}
	return os.Chmod(m.New, 0o700)
}

// target is where a folder of the backup goes on this machine.
func (o Options) target(root string, m *backup.Manifest) (string, error) {
	switch {
	case root == backup.RootState:
		return string(o.Dir), nil
	case root == backup.RootSkills:
		return o.Dir.Skills(), nil
	case strings.HasPrefix(root, backup.RootWorkspace):
		was := m.Roots[root]
		if rel, err := filepath.Rel(m.Home, was); m.Home != "" && err == nil && filepath.IsLocal(rel) {
			return filepath.Join(o.Home, rel), nil
		}
		if !filepath.IsAbs(was) {
			return "", fmt.Errorf("%w: the folder %q has no place", backup.ErrDamaged, root)
		}
		return was, nil
	}
	return "", fmt.Errorf("%w: it has a folder %q that this Hearth does not know", backup.ErrNewer, root)
}

// compare says what would become other below to.
func compare(root, to string, m *backup.Manifest) Change {
	c := Change{To: to, Known: there(to)}
	saved := map[string]bool{}
	for _, f := range m.Files {
		rel, ok := strings.CutPrefix(f.Path, root+"/")
		if !ok || f.Dir {
			continue
		}
		saved[filepath.FromSlash(rel)] = true
		st, err := os.Lstat(filepath.Join(to, filepath.FromSlash(rel)))
		switch {
		case err != nil:
			c.Missing++
		case f.Link == "" && !as(f, filepath.Join(to, filepath.FromSlash(rel)), st):
			c.Differ++
		default:
			c.Same++
		}
	}
	_ = filepath.WalkDir(to, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // only counted
		}
		if rel, err := filepath.Rel(to, p); err == nil && !saved[rel] {
			c.Newer++
		}
		return nil
	})
	return c
}

// as reports whether a file is as it was saved; it is read when its time alone
// differs.
func as(f backup.File, path string, st fs.FileInfo) bool {
	if st.Size() != f.Size || !st.Mode().IsRegular() {
		return false
	}
	if st.ModTime().UTC().Equal(f.ModTime) {
		return true
	}
	in, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = in.Close() }()
	sum := sha256.New()
	_, err = io.Copy(sum, in)
	return err == nil && hex.EncodeToString(sum.Sum(nil)) == f.SHA256
}

// At is when the journal of Apply says that it was begun.
func (s *Staged) At() time.Time { return s.journal.At }

// Apply swaps. When it fails, or is cut short, Resume and Undo know how far it came.
func (s *Staged) Apply() (Journal, error) {
	if err := s.journal.write(s.dir); err != nil {
		return s.journal, err
	}
	return s.journal.forth(s.dir)
}

// Drop removes what was unpacked, when it is not to be applied.
func (s *Staged) Drop() error {
	errs := []error{os.RemoveAll(s.folder)}
	for _, m := range s.journal.Moves {
		errs = append(errs, os.RemoveAll(m.New))
	}
	return errors.Join(errs...)
}

func beside(path, word string) string { return strings.TrimRight(path, `/\`) + "." + word }
