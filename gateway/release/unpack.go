package release

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Downloads is the folder that archives are brought into; it is on the disk of the
// versions.
func (i Install) Downloads() (string, error) {
	d := i.folder(".download")
	return d, errors.Join(os.MkdirAll(i.folder(), 0o755), os.MkdirAll(d, 0o700))
}

// Forget removes downloads, whole and begun.
func (i Install) Forget() error { return os.RemoveAll(i.folder(".download")) }

// Stage takes the programs out of a verified archive into the folder of their
// version, which is there whole or not at all. What belongs to the installation and
// is not in the archive, as a network's program of its own, comes along from the version that is
// used.
func (i Install) Stage(ctx context.Context, archive, version string, f File) (err error) {
	if i.Has(version) && i.same(version, f) {
		return nil
	}
	tmp := i.folder(".new-" + version)
	defer func() {
		if err == nil {
			return
		}
		_ = os.RemoveAll(tmp)
		if isFull(err) {
			_ = i.Forget()
			err = fmt.Errorf("the disk is full: %w; nothing was changed. Make room, then try again", err)
		}
	}()
	if err := errors.Join(os.RemoveAll(tmp), os.MkdirAll(tmp, 0o755)); err != nil {
		return fmt.Errorf("make room for %s: %w", version, err)
	}
	take := taker{ctx: ctx, to: tmp, want: slices.Clone(f.Programs)}
	if strings.HasSuffix(f.Name, ".zip") {
		err = take.zip(archive)
	} else {
		err = take.tar(archive)
	}
	if err != nil {
		return fmt.Errorf("unpack %s: %w", f.Name, err)
	}
	if len(take.want) > 0 {
		return fmt.Errorf("unpack %s: %s is not in it", f.Name, take.want[0].Name)
	}
	for _, name := range programsIn(i.Root) {
		at := filepath.Join(i.Root, name)
		if real, err := filepath.EvalSymlinks(at); err == nil && isFile(real) && !isFile(filepath.Join(tmp, name)) {
			if err := second(real, filepath.Join(tmp, name)); err != nil {
				return fmt.Errorf("take %s along: %w", name, err)
			}
		}
	}
	failpoint.Hit("update:unpacked")
	if err := os.RemoveAll(i.folder(version)); err != nil {
		return fmt.Errorf("replace what was left of %s: %w", version, err)
	}
	if err := errors.Join(statedir.SyncDir(tmp), os.Rename(tmp, i.folder(version)), statedir.SyncDir(i.folder())); err != nil {
		return fmt.Errorf("put %s in its place: %w", version, err)
	}
	failpoint.Hit("update:staged")
	return nil
}

// same reports whether the programs of a version are those of a file.
func (i Install) same(version string, f File) bool {
	for _, p := range f.Programs {
		if sum(i.folder(version, p.Name)) != p.SHA {
			return false
		}
	}
	return true
}

// taker takes programs out of an archive. Only names that the manifest lists are
// taken, by their last part: no path of an archive says where a file goes.
type taker struct {
	ctx  context.Context
	to   string
	want []Program // still to come
}

func (t *taker) tar(archive string) error {
	in, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	z, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	r := tar.NewReader(z)
	for len(t.want) > 0 {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := t.take(h.Name, h.Size, r); err != nil {
			return err
		}
	}
	return nil
}

func (t *taker) zip(archive string) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer func() { _ = z.Close() }()
	for _, e := range z.File {
		if !e.Mode().IsRegular() {
			continue
		}
		in, err := e.Open()
		if err != nil {
			return err
		}
		err = t.take(e.Name, int64(e.UncompressedSize64), in)
		if err := errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	return nil
}

// take keeps a file when it is one of the programs.
func (t *taker) take(name string, size int64, in io.Reader) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	name = path.Base(name)
	at := slices.IndexFunc(t.want, func(p Program) bool { return p.Name == name })
	if at < 0 {
		return nil
	}
	p := t.want[at]
	t.want = slices.Delete(t.want, at, at+1)
	if size != p.Size {
		return fmt.Errorf("%s has %d bytes, not %d: %w", name, size, p.Size, ErrWrongBytes)
	}
	out, err := os.OpenFile(filepath.Join(t.to, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, h), io.LimitReader(in, p.Size+1))
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	failpoint.Hit("update:program")
	if hex.EncodeToString(h.Sum(nil)) != p.SHA {
		return fmt.Errorf("%s: %w", name, ErrWrongBytes)
	}
	return nil
}
