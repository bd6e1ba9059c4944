package oauth

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Started is what a person needs to go on with a login.
type Started struct {
	ID      string
	Service Issuer
	URL     string
	Code    string // to type there; "" for a login in the browser
	Expires time.Time
}

// States of a login.
const (
	Pending = "pending"
	Done    = "done"
	Failed  = "failed"
)

// LoginState is how a login stands.
type LoginState struct {
	State   string
	Account string // which account it made
	Err     error
}

// maxFlows bounds the logins that are under way, and the ended ones that are
// remembered.
const maxFlows = 16

// ErrNoFlow: nobody knows the login.
var ErrNoFlow = errors.New("there is no such login under way; start it again")

// Flows are the logins that are under way. They end with ctx.
type Flows struct {
	ctx    context.Context
	client *Client
	keep   func(ctx context.Context, s Issuer, t Tokens) (account string, err error)

	mu  sync.Mutex
	all map[string]*flow
	now func() time.Time
}

type flow struct {
	cancel context.CancelFunc
	done   chan struct{} // closed once state is final
	began  time.Time
	state  LoginState
}

// NewFlows makes logins possible; keep stores what they bring and names the
// account.
func NewFlows(ctx context.Context, c *Client, keep func(ctx context.Context, s Issuer, t Tokens) (string, error)) *Flows {
	return &Flows{ctx: ctx, client: c, keep: keep, all: map[string]*flow{}, now: c.now}
}

// Start begins a login. It goes on after the call.
func (f *Flows) Start(ctx context.Context, s Issuer) (Started, error) {
	st := Started{ID: random(12), Service: s}
	var await func(context.Context) (Tokens, error)
	switch s.Kind {
	case KindDevice:
		d, err := f.client.Device(ctx, s)
		if err != nil {
			return st, fmt.Errorf("log in at %s: %w", s.Name, err)
		}
		st.URL, st.Code, st.Expires, await = d.URL, d.Code, d.Expires, d.Await
	default:
		b, err := f.client.Browser(f.ctx, s)
		if err != nil {
			return st, fmt.Errorf("log in at %s: %w", s.Name, err)
		}
		st.URL, st.Expires, await, s = b.URL, b.Expires, b.Await, b.service
	}
	run, cancel := context.WithCancel(f.ctx)
	w := &flow{cancel: cancel, done: make(chan struct{}), began: f.now(), state: LoginState{State: Pending}}
	f.mu.Lock()
	f.makeRoom()
	f.all[st.ID] = w
	f.mu.Unlock()
	go f.finish(run, w, s, await)
	return st, nil
}

// makeRoom ends the oldest login when there are too many.
func (f *Flows) makeRoom() {
	if len(f.all) < maxFlows {
		return
	}
	oldest := ""
	for id, w := range f.all {
		if oldest == "" || w.began.Before(f.all[oldest].began) {
			oldest = id
		}
	}
	f.all[oldest].cancel()
	delete(f.all, oldest)
}

func (f *Flows) finish(ctx context.Context, w *flow, s Issuer, await func(context.Context) (Tokens, error)) {
	defer w.cancel()
	end := LoginState{State: Done}
	t, err := await(ctx)
	if err == nil {
		end.Account, err = f.keep(ctx, s, t)
	}
	switch {
	case errors.Is(err, context.Canceled):
		end = LoginState{State: Failed, Err: errors.New("the login was given up")}
	case err != nil:
		end = LoginState{State: Failed, Err: err}
	}
	f.mu.Lock()
	w.state = end
	f.mu.Unlock()
	close(w.done)
}

// Wait returns when a login has ended, or with ctx, whichever is first.
func (f *Flows) Wait(ctx context.Context, id string) (LoginState, error) {
	f.mu.Lock()
	w := f.all[id]
	f.mu.Unlock()
	if w == nil {
		return LoginState{}, ErrNoFlow
	}
	select {
	case <-w.done:
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return w.state, nil
}

// Cancel gives a login up; ok is false when there is none.
func (f *Flows) Cancel(id string) (ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.all[id]
	if w == nil {
		return false
	}
	w.cancel()
	return true
}
