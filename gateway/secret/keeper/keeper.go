// Package keeper chooses where Hearth keeps secrets: the system's keychain, a
// vault under a passphrase, or, by explicit choice only, a private file. It
// chooses anew for every call, because a keychain comes and goes with the
// desktop session, and it never falls back from one place to a weaker one.
package keeper

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/secret/keychain"
	"github.com/hearth-assistant/hearth/gateway/secret/plain"
	"github.com/hearth-assistant/hearth/gateway/secret/vault"
)

// The places, as the settings name them.
const (
	Auto     = "auto"
	Keychain = "keychain"
	Vault    = "vault"
	Plain    = "plain"
)

// PassphraseFile is the environment variable that names a file with the
// passphrase of the vault, for machines where nobody is there to type it.
const PassphraseFile = "HEARTH_VAULT_PASSPHRASE_FILE"

// choices is what a person can do without a keychain.
const choices = "Choose one: `hearth secrets unlock` makes a vault under a passphrase; `hearth config set secrets.backend plain` keeps " +
	"keys in a private file that all your programs can read; or keep the key in an environment variable and write ${NAME} where the key " +
	"belongs"

// Options of a Keeper.
type Options struct {
	Dir     string // the state folder
	Backend string // Auto, Keychain, Vault, Plain; "" = Auto
	Env     func(string) string
	Now     func() time.Time
}

// Keeper is a secret.Store. Nothing is opened before the first call.
type Keeper struct {
	opts     Options
	keychain *keychain.Keychain
	vault    *vault.Vault
	plain    *plain.Store

	mu      sync.Mutex
	backend string
}

// New returns a Keeper.
func New(o Options) *Keeper {
	if o.Now == nil {
		o.Now = time.Now
	}
	k := &Keeper{
		opts:     o,
		keychain: keychain.New(keychain.Options{Dir: o.Dir, Env: o.Env, Now: o.Now}),
		vault:    vault.New(filepath.Join(o.Dir, "secrets.vault"), o.Now),
		plain:    plain.New(filepath.Join(o.Dir, "secrets.plain.json"), o.Now),
	}
	k.Use(o.Backend)
	return k
}

// Use takes another backend from now on.
func (k *Keeper) Use(backend string) {
	if backend == "" {
		backend = Auto
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.backend = backend
}

func (k *Keeper) configured() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.backend
}

// Status is where secrets are kept and how that place is.
type Status struct {
	Backend string // as configured
	Place   string // Keychain, Vault, Plain; "" = none
	State   string // ready, locked, missing, or a state of the keychain
	Message string // what a person should know, and do; "" when all is well
}

// Ready says that secrets can be read and kept.
func (s Status) Ready() bool { return s.State == string(keychain.Ready) }

// Status looks and changes nothing.
func (k *Keeper) Status(ctx context.Context) Status {
	s := Status{Backend: k.configured()}
	switch s.Backend {
	case Plain:
		s.Place, s.State = Plain, string(keychain.Ready)
		s.Message = "Keys are kept in a private file that is not encrypted: every program that you run can read them."
		return s
	case Vault:
		return k.vaultStatus(s)
	case Auto:
		if k.vault.Exists() {
			return k.vaultStatus(s)
		}
	}
	state := k.keychain.State(ctx)
	s.State = string(state)
	switch {
	case state == keychain.Ready:
		s.Place = Keychain
	case state == keychain.Locked:
		s.Place, s.Message = Keychain, "The system's keychain is locked. Unlock it in the desktop session, or with `hearth secrets unlock`."
	case s.Backend == Keychain:
		s.Place, s.Message = Keychain, "The system's keychain cannot be used: "+state.Words()+"."
	case k.passphraseFile() != "":
		return k.vaultStatus(s)
	default:
		s.Message = "There is no place to keep secrets: " + state.Words() + ". " + choices + "."
	}
	return s
}

// Unusable is the state of a place that Try could not open.
const Unusable = "unusable"

// Try is Status of a place that was opened as far as that goes by itself, and read. It
// asks nobody, and a keychain not at all.
func (k *Keeper) Try(ctx context.Context) Status {
	s := k.Status(ctx)
	err := k.tried(ctx, s)
	if err == nil {
		return s
	}
	s.State, s.Message = Unusable, "What is kept in the vault cannot be read: "+err.Error()+"."
	if s.Place == Plain {
		s.Message = "What is kept in the private file cannot be read: " + err.Error() + "."
	}
	return s
}

func (k *Keeper) tried(ctx context.Context, s Status) (err error) {
	switch {
	case s.Place == Plain:
		_, err = k.plain.List(ctx)
	case s.Place != Vault:
	case !k.vault.Exists():
		if path := k.passphraseFile(); path != "" { // it is made with the first secret
			_, err = ReadPassphrase(path)
		}
	case !s.Ready():
		err = k.vault.Look()
	default:
		if err = k.openVault(false); err == nil {
			_, err = k.vault.List(ctx)
		}
	}
	return err
}

func (k *Keeper) vaultStatus(s Status) Status {
	s.Place, s.State = Vault, string(keychain.Ready)
	switch {
	case !k.vault.Exists() && k.passphraseFile() == "":
		s.State, s.Message = "missing", "There is no vault yet. `hearth secrets unlock` makes one under a passphrase."
	case k.vault.Locked() && k.passphraseFile() == "":
		s.State, s.Message = string(keychain.Locked), "The vault is locked. Unlock it with `hearth secrets unlock`; on a machine without a "+
			"person, "+PassphraseFile+" names a file with its passphrase."
	}
	return s
}

// VaultLocked says that keys are in a vault which nobody has unlocked yet and which no
// file unlocks. It asks no keychain.
func (k *Keeper) VaultLocked() bool {
	backend := k.configured()
	return (backend == Vault || backend == Auto) && k.vault.Locked() && k.passphraseFile() == "" && k.vault.Exists()
}

// store is the place for a call, opened as far as that goes by itself.
func (k *Keeper) store(ctx context.Context, write bool) (secret.Store, error) {
	s := k.Status(ctx)
	switch s.Place {
	case Plain:
		return k.plain, nil
	case Keychain:
		return k.keychain, nil
	case Vault:
		return k.vault, k.openVault(write)
	}
	return nil, fmt.Errorf("%w: %s. %s", secret.ErrUnavailable, keychain.State(s.State).Words(), choices)
}

// openVault unlocks the vault where a file holds its passphrase, and makes it
// there when something is to be kept.
func (k *Keeper) openVault(write bool) error {
	if !k.vault.Locked() {
		return nil
	}
	path := k.passphraseFile()
	if path == "" {
		if !k.vault.Exists() {
			return fmt.Errorf("%w; make it with `hearth secrets unlock`", vault.ErrNone)
		}
		return fmt.Errorf("the vault is locked: %w; unlock it with `hearth secrets unlock`", secret.ErrLocked)
	}
	pass, err := ReadPassphrase(path)
	if err != nil {
		return err
	}
	err = k.vault.Unlock(pass)
	if errors.Is(err, vault.ErrNone) && write {
		return k.vault.Create(pass)
	}
	if err != nil {
		return fmt.Errorf("the vault was not opened with %s: %w", PassphraseFile, err)
	}
	return nil
}

func (k *Keeper) passphraseFile() string { return k.opts.Env(PassphraseFile) }

// ReadPassphrase reads the passphrase of a private file.
func ReadPassphrase(path string) (secret.Secret, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return secret.Secret{}, fmt.Errorf("%s names %s, which does not exist", PassphraseFile, path)
	case err != nil:
		return secret.Secret{}, err
	case !info.Mode().IsRegular() || info.Size() > 64<<10:
		return secret.Secret{}, fmt.Errorf("%s is not a file with a passphrase", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return secret.Secret{}, fmt.Errorf("other users of this machine can use the passphrase file; run: chmod 600 %s", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return secret.Secret{}, err
	}
	return secret.Clean(string(b))
}

// Get returns a secret.
func (k *Keeper) Get(ctx context.Context, name string) (secret.Secret, error) {
	if err := secret.CheckName(name); err != nil {
		return secret.Secret{}, err
	}
	s, err := k.store(ctx, false)
	if errors.Is(err, vault.ErrNone) {
		return secret.Secret{}, secret.ErrNotFound
	}
	if err != nil {
		return secret.Secret{}, err
	}
	return s.Get(ctx, name)
}

// Set keeps a secret.
func (k *Keeper) Set(ctx context.Context, name string, v secret.Secret) error {
	if err := secret.CheckName(name); err != nil {
		return err
	}
	if v.IsZero() || len(v.Reveal()) > secret.MaxValue {
		return &secret.InputError{Reason: "it is empty, or longer than 1 MB"}
	}
	s, err := k.store(ctx, true)
	if err != nil {
		return err
	}
	return s.Set(ctx, name, v)
}

// Delete removes a secret.
func (k *Keeper) Delete(ctx context.Context, name string) error {
	if err := secret.CheckName(name); err != nil {
		return err
	}
	s, err := k.store(ctx, false)
	if err != nil {
		return err
	}
	return s.Delete(ctx, name)
}

// List names what is kept.
func (k *Keeper) List(ctx context.Context) ([]secret.Entry, error) {
	s, err := k.store(ctx, false)
	if errors.Is(err, secret.ErrUnavailable) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.List(ctx)
}

// Unlock opens the place: the vault with its passphrase, which makes it when
// there is none and create is set, or the keychain, which asks by itself.
func (k *Keeper) Unlock(ctx context.Context, passphrase secret.Secret, create bool) error {
	s := k.Status(ctx)
	if s.Place == Keychain {
		return k.keychain.Unlock(ctx)
	}
	if s.Place == Plain {
		return nil
	}
	if passphrase.IsZero() {
		return &secret.InputError{Reason: "the passphrase of the vault is missing"}
	}
	err := k.vault.Unlock(passphrase)
	if errors.Is(err, vault.ErrNone) && create {
		return k.vault.Create(passphrase)
	}
	return err
}
