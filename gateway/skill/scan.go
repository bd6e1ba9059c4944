package skill

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Root is a place where folders of skills lie.
type Root struct {
	Dir    string
	Source Source
}

// reader reads skills and remembers what it has read, by content.
type reader struct {
	mu   sync.Mutex
	seen map[[32]byte]parsed
}

type parsed struct {
	spec Spec
	err  error
}

const maxSeen = 4096

func (r *reader) parse(data []byte) (Spec, error) {
	sum := sha256.Sum256(data)
	r.mu.Lock()
	p, ok := r.seen[sum]
	r.mu.Unlock()
	if ok {
		return p.spec, p.err
	}
	p.spec, p.err = Parse(data)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil || len(r.seen) >= maxSeen {
		r.seen = map[[32]byte]parsed{}
	}
	r.seen[sum] = p
	return p.spec, p.err
}

// scan lists the skills of one place, by folder. A place that is missing has
// none; one that is itself the folder of a skill has one.
func (r *reader) scan(at Root, lock Lock) ([]Skill, error) {
	root, err := os.OpenRoot(at.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the folder of skills %s: %w", at.Dir, err)
	}
	defer func() { _ = root.Close() }()
	real, err := filepath.EvalSymlinks(at.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder of skills %s: %w", at.Dir, err)
	}
	if at.Source == Extra {
		if st, err := root.Lstat(FileName); err == nil && st.Mode().IsRegular() {
			return []Skill{r.one(root, ".", real, at.Source, lock)}, nil
		}
	}
	d, err := root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("list the folder of skills %s: %w", at.Dir, err)
	}
	entries, err := d.ReadDir(maxFolders)
	_ = d.Close()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("list the folder of skills %s: %w", at.Dir, err)
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var out []Skill
	for _, e := range entries {
		name := e.Name()
		switch {
		case strings.HasPrefix(name, ".") || name == "node_modules":
		case e.Type()&fs.ModeSymlink != 0:
			out = append(out, broken(at.Source, filepath.Join(real, name), "it is a link, and links are not followed; put the folder itself "+
				"here, or name where it is in skills.load.extraDirs"))
		case e.IsDir():
			if _, err := root.Lstat(name + "/" + FileName); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			out = append(out, r.one(root, name, filepath.Join(real, name), at.Source, lock))
		}
	}
	return out, nil
}

func broken(source Source, dir, why string) Skill {
	return Skill{Spec: Spec{Name: clean(filepath.Base(dir), maxName)}, Source: source, Dir: dir, Problem: why}
}

// one reads the skill of a folder below root.
func (r *reader) one(root *os.Root, name, dir string, source Source, lock Lock) Skill {
	data, err := readStable(root, name+"/"+FileName)
	if err != nil {
		return broken(source, dir, plain(err))
	}
	spec, err := r.parse(data)
	if err != nil {
		return broken(source, dir, plain(err))
	}
	s := Skill{Spec: spec, Source: source, Dir: dir}
	s.Trust, s.Problem = lock.judge(root, name, s)
	if s.Problem == "" && (s.Trust == Local || s.Trust == Changed) {
		if s.print, err = fingerprint(root, name); err != nil {
			s.Problem = plain(err)
		}
	}
	return s
}

// readStable reads a regular file, and no half of one that is being written.
func readStable(root *os.Root, name string) ([]byte, error) {
	for range 3 {
		data, again, err := readOnce(root, name)
		if err != nil || !again {
			return data, err
		}
	}
	return nil, invalid("%s changes while it is read; it is looked at again when it is quiet", FileName)
}

func readOnce(root *os.Root, name string) (data []byte, again bool, err error) {
	st, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("look at %s: %w", FileName, err)
	case st.Mode()&fs.ModeSymlink != 0:
		return nil, false, invalid("%s is a link, and links are not followed", FileName)
	case !st.Mode().IsRegular():
		return nil, false, invalid("%s is not a file", FileName)
	case st.Size() > maxFile:
		return nil, false, invalid("%s is larger than %d KiB", FileName, maxFile>>10)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, false, fmt.Errorf("open %s: %w", FileName, err)
	}
	defer func() { _ = f.Close() }()
	before, err := f.Stat()
	if err != nil {
		return nil, false, fmt.Errorf("look at %s: %w", FileName, err)
	}
	if data, err = io.ReadAll(io.LimitReader(f, maxFile+1)); err != nil {
		return nil, false, fmt.Errorf("read %s: %w", FileName, err)
	}
	after, err := f.Stat()
	if err != nil {
		return nil, false, fmt.Errorf("look at %s: %w", FileName, err)
	}
	moved := !os.SameFile(st, before) || before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime()) ||
		int64(len(data)) != after.Size()
	return data, moved, nil
}

// plain is an error in words for people, without where the code stood.
func plain(err error) string {
	return strings.TrimPrefix(err.Error(), ErrInvalid.Error()+": ")
}
