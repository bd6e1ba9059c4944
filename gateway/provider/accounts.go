package provider

import (
	"context"
	"errors"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Accounts are the ways into services that ask for a key. With them, no key
// reaches a service but through Key.
type Accounts interface {
	// Has reports whether a service has an account that could be used.
	Has(provider string) bool
	// Chosen reports whether one of them was added or set by its person. A key
	// that merely stands in the environment is there, and not chosen.
	Chosen(provider string) bool
	// Next is the account whose turn it is; "" = there is none.
	Next(provider, modelID string) string
	// Key is what an account sends with a call to baseURL. Its error is in words
	// for people, an *UnavailableError at best, or ctx's.
	Key(ctx context.Context, account, baseURL string) (string, error)
}

// ResolveAs is Resolve with the account to use; "" means the one whose turn it
// is.
func (r *Registry) ResolveAs(ctx context.Context, ref model.Ref, account string) (Choice, error) {
	c, err := r.find(ctx, ref)
	if err != nil || r.accounts == nil || c.with == nil {
		return c, err
	}
	if account == "" {
		account = r.accounts.Next(c.Ref.Provider, c.Ref.Model)
	}
	if account == "" {
		c.Provider = c.with("")
		return c, nil
	}
	key, err := r.accounts.Key(ctx, account, c.baseURL)
	switch {
	case err != nil && ctx.Err() != nil:
		return Choice{}, ctx.Err()
	case err != nil:
		e := &UnavailableError{Class: model.ClassAuth, Message: err.Error()}
		errors.As(err, &e)
		return Choice{}, &UnavailableError{Ref: c.Ref, Class: e.Class, Message: e.Message}
	}
	c.Provider, c.Account = c.with(key), account
	return c, nil
}

func (r *Registry) hasAccount(id string) bool { return r.accounts != nil && r.accounts.Has(id) }

func (r *Registry) choseAccount(id string) bool { return r.accounts != nil && r.accounts.Chosen(id) }

// Known is a service of the table, for whoever looks after its accounts.
type Known struct {
	ID, Name string
	BaseURL  string
	Key      string // as the environment has it
	KeyEnv   []string
	KeyPage  string
	Local    bool
}

// Services lists the known services in their order, with what the environment
// says of them.
func Services(env func(string) string) []Known {
	v := view{r: &Registry{env: env}}
	var out []Known
	for _, s := range services() {
		x := reach{service: s}
		v.findKey(&x, ProviderConfig{})
		v.address(&x)
		out = append(out, Known{s.id, s.name, x.baseURL, x.key, s.keyEnv, s.keyPage, s.local})
	}
	return out
}

// OfVariable is the service whose key people keep in a variable of the environment.
func OfVariable(name string) (id string, ok bool) {
	for _, s := range services() {
		if slices.Contains(s.keyEnv, name) {
			return s.id, true
		}
	}
	return "", false
}

// NameOf is how people call a service.
func NameOf(id string) string { return nameOf(id) }
