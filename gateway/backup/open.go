package backup

import (
	"archive/tar"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"
)

// maxMemory is what unpacking may take of it, whatever a file asks for.
const maxMemory = 64 << 20

// Unpack reads a backup, and the full one that it builds upon, into a folder that
// is empty or not there yet; what it wrote is compared with the sums of the
// manifest. Nothing outside of the folder is touched, whatever is in the file.
func Unpack(ctx context.Context, file string, key Key, into string) (*Manifest, error) {
	if err := os.MkdirAll(into, 0o700); err != nil {
		return nil, err
	}
	if left, err := os.ReadDir(into); err != nil || len(left) > 0 {
		return nil, errors.Join(err, fmt.Errorf("%s is not empty", into))
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	u := unpacking{ctx: ctx, root: root}
	m, err := u.read(file, key)
	if err = full(into, err); err != nil {
		return nil, fmt.Errorf("open the backup %s: %w", filepath.Base(file), err)
	}
	if !m.Full() {
		if _, ok := parseName(m.Base); !ok {
			return nil, fmt.Errorf("open the backup %s: %w: it builds upon %q", filepath.Base(file), ErrDamaged, m.Base)
		}
		base := filepath.Join(filepath.Dir(file), m.Base)
		if _, err := os.Stat(base); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: put %s beside %s", ErrNoBase, m.Base, filepath.Base(file))
		}
		if err := full(into, u.under(base, key, m)); err != nil {
			return nil, fmt.Errorf("open the backup %s: %w", m.Base, err)
		}
	}
	if err := u.finish(m); err != nil {
		return nil, fmt.Errorf("the backup %s: %w", filepath.Base(file), err)
	}
	return m, nil
}

// unpacking writes what backups hold below root.
type unpacking struct {
	ctx  context.Context
	root *os.Root
	runs []run // of changed blocks, in the order of the file
}

// run is where changed blocks were put until their file's base is there.
type run struct {
	path string
	at   int64
	size int64
	from int64 // in runsName
}

// runsName holds changed blocks while a backup is unpacked.
const runsName = ".changed-blocks"

// read takes one backup file whole, and puts its files below root.
func (u *unpacking) read(file string, key Key) (m *Manifest, err error) {
	err = each(u.ctx, file, key, func(h *tar.Header, r io.Reader) error {
		switch {
		case h.Name == manifestName:
			m, err = readManifest(r)
			return err
		case strings.HasPrefix(h.Name, changedDir):
			return u.keepRun(h, r)
		}
		return u.put(h.Name, r)
	})
	if err == nil && m == nil {
		err = fmt.Errorf("%w: it ends before its list of files", ErrDamaged)
	}
	return m, err
}

// under fills in, below what a partial backup brought, what its base has.
func (u *unpacking) under(base string, key Key, m *Manifest) error {
	wanted := map[string]int64{}
	for _, f := range m.Files {
		if f.FromBase {
			wanted[f.Path] = f.Size
		}
	}
	seen := false
	err := each(u.ctx, base, key, func(h *tar.Header, r io.Reader) error {
		if h.Name == manifestName {
			below, err := readManifest(r)
			if err == nil && (below.Name != m.Base || !below.Full()) {
				err = fmt.Errorf("%w: it is not the full backup that is meant", ErrDamaged)
			}
			seen = true
			return err
		}
		if size, ok := wanted[h.Name]; ok {
			delete(wanted, h.Name)
			return u.put(h.Name, io.LimitReader(r, size))
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case !seen:
		return fmt.Errorf("%w: it ends before its list of files", ErrDamaged)
	case len(wanted) > 0:
		return fmt.Errorf("%w: it lacks %d files", ErrDamaged, len(wanted))
	}
	return u.overlay()
}

// each tells the entries of a backup file.
func each(ctx context.Context, file string, key Key, tell func(*tar.Header, io.Reader) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	open, err := decrypt(patientReader{ctx, f}, key.ids...)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	}
	large, err := zstd.NewReader(open, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxMemory),
		zstd.WithDecoderMaxWindow(8<<20))
	if err != nil {
		return err
	}
	defer large.Close()
	t := tar.NewReader(large)
	for n := 0; n <= 2*maxFiles; n++ {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			err = tell(h, t)
		}
		if err != nil {
			return judged(ctx, err)
		}
	}
	return fmt.Errorf("%w: it has too many entries", ErrDamaged)
}

// ageHeader begins what age has encrypted.
const ageHeader = "age-encryption.org/v1\n"

// decrypt opens what age has encrypted. What is wrong with it is told in words of ours.
func decrypt(r io.Reader, ids ...age.Identity) (io.Reader, error) {
	in := bufio.NewReader(r)
	if begin, err := in.Peek(len(ageHeader)); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	} else if string(begin) != ageHeader {
		return nil, ErrForeign
	}
	open, err := age.Decrypt(in, ids...)
	var wrong *age.NoIdentityMatchError
	switch {
	case errors.As(err, &wrong):
		return nil, ErrKey
	case err != nil:
		return nil, inWords(err)
	}
	return wholeReader{open}, nil
}

// wholeReader says in words of ours that bytes were changed or are missing.
type wholeReader struct{ r io.Reader }

func (w wholeReader) Read(b []byte) (int, error) {
	n, err := w.r.Read(b)
	if err != nil && err != io.EOF {
		err = inWords(err)
	}
	return n, err
}

// inWords keeps an error of the disk or of who gave up, and says any other in words of
// ours.
func inWords(err error) error {
	var disk *fs.PathError
	if errors.As(err, &disk) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, errChanged)
}

// judged tells an error of what is in the file from one of the disk.
func judged(ctx context.Context, err error) error {
	var disk *fs.PathError
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.As(err, &disk) || errors.Is(err, ErrNewer) || errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

func readManifest(r io.Reader) (*Manifest, error) {
	var m Manifest
	if err := json.NewDecoder(io.LimitReader(r, maxManifest)).Decode(&m); err != nil {
		return nil, fmt.Errorf("%w: its list of files: %w", ErrDamaged, err)
	}
	if m.Format > Format {
		return nil, fmt.Errorf("%w (%s): update this one first", ErrNewer, m.Version)
	}
	return &m, nil
}

// put writes a file; links and permissions come at the end.
func (u *unpacking) put(name string, r io.Reader) error {
	if !fs.ValidPath(name) || name == "." || name == runsName {
		return fmt.Errorf("%w: a file is called %q", ErrDamaged, name)
	}
	if err := u.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := u.root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// keepRun keeps changed blocks until what is below them is there.
func (u *unpacking) keepRun(h *tar.Header, r io.Reader) error {
	offset, name, ok := strings.Cut(strings.TrimPrefix(h.Name, changedDir), "/")
	at, err := strconv.ParseInt(offset, 10, 64)
	if !ok || err != nil || at < 0 || at%BlockSize != 0 || !fs.ValidPath(name) {
		return fmt.Errorf("%w: a piece is called %q", ErrDamaged, h.Name)
	}
	f, err := u.root.OpenFile(runsName, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	from, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, r)
	u.runs = append(u.runs, run{name, at, n, from})
	return err
}

// overlay puts the changed blocks over what the base brought.
func (u *unpacking) overlay() error {
	if len(u.runs) == 0 {
		return nil
	}
	blocks, err := u.root.Open(runsName)
	if err != nil {
		return err
	}
	defer func() { _ = blocks.Close() }()
	for _, r := range u.runs {
		if err := u.ctx.Err(); err != nil {
			return err
		}
		f, err := u.root.OpenFile(r.path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.NewOffsetWriter(f, r.at), io.NewSectionReader(blocks, r.from, r.size))
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// finish compares every file with its sum, and makes folders, links and
// permissions as they were.
func (u *unpacking) finish(m *Manifest) error {
	if err := u.root.Remove(runsName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, f := range m.Files {
		if err := u.ctx.Err(); err != nil {
			return err
		}
		if !fs.ValidPath(f.Path) || f.Path == "." {
			return fmt.Errorf("%w: a file is called %q", ErrDamaged, f.Path)
		}
		var err error
		switch {
		case f.Dir:
			err = u.root.MkdirAll(f.Path, 0o700)
		case f.Link != "":
			err = errors.Join(u.root.MkdirAll(path.Dir(f.Path), 0o700), u.root.Symlink(f.Link, f.Path))
		default:
			err = u.check(f)
		}
		if err != nil {
			return err
		}
	}
	for i := len(m.Files) - 1; i >= 0; i-- { // what is in a folder comes behind it
		if f := m.Files[i]; f.Link == "" {
			// A folder stays one that its owner can work in, until it is in its place.
			mode := fs.FileMode(f.Mode).Perm()
			if f.Dir {
				mode |= 0o700
			}
			if err := u.root.Chmod(f.Path, mode); err != nil {
				return err
			}
			if err := u.root.Chtimes(f.Path, f.ModTime, f.ModTime); err != nil {
				return err
			}
		}
	}
	return nil
}

// check compares one file with the manifest.
func (u *unpacking) check(f File) error {
	in, err := u.root.Open(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is not in it", ErrDamaged, f.Path)
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	sum := sha256.New()
	n, err := io.Copy(sum, patientReader{u.ctx, in})
	if err != nil {
		return err
	}
	if n != f.Size || hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
		return fmt.Errorf("%w: %s is not as it was saved", ErrDamaged, f.Path)
	}
	return nil
}
