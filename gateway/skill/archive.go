package skill

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Limits of archives, counted while they are unpacked (A-FILE-07).
const (
	maxArchive = 64 << 20
	maxRatio   = 100
)

// Load reads the files of a skill from a folder, a zip archive or a git bundle.
// Nothing is written and nothing is run.
func Load(path string) (Files, error) {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s", path)
	}
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", path, err)
	}
	if st.IsDir() {
		root, err := os.OpenRoot(path)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", path, err)
		}
		defer func() { _ = root.Close() }()
		files, err := readFolder(root, ".")
		if err != nil {
			return nil, err
		}
		return files, complete(files)
	}
	if !st.Mode().IsRegular() || st.Size() > maxArchive {
		return nil, invalid("%s is neither a folder nor an archive of up to %d MiB", filepath.Base(path), maxArchive>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return Unpack(data)
}

// Unpack reads the files of a skill from the bytes of an archive.
func Unpack(data []byte) (files Files, err error) {
	switch {
	case len(data) > maxArchive:
		return nil, invalid("the archive is larger than %d MiB", maxArchive>>20)
	case bytes.HasPrefix(data, []byte("PK")):
		files, err = unzip(data)
	case bytes.HasPrefix(data, []byte("# v2 git bundle\n")), bytes.HasPrefix(data, []byte("# v3 git bundle\n")):
		files, err = unbundle(data)
	default:
		return nil, invalid("it is no zip archive and no git bundle; a skill is installed from a folder, a .zip or a .bundle")
	}
	if err != nil {
		return nil, err
	}
	if files, err = strip(files); err != nil {
		return nil, err
	}
	return files, complete(files)
}

func complete(files Files) error {
	if _, ok := files.get(FileName); !ok {
		return invalid("it has no %s", FileName)
	}
	return nil
}

// strip takes away the one folder in which archives often hold everything.
func strip(files Files) (Files, error) {
	if _, ok := files.get(FileName); ok || len(files) == 0 {
		return files, nil
	}
	top, _, ok := strings.Cut(files[0].Path, "/")
	if !ok {
		return files, nil
	}
	out := make(Files, len(files))
	for i, f := range files {
		rest, ok := strings.CutPrefix(f.Path, top+"/")
		if !ok {
			return nil, invalid("it has no %s at its top; an archive holds one skill", FileName)
		}
		f.Path = rest
		out[i] = f
	}
	return out, nil
}

func unzip(data []byte) (Files, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, invalid("the zip archive is damaged or not whole; get it anew")
	}
	if len(z.File) > maxFiles {
		return nil, invalid("it holds more than %d files and folders", maxFiles)
	}
	g := gather{}
	for _, m := range z.File {
		name := m.Name
		if strings.HasPrefix(name, "__MACOSX/") || strings.HasSuffix(name, "/.DS_Store") || name == ".DS_Store" {
			continue
		}
		mode := m.Mode()
		switch {
		case m.Flags&1 != 0:
			return nil, invalid("the zip archive is encrypted")
		case strings.HasSuffix(name, "/") && mode.IsDir():
			if err := g.folder(strings.TrimSuffix(name, "/")); err != nil {
				return nil, err
			}
			continue
		case !mode.IsRegular():
			return nil, invalid("%s is a link or a device; a skill consists of files and folders only", clean(name, 200))
		}
		content, err := unzipOne(m, maxTotal-g.total)
		if err != nil {
			return nil, err
		}
		if err := g.add(File{Path: name, Data: content, Executable: mode&0o111 != 0}); err != nil {
			return nil, err
		}
	}
	return g.done(), nil
}

// unzipOne unpacks one file and stops as soon as it is more than it may be,
// whatever the archive says of its size.
func unzipOne(m *zip.File, left int64) ([]byte, error) {
	r, err := m.Open()
	if err != nil {
		return nil, invalid("%s cannot be unpacked: %v", clean(m.Name, 200), err)
	}
	defer func() { _ = r.Close() }()
	limit := min(left, int64(m.CompressedSize64)*maxRatio+4096)
	if limit < 0 {
		limit = 0
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(data)) > limit {
		return nil, invalid("%s becomes far larger than its archive; it is not unpacked", clean(m.Name, 200))
	}
	if err != nil {
		return nil, invalid("%s cannot be unpacked: %v", clean(m.Name, 200), err)
	}
	return data, nil
}
