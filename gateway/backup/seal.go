package backup

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

// Sealing is how one file is made that stands by itself, in no place for backups.
type Sealing struct {
	Path string
	To   Lock
	Now  time.Time
	// Ready is called when all of it is safe on disk under another name; an error
	// from it ends the making. nil: nobody wants to know.
	Ready func(Made) error
	// Progress hears how many bytes of the source were taken. nil: nobody does.
	Progress func(done int64)
}

// Lock is who can open a file: a passphrase, or one key.
type Lock struct{ to age.Recipient }

// LockBy is a passphrase.
func LockBy(pass secret.Secret) (Lock, error) {
	if len([]rune(strings.TrimSpace(pass.Reveal()))) < minPassphrase {
		return Lock{}, ErrWeak
	}
	to, err := age.NewScryptRecipient(pass.Reveal())
	if err != nil {
		return Lock{}, err
	}
	to.SetWorkFactor(workFactor)
	return Lock{to}, nil
}

// LockOf is a recipient of age (age1…).
func LockOf(recipient string) (Lock, error) {
	list, err := recipients([]string{recipient})
	if err != nil {
		return Lock{}, err
	}
	return Lock{list[0]}, nil
}

// NewKey is a key of its own for one file: its lock, and the text that opens it.
func NewKey() (Lock, secret.Secret, error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return Lock{}, secret.Secret{}, err
	}
	return Lock{id.Recipient()}, secret.New(id.String()), nil
}

// KeyText is the key that NewKey gave the text of.
func KeyText(text secret.Secret) (Key, error) {
	id, err := age.ParseX25519Identity(strings.TrimSpace(text.Reveal()))
	if err != nil {
		return Key{}, fmt.Errorf("%w: it is no key", ErrDamaged)
	}
	return Key{[]age.Identity{id}}, nil
}

// KeyBy is the key that a passphrase is.
func KeyBy(pass secret.Secret) (Key, error) {
	id, err := age.NewScryptIdentity(pass.Reveal())
	if err != nil {
		return Key{}, ErrKey
	}
	id.SetMaxWorkFactor(workFactor + 2)
	return Key{[]age.Identity{id}}, nil
}

// Seal writes a full backup to a path that is free. It is there whole, or not at all.
func Seal(ctx context.Context, s Source, o Sealing) (Made, error) {
	f, err := os.CreateTemp(filepath.Dir(o.Path), partialPrefix+"*")
	if err != nil {
		return Made{}, fmt.Errorf("write the file: %w", err)
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	name := filepath.Base(o.Path)
	w := &writer{
		place: filepath.Dir(o.Path), sums: map[string][]byte{}, progress: o.Progress,
		made: Made{Info: Info{Name: name, At: o.Now.UTC().Truncate(time.Second), Full: true}},
		manifest: Manifest{Format: Format, Name: name, At: o.Now.UTC(), Version: s.Version, Secrets: true, Roots: map[string]string{},
			Home: s.Home},
	}
	for _, r := range s.Roots {
		w.manifest.Roots[r.Name] = r.Dir
	}
	if err := w.write(ctx, f, []age.Recipient{o.To.to}, s); err != nil {
		return Made{}, fmt.Errorf("write the file: %w", full(w.place, err))
	}
	st, err := f.Stat()
	if err := errors.Join(err, f.Sync()); err != nil {
		return Made{}, fmt.Errorf("write the file: %w", full(w.place, err))
	}
	if o.Ready != nil {
		w.made.Bytes = st.Size()
		if err := o.Ready(w.made); err != nil {
			return Made{}, err
		}
	}
	if w.made.Bytes, err = finish(f, o.Path); err != nil {
		return Made{}, fmt.Errorf("write the file: %w", err)
	}
	return w.made, nil
}

// Look reads what a file says about itself, which is at its end, and compares
// nothing.
func Look(ctx context.Context, file string, key Key) (*Manifest, error) {
	var m *Manifest
	err := each(ctx, file, key, func(h *tar.Header, r io.Reader) (err error) {
		if h.Name == manifestName {
			m, err = readManifest(r)
		}
		return err
	})
	if err == nil && m == nil {
		err = fmt.Errorf("%w: it ends before its list of files", ErrDamaged)
	}
	return m, err
}

// counting tells how many bytes went through.
type counting struct {
	w    io.Writer
	done *int64
	tell func(int64)
}

func (c counting) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	*c.done += int64(n)
	c.tell(*c.done)
	return n, err
}
