// Package ref finds the secrets that settings refer to: in Hearth's own store,
// in the environment, in files and by running programs. It remembers what it
// found until it is told to forget. It keeps nothing on disk, and does not know
// what a secret is for.
package ref

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

// Provider is a named source of the settings.
type Provider struct {
	Source    string // secret.SourceEnv, SourceFile or SourceExec
	Path      string // of a file
	JSON      bool   // the file is JSON and ids are pointers into it
	Argv      []string
	PassEnv   []string
	Allowlist []string // of environment variables; empty: all
	Timeout   time.Duration
	MaxBytes  int
}

// Options of a Resolver.
type Options struct {
	Store secret.Store              // for keychain references
	Env   func(string) string       // the process environment
	Home  func() (string, error)    // for ~/
	Found func(value secret.Secret) // is told every secret before anybody gets it: to hide it
	Now   func() time.Time
}

// retry is how long a failure is remembered, so that a program that hangs is
// not started for every request.
const retry = 10 * time.Second

// Error says which setting could not be had and why. It never holds a secret.
type Error struct {
	Field string // for example models.providers.openai.apiKey
	Ref   secret.Ref
	Err   error
}

func (e *Error) Error() string {
	return fmt.Sprintf("the secret for %s could not be read from %s: %v", e.Field, e.Ref, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Resolver finds secrets. Its methods may be called at the same time.
type Resolver struct {
	opts Options

	mu        sync.Mutex
	providers map[string]Provider
	defaults  map[string]string
	known     map[secret.Ref]*lookup
}

// lookup is one search, shared by all who ask meanwhile.
type lookup struct {
	done  chan struct{}
	value secret.Secret
	err   error
	until time.Time // of an error
}

// New returns a Resolver.
func New(o Options) *Resolver {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Found == nil {
		o.Found = func(secret.Secret) {}
	}
	return &Resolver{opts: o, known: map[secret.Ref]*lookup{}}
}

// Configure takes the named sources of the settings and forgets what was found.
func (r *Resolver) Configure(providers map[string]Provider, defaults map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.providers, r.defaults = maps.Clone(providers), maps.Clone(defaults)
	clear(r.known)
}

// Forget makes the next Value look again.
func (r *Resolver) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.known)
}

// Value returns the secret of a setting; an empty one when nothing was set.
// field names the setting in an error.
func (r *Resolver) Value(ctx context.Context, field string, s secret.Setting) (secret.Secret, error) {
	ref, ok := s.Ref()
	if !ok {
		v, _ := s.Literal()
		return v, nil
	}
	r.mu.Lock()
	l := r.known[ref]
	if l == nil || l.stale(r.opts.Now()) {
		l = &lookup{done: make(chan struct{})}
		r.known[ref] = l
		r.mu.Unlock()
		r.look(ctx, ref, l)
	} else {
		r.mu.Unlock()
	}
	select {
	case <-l.done:
	case <-ctx.Done():
		return secret.Secret{}, &Error{field, ref, ctx.Err()}
	}
	if l.err != nil {
		return secret.Secret{}, &Error{field, ref, l.err}
	}
	return l.value, nil
}

func (l *lookup) stale(now time.Time) bool {
	select {
	case <-l.done:
		return l.err != nil && now.After(l.until)
	default:
		return false
	}
}

// Known returns what was found already, without looking.
func (r *Resolver) Known(s secret.Setting) (secret.Secret, bool) {
	ref, ok := s.Ref()
	if !ok {
		return s.Literal()
	}
	r.mu.Lock()
	l := r.known[ref]
	r.mu.Unlock()
	if l == nil {
		return secret.Secret{}, false
	}
	select {
	case <-l.done:
		return l.value, l.err == nil
	default:
		return secret.Secret{}, false
	}
}

// Problem is why the last search for a setting's secret failed; nil when it did
// not, or when nobody looked.
func (r *Resolver) Problem(field string, s secret.Setting) error {
	ref, ok := s.Ref()
	if !ok {
		return nil
	}
	r.mu.Lock()
	l := r.known[ref]
	r.mu.Unlock()
	if l == nil {
		return nil
	}
	select {
	case <-l.done:
		if l.err != nil {
			return &Error{field, ref, l.err}
		}
	default:
	}
	return nil
}

// look searches once. Who asked first does it, with the others' patience too.
func (r *Resolver) look(ctx context.Context, ref secret.Ref, l *lookup) {
	defer close(l.done)
	v, err := r.find(context.WithoutCancel(ctx), ref)
	if err == nil && v.IsZero() {
		err = errors.New("there is nothing there")
	}
	if l.value, l.err = v, err; err != nil {
		l.value, l.until = secret.Secret{}, r.opts.Now().Add(retry)
		return
	}
	r.opts.Found(v)
}

// find asks the source of a reference.
func (r *Resolver) find(ctx context.Context, ref secret.Ref) (secret.Secret, error) {
	p, err := r.provider(ref)
	if err != nil {
		return secret.Secret{}, err
	}
	var text string
	switch ref.Source {
	case secret.SourceKeychain:
		if r.opts.Store == nil {
			return secret.Secret{}, secret.ErrUnavailable
		}
		return r.opts.Store.Get(ctx, ref.ID)
	case secret.SourceEnv:
		text, err = r.env(p, ref.ID)
	case secret.SourceFile:
		text, err = r.file(p, ref.ID)
	case secret.SourceExec:
		text, err = r.run(ctx, p, ref)
	default:
		return secret.Secret{}, fmt.Errorf("%q is no source of secrets; it is keychain, env, file or exec", ref.Source)
	}
	if err != nil {
		return secret.Secret{}, err
	}
	return secret.Clean(text)
}

// provider is the named source of a reference, or one made of what it says.
func (r *Resolver) provider(ref secret.Ref) (Provider, error) {
	own := Provider{Source: ref.Source, Path: ref.Path, Argv: ref.Argv()}
	if ref.Source == secret.SourceKeychain || ref.Path != "" || ref.Command != "" {
		return own, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	name := ref.Provider
	if name == "" || name == "default" {
		if d := r.defaults[ref.Source]; d != "" {
			name = d
		}
	}
	p, ok := r.providers[name]
	switch {
	case !ok && ref.Source == secret.SourceEnv && (name == "" || name == "default"):
		return own, nil
	case !ok:
		return p, fmt.Errorf("there is no secrets.providers.%s in the settings", name)
	case p.Source != ref.Source:
		return p, fmt.Errorf("secrets.providers.%s is of the kind %s, not %s", name, p.Source, ref.Source)
	}
	return p, nil
}
