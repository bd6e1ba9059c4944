package messaging

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

// Accounts on networks: which can be set up and how, setting one up, switching it
// off and on, taking it out. The settings are the one place where they stand;
// package hub follows these.

// kinds are the networks that an account can be set up on.
func (f *feature) kinds(context.Context, method.None) (protocol.ChannelKinds, error) {
	out := protocol.ChannelKinds{Kinds: []protocol.ChannelKind{}}
	for _, k := range f.o.Networks.Kinds {
		one := protocol.ChannelKind{ID: k.ID, Label: k.Label, Steps: slices.Concat([]string{}, k.SetUp), First: k.First,
			Settings: []protocol.ChannelSetting{}}
		if k.Manifest.Text != "" {
			one.Manifest = &protocol.ChannelManifest{Name: k.Manifest.Name, Text: k.Manifest.Text}
		}
		for _, s := range k.Settings {
			one.Settings = append(one.Settings, protocol.ChannelSetting{Key: s.Key, Form: string(s.Form), About: s.About, Unset: s.Unset,
				Needed: k.IsNeeded(s), OneOf: s.OneOf, On: s.On})
		}
		out.Kinds = append(out.Kinds, one)
	}
	return out, nil
}

// place is an account of a network that somebody named.
type place struct {
	kind    channel.Kind
	account string
	network hub.Network
}

// placeOf finds the network and judges the name of the account.
func (f *feature) placeOf(network, account string) (at place, err error) {
	k, ok := f.o.Networks.Kinds.Get(network)
	if !ok {
		return at, protocol.Invalid("there is no messaging network %q", network)
	}
	account = cmp.Or(account, "default")
	if err := hub.AccountName(account); err != nil {
		return at, protocol.Invalid("%v", err)
	}
	return place{k, account, hub.Section(k).Of(f.o.Settings.Snapshot().Config)}, nil
}

// path is where a key of the account stands.
func (at place) path(key string) config.Path {
	return hub.KeyPath(at.kind, at.network, at.account, key)
}

// plain is where it stood while the account was not called by its name: keys are kept
// under that.
func (at place) plain(key string) config.Path {
	return hub.KeyPath(at.kind, hub.Network{}, at.account, key)
}

func (at place) there() bool {
	_, ok := at.network.Accounts()[at.account]
	return ok
}

// leaves are the places of the file that go when the account is removed. What stands
// at the network is the account "default", and what others begin with: where there
// are others, only what is its own goes.
func (at place) leaves(keepRules bool) (gone []config.Path) {
	_, named := at.network.Named[at.account]
	others := at.network.Others(at.account)
	switch {
	case keepRules:
	case at.account != "default":
		return []config.Path{config.At("channels", at.kind.ID, "accounts", at.account)}
	case !others:
		return []config.Path{config.At("channels", at.kind.ID)}
	case named:
		gone = append(gone, config.At("channels", at.kind.ID, "accounts", at.account))
	}
	for _, s := range at.kind.Settings {
		if keepRules {
			gone = append(gone, at.path(s.Key))
		} else if !s.Shared {
			gone = append(gone, config.At("channels", at.kind.ID, s.Key))
		}
	}
	return gone
}

// stands reports whether the file has anything of the account.
func (f *feature) stands(at place) bool {
	section := config.At("channels", at.kind.ID)
	if at.account != "default" {
		section = config.At("channels", at.kind.ID, "accounts", at.account)
	}
	_, there, err := f.o.Settings.Snapshot().Get(section.String())
	return there || err != nil
}

// missing is the error of an account that is not there.
func (at place) missing() error {
	return protocol.Invalid("%s has no account %q in the settings; `hearth channels` lists those that there are", at.kind.Label, at.account)
}

// changes of the settings are a tree of values; nil takes one out.
type changes map[string]any

func (c changes) set(at config.Path, value any) {
	steps := at.Keys()
	for _, k := range steps[:len(steps)-1] {
		next, ok := c[k].(changes)
		if !ok {
			next = changes{}
			c[k] = next
		}
		c = next
	}
	c[steps[len(steps)-1]] = value
}

func (f *feature) change(ctx context.Context, c changes) ([]string, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("write a change of the settings: %w", err)
	}
	_, notes, err := f.o.Keys.Patch(ctx, "", string(raw))
	return notes, err
}

// add sets an account up. Where a part of it cannot be, nothing of it stays.
func (f *feature) add(ctx context.Context, p protocol.ChannelAddParams) (out protocol.ChannelAdded, err error) {
	f.accounts.Lock()
	defer f.accounts.Unlock()
	at, err := f.placeOf(p.Channel, p.AccountID)
	if err != nil {
		return out, err
	}
	if at.there() {
		return out, protocol.Invalid("%s has an account %q already: name another one, or remove it first", at.kind.Label, at.account)
	}
	fresh := !f.stands(at)
	a := at.kind.Answers(p.Values)
	if len(a.Wrong) > 0 {
		return protocol.ChannelAdded{Wrong: a.Wrong}, nil
	}
	if st := f.o.Keys.Status(ctx); len(a.Secrets) > 0 && !st.Ready() {
		return out, protocol.Invalid("%s", st.Message)
	}
	undo, err := f.keep(ctx, at, a)
	if err == nil {
		c := changes{}
		for key, value := range a.Values {
			c.set(at.path(key), value)
		}
		out.Notes, err = f.change(ctx, c)
	}
	if err != nil {
		return out, errors.Join(err, undo(context.WithoutCancel(ctx)))
	}
	out.OK, out.Fresh = true, fresh
	return out, nil
}

// keep puts the secrets where keys are kept; their values are then where.
func (f *feature) keep(ctx context.Context, at place, a channel.Answers) (undo func(context.Context) error, err error) {
	var kept []string
	undo = func(ctx context.Context) (all error) {
		for _, name := range kept {
			all = errors.Join(all, f.o.Keys.Store().Delete(ctx, name))
		}
		return all
	}
	for _, key := range slices.Sorted(maps.Keys(a.Secrets)) {
		v, err := secret.Clean(a.Secrets[key])
		if err != nil {
			return undo, fmt.Errorf("%s: %w", key, err)
		}
		name := at.path(key).String()
		if err := f.o.Keys.Store().Set(ctx, name, v); err != nil {
			return undo, fmt.Errorf("keep %s: %w", key, err)
		}
		kept = append(kept, name)
		a.Values[key] = secret.SourceKeychain + ":" + name
	}
	f.o.Keys.Refresh(ctx)
	return undo, nil
}

// remove takes an account out of the settings, and its secrets from where add kept
// them; a secret of another name is somebody's own.
func (f *feature) remove(ctx context.Context, p protocol.ChannelRemoveParams) (protocol.OKResult, error) {
	f.accounts.Lock()
	defer f.accounts.Unlock()
	at, err := f.placeOf(p.Channel, p.AccountID)
	if err != nil {
		return protocol.OKResult{}, err
	}
	if !at.there() {
		return protocol.OKResult{}, at.missing()
	}
	c := changes{}
	for _, gone := range at.leaves(p.KeepRules) {
		c.set(gone, nil)
	}
	if _, err := f.change(ctx, c); err != nil {
		return protocol.OKResult{}, err
	}
	for _, key := range at.kind.Secrets() {
		for _, name := range []config.Path{at.path(key), at.plain(key)} {
			if err := f.o.Keys.Store().Delete(ctx, name.String()); err != nil && !errors.Is(err, secret.ErrNotFound) {
				return protocol.OKResult{}, fmt.Errorf("the account was removed, but not its %s: %w", key, err)
			}
		}
	}
	f.o.Keys.Refresh(ctx)
	return protocol.OKResult{OK: true}, nil
}

func (f *feature) start(ctx context.Context, p protocol.ChannelAccountParams) (protocol.ChannelStarted, error) {
	at, err := f.turn(ctx, p, true)
	return protocol.ChannelStarted{Channel: at.kind.ID, AccountID: at.account, Started: err == nil}, err
}

func (f *feature) stop(ctx context.Context, p protocol.ChannelAccountParams) (protocol.ChannelStopped, error) {
	at, err := f.turn(ctx, p, false)
	return protocol.ChannelStopped{Channel: at.kind.ID, AccountID: at.account, Stopped: err == nil}, err
}

// turn switches one account on or off, and no other one.
func (f *feature) turn(ctx context.Context, p protocol.ChannelAccountParams, on bool) (place, error) {
	f.accounts.Lock()
	defer f.accounts.Unlock()
	at, err := f.placeOf(p.Channel, p.AccountID)
	if err == nil && !at.there() {
		err = at.missing()
	}
	if err != nil {
		return at, err
	}
	c, all := changes{}, config.At("channels", at.kind.ID, "enabled")
	if on && !at.alone() && !at.network.Base.Enabled { // the switch of the network is over all of them
		c.set(all, true)
		for id := range at.network.Accounts() {
			c.set(at.ownSwitch(id), id == at.account)
		}
	} else {
		c.set(at.switchOf(), on)
	}
	_, err = f.change(ctx, c)
	return at, err
}

// alone: the account is all that stands at the network, and not called by its name.
func (at place) alone() bool {
	_, named := at.network.Named[at.account]
	return at.account == "default" && !named && !at.network.Others("default")
}

func (at place) ownSwitch(account string) config.Path {
	return config.At("channels", at.kind.ID, "accounts", account, "enabled")
}

// switchOf is the switch of this account and no other one.
func (at place) switchOf() config.Path {
	if at.alone() {
		return config.At("channels", at.kind.ID, "enabled")
	}
	return at.ownSwitch(at.account)
}
