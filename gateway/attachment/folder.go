package attachment

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxFolder bounds what is kept of one person's files.
const maxFolder = 2 << 30

const longestName = 80

// Folder is where files are kept: Dir below Root, which is made when it is
// needed. No link leads out of Root.
type Folder struct {
	Root  string
	Dir   string
	Shown string // how tools name it; "" when none reaches it
	Max   int64  // bytes of all files, 0: 2 GB
}

// ErrFull: the folder holds as much as it may.
var ErrFull = errors.New("the files that were sent take as much space as they may; move some away")

// Keep writes a file and returns its name. What is there already stays: the
// same bytes under the same name are the same file.
func (f Folder) Keep(name string, data []byte) (string, error) {
	if err := os.MkdirAll(f.Root, 0o755); err != nil {
		return "", fmt.Errorf("make the folder: %w", err)
	}
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return "", fmt.Errorf("open the folder: %w", err)
	}
	defer root.Close()
	if err := root.MkdirAll(f.Dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder %s: %w", f.Dir, err)
	}
	dir, err := root.OpenRoot(f.Dir)
	if err != nil {
		return "", fmt.Errorf("open the folder %s: %w", f.Dir, err)
	}
	defer dir.Close()
	if err := f.room(dir, int64(len(data))); err != nil {
		return "", err
	}
	ext := path.Ext(name)
	for n := 1; n < 100; n++ {
		try := name
		if n > 1 {
			try = strings.TrimSuffix(name, ext) + "-" + strconv.Itoa(n) + ext
		}
		err := write(dir, try, data)
		if errors.Is(err, fs.ErrExist) && !same(dir, try, data) {
			continue
		}
		if err == nil || errors.Is(err, fs.ErrExist) {
			return try, nil
		}
		return "", err
	}
	return "", fmt.Errorf("%s: %w", name, fs.ErrExist)
}

func (f Folder) room(dir *os.Root, more int64) error {
	limit := f.Max
	if limit <= 0 {
		limit = maxFolder
	}
	list, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return fmt.Errorf("look into the folder: %w", err)
	}
	sweep(dir, list, time.Now())
	for _, e := range list {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			more += info.Size()
		}
	}
	if more > limit {
		return ErrFull
	}
	return nil
}

// partHead begins the name of a file that is being written.
const partHead = ".part-"

// partAge is much longer than any file takes to be written.
const partAge = time.Hour

// write makes the file whole or not at all, whenever the process ends: a name that
// people and tools see never stands for a part of it (F-CRASH-16).
func write(dir *os.Root, name string, data []byte) error {
	if _, err := dir.Lstat(name); err == nil {
		return fs.ErrExist
	}
	part := partHead + rand.Text()
	f, err := dir.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, dir.Remove(part))
	}
	err = dir.Link(part, name) // which takes the place of nothing
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return dir.Rename(part, name) // a disk that has no such links
	}
	return errors.Join(err, dir.Remove(part))
}

// sweep removes what was being written when the process was killed.
func sweep(dir *os.Root, list []fs.DirEntry, now time.Time) {
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), partHead) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > partAge {
			_ = dir.Remove(e.Name())
		}
	}
}

// same reports whether a regular file holds these bytes. A shorter one, which a
// crash left, does not.
func same(dir *os.Root, name string, data []byte) bool {
	info, err := dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(data)) {
		return false
	}
	f, err := dir.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	got, err := io.ReadAll(io.LimitReader(f, int64(len(data))+1))
	return err == nil && bytes.Equal(got, data)
}

// Name makes a harmless file name of what somebody called a file: one name
// without spaces, control and invisible characters, never hidden.
func Name(s, mimeType string) string {
	s = path.Base(strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\\", "/"))
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '-' || r == '_':
			b.WriteRune(r)
		case unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r):
			b.WriteByte('_')
		}
	}
	s = strings.Trim(b.String(), "._-")
	if n := utf8.RuneCountInString(s); n > longestName {
		s = string([]rune(s)[n-longestName:]) // the ending matters
	}
	if s = strings.TrimLeft(s, "._-"); s == "" {
		s = "file"
	}
	if path.Ext(s) == "" {
		s += extension(mimeType)
	}
	return s
}

// extension of a kind, for files without one.
func extension(mimeType string) string {
	switch mimeType {
	case "image/jpeg":
		return ".jpg"
	case "image/png":
		return ".png"
	case "audio/ogg":
		return ".ogg"
	case "audio/mpeg":
		return ".mp3"
	case "video/mp4":
		return ".mp4"
	case "application/pdf":
		return ".pdf"
	}
	return ""
}
