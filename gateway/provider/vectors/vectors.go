// Package vectors asks the model of vectors that the settings name, for what is
// remembered and for programs: with its key, behind the pause and the allowance,
// and booked. How such a service is spoken to is package embedding's.
package vectors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/memory"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/accounts"
	"github.com/hearth-assistant/hearth/gateway/provider/embedding"
	"github.com/hearth-assistant/hearth/gateway/provider/guarded"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/spend"
)

// Options are the parts that a Service needs; all of them.
type Options struct {
	Settings *config.File
	Secrets  *lookup.Secrets
	Models   *provider.Registry
	Accounts *accounts.Accounts
	Guard    *guarded.Guard
	Now      func() time.Time
	Logger   *slog.Logger
}

// Maker makes vectors. Its methods may be called from several goroutines.
type Maker struct {
	Options
	client func() *http.Client
}

// New returns a service, which opens no connection yet.
func New(o Options) *Maker {
	return &Maker{o, sync.OnceValue(func() *http.Client {
		return &http.Client{Transport: egress.Operator(), CheckRedirect: egress.SameOrigin}
	})}
}

// Embedder is the model of vectors that the settings name, nil for none.
func (s *Maker) Embedder() memory.Embedder {
	m := memory.SearchSection.Of(s.Settings.Snapshot().Config)
	switch {
	case !m.Enabled, m.Model == "":
		return nil
	case m.Remote.BaseURL == "" && (m.Provider == "" || m.Provider == "none" || m.Provider == "auto"):
		return nil
	}
	return embedder{s, m}
}

// embedder asks the service of the settings; while the network is paused it does
// not.
type embedder struct {
	*Maker
	s memory.SearchSettings
}

// Name implements memory.Embedder.
func (e embedder) Name() string {
	if e.s.Remote.BaseURL != "" {
		return e.s.Remote.BaseURL + " " + e.s.Model
	}
	return e.s.Provider + "/" + e.s.Model
}

// Embed implements memory.Embedder.
func (e embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	act := pause.CallService
	ref, account := e.ref(), ""
	c := &embedding.Client{Service: provider.NameOf(e.s.Provider), Model: e.s.Model, HTTP: e.client()}
	if e.s.Remote.BaseURL != "" {
		c.BaseURL = e.s.Remote.BaseURL
		if c.Service == "" {
			c.Service = "the service of memorySearch.remote"
		}
		c.Key = func(ctx context.Context) (string, error) {
			key, err := e.Secrets.Value(ctx, memory.RemoteKeyPath, e.s.Remote.APIKey)
			return strings.TrimSpace(key.Reveal()), err
		}
	} else {
		if e.Models.Nearby(model.Ref{Provider: e.s.Provider, Model: e.s.Model}) {
			act = pause.CallModel
		}
		if c.BaseURL = e.Models.Address(e.s.Provider); c.BaseURL == "" {
			return nil, fmt.Errorf("nobody knows where %s is: set models.providers.%s.baseUrl, or agents.defaults.memorySearch.remote.baseUrl",
				e.s.Provider, e.s.Provider)
		}
		if e.s.Provider == "ollama" && !strings.HasSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1") {
			c.BaseURL = strings.TrimRight(c.BaseURL, "/") + "/v1"
		}
		c.Key = e.accountKey(c.BaseURL, &account)
	}
	if err := e.Guard.Pause.Check(act); err != nil {
		return nil, err
	}
	if err := e.afford(ref, c.BaseURL); err != nil {
		return nil, err
	}
	c.Spent = func(tokens int) { e.book(ctx, ref, account, tokens) }
	return c.Embed(ctx, texts)
}

// ref is the model as it is booked and priced.
func (e embedder) ref() model.Ref {
	return model.Ref{Provider: cmp.Or(e.s.Provider, "memory"), Model: e.s.Model}
}

// errAllowance: what costs is not asked any more.
var errAllowance = errors.New("the allowance is used up; raise it with `hearth usage allow`, or name a model on this computer in " +
	"agents.defaults.memorySearch")

// afford reports whether another call may cost what it does. A service whose
// price nobody knows costs, unless it is on this computer.
func (e embedder) afford(ref model.Ref, baseURL string) error {
	price, known := e.Guard.Budget.Price(ref)
	if !e.Guard.Budget.Allowance().Any() || known && price.Free() || !known && profile.Origin(baseURL) == profile.ThisComputer {
		return nil
	}
	st, err := e.Guard.Budget.Standing()
	if err != nil {
		return err
	}
	if st.Level == spend.Used {
		return errAllowance
	}
	return nil
}

// memorySession is where calls for vectors are booked.
const memorySession = "memory"

// book writes down what was used, also when whoever asked has gone meanwhile.
func (e embedder) book(ctx context.Context, ref model.Ref, account string, tokens int) {
	call := spend.Call{At: e.Now(), Model: ref, Account: account, Session: memorySession, Agent: session.DefaultAgent,
		Usage: model.Usage{Input: tokens}}
	if err := e.Guard.Budget.Spent(ctx, call); err != nil {
		e.Logger.Error("what vectors cost could not be booked", "model", ref.String(), "tokens", tokens, "err", err)
	}
}

// accountKey is the key of the account whose turn it is, which used becomes.
func (e embedder) accountKey(baseURL string, used *string) func(context.Context) (string, error) {
	accounts := e.Accounts
	return func(ctx context.Context) (string, error) {
		account := accounts.Next(e.s.Provider, e.s.Model)
		if account == "" {
			return "", nil
		}
		*used = account
		return accounts.Key(ctx, account, baseURL)
	}
}
