package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// KeyName is the file of a place that opens its backups: an age identity,
// encrypted under the person's passphrase. The gateway keeps only the public half
// (a recipient), so that it makes backups which it cannot read.
const KeyName = "hearth-backup.key"

// workFactor of scrypt for the key file: some seconds of a guess.
const workFactor = 18

// minPassphrase is the shortest passphrase that is taken.
const minPassphrase = 8

// Passphrase errors.
var ErrWeak = fmt.Errorf("a passphrase has at least %d characters; four random words are good ones", minPassphrase)

// MakeKey makes the key of a place, unless it has one, and returns the recipient
// for which backups are encrypted. A place that has a key keeps it: its passphrase
// must open it.
func MakeKey(place string, pass secret.Secret) (recipient string, err error) {
	path := filepath.Join(place, KeyName)
	if _, err := os.Lstat(path); err == nil {
		id, err := openKey(path, pass)
		if err != nil {
			return "", err
		}
		return id.Recipient().String(), nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the place for backups, %s, cannot be looked into: %w; make it readable for you, or choose another one", place,
			statedir.Cause(err))
	}
	if len([]rune(strings.TrimSpace(pass.Reveal()))) < minPassphrase {
		return "", ErrWeak
	}
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return "", err
	}
	to, err := age.NewScryptRecipient(pass.Reveal())
	if err != nil {
		return "", err
	}
	to.SetWorkFactor(workFactor)
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to)
	if err != nil {
		return "", err
	}
	if _, err := io.WriteString(w, id.String()+"\n"); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	if err := statedir.WriteFile(path, out.Bytes()); err != nil {
		return "", fmt.Errorf("the key of the backups cannot be written into %s: %w; make that folder writable for you, or choose another one",
			place, statedir.Cause(err))
	}
	return id.Recipient().String(), nil
}

// openKey opens the key file at path.
func openKey(path string, pass secret.Secret) (*age.X25519Identity, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the key of the backups, %s, cannot be read: %w; make it readable for you, or choose another folder", path,
			statedir.Cause(err))
	}
	defer func() { _ = f.Close() }()
	with, err := age.NewScryptIdentity(pass.Reveal())
	if err != nil {
		return nil, ErrKey
	}
	with.SetMaxWorkFactor(workFactor + 2)
	r, err := decrypt(io.LimitReader(f, 64<<10), with)
	switch {
	case errors.Is(err, ErrKey):
		return nil, ErrKey
	case errors.Is(err, ErrForeign):
		return nil, fmt.Errorf("%s: %w: it does not hold a key", path, ErrDamaged)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(io.LimitReader(r, 1<<10))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	id, err := age.ParseX25519Identity(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: it does not hold a key", path, ErrDamaged)
	}
	return id, nil
}

// Key opens backups.
type Key struct{ ids []age.Identity }

// KeyOf is the key of a place that its passphrase opens.
func KeyOf(_ context.Context, place string, pass secret.Secret) (Key, error) {
	id, err := openKey(filepath.Join(place, KeyName), pass)
	if err != nil {
		return Key{}, err
	}
	return Key{[]age.Identity{id}}, nil
}

// ReadKey is the key in a file of age identities, as `age-keygen` writes it.
func ReadKey(path string) (Key, error) {
	f, err := os.Open(path)
	if err != nil {
		return Key{}, err
	}
	defer func() { _ = f.Close() }()
	ids, err := age.ParseIdentities(io.LimitReader(f, 1<<20))
	if err != nil {
		return Key{}, fmt.Errorf("%s is not a file of age identities, as age-keygen makes one: %w", path, err)
	}
	return Key{ids}, nil
}

// HasKey reports whether backups of a place are opened by a passphrase.
func HasKey(place string) bool {
	_, err := os.Lstat(filepath.Join(place, KeyName))
	return err == nil
}

// CheckRecipient refuses what is no recipient of age (age1…).
func CheckRecipient(text string) error {
	_, err := recipients([]string{text})
	return err
}

func recipients(texts []string) (out []age.Recipient, err error) {
	for _, t := range texts {
		list, err := age.ParseRecipients(strings.NewReader(t))
		if err != nil {
			return nil, fmt.Errorf("%q is not a recipient of age. It begins with age1 and is given whole; `age-keygen -y FILE` prints that of a "+
				"key", t)
		}
		out = append(out, list...)
	}
	if len(out) == 0 {
		return nil, ErrNotSetUp
	}
	return out, nil
}
