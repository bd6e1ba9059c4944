// Package lookup finds the secrets that the settings refer to, beside the work,
// and hides what it finds from logs, answers and models. It keeps keys that are
// written into the settings in the store of secrets instead (see Keep).
//
// It does not own where secrets are kept (package keeper), how a single
// reference is followed (package ref), nor what is done with a secret: whoever
// uses some subscribes.
package lookup

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/secret/keeper"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/secret/ref"
)

// patience is how long Await waits for secrets that are still being looked for.
const patience = 12 * time.Second

// Options are the parts that Secrets need; all of them.
type Options struct {
	Settings *config.File
	Dir      string              // the state folder
	Env      func(string) string // the process environment
	Names    []string            // variables of the environment that hold keys
	Redactor *redact.Redactor    // hides what was found
	Work     *background.Group   // for what is looked for because the settings changed
	Now      func() time.Time
	Logger   *slog.Logger
}

// Secrets are those that the settings refer to. Its methods may be called from
// several goroutines.
type Secrets struct {
	o      Options
	keeper *keeper.Keeper
	refs   *ref.Resolver
	sought chan struct{} // closed when everything was looked for once

	mu    sync.Mutex
	users []func(config.Config)
}

// Open looks for nothing yet: see Run.
func Open(o Options) *Secrets {
	s := &Secrets{o: o, sought: make(chan struct{})}
	c := o.Settings.Snapshot().Config
	s.keeper = keeper.New(keeper.Options{Dir: o.Dir, Backend: Section.Of(c).Backend, Env: o.Env, Now: o.Now})
	s.refs = ref.New(ref.Options{
		Store: s.Store(), Env: o.Env, Home: os.UserHomeDir, Now: o.Now,
		Found: func(v secret.Secret) { s.Hide(v) },
	})
	s.configure(c)
	for _, name := range o.Names {
		o.Redactor.Add(o.Env(name))
	}
	s.hideKnown(c)
	o.Settings.Subscribe(nil, func(_, next config.Config) {
		s.keeper.Use(Section.Of(next).Backend)
		s.configure(next)
		s.lookUp(o.Work.Context(), next)
		s.tell(next)
	})
	return s
}

// Subscribe has use called whenever the settings have changed, after what they
// refer to was looked for, and whenever something was found that was missing.
func (s *Secrets) Subscribe(use func(config.Config)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users = append(s.users, use)
}

func (s *Secrets) tell(c config.Config) {
	s.hideKnown(c)
	s.mu.Lock()
	users := slices.Clone(s.users)
	s.mu.Unlock()
	for _, use := range users {
		use(c)
	}
}

// Hide keeps values out of every log, answer and model request from now on.
// Whoever comes by a key that the settings do not name hands it in here.
func (s *Secrets) Hide(values ...secret.Secret) {
	for _, v := range values {
		s.o.Redactor.Add(v.Reveal())
	}
}

func (s *Secrets) hideKnown(c config.Config) {
	for _, f := range c.SecretFields() {
		if v, ok := s.refs.Known(f.Setting); ok {
			s.Hide(v)
		}
	}
}

// Store is where secrets are kept. What comes out of it or goes into it is
// hidden before anybody gets it.
func (s *Secrets) Store() secret.Store { return hidden{s.keeper, s.Hide} }

// VaultLocked says that keys are in a vault which nobody has unlocked yet.
func (s *Secrets) VaultLocked() bool { return s.keeper.VaultLocked() }

type hidden struct {
	secret.Store
	hide func(...secret.Secret)
}

func (h hidden) Get(ctx context.Context, name string) (secret.Secret, error) {
	v, err := h.Store.Get(ctx, name)
	if err == nil {
		h.hide(v)
	}
	return v, err
}

func (h hidden) Set(ctx context.Context, name string, v secret.Secret) error {
	h.hide(v)
	return h.Store.Set(ctx, name, v)
}

// Status is where secrets are kept and how that place is.
func (s *Secrets) Status(ctx context.Context) keeper.Status { return s.keeper.Status(ctx) }

// Elsewhere says in sentences what is kept in places that are not in use.
func (s *Secrets) Elsewhere(ctx context.Context) []string { return s.keeper.ElsewhereWords(ctx) }

// Gather moves that into the place in use, and returns the names.
func (s *Secrets) Gather(ctx context.Context) ([]string, error) {
	moved, err := s.keeper.Gather(ctx)
	if len(moved) > 0 {
		s.Refresh(ctx)
	}
	return moved, err
}

// Try is Status of a place that was opened and read, as far as that goes by itself.
func (s *Secrets) Try(ctx context.Context) keeper.Status { return s.keeper.Try(ctx) }

// Unlock opens the place where secrets are kept and looks for them again.
func (s *Secrets) Unlock(ctx context.Context, passphrase secret.Secret, create bool) error {
	s.Hide(passphrase)
	if err := s.keeper.Unlock(ctx, passphrase, create); err != nil {
		return err
	}
	s.Refresh(ctx)
	return nil
}

// configure takes the named sources of the settings.
func (s *Secrets) configure(c config.Config) {
	own := Section.Of(c)
	providers := make(map[string]ref.Provider, len(own.Providers))
	for id, p := range own.Providers {
		rp := ref.Provider{
			Source: p.Kind, Path: p.Path, JSON: p.Mode != "singleValue", PassEnv: p.PassEnv, Allowlist: p.Allowlist,
			Timeout: time.Duration(p.TimeoutMs) * time.Millisecond, MaxBytes: p.MaxBytes,
		}
		if p.Command != "" {
			rp.Argv = append([]string{p.Command}, p.Args...)
		}
		providers[id] = rp
	}
	s.refs.Configure(providers, own.Defaults)
}

// Value returns the secret of a setting, looking for it when it was not found
// yet. field names the setting in an error.
func (s *Secrets) Value(ctx context.Context, field string, v secret.Setting) (secret.Secret, error) {
	return s.refs.Value(ctx, field, v)
}

// Known returns the secret of a setting if it takes no looking for.
func (s *Secrets) Known(v secret.Setting) (secret.Secret, bool) { return s.refs.Known(v) }

// Found says that a setting's secret needs no looking for.
func (s *Secrets) Found(v secret.Setting) bool {
	_, ok := s.refs.Known(v)
	return ok || v.IsZero()
}

// Run looks for everything that the settings refer to, and has it put to use.
func (s *Secrets) Run(ctx context.Context) error {
	first := sync.OnceFunc(func() { close(s.sought) })
	defer first()
	if s.lookUp(ctx, s.o.Settings.Snapshot().Config) {
		s.tell(s.o.Settings.Snapshot().Config)
	}
	return nil
}

// Await waits a while for secrets that are still being looked for.
func (s *Secrets) Await(ctx context.Context) {
	select {
	case <-s.sought:
		return
	default:
	}
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-s.sought:
	case <-t.C:
	case <-ctx.Done():
	}
}

// Refresh looks again for what the settings refer to and has it put to use.
func (s *Secrets) Refresh(ctx context.Context) {
	c := s.o.Settings.Snapshot().Config
	s.refs.Forget()
	if s.lookUp(ctx, c) {
		s.tell(c)
	}
}

// lookUp finds the secrets of the settings, all at the same time; any says that
// there is a reference among them.
func (s *Secrets) lookUp(ctx context.Context, c config.Config) (any bool) {
	var work sync.WaitGroup
	for _, f := range c.SecretFields() {
		if _, ok := f.Setting.Ref(); !ok {
			continue
		}
		any = true
		work.Go(func() {
			if _, err := s.refs.Value(ctx, f.Path, f.Setting); err != nil {
				s.o.Logger.Warn("a secret is missing", "err", err)
			}
		})
	}
	work.Wait()
	return any
}

// Problems says which secrets of the settings could not be had. A locked vault is
// one problem, however many keys are in it, also those that no setting names.
func (s *Secrets) Problems() (out []protocol.Problem) {
	locked := s.keeper.VaultLocked()
	if locked {
		out = append(out, protocol.Problem{Code: "SECRETS_LOCKED", Message: "Your keys are locked, so services that need one cannot be used. " +
			"Unlock the vault here or with `hearth secrets unlock`."})
	}
	for _, f := range s.o.Settings.Snapshot().Config.SecretFields() {
		if err := s.refs.Problem(f.Path, f.Setting); err != nil && (!locked || !errors.Is(err, secret.ErrLocked)) {
			out = append(out, protocol.Problem{Code: "SECRET", Message: protocol.Sentence(err.Error())})
		}
	}
	return out
}
