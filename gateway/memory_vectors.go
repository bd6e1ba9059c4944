package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/embedding"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/spend"
)

// Vectors of what is remembered: the service of the settings, its key, the pause,
// and what it costs.

// vectors asks the service of the settings; while the network is paused it does
// not.
type vectors struct {
	g    *Gateway
	s    config.MemorySearch
	http func() *http.Client
}

func (v vectors) Name() string {
	if v.s.Remote.BaseURL != "" {
		return v.s.Remote.BaseURL + " " + v.s.Model
	}
	return v.s.Provider + "/" + v.s.Model
}

func (v vectors) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	act := pause.CallService
	ref, account := v.ref(), ""
	c := &embedding.Client{Service: provider.NameOf(v.s.Provider), Model: v.s.Model, HTTP: v.http()}
	if v.s.Remote.BaseURL != "" {
		c.BaseURL = v.s.Remote.BaseURL
		if c.Service == "" {
			c.Service = "the service of memorySearch.remote"
		}
		c.Key = func(ctx context.Context) (string, error) {
			key, err := v.g.secrets.Value(ctx, config.MemoryKeyPath, v.s.Remote.APIKey)
			return strings.TrimSpace(key.Reveal()), err
		}
	} else {
		if v.g.models.Nearby(model.Ref{Provider: v.s.Provider, Model: v.s.Model}) {
			act = pause.CallModel
		}
		if c.BaseURL = v.g.models.Address(v.s.Provider); c.BaseURL == "" {
			return nil, fmt.Errorf("nobody knows where %s is: set models.providers.%s.baseUrl, or agents.defaults.memorySearch.remote.baseUrl", v.s.Provider, v.s.Provider)
		}
		if v.s.Provider == "ollama" && !strings.HasSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1") {
			c.BaseURL = strings.TrimRight(c.BaseURL, "/") + "/v1"
		}
		c.Key = v.accountKey(c.BaseURL, &account)
	}
	if err := v.g.pause.Check(act); err != nil {
		return nil, err
	}
	if err := v.afford(ref, c.BaseURL); err != nil {
		return nil, err
	}
	c.Spent = func(tokens int) { v.book(ctx, ref, account, tokens) }
	return c.Embed(ctx, texts)
}

// ref is the model as it is booked and priced.
func (v vectors) ref() model.Ref {
	return model.Ref{Provider: cmp.Or(v.s.Provider, "memory"), Model: v.s.Model}
}

// errAllowance: what costs is not asked any more.
var errAllowance = errors.New("the allowance is used up; raise it with `hearth usage allow`, or name a model on this computer in agents.defaults.memorySearch")

// afford reports whether another call may cost what it does. A service whose
// price nobody knows costs, unless it is on this computer.
func (v vectors) afford(ref model.Ref, baseURL string) error {
	price, known := v.g.budget.Price(ref)
	if !v.g.budget.Allowance().Any() || known && price.Free() || !known && profile.Origin(baseURL) == profile.ThisComputer {
		return nil
	}
	st, err := v.g.budget.Standing()
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
func (v vectors) book(ctx context.Context, ref model.Ref, account string, tokens int) {
	call := spend.Call{At: v.g.opts.Now(), Model: ref, Account: account, Session: memorySession, Agent: session.DefaultAgent, Usage: model.Usage{Input: tokens}}
	if err := v.g.budget.Spent(ctx, call); err != nil {
		v.g.log.Error("what vectors cost could not be booked", "model", ref.String(), "tokens", tokens, "err", err)
	}
}

// accountKey is the key of the account whose turn it is, which used becomes.
func (v vectors) accountKey(baseURL string, used *string) func(context.Context) (string, error) {
	accounts := v.g.accounts
	return func(ctx context.Context) (string, error) {
		account := accounts.Next(v.s.Provider, v.s.Model)
		if account == "" {
			return "", nil
		}
		*used = account
		return accounts.Key(ctx, account, baseURL)
	}
}
