package keeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/secret/keychain"
)

// Other is a place in which secrets are kept and which is not the one in use: the
// backend was changed since, or the place in use came later.
type Other struct {
	Place string
	Names []string // of what is kept there; empty while that cannot be known
	Open  bool     // it can be read now, so Gather can move them
}

// Words say so, and what to do.
func (o Other) Words() string {
	names := strings.Join(o.Names, ", ")
	switch {
	case len(o.Names) == 0:
		return fmt.Sprintf("Keys are kept in a place that is not used now (%s). `hearth config set secrets.backend %s` uses it again.",
			o.Place, o.Place)
	case !o.Open:
		return fmt.Sprintf("Keys are kept in a place that is not used now (%s): %s. `hearth config set secrets.backend %s` uses it again.",
			o.Place, names, o.Place)
	}
	return fmt.Sprintf("Keys are kept in a place that is not used now (%s): %s. `hearth secrets migrate` moves them to where keys are kept "+
		"now, and `hearth config set secrets.backend %s` uses it again.", o.Place, names, o.Place)
}

// Elsewhere are the other places in which something is kept. It asks nobody, and a
// keychain not at all.
func (k *Keeper) Elsewhere(ctx context.Context) (out []Other) {
	place := k.Status(ctx).Place
	if place != Plain {
		if list, err := k.plain.List(ctx); err != nil || len(list) > 0 {
			out = append(out, Other{Place: Plain, Names: names(list), Open: err == nil})
		}
	}
	if place != Vault && k.vault.Exists() {
		o := Other{Place: Vault}
		if k.openVault(false) == nil {
			list, err := k.vault.List(ctx)
			o.Names, o.Open = names(list), err == nil
		}
		if !o.Open || len(o.Names) > 0 {
			out = append(out, o)
		}
	}
	if place != Keychain && k.keychain.Used() {
		if list, err := k.keychain.List(ctx); err == nil {
			out = append(out, Other{Place: Keychain, Names: names(list), Open: k.keychain.State(ctx) == keychain.Ready})
		}
	}
	return out
}

// ElsewhereWords are Elsewhere in sentences.
func (k *Keeper) ElsewhereWords(ctx context.Context) (out []string) {
	for _, o := range k.Elsewhere(ctx) {
		out = append(out, o.Words())
	}
	return out
}

func names(list []secret.Entry) (out []string) {
	for _, e := range list {
		out = append(out, e.Name)
	}
	return out
}

// Gather moves what is kept elsewhere into the place in use, as far as the other place
// is open, and says which it were. A name that is in use with another value stays
// where it is.
func (k *Keeper) Gather(ctx context.Context) (moved []string, err error) {
	others := k.Elsewhere(ctx)
	if len(others) == 0 {
		return nil, nil
	}
	here, err := k.store(ctx, true)
	if err != nil {
		return nil, err
	}
	for _, o := range others {
		if !o.Open {
			continue
		}
		from := map[string]secret.Store{Keychain: k.keychain, Vault: k.vault, Plain: k.plain}[o.Place]
		for _, name := range o.Names {
			ok, err := move(ctx, from, here, name)
			if err != nil {
				return moved, fmt.Errorf("move %s out of the place %s: %w", name, o.Place, err)
			}
			if ok && !slices.Contains(moved, name) {
				moved = append(moved, name)
			}
		}
	}
	return moved, nil
}

// move takes a secret out of a store when it can be read in the other one.
func move(ctx context.Context, from, to secret.Store, name string) (bool, error) {
	v, err := from.Get(ctx, name)
	if err != nil {
		return false, err
	}
	there, err := to.Get(ctx, name)
	switch {
	case errors.Is(err, secret.ErrNotFound):
		if err := to.Set(ctx, name, v); err != nil {
			return false, err
		}
		if there, err = to.Get(ctx, name); err != nil {
			return false, err
		}
	case err != nil:
		return false, err
	}
	if !there.Equal(v) {
		return false, nil
	}
	return true, from.Delete(ctx, name)
}
