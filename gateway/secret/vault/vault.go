// Package vault keeps secrets in one encrypted file: under a passphrase, or
// under a key that somebody else keeps. It owns the file and its format, not
// where the passphrase or the key comes from. Nothing of the content is kept in
// memory between calls but the key.
package vault

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

var (
	// ErrPassphrase means that the passphrase, or the key, is not the file's.
	ErrPassphrase = fmt.Errorf("%w: it is not the one of the vault; nothing was changed, try again", secret.ErrPassphrase)
	// ErrDamaged means that the file is not whole. Nothing writes over it.
	ErrDamaged = errors.New("the vault's file is damaged; restore it from a backup, or move it away to start an empty one")
	// ErrNone means that there is no vault yet.
	ErrNone = fmt.Errorf("there is no vault yet: %w", secret.ErrUnavailable)
)

const (
	kdfPassphrase = "argon2id"
	kdfKey        = "key"
	maxFile       = 32 << 20
	// minPassphrase is short, because guessing costs 64 MiB and a good part of a
	// second each time; but not nothing.
	minPassphrase = 8
)

// header is the file. Its fields but Sealed are authenticated with the content.
type header struct {
	Version int    `json:"v"`
	KDF     string `json:"kdf"`
	Time    uint32 `json:"t,omitempty"`
	Memory  uint32 `json:"m,omitempty"` // KiB
	Threads uint8  `json:"p,omitempty"`
	Salt    []byte `json:"salt"`
	Check   []byte `json:"check"` // tells a wrong passphrase from a damaged file
	Sealed  []byte `json:"sealed,omitempty"`
}

// Vault is a secret.Store in a file. It begins locked.
type Vault struct {
	path string
	now  func() time.Time

	mu   sync.Mutex
	key  []byte
	salt []byte // of the file that the key is for
}

// New returns the vault in a file, which is not looked at yet.
func New(path string, now func() time.Time) *Vault { return &Vault{path: path, now: now} }

// Exists says that there is a file.
func (v *Vault) Exists() bool {
	_, err := os.Lstat(v.path)
	return err == nil
}

// Locked says that the key is not known.
func (v *Vault) Locked() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.key == nil
}

// Look says what keeps anybody from opening the file, whatever the passphrase is.
func (v *Vault) Look() error {
	_, err := v.read()
	return err
}

// Unlock takes the passphrase. It costs a good part of a second.
func (v *Vault) Unlock(passphrase secret.Secret) error {
	h, err := v.read()
	if err != nil {
		return err
	}
	if h.KDF != kdfPassphrase {
		return ErrDamaged
	}
	key := derive(passphrase, h)
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.use(key, h)
}

// UnlockKey takes a key of 32 bytes; the file is made with the first Set.
func (v *Vault) UnlockKey(key []byte) error {
	h, err := v.read()
	if errors.Is(err, ErrNone) {
		h = fresh(kdfKey)
		h.Check = check(key, h.Salt)
		if err := v.write(h, key, secret.Items{}); err != nil {
			return err
		}
		h, err = v.read()
	}
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.use(key, h)
}

// use keeps a key that opens the file. v.mu is held.
func (v *Vault) use(key []byte, h header) error {
	if !hmac.Equal(check(key, h.Salt), h.Check) {
		return ErrPassphrase
	}
	if _, err := open(h, key); err != nil {
		return err
	}
	v.key, v.salt = key, h.Salt
	return nil
}

// Create makes an empty vault under a passphrase and opens it.
func (v *Vault) Create(passphrase secret.Secret) error {
	if len([]rune(passphrase.Reveal())) < minPassphrase {
		return fmt.Errorf("%w: it needs at least %d characters; a few words that only you would put together are best", secret.ErrPassphrase,
			minPassphrase)
	}
	if v.Exists() {
		return fmt.Errorf("there is a vault already at %s; unlock it, or move it away first", v.path)
	}
	h := fresh(kdfPassphrase)
	h.Time, h.Memory, h.Threads = 3, 64<<10, 4
	key := derive(passphrase, h)
	h.Check = check(key, h.Salt)
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.write(h, key, secret.Items{}); err != nil {
		return err
	}
	v.key, v.salt = key, h.Salt
	return nil
}

func fresh(kdf string) header {
	h := header{Version: 1, KDF: kdf, Salt: make([]byte, 16)}
	_, _ = rand.Read(h.Salt) // never fails (crypto/rand)
	return h
}

func derive(passphrase secret.Secret, h header) []byte {
	return argon2.IDKey([]byte(passphrase.Reveal()), h.Salt, h.Time, h.Memory, h.Threads, chacha20poly1305.KeySize)
}

func check(key, salt []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte("hearth vault check"))
	m.Write(salt)
	return m.Sum(nil)[:16]
}

// read returns the file as it is, still sealed.
func (v *Vault) read() (h header, err error) {
	info, err := os.Lstat(v.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return h, ErrNone
	case err != nil:
		return h, err
	case !info.Mode().IsRegular():
		return h, fmt.Errorf("the vault's file %s is not a file of its own (a link, or a folder); put the file itself there", v.path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return h, fmt.Errorf("other users of this machine can use the vault's file, so it is not opened; run: chmod 600 %s", v.path)
	case info.Size() > maxFile:
		return h, ErrDamaged
	}
	b, err := os.ReadFile(v.path)
	if err != nil {
		return h, err
	}
	if json.Unmarshal(b, &h) != nil || h.Version != 1 || len(h.Salt) != 16 || len(h.Check) != 16 ||
		len(h.Sealed) < chacha20poly1305.NonceSizeX {
		return h, ErrDamaged
	}
	if h.KDF == kdfPassphrase && (h.Time < 1 || h.Time > 16 || h.Memory < 8<<10 || h.Memory > 1<<20 || h.Threads < 1) {
		return h, ErrDamaged
	}
	return h, nil
}

func (h header) bound() []byte {
	h.Sealed = nil
	b, _ := json.Marshal(h) // plain fields: never fails
	return b
}

func open(h header, key []byte) (secret.Items, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, err
	}
	n := aead.NonceSize()
	plain, err := aead.Open(nil, h.Sealed[:n], h.Sealed[n:], h.bound())
	if err != nil {
		return nil, ErrDamaged
	}
	defer clear(plain)
	items := secret.Items{}
	if json.Unmarshal(plain, &items) != nil {
		return nil, ErrDamaged
	}
	return items, nil
}

// write seals the items into the file, as a whole.
func (v *Vault) write(h header, key []byte, items secret.Items) error {
	plain, err := json.Marshal(items)
	if err != nil {
		return err
	}
	defer clear(plain)
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return err
	}
	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails (crypto/rand)
	h.Sealed = aead.Seal(nonce, nonce, plain, h.bound())
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if len(b) > maxFile {
		return fmt.Errorf("the vault would be larger than %d MB; remove what you do not need", maxFile>>20)
	}
	return statedir.WriteFile(v.path, append(b, '\n'))
}

// load opens the file with the key that is known. v.mu is held.
func (v *Vault) load() (header, secret.Items, error) {
	h, err := v.read()
	if err != nil {
		return h, nil, err
	}
	if v.key == nil || !slices.Equal(h.Salt, v.salt) {
		return h, nil, fmt.Errorf("the vault is locked: %w; unlock it with `hearth secrets unlock`", secret.ErrLocked)
	}
	items, err := open(h, v.key)
	return h, items, err
}

// Get returns a secret.
func (v *Vault) Get(_ context.Context, name string) (secret.Secret, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, items, err := v.load()
	if err != nil {
		return secret.Secret{}, err
	}
	return items.Secret(name)
}

// Set keeps a secret.
func (v *Vault) Set(_ context.Context, name string, s secret.Secret) error {
	return v.change(func(items secret.Items) error {
		items.Put(name, s, v.now())
		return nil
	})
}

// Delete removes a secret.
func (v *Vault) Delete(_ context.Context, name string) error {
	return v.change(func(items secret.Items) error { return items.Remove(name) })
}

func (v *Vault) change(edit func(secret.Items) error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	h, items, err := v.load()
	if err != nil {
		return err
	}
	if err := edit(items); err != nil {
		return err
	}
	return v.write(h, v.key, items)
}

// List names what is kept.
func (v *Vault) List(context.Context) ([]secret.Entry, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, items, err := v.load()
	if err != nil {
		return nil, err
	}
	return items.Entries(), nil
}
