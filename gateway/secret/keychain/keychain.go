// Package keychain keeps secrets in the system's keychain: the Secret Service on
// Linux, the Keychain on macOS, the Credential Manager on Windows. It owns the
// list of names, which keychains do not give, and the encrypted file for what
// is too large for one.
//
// No call asks the person for anything, starts a bus, or hangs: the state is
// looked up first, and every call has a time limit. Only Unlock may ask.
package keychain

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/secret/vault"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Service is the name that all our items have.
const Service = "Hearth"

const (
	// maxItem is what every keychain takes: Windows 2560 bytes, macOS about 2900.
	maxItem = 2048
	// dataKey is the item with the key of the file for larger ones.
	dataKey = "data-key"

	patience       = 10 * time.Second
	unlockPatience = 60 * time.Second
)

// State is how the keychain is.
type State string

// The states.
const (
	Ready        State = "ready"
	Locked       State = "locked"
	NoBus        State = "no-bus"                // no session bus: a server, a container
	NoService    State = "no-service"            // a bus, and nobody on it who keeps secrets
	NoCollection State = "no-default-collection" // the first item would make a window ask for a password
	Failed       State = "failed"                // it answers with errors, or not at all
)

// Words says a state to a person.
func (s State) Words() string {
	switch s {
	case Ready:
		return "ready"
	case Locked:
		return "the system's keychain is locked"
	case NoBus:
		return "there is no desktop session, so there is no keychain"
	case NoService:
		return "no keychain is installed (on Linux: gnome-keyring, KWallet or KeePassXC)"
	case NoCollection:
		return "the keychain was never set up; log in to the desktop once, or make a keyring called \"login\""
	}
	return "the system's keychain does not answer"
}

// ring is the part of go-keyring that is used.
type ring interface {
	Get(service, user string) (string, error)
	Set(service, user, password string) error
	Delete(service, user string) error
}

type system struct{}

func (system) Get(s, u string) (string, error) { return keyring.Get(s, u) }
func (system) Set(s, u, p string) error        { return keyring.Set(s, u, p) }
func (system) Delete(s, u string) error        { return keyring.Delete(s, u) }

// Options of a Keychain.
type Options struct {
	Dir string // for the list of names and the file of large secrets
	Env func(string) string
	Now func() time.Time

	ring     ring                        // seams for tests
	probe    func(context.Context) State //
	patience time.Duration
}

// Keychain is a secret.Store.
type Keychain struct {
	opts Options
	slot chan struct{} // taken by the one call that is under way

	edit sync.Mutex // one change at a time

	mu    sync.Mutex
	stuck bool // a call did not come back in time
	large *vault.Vault
}

// New returns the keychain of this session. It is not touched yet.
func New(o Options) *Keychain {
	if o.ring == nil {
		o.ring = system{}
	}
	if o.probe == nil {
		o.probe = func(ctx context.Context) State { return probe(ctx, o.Env) }
	}
	if o.patience == 0 {
		o.patience = patience
	}
	return &Keychain{opts: o, slot: make(chan struct{}, 1), large: vault.New(filepath.Join(o.Dir, "secrets.sealed"), o.Now)}
}

// State looks how the keychain is, without asking anybody for anything.
func (k *Keychain) State(ctx context.Context) State {
	if k.isStuck() {
		return Failed
	}
	return k.opts.probe(ctx)
}

// Used says that something was kept here before.
func (k *Keychain) Used() bool {
	x, err := k.index()
	return err == nil && len(x.Names) > 0
}

func (k *Keychain) isStuck() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stuck
}

// ready is the error of a keychain that is not.
func (k *Keychain) ready(ctx context.Context) error {
	switch s := k.State(ctx); s {
	case Ready:
		return nil
	case Locked:
		return fmt.Errorf("%w: %s; unlock it in the desktop session, or with `hearth secrets unlock`", secret.ErrLocked, s.Words())
	default:
		return fmt.Errorf("%w: %s", secret.ErrUnavailable, s.Words())
	}
}

// call runs one call of the keychain with a time limit. A call that does not
// come back keeps the only slot, so there is never more than one such.
func (k *Keychain) call(ctx context.Context, limit time.Duration, f func() (string, error)) (string, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	late := fmt.Errorf("%w: the system's keychain did not answer within %v", secret.ErrUnavailable, limit)
	if k.isStuck() {
		return "", late
	}
	select {
	case k.slot <- struct{}{}:
	case <-timer.C:
		return "", late
	case <-ctx.Done():
		return "", ctx.Err()
	}
	type result struct {
		value string
		err   error
	}
	done := make(chan result, 1)
	go func() { // ends with the call; see stuck
		v, err := f()
		k.setStuck(false)
		<-k.slot
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, translate(r.err)
	case <-timer.C:
		k.setStuck(true)
		select { // it may have come back just now
		case r := <-done:
			k.setStuck(false)
			return r.value, translate(r.err)
		default:
		}
		return "", late
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (k *Keychain) setStuck(v bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stuck = v
}

func translate(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return secret.ErrNotFound
	case errors.Is(err, keyring.ErrUnsupportedPlatform):
		return fmt.Errorf("%w: this system has no keychain that Hearth knows", secret.ErrUnavailable)
	}
	return fmt.Errorf("the system's keychain refused: %w", err)
}

// Unlock lets the keychain ask the person for its password, where it can.
func (k *Keychain) Unlock(ctx context.Context) error {
	x, err := k.index()
	if err != nil {
		return err
	}
	switch s := k.State(ctx); s {
	case Ready:
		return nil
	case Locked:
	default:
		return fmt.Errorf("%w: %s", secret.ErrUnavailable, s.Words())
	}
	_, err = k.call(ctx, unlockPatience, func() (string, error) { return k.opts.ring.Get(Service, x.user(dataKey)) })
	if err != nil && !errors.Is(err, secret.ErrNotFound) {
		return fmt.Errorf("the keychain was not unlocked: %w; log in to the desktop, or unlock it there", err)
	}
	return nil
}

// index is the list of names. ID keeps two state folders of a user apart.
type index struct {
	ID    string          `json:"id"`
	Names map[string]note `json:"names"`
}

type note struct {
	At    int64 `json:"at"`              // ms
	Large bool  `json:"large,omitempty"` // in the file
}

func (x index) user(name string) string { return name + "@" + x.ID }

func (k *Keychain) indexPath() string { return filepath.Join(k.opts.Dir, "secrets.json") }

func (k *Keychain) index() (index, error) {
	var x index
	b, err := os.ReadFile(k.indexPath())
	if errors.Is(err, fs.ErrNotExist) {
		id := make([]byte, 6)
		_, _ = rand.Read(id) // never fails (crypto/rand)
		return index{ID: hex.EncodeToString(id), Names: map[string]note{}}, nil
	}
	if err != nil {
		return x, fmt.Errorf("read the list of secrets: %w", err)
	}
	if json.Unmarshal(b, &x) != nil || x.ID == "" {
		return x, fmt.Errorf("the list of secrets %s is damaged; restore it from a backup (it holds names only), or remove it and enter the "+
			"keys again", k.indexPath())
	}
	if x.Names == nil {
		x.Names = map[string]note{}
	}
	return x, nil
}

func (k *Keychain) saveIndex(x index) error {
	b, err := json.Marshal(x)
	if err != nil {
		return err
	}
	return statedir.WriteFile(k.indexPath(), append(b, '\n'))
}

// Get returns a secret.
func (k *Keychain) Get(ctx context.Context, name string) (secret.Secret, error) {
	x, err := k.index()
	if err != nil {
		return secret.Secret{}, err
	}
	n, listed := x.Names[name]
	if !listed {
		return secret.Secret{}, secret.ErrNotFound
	}
	if err := k.ready(ctx); err != nil {
		return secret.Secret{}, err
	}
	if n.Large {
		if err := k.openLarge(ctx, x, false); err != nil {
			return secret.Secret{}, gone(err)
		}
		v, err := k.large.Get(ctx, name)
		return v, gone(err)
	}
	v, err := k.call(ctx, k.opts.patience, func() (string, error) { return k.opts.ring.Get(Service, x.user(name)) })
	return secret.New(v), gone(err)
}

// gone explains a secret that is on the list and nowhere else.
func gone(err error) error {
	if errors.Is(err, secret.ErrNotFound) {
		return fmt.Errorf("%w any more: it was removed from the system's keychain by another program; enter it again with `hearth secrets set`",
			err)
	}
	return err
}

// openLarge opens the file of large secrets with its key in the keychain.
func (k *Keychain) openLarge(ctx context.Context, x index, create bool) error {
	if !k.large.Locked() {
		return nil
	}
	text, err := k.call(ctx, k.opts.patience, func() (string, error) { return k.opts.ring.Get(Service, x.user(dataKey)) })
	if errors.Is(err, secret.ErrNotFound) && create {
		if k.large.Exists() {
			return fmt.Errorf("the key of the file secrets.sealed is gone from the system's keychain, so it cannot be read; move that file away "+
				"and enter its keys again: %w", err)
		}
		raw := make([]byte, 32)
		_, _ = rand.Read(raw) // never fails (crypto/rand)
		text = hex.EncodeToString(raw)
		_, err = k.call(ctx, k.opts.patience, func() (string, error) { return "", k.opts.ring.Set(Service, x.user(dataKey), text) })
	}
	if err != nil {
		return err
	}
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != 32 {
		return errors.New("the key of the file secrets.sealed in the system's keychain is damaged")
	}
	return k.large.UnlockKey(key)
}

// Set keeps a secret: first the value, then its name.
func (k *Keychain) Set(ctx context.Context, name string, s secret.Secret) error {
	k.edit.Lock()
	defer k.edit.Unlock()
	if err := k.ready(ctx); err != nil {
		return err
	}
	x, err := k.index()
	if err == nil && len(x.Names) == 0 { // its id is part of every item
		err = k.saveIndex(x)
	}
	if err != nil {
		return err
	}
	old, had := x.Names[name]
	large := len(s.Reveal()) > maxItem
	if large {
		if err = k.openLarge(ctx, x, true); err == nil {
			err = k.large.Set(ctx, name, s)
		}
	} else {
		_, err = k.call(ctx, k.opts.patience, func() (string, error) { return "", k.opts.ring.Set(Service, x.user(name), s.Reveal()) })
	}
	if err != nil {
		return err
	}
	x.Names[name] = note{At: k.opts.Now().UnixMilli(), Large: large}
	if err := k.saveIndex(x); err != nil {
		return err
	}
	if had && old.Large != large {
		return k.remove(ctx, x, name, old)
	}
	return nil
}

func (k *Keychain) remove(ctx context.Context, x index, name string, n note) error {
	var err error
	if n.Large {
		if err = k.openLarge(ctx, x, false); err == nil {
			err = k.large.Delete(ctx, name)
		}
	} else {
		_, err = k.call(ctx, k.opts.patience, func() (string, error) { return "", k.opts.ring.Delete(Service, x.user(name)) })
	}
	if errors.Is(err, secret.ErrNotFound) {
		return nil
	}
	return err
}

// Delete removes a secret: first the value, then its name.
func (k *Keychain) Delete(ctx context.Context, name string) error {
	k.edit.Lock()
	defer k.edit.Unlock()
	x, err := k.index()
	if err != nil {
		return err
	}
	n, ok := x.Names[name]
	if !ok {
		return secret.ErrNotFound
	}
	if err := k.ready(ctx); err != nil {
		return err
	}
	if err := k.remove(ctx, x, name, n); err != nil {
		return err
	}
	delete(x.Names, name)
	return k.saveIndex(x)
}

// List names what is kept; it needs no keychain.
func (k *Keychain) List(context.Context) ([]secret.Entry, error) {
	x, err := k.index()
	if err != nil {
		return nil, err
	}
	out := make([]secret.Entry, 0, len(x.Names))
	for name, n := range x.Names {
		out = append(out, secret.Entry{Name: name, UpdatedAt: time.UnixMilli(n.At)})
	}
	slices.SortStableFunc(out, func(a, b secret.Entry) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
