package profile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"
)

// Reasons of an Error.
const (
	ReasonName    = "name"    // no such account, or no name of one
	ReasonMissing = "missing" // its credential is gone
	ReasonVault   = "vault"   // the place of credentials cannot be read or written now
	ReasonLogin   = "login"   // the person has to log in again
	ReasonRenew   = "renew"   // the service could not be asked for a new login now
	ReasonHost    = "host"    // the key may not be sent there
)

// Error is an account that cannot be used, in words for people.
type Error struct {
	ID      string
	Reason  string
	Message string
	Err     error
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Err }

// Credential is what an account proves itself with. It is never printed.
type Credential struct {
	Type    Type      `json:"type"`
	Key     string    `json:"key,omitempty"`     // of an API key or token
	Access  string    `json:"access,omitempty"`  // of a login
	Refresh string    `json:"refresh,omitempty"` // of a login
	Expires time.Time `json:"expires,omitzero"`  // zero: it does not, or nobody knows
	Email   string    `json:"email,omitempty"`
	// Service names the login that made it, when that is not the provider's.
	Service   string `json:"service,omitempty"`
	AccountID string `json:"accountId,omitempty"`
	ProjectID string `json:"projectId,omitempty"`
}

// Value is the text that goes into a request's header.
func (c Credential) Value() string {
	if c.Type == OAuth {
		return c.Access
	}
	return c.Key
}

// String, Format and LogValue keep credentials out of logs and errors.
func (c Credential) String() string { return "[" + string(c.Type) + " credential]" }

// Format covers every verb of fmt.
func (c Credential) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, c.String()) }

// LogValue is what log/slog prints.
func (c Credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Secrets are the texts in it that must not be seen anywhere.
func (c Credential) Secrets() []string {
	var out []string
	for _, s := range []string{c.Key, c.Access, c.Refresh} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

func (c Credential) check(p Profile) error {
	bad := func(r rune) bool { return r <= ' ' || r >= 0x7f }
	v := c.Value()
	if v == "" || len(v) > 64<<10 || strings.ContainsFunc(v, bad) {
		return &Error{ID: p.ID, Reason: ReasonName, Message: "This is no key: it is empty or holds characters that no key has. Copy it again " +
			"from the service's page."}
	}
	if c.Type != p.Type {
		return &Error{ID: p.ID, Reason: ReasonName, Message: fmt.Sprintf("The account %s is of the type %s, the credential is not.", p.ID,
			p.Type)}
	}
	return nil
}

// VaultName is where the credential of an account lies.
func VaultName(id string) string { return "profile/" + id }

// markOf tells two keys apart without keeping them.
func markOf(key string) string {
	h := sha256.Sum256([]byte("hearth key mark\x00" + key))
	return hex.EncodeToString(h[:12])
}

// renewBefore is how long before its end a login is renewed.
const renewBefore = time.Minute

// renewTime bounds one renewal, which goes on when the call that wanted it ends.
const renewTime = 30 * time.Second

// Credential returns what to send with a call to host (see Origin). A login
// that has ended is renewed first, once for all calls that wait. An error is an
// *Error, or ctx's.
func (b *Book) Credential(ctx context.Context, id, host string) (Credential, error) {
	b.mu.Lock()
	r := b.rows[id]
	if r == nil || !r.usable() {
		b.mu.Unlock()
		return Credential{}, gone(id)
	}
	if err := r.mayGo(host); err != nil {
		b.mu.Unlock()
		return Credential{}, err
	}
	if !r.Stored {
		c, resolve := Credential{Type: r.Type, Key: r.key}, r.resolve
		b.mu.Unlock()
		if resolve != nil {
			return elsewhere(ctx, id, c.Type, resolve)
		}
		return c, nil
	}
	if r.cred != nil && !r.unsafe && !r.cred.ended(b.now()) {
		c := *r.cred
		b.mu.Unlock()
		return c, nil
	}
	q := b.renewing[id]
	if q == nil {
		q = &renewal{done: make(chan struct{})}
		b.renewing[id] = q
		go b.fetch(context.WithoutCancel(ctx), r.Profile, q)
	}
	b.mu.Unlock()
	select {
	case <-q.done:
		return q.cred, q.err
	case <-ctx.Done():
		return Credential{}, ctx.Err()
	}
}

// elsewhere reads a key that the settings only point to.
func elsewhere(ctx context.Context, id string, typ Type, resolve func(context.Context) (string, error)) (Credential, error) {
	key, err := resolve(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return Credential{}, ctx.Err()
	case err != nil:
		return Credential{}, &Error{ID: id, Reason: ReasonVault, Err: err, Message: fmt.Sprintf("The key of %s cannot be read: %v", id, err)}
	}
	c := Credential{Type: typ, Key: strings.TrimSpace(key)}
	return c, c.check(Profile{ID: id, Type: typ})
}

// ended reports whether a login is to be renewed.
func (c Credential) ended(now time.Time) bool {
	return c.Type == OAuth && !c.Expires.IsZero() && !c.Expires.After(now.Add(renewBefore))
}

// renewal is one reading, and maybe renewing, that several calls wait for.
type renewal struct {
	done chan struct{}
	cred Credential
	err  error
}

func (b *Book) fetch(ctx context.Context, p Profile, q *renewal) {
	ctx, cancel := context.WithTimeout(ctx, renewTime)
	defer cancel()
	q.cred, q.err = b.current(ctx, p)
	b.mu.Lock()
	delete(b.renewing, p.ID)
	b.mu.Unlock()
	close(q.done)
}

// current reads the credential and renews it when it has ended. Nobody else
// does so at the same time.
func (b *Book) current(ctx context.Context, p Profile) (Credential, error) {
	b.mu.Lock()
	r := b.rows[p.ID]
	if r == nil {
		b.mu.Unlock()
		return Credential{}, gone(p.ID)
	}
	var kept *Credential
	if r.unsafe {
		kept = new(*r.cred)
	}
	b.mu.Unlock()
	if kept != nil { // renewed, but could not be written: the old one is of no use any more
		return b.keep(ctx, r, *kept)
	}
	c, err := b.read(ctx, p.ID)
	if err != nil {
		return Credential{}, err
	}
	if !c.ended(b.now()) {
		b.hold(r, c, false)
		return c, nil
	}
	if b.opts.Lock != nil {
		unlock, err := b.opts.Lock(ctx, p.ID)
		if err != nil {
			return Credential{}, &Error{ID: p.ID, Reason: ReasonRenew,
				Message: fmt.Sprintf("The login of %s is being renewed by another program. Try again in a moment.", p.ID), Err: err}
		}
		defer unlock()
		if c, err = b.read(ctx, p.ID); err != nil { // another process may have been faster
			return Credential{}, err
		}
	}
	if !c.ended(b.now()) {
		b.hold(r, c, false)
		return c, nil
	}
	next, err := b.renew(ctx, p, c)
	if err != nil {
		return Credential{}, err
	}
	return b.keep(ctx, r, next)
}

func (b *Book) renew(ctx context.Context, p Profile, c Credential) (Credential, error) {
	if b.opts.Renew == nil {
		return Credential{}, loginAgain(p, nil)
	}
	next, err := b.opts.Renew(ctx, p, c)
	var own *Error
	switch {
	case err == nil:
	case errors.As(err, &own):
		return Credential{}, err
	case errors.Is(err, ErrLoginEnded):
		return Credential{}, loginAgain(p, err)
	default:
		return Credential{}, &Error{ID: p.ID, Reason: ReasonRenew, Err: err,
			Message: fmt.Sprintf("The login of %s has ended and could not be renewed now: %v. Try again in a moment.", p.ID, err)}
	}
	if next.Refresh == "" {
		next.Refresh = c.Refresh // a service that does not change it leaves it out
	}
	next.Type, next.Service = OAuth, c.Service
	if next.Email == "" {
		next.Email = c.Email
	}
	if next.AccountID == "" {
		next.AccountID = c.AccountID
	}
	if next.ProjectID == "" {
		next.ProjectID = c.ProjectID
	}
	b.found(next)
	if err := next.check(Profile{ID: p.ID, Type: OAuth}); err != nil {
		return Credential{}, err
	}
	b.log.Info("renewed a login", "profile", p.ID)
	return next, nil
}

// ErrLoginEnded is what Renew returns when the service takes the old login no
// more.
var ErrLoginEnded = errors.New("the service does not accept this login any more")

func loginAgain(p Profile, err error) error {
	return &Error{ID: p.ID, Reason: ReasonLogin, Err: err,
		Message: fmt.Sprintf("The login of %s has ended and cannot be renewed. Log in again with `hearth models auth login %s`.", p.ID,
			p.Provider)}
}

// keep writes a renewed login before anybody uses it: a service that gives out
// a new refresh token takes the old one no more. An account that was removed or
// replaced meanwhile stays so.
func (b *Book) keep(ctx context.Context, r *row, c Credential) (Credential, error) {
	b.mu.Lock()
	same := b.rows[r.ID] == r
	b.mu.Unlock()
	if !same {
		return Credential{}, gone(r.ID)
	}
	err := b.write(ctx, r.ID, c)
	b.hold(r, c, err != nil)
	if err != nil {
		return Credential{}, err
	}
	return c, nil
}

func (b *Book) hold(r *row, c Credential, unsafe bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.cred, r.unsafe = &c, unsafe
}

func gone(id string) error {
	return &Error{ID: id, Reason: ReasonMissing, Message: fmt.Sprintf("There is no key or login for %q. `hearth models auth` shows the "+
		"accounts; `hearth models auth login` adds one.", id)}
}

func (b *Book) read(ctx context.Context, id string) (c Credential, err error) {
	if b.opts.Vault == nil {
		return c, noVault(id, nil)
	}
	raw, err := b.opts.Vault.Get(ctx, VaultName(id))
	switch {
	case errors.Is(err, ErrNoCredential):
		return c, &Error{ID: id, Reason: ReasonMissing, Err: err,
			Message: fmt.Sprintf("The key of %s is not where Hearth put it; it was removed by somebody else. Log in again, or remove the account "+
				"with `hearth models auth remove %s`.", id, id)}
	case err != nil:
		return c, noVault(id, err)
	}
	err = json.Unmarshal([]byte(raw), &c)
	b.found(c)
	if err != nil || c.Value() == "" {
		return Credential{}, &Error{ID: id, Reason: ReasonMissing, Message: fmt.Sprintf("The stored key of %s is damaged. Log in again.", id)}
	}
	return c, nil
}

func (b *Book) write(ctx context.Context, id string, c Credential) error {
	if b.opts.Vault == nil {
		return noVault(id, nil)
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("write the credential of %s: %w", id, err)
	}
	if err := b.opts.Vault.Set(ctx, VaultName(id), string(raw)); err != nil {
		return noVault(id, err)
	}
	return nil
}

func noVault(id string, err error) error {
	why := "there is no place for keys on this computer"
	if err != nil {
		why = err.Error()
	}
	return &Error{ID: id, Reason: ReasonVault, Err: err, Message: fmt.Sprintf("The key of %s cannot be read or kept now: %s. `hearth "+
		"secrets doctor` says what to do.", id, why)}
}
