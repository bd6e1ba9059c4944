package backup

import (
	"archive/tar"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// maxBaseAge is how long partial backups build upon the same full one.
const maxBaseAge = 31 * 24 * time.Hour

// Options of one backup.
type Options struct {
	Place      string   // the folder it goes to
	Recipients []string // who can open it (age1…)
	Blocks     string   // the file that keeps what the last full backup has
	Secrets    bool     // says so in the manifest; what is secret is the Source's to add
	Full       bool     // make a full one in any case
	Now        time.Time
}

// Made is a backup that was made.
type Made struct {
	Info
	Source int64    // bytes of all files together
	Files  int      // how many there are
	Torn   []string // became shorter while they were read
	Left   []string // could not be read
	Note   error    // what is not well although it was made
}

// Create writes a backup. It is there whole, or not at all.
func Create(ctx context.Context, s Source, o Options) (Made, error) {
	to, err := recipients(o.Recipients)
	if err != nil {
		return Made{}, err
	}
	if err := Usable(o.Place); err != nil {
		return Made{}, err
	}
	base := o.base()
	name := freeName(o.Place, o.Now, base == nil)
	f, err := os.CreateTemp(o.Place, partialPrefix+"*")
	if err != nil {
		return Made{}, fmt.Errorf("nothing can be written into the place for backups, %s: %w; make it writable for you, or choose "+
			"another one", o.Place, statedir.Cause(err))
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	w := &writer{
		place: o.Place, base: base, sums: map[string][]byte{}, made: Made{Info: Info{Name: name, At: o.Now.UTC().Truncate(time.Second),
			Full: base == nil}},
		manifest: Manifest{
			Format: Format, Name: name, At: o.Now.UTC(), Version: s.Version, Secrets: o.Secrets, Roots: map[string]string{}, Home: s.Home,
		},
	}
	if base != nil {
		w.manifest.Base, w.made.Base = base.Base, base.Base
	}
	for _, r := range s.Roots {
		w.manifest.Roots[r.Name] = r.Dir
	}
	if err := w.write(ctx, f, to, s); err != nil {
		return Made{}, fmt.Errorf("make a backup: %w", full(o.Place, err))
	}
	if w.made.Bytes, err = finish(f, filepath.Join(o.Place, name)); err != nil {
		return Made{}, fmt.Errorf("make a backup: %w", full(o.Place, err))
	}
	w.made.Note = o.remember(base, w)
	return w.made, nil
}

// base is the full backup that the next one can build upon, nil for none.
func (o Options) base() *Blocks {
	b := readBlocks(o.Blocks)
	if o.Full || b == nil || b.Place != real(o.Place) || b.Keys != keysOf(o.Recipients) || b.Part > b.Bytes/2 {
		return nil
	}
	st, err := os.Stat(filepath.Join(o.Place, b.Base))
	info, ok := parseName(b.Base)
	if err != nil || !ok || st.Size() != b.Bytes || o.Now.Sub(info.At) > maxBaseAge || o.Now.Before(info.At) {
		return nil
	}
	return b
}

// remember keeps what the next backup can build upon.
func (o Options) remember(base *Blocks, w *writer) error {
	b := &Blocks{Base: w.made.Name, Place: real(o.Place), Bytes: w.made.Bytes, Keys: keysOf(o.Recipients), Sums: w.sums}
	if base != nil {
		b = base
		b.Part = max(b.Part, w.made.Bytes)
	}
	err := b.write(o.Blocks)
	if err == nil {
		return nil
	}
	if forget(o.Blocks) != nil {
		return fmt.Errorf("what is in it cannot be noted in %s, so the next one may be larger than it need be: %w", filepath.Dir(o.Blocks),
			statedir.Cause(err))
	}
	return fmt.Errorf("what is in it cannot be noted in %s, so the next one will be a full one again: %w", filepath.Dir(o.Blocks),
		statedir.Cause(err))
}

func keysOf(recipients []string) string {
	list := slices.Clone(recipients)
	slices.Sort(list)
	return strings.Join(list, " ")
}

// finish makes the file durable under its name.
func finish(f *os.File, path string) (size int64, err error) {
	st, err := f.Stat()
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return 0, err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return 0, err
	}
	return st.Size(), statedir.SyncDir(filepath.Dir(path))
}

// full says in words that the disk of a folder is full.
func full(dir string, err error) error {
	if statedir.IsFull(err) {
		return fmt.Errorf("the disk of %s is full; make room there, then try again (%w)", dir, err)
	}
	return err
}

// Usable refuses a place that is not there: a disk that is not plugged in must not
// become a folder on another one.
func Usable(place string) error {
	st, err := os.Stat(place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the place for backups is not there: %s. Plug the disk in, or choose another place", place)
	case err != nil:
		return fmt.Errorf("the place for backups cannot be used: %w", err)
	case !st.IsDir():
		return fmt.Errorf("the place for backups is not a folder: %s", place)
	}
	return nil
}

// Within reports whether a place is a folder, or is somewhere inside it, under whatever
// names: a backup of that folder would hold the earlier ones.
func Within(place, folder string) bool {
	whole, err := os.Stat(folder)
	if err != nil {
		return false
	}
	for at := real(place); ; at = filepath.Dir(at) {
		if st, err := os.Stat(at); err == nil && os.SameFile(st, whole) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// writer writes one backup.
type writer struct {
	place    string
	base     *Blocks
	tar      *tar.Writer
	manifest Manifest
	made     Made
	sums     map[string][]byte
	progress func(done int64) // nil: nobody wants to know
	done     int64
}

func (w *writer) write(ctx context.Context, out io.Writer, to []age.Recipient, s Source) (err error) {
	sealed, err := age.Encrypt(out, to...)
	if err != nil {
		return err
	}
	small, err := zstd.NewWriter(sealed, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(1<<20))
	if err != nil {
		return err
	}
	w.tar = tar.NewWriter(small)
	if s.Store != nil {
		err := s.Store(ctx, func(size int64, write func(io.Writer) error) error {
			return w.file(File{Path: StorePath, Mode: 0o600, ModTime: w.manifest.At, Size: size}, func(to io.Writer) error {
				return write(patient{ctx, to})
			})
		})
		if err != nil {
			return fmt.Errorf("copy the database: %w", err)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(s.Made)) {
		b := s.Made[p]
		err := w.file(File{Path: p, Mode: 0o600, ModTime: w.manifest.At, Size: int64(len(b))}, func(to io.Writer) error {
			_, err := to.Write(b)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := s.walk(ctx, w.place, func(f found) error { return w.found(ctx, f) }); err != nil {
		return err
	}
	if err := w.last(); err != nil {
		return err
	}
	return errors.Join(w.tar.Close(), small.Close(), sealed.Close())
}

// last writes the manifest.
func (w *writer) last() error {
	raw, err := json.MarshalIndent(w.manifest, "", " ")
	if err != nil {
		return err
	}
	if err := w.header(manifestName, int64(len(raw)), 0o600, w.manifest.At); err != nil {
		return err
	}
	_, err = w.tar.Write(raw)
	return err
}

func (w *writer) header(name string, size int64, mode uint32, at time.Time) error {
	return w.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: size, Mode: int64(mode), ModTime: at.Truncate(time.Second), Format: tar.FormatPAX,
	})
}

// found takes a file of the source's folders.
func (w *writer) found(ctx context.Context, f found) error {
	switch {
	case f.root == nil:
		w.made.Left = append(w.made.Left, f.Path)
		return nil
	case f.Dir || f.Link != "":
		w.manifest.Files = append(w.manifest.Files, f.File)
		return nil
	}
	in, err := f.root.Open(f.rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it is gone
	}
	if err != nil && f.must {
		return err
	}
	if err != nil {
		w.made.Left = append(w.made.Left, f.Path)
		return nil
	}
	defer func() { _ = in.Close() }()
	// What it has become since it was listed.
	if st, err := in.Stat(); err != nil || !st.Mode().IsRegular() {
		return err
	} else {
		f.Size, f.ModTime = st.Size(), st.ModTime().UTC()
	}
	return w.file(f.File, func(to io.Writer) error {
		n, err := io.Copy(to, patientReader{ctx, io.LimitReader(in, f.Size)})
		if err != nil || n == f.Size {
			return err
		}
		w.made.Torn = append(w.made.Torn, f.Path)
		_, err = io.CopyN(to, zeros{}, f.Size-n)
		return err
	})
}

// file takes one regular file, whose bytes write gives: exactly f.Size of them.
func (w *writer) file(f File, write func(io.Writer) error) error {
	whole := sha256.New()
	if w.progress != nil {
		each := write
		write = func(to io.Writer) error { return each(counting{to, &w.done, w.progress}) }
	}
	var err error
	if base, ok := w.baseSums(f.Path); ok {
		f.FromBase = true
		err = w.changes(f, base, whole, write)
	} else {
		err = w.all(f, whole, write)
	}
	if err != nil {
		return fmt.Errorf("save %s: %w", f.Path, err)
	}
	f.SHA256 = hex.EncodeToString(whole.Sum(nil))
	f.Torn = slices.Contains(w.made.Torn, f.Path)
	w.manifest.Files = append(w.manifest.Files, f)
	w.made.Files++
	w.made.Source += f.Size
	if w.made.Files > maxFiles {
		return fmt.Errorf("there are more than %d files, which no backup takes; take folders out of the workspace", maxFiles)
	}
	return nil
}

func (w *writer) baseSums(path string) ([]byte, bool) {
	if w.base == nil {
		return nil, false
	}
	sums, ok := w.base.Sums[path]
	return sums, ok
}

// all writes a file whole.
func (w *writer) all(f File, whole hash.Hash, write func(io.Writer) error) error {
	if err := w.header(f.Path, f.Size, f.Mode, f.ModTime); err != nil {
		return err
	}
	blocks := &splitter{}
	to := io.MultiWriter(w.tar, whole)
	if w.base == nil {
		to = io.MultiWriter(w.tar, whole, blocks)
	}
	if err := write(to); err != nil {
		return err
	}
	if err := blocks.flush(); err != nil {
		return err
	}
	if w.base == nil {
		w.sums[f.Path] = blocks.sums
	}
	return nil
}

// changes writes the blocks of a file that are not the base's, in runs.
func (w *writer) changes(f File, base []byte, whole hash.Hash, write func(io.Writer) error) error {
	var run []byte
	begins := int64(-1)
	end := func() error {
		if len(run) == 0 {
			return nil
		}
		if err := w.header(changedDir+strconv.FormatInt(begins, 10)+"/"+f.Path, int64(len(run)), 0o600, f.ModTime); err != nil {
			return err
		}
		_, err := w.tar.Write(run)
		run = run[:0]
		return err
	}
	blocks := &splitter{tell: func(at int64, block, sum []byte) error {
		if same(base, at, sum) {
			return end()
		}
		if len(run) == 0 {
			begins = at
		}
		if run = append(run, block...); len(run) >= maxRun {
			return end()
		}
		return nil
	}}
	if err := write(io.MultiWriter(whole, blocks)); err != nil {
		return err
	}
	return cmp.Or(blocks.flush(), end())
}

// patient writes, and patientReader reads, as long as ctx goes on.
type patient struct {
	ctx context.Context
	w   io.Writer
}

func (p patient) Write(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.w.Write(b)
}

type patientReader struct {
	ctx context.Context
	r   io.Reader
}

func (p patientReader) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.r.Read(b)
}

// zeros are as many as are asked for.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
