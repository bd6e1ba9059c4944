package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// Limits of one skill with all its files.
const (
	maxFiles = 2000
	maxTotal = 32 << 20
	maxDeep  = 12 // folders in folders
)

// Lock says which files of which skills the owner has seen. What is installed
// loads only while every file is as it says.
type Lock struct {
	Version int               `json:"version"`
	Skills  map[string]Locked `json:"skills"` // by folder

	shipped map[string]Locked // what came with Hearth, by the folder's name; nil: not known
}

// Locked is one skill of the lock.
type Locked struct {
	Name  string            `json:"name"`
	From  string            `json:"from,omitempty"` // what it was installed from
	At    int64             `json:"at"`
	Hash  string            `json:"hash"`  // over all files
	Files map[string]string `json:"files"` // SHA-256 by path
}

// ReadLock reads a lock; one that is missing is empty.
func ReadLock(file string) (Lock, error) {
	l := Lock{Version: 1, Skills: map[string]Locked{}}
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &l)
	}
	if err != nil {
		return Lock{Version: 1, Skills: map[string]Locked{}}, fmt.Errorf("read the list of installed skills %s: %w. Until it is mended none "+
			"of them is used", file, err)
	}
	if l.Skills == nil {
		l.Skills = map[string]Locked{}
	}
	return l, nil
}

// writeLock replaces the lock as a whole.
func (l *Library) writeLock(lock Lock) error {
	raw, err := json.MarshalIndent(lock, "", "  ")
	if err == nil {
		err = l.Write(l.LockFile, append(raw, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep the list of installed skills: %w", err)
	}
	return nil
}

// judge says what is known about the files of a skill, and why it may not be
// used.
func (l Lock) judge(root *os.Root, name string, s Skill) (Trust, string) {
	if s.Source == Bundled {
		return l.judgeShipped(root, name)
	}
	locked, ok := l.Skills[s.Dir]
	if !ok {
		if s.Source == Managed {
			return Unknown, "it lies among the installed skills, but nobody installed it; look at it, then run `hearth skills trust " +
				shellWord(s.Name) + "`"
		}
		return Local, ""
	}
	files, err := readFolder(root, name)
	if err != nil {
		return Changed, plain(err)
	}
	why := locked.differs(files)
	switch {
	case why == "":
		return Confirmed, ""
	case s.Source == Managed:
		return Changed, why + " since it was installed; look at it, then run `hearth skills trust " + shellWord(s.Name) +
			"`, or install it again"
	}
	return Changed, "" // it loads as any of its place, without what is kept for it
}

// judgeShipped compares a skill with what came with Hearth: its folder is one
// that the owner may allow a tool to write to.
func (l Lock) judgeShipped(root *os.Root, name string) (Trust, string) {
	if l.shipped == nil {
		return Shipped, ""
	}
	was, ok := l.shipped[name]
	if !ok {
		return Unknown, "it lies among the skills that came with Hearth and is none of them; Hearth removes it at its next start"
	}
	files, err := readFolder(root, name)
	if err != nil {
		return Changed, plain(err)
	}
	if why := was.differs(files); why != "" {
		return Changed, why + " since it came with Hearth; Hearth restores it at its next start"
	}
	return Shipped, ""
}

// differs names the first difference to what was seen.
func (l Locked) differs(files Files) string {
	for _, f := range files {
		switch sum, ok := l.Files[f.Path]; {
		case !ok:
			return clean(f.Path, 200) + " was added"
		case sum != f.sum():
			return clean(f.Path, 200) + " was changed"
		}
	}
	if len(files) != len(l.Files) {
		return "a file was removed"
	}
	return ""
}

func lockOf(name, from string, files Files, now time.Time) Locked {
	l := Locked{Name: name, From: from, At: now.UnixMilli(), Hash: files.Hash(), Files: map[string]string{}}
	for _, f := range files {
		l.Files[f.Path] = f.sum()
	}
	return l
}

// File is one file of a skill.
type File struct {
	Path       string // slash-separated, below the folder
	Data       []byte
	Executable bool
}

func (f File) sum() string {
	s := sha256.Sum256(f.Data)
	return hex.EncodeToString(s[:])
}

// Files are all files of a skill, by path.
type Files []File

// Hash is over every path, mode and content.
func (fs Files) Hash() string {
	h := sha256.New()
	for _, f := range fs {
		mode := "-"
		if f.Executable {
			mode = "x"
		}
		_, _ = fmt.Fprintf(h, "%d:%s %s %s\n", len(f.Path), f.Path, mode, f.sum())
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (fs Files) get(p string) ([]byte, bool) {
	for _, f := range fs {
		if f.Path == p {
			return f.Data, true
		}
	}
	return nil, false
}

func (fs Files) sort() {
	slices.SortStableFunc(fs, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
}

// readFolder reads a whole folder of a skill. Anything but files and folders is
// refused (A-SKILL-07).
func readFolder(root *os.Root, dir string) (Files, error) {
	g := gather{}
	err := fs.WalkDir(root.FS(), path.Clean(dir), func(p string, d fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(strings.TrimPrefix(p, path.Clean(dir)), "/")
		if dir == "." {
			rel = p
		}
		switch {
		case err != nil:
			return err
		case p == path.Clean(dir):
			return nil
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return g.folder(rel)
		case d.Name() == ".DS_Store" || d.Name() == "Thumbs.db":
			return nil
		case !d.Type().IsRegular():
			return invalid("%s is a link or a device; a skill consists of files and folders only", clean(rel, 200))
		}
		data, exec, err := readMember(root, p)
		if err != nil {
			return err
		}
		return g.add(File{Path: rel, Data: data, Executable: exec})
	})
	if err != nil {
		return nil, err
	}
	return g.done(), nil
}

func readMember(root *os.Root, p string) ([]byte, bool, error) {
	f, err := root.Open(p)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if !st.Mode().IsRegular() {
		return nil, false, invalid("%s is not a file", clean(p, 200))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxTotal+1))
	return data, st.Mode()&0o111 != 0, err
}

// gather collects files within the limits, and refuses names that would meet or
// lead elsewhere on some system (A-FILE-07, A-FILE-08).
type gather struct {
	files Files
	total int64
	names map[string]member // by folded path
}

type member struct {
	path string
	file bool
}

func (g *gather) name(p string, file bool) error {
	if g.names == nil {
		g.names = map[string]member{}
	}
	if err := memberPath(p); err != nil {
		return err
	}
	parts := strings.Split(p, "/")
	for i := range parts {
		at := strings.Join(parts[:i+1], "/")
		key, last := foldedPath(at), i == len(parts)-1
		before, ok := g.names[key]
		switch {
		case !ok:
			g.names[key] = member{at, file && last}
		case before.path != at:
			return invalid("%s and %s are the same name on some systems", clean(before.path, 200), clean(at, 200))
		case last && file:
			return invalid("it holds %s twice", clean(at, 200))
		case before.file:
			return invalid("%s is a file and a folder", clean(at, 200))
		}
	}
	if len(g.names) > maxFiles {
		return invalid("it holds more than %d files and folders", maxFiles)
	}
	return nil
}

func (g *gather) folder(p string) error { return g.name(p, false) }

func (g *gather) add(f File) error {
	if err := g.name(f.Path, true); err != nil {
		return err
	}
	if g.total += int64(len(f.Data)); g.total > maxTotal {
		return invalid("it is larger than %d MiB", maxTotal>>20)
	}
	g.files = append(g.files, f)
	return nil
}

func (g *gather) done() Files {
	g.files.sort()
	return g.files
}

func foldedPath(p string) string {
	parts := strings.Split(p, "/")
	for i := range parts {
		parts[i] = folded(parts[i])
	}
	return strings.Join(parts, "/")
}

// memberPath refuses paths that lead out of the folder, or that some system
// reads in another way.
func memberPath(p string) error {
	bad := func(why string) error { return invalid("it holds the path %q, %s", clean(p, 200), why) }
	switch {
	case p == "" || len(p) > 1024:
		return bad("which is empty or too long")
	case strings.HasPrefix(p, "/") || strings.Contains(p, `\`) || strings.Contains(p, ":"):
		return bad("which leads out of its folder")
	case clean(p, 2000) != p:
		return bad("which holds characters that cannot be seen")
	}
	parts := strings.Split(p, "/")
	if len(parts) > maxDeep {
		return bad("which is nested too deeply")
	}
	for _, n := range parts {
		switch {
		case n == "" || n == "." || n == "..":
			return bad("which leads out of its folder")
		case len(n) > 200 || strings.HasSuffix(n, ".") || strings.HasSuffix(n, " ") || reserved(n) || strings.ContainsAny(n, `<>"|?*`):
			return bad("whose name some systems cannot keep")
		}
	}
	return nil
}
