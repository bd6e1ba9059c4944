package setup

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Account is a key or login that was added.
type Account struct {
	ID      string
	Service string // as settings name it
	Place   string // where it is kept: keychain, vault, plain
	Caution string
}

// Tested is how a model did.
type Tested struct {
	Model string
	OK    bool
	Line  string // "answered in 1.2 s · tools work"
	Notes []string
	Error string // why it does not answer, and what to do
	// Refused: the service does not take the key. Free: asking it costs nothing.
	Refused, Free bool
}

// Backend does what the steps need.
type Backend interface {
	// Choices is what this computer has, best first; nothing is asked for it.
	Choices() []Choice
	// Import takes the login of another program.
	Import(ctx context.Context, login string) (Account, error)
	// Keep stores a key; Forget removes an account.
	Keep(ctx context.Context, service, key string) (Account, error)
	Forget(ctx context.Context, a Account) error
	// First is the model of a service to begin with.
	First(service string) (model string, ok bool)
	// Test asks a model a few questions, with one account when it is named; window
	// also tries how much of a long text reaches it.
	Test(ctx context.Context, model, account string, window bool) Tested
	// Prefer makes a model the one that answers.
	Prefer(ctx context.Context, model string) error
	// Pull downloads a model and says which one that is then.
	Pull(ctx context.Context, model string, tell func(done, total int64)) (string, error)
	// Quiet returns when no answer is being written.
	Quiet(ctx context.Context) error
}

// Doing is what goes on.
type Doing struct {
	What        string // test, download, window
	Name        string // of the model or program, for people
	Model       string
	Done, Total int64 // bytes
	Since       time.Time
	Left        time.Duration // 0 = not known
}

// What goes on.
const (
	DoingTest     = "test"
	DoingDownload = "download"
	DoingWindow   = "window" // after the first answer: how much of a long text reaches the model
)

// Options build a Flow.
type Options struct {
	Book    *Book
	Backend Backend
	// Go runs something that outlives the call that began it.
	Go      func(func(ctx context.Context))
	Changed func() // what Doing or Problem say; must not block
	Now     func() time.Time
}

// Flow tries one thing at a time. It is safe for concurrent use.
type Flow struct {
	Options
	mu      sync.Mutex
	doing   *Doing
	cancel  context.CancelCauseFunc
	problem string
}

// Errors that a person sees.
var (
	ErrBusy    = errors.New("something else is being tried; wait for it, or cancel it first")
	ErrUnknown = errors.New("this is not on this computer any more; look again")
	errStopped = errors.New("you stopped it")
)

// tellEvery is how often a download is told.
const tellEvery = 200 * time.Millisecond

// NewFlow returns a flow that does nothing yet; Resume goes on with what a
// restart cut off.
func NewFlow(o Options) *Flow { return &Flow{Options: o} }

// State is what goes on, and what went wrong last.
func (f *Flow) State() (doing *Doing, problem string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.doing == nil {
		return nil, f.problem
	}
	d := *f.doing
	return &d, f.problem
}

// Cancel ends what goes on.
func (f *Flow) Cancel() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cancel == nil {
		return false
	}
	f.cancel(errStopped)
	return true
}

// Clear forgets what went wrong.
func (f *Flow) Clear() {
	f.mu.Lock()
	f.problem = ""
	f.mu.Unlock()
	f.Changed()
}

// begin starts work that outlives the call. Whatever it returns as an error is
// the problem that people see.
func (f *Flow) begin(d Doing, work func(ctx context.Context) error) error {
	f.mu.Lock()
	f.leaveWindow()
	if f.doing != nil {
		f.mu.Unlock()
		return ErrBusy
	}
	d.Since = f.Now()
	mine := &d
	f.doing, f.problem = mine, ""
	f.mu.Unlock()
	f.Changed()
	started := make(chan struct{})
	f.Go(func(life context.Context) {
		ctx, cancel := context.WithCancelCause(life)
		defer cancel(nil)
		f.mu.Lock()
		f.cancel = cancel
		f.mu.Unlock()
		close(started)
		err := work(ctx)
		if ctx.Err() != nil {
			err = nil // a person stopped it, or Hearth stops and the next start goes on
		}
		f.end(mine, err)
	})
	<-started
	return nil
}

// leaveWindow ends what looks how much of a text reaches a model: nobody waits for it.
// The lock is held.
func (f *Flow) leaveWindow() {
	if f.doing != nil && f.doing.What == DoingWindow && f.cancel != nil {
		f.cancel(errStopped)
		f.doing, f.cancel = nil, nil
	}
}

func (f *Flow) end(mine *Doing, err error) {
	f.mu.Lock()
	if f.doing == mine {
		f.doing, f.cancel = nil, nil
		if err != nil {
			f.problem = sentence(err.Error())
		}
	}
	f.mu.Unlock()
	f.Changed()
}

// Use tries what a person chose: a Choice by its id, an account as
// "account:<id>", or any model by its name. When it answers, it is the one that
// answers from then on.
func (f *Flow) Use(id string) error {
	c := Choice{ID: id, Kind: KindLocal, Model: id, Name: id}
	known := false
	for _, x := range f.Backend.Choices() {
		if x.ID == id {
			c, known = x, true
		}
	}
	account, isAccount := strings.CutPrefix(id, KindAccount+":")
	switch {
	case isAccount:
		service, _, _ := strings.Cut(account, ":")
		c = Choice{ID: id, Kind: KindAccount, Name: service}
	case !known && (strings.HasPrefix(id, KindLogin+":") || !strings.Contains(id, "/")):
		return ErrUnknown
	default:
		account = ""
	}
	return f.begin(Doing{What: DoingTest, Name: c.Name, Model: c.Model}, func(ctx context.Context) error {
		return f.try(ctx, c, Account{ID: account})
	})
}

// Key keeps a key and tries it. One that its service refuses is forgotten again;
// one whose service cannot be reached is kept.
func (f *Flow) Key(ctx context.Context, service, key string) (Account, error) {
	a, err := f.keep(ctx, service, key)
	if err != nil {
		return a, err
	}
	c := Choice{ID: KindAccount + ":" + a.ID, Kind: KindAccount, Name: a.Service}
	return a, f.begin(Doing{What: DoingTest, Name: a.Service}, func(ctx context.Context) error { return f.try(ctx, c, a) })
}

// keep keeps a key as one that has yet to be tried. Whoever looks meanwhile sees that
// something goes on: an account that is merely there is no choice of anybody's.
func (f *Flow) keep(ctx context.Context, service, key string) (Account, error) {
	mine := &Doing{What: DoingTest, Name: service, Since: f.Now()}
	f.mu.Lock()
	f.leaveWindow()
	if f.doing != nil {
		f.mu.Unlock()
		return Account{}, ErrBusy
	}
	f.doing = mine
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.doing = nil
		f.mu.Unlock()
	}()
	a, err := f.Backend.Keep(ctx, service, key)
	if err != nil {
		return a, err
	}
	return a, f.Book.Change(ctx, func(r *Record) { r.Pending = a.ID })
}

// try finds the model of a choice, asks it, and lets it answer.
func (f *Flow) try(ctx context.Context, c Choice, a Account) error {
	service := a.Service
	var err error
	switch c.Kind {
	case KindLogin:
		if a, err = f.Backend.Import(ctx, strings.TrimPrefix(c.ID, KindLogin+":")); err != nil {
			return err
		}
		service = a.Service
	case KindAccount:
		if service == "" {
			service, _, _ = strings.Cut(a.ID, ":")
		}
	}
	model := c.Model
	if model == "" {
		var ok bool
		if model, ok = f.Backend.First(service); !ok {
			return fmt.Errorf("nobody knows which models %s has; choose one with `hearth models set`", service)
		}
	}
	t := f.Backend.Test(ctx, model, a.ID, false)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !t.OK {
		return f.refused(ctx, t, a, c.Kind)
	}
	return f.settle(ctx, t)
}

// refused says why a try failed, and takes a key back that cannot work.
func (f *Flow) refused(ctx context.Context, t Tested, a Account, kind string) error {
	if !t.Refused || a.ID == "" || kind == KindLogin {
		if a.ID != "" && kind == KindAccount {
			return fmt.Errorf("%s Your key is kept; try it again in a moment", strings.TrimSpace(t.Error))
		}
		return errors.New(t.Error)
	}
	if err := f.Backend.Forget(ctx, a); err != nil {
		return fmt.Errorf("%s The key could not be removed again: %w", t.Error, err)
	}
	if err := f.Book.Change(ctx, func(r *Record) { r.Pending = "" }); err != nil {
		return err
	}
	return fmt.Errorf("%s The key was not kept", strings.TrimSpace(t.Error))
}

// settle lets a model that answered answer from now on.
func (f *Flow) settle(ctx context.Context, t Tested) error {
	if err := f.Backend.Prefer(ctx, t.Model); err != nil {
		return fmt.Errorf("%s answered, but it could not be made the one that answers: %w", t.Model, err)
	}
	err := f.Book.Change(ctx, func(r *Record) {
		r.Steps[Model], r.Model, r.Line, r.Notes = Done, t.Model, begun(t.Line), t.Notes
		r.Pull, r.Pending = "", ""
	})
	if err != nil || !t.Free {
		return err
	}
	f.mu.Lock()
	if f.doing != nil {
		f.doing.What = DoingWindow
	}
	f.mu.Unlock()
	f.Changed()
	return f.window(ctx, t.Model)
}

// window finds out how much of a long text reaches a model, after the messages
// that waited were answered. That it is not found out is no problem.
func (f *Flow) window(ctx context.Context, model string) error {
	if f.Backend.Quiet(ctx) != nil {
		return nil
	}
	t := f.Backend.Test(ctx, model, "", true)
	if !t.OK || ctx.Err() != nil {
		return nil
	}
	return f.Book.Change(ctx, func(r *Record) {
		if r.Model == model {
			r.Line, r.Notes = begun(t.Line), t.Notes
		}
	})
}

// Pull downloads a model, then tries it. It goes on after a restart.
func (f *Flow) Pull(ctx context.Context, model string) error {
	if d, _ := f.State(); d != nil && d.What != DoingWindow {
		return ErrBusy
	}
	if err := f.Book.Change(ctx, func(r *Record) { r.Pull = model }); err != nil {
		return err
	}
	return f.pull(model)
}

func (f *Flow) pull(model string) error {
	return f.begin(Doing{What: DoingDownload, Name: NameOf(model), Model: model}, func(ctx context.Context) error {
		ref, err := f.Backend.Pull(ctx, model, f.progress())
		if stopping(ctx) {
			return ctx.Err()
		}
		if cerr := f.Book.Change(context.WithoutCancel(ctx), func(r *Record) { r.Pull = "" }); cerr != nil && err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
		f.mu.Lock()
		if f.doing != nil {
			f.doing.What = DoingTest
		}
		f.mu.Unlock()
		f.Changed()
		return f.try(ctx, Choice{Kind: KindLocal, Model: ref}, Account{})
	})
}

// stopping reports whether Hearth stops, rather than the person.
func stopping(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), errStopped)
}

// progress notes how far a download is.
func (f *Flow) progress() func(done, total int64) {
	var first int64
	var since, told time.Time
	return func(done, total int64) {
		now := f.Now()
		if since.IsZero() {
			first, since = done, now
		}
		f.mu.Lock()
		if f.doing != nil {
			f.doing.Done, f.doing.Total = done, total
			if took := now.Sub(since); took > time.Second && done > first {
				f.doing.Left = time.Duration(float64(total-done) / float64(done-first) * float64(took))
			}
		}
		f.mu.Unlock()
		if now.Sub(told) >= tellEvery || done == total {
			told = now
			f.Changed()
		}
	}
}

// Resume goes on with a download that a stop cut off.
func (f *Flow) Resume() error {
	if r := f.Book.Get(); r.Pull != "" && r.Of(Model) != Done {
		return f.pull(r.Pull)
	}
	return nil
}

// begun is a line with a large first letter.
func begun(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// sentence is words with a full stop.
func sentence(s string) string {
	s = begun(strings.TrimSpace(s))
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}
