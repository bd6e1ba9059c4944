package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/app/beside"
	"github.com/hearth-assistant/hearth/app/node"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

type nodeOptions struct {
	name    string
	allow   []string
	service bool
}

func runNode(ctx context.Context, a *app, code string, o nodeOptions) error {
	f, err := a.nodeFolder()
	if err != nil {
		return err
	}
	if err := f.Dir.Ensure(); err != nil {
		return err
	}
	unlock, err := node.Only(ctx, f)
	if err != nil {
		return &failure{exitConfig, err.Error(), "`hearth node status` says how it is"}
	}
	defer unlock()
	d, err := newNodeDialer(ctx, a, f, code, o)
	if err != nil {
		return err
	}
	h := node.New(node.Options{
		Dial: d.dial, Device: d.me, Folder: f, Version: a.Version, Name: hostName(), Environ: a.environ(), Home: statedir.Home(a.Env),
		Work: f.Dir.NodeWork(), Guardian: guardian(), Window: window(), Logger: notices(a.errs(), false),
		Report: func(st node.State) {
			_ = f.Note(node.Note{State: st, AtMs: time.Now().UnixMilli(), PID: os.Getpid()}) // only for `hearth node status`
			a.tellNode(d.gateway.Name, st)
		},
	})
	err = h.Run(ctx)
	switch {
	case errors.Is(err, node.ErrRemoved) && o.service:
		return nil // starting it again would not help
	case errors.Is(err, node.ErrRemoved):
		return &failure{exitRefused, "the gateway " + d.gateway.Name + " does not want this machine any more: it was removed there",
			"to have it back: `hearth qr --node` there, then `hearth node run CODE` here"}
	}
	return err
}

// tellNode tells a person how the connection is.
func (a *app) tellNode(gateway string, s node.State) {
	if a.asJSON {
		_ = a.out().jsonLine(s)
		return
	}
	words := ""
	switch s.Phase {
	case node.Connected:
		words = "Connected to " + line(gateway) + ". What this machine offers counts once it is agreed to there (`hearth nodes`)."
	case node.Waiting:
		words = "Waiting to be let in: on the gateway's machine, run `hearth devices approve " + line(s.Request) + "`."
	case node.Lost:
		words = "Not connected, trying again: " + line(s.Words)
	case node.Ended:
		return // the error says it
	}
	_ = a.errs().print(words, "\n")
}

// nodeDialer connects to the gateway that this machine is a node of: the first
// time with the code that somebody gave, then with its token.
type nodeDialer struct {
	a       *app
	f       node.Folder
	me      *client.Identity
	gateway node.Gateway
	code    string // the secret of the code, "" once it was used
}

// newNodeDialer takes what the command line says: what is allowed, the name, and
// a code that pairs.
func newNodeDialer(ctx context.Context, a *app, f node.Folder, code string, o nodeOptions) (*nodeDialer, error) {
	if err := setNode(a, f, node.Named(o.allow), true); err != nil {
		return nil, err
	}
	s, err := f.Settings()
	if err != nil {
		return nil, err
	}
	if o.name != "" && s.Name != line(o.name) {
		s.Name = line(o.name)
		if err := f.Save(s); err != nil {
			return nil, err
		}
	}
	d := &nodeDialer{a: a, f: f, gateway: s.Gateway}
	if code == "" && a.gateway != "" && a.gateway != s.Gateway.Name {
		if code, err = a.nodeCode(ctx); err != nil {
			return nil, err
		}
	}
	if code != "" {
		if err := d.take(code); err != nil {
			return nil, err
		}
	} else if len(s.Gateway.URLs) == 0 {
		return nil, &failure{exitUsage, "this machine does not belong to a gateway yet", "on the gateway's machine run `hearth qr --node`, " +
			"then here `hearth node run CODE`"}
	}
	d.me, err = client.RemoteIdentity(ctx, f.Dir)
	return d, err
}

// nodeCode has a gateway that this machine controls make a code.
func (a *app) nodeCode(ctx context.Context) (string, error) {
	var s protocol.PairSetup
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodPairSetupCode, protocol.PairSetupParams{Access: "node"}, &s); err != nil {
		return "", err
	}
	return s.SetupCode, nil
}

// take reads a code.
func (d *nodeDialer) take(text string) error {
	code, err := protocol.ParseSetupCode(text)
	if err != nil {
		return &failure{exitUsage, err.Error(), "run `hearth qr --node` on the gateway's machine and give all of the code that it prints"}
	}
	if code.Pin == "" {
		return &failure{exitUsage, "this setup code is of another program: it does not say which key the gateway has",
			"make one with `hearth qr --node`"}
	}
	id := cmp.Or(code.ID, identity.IDOf(code.Pin))
	name := cmp.Or(d.a.gateway, "hearth-"+id[:min(4, len(id))])
	d.gateway = node.Gateway{ID: id, Name: name, URLs: code.Addresses(), Pins: []string{code.Pin}}
	d.code = code.BootstrapToken
	return nil
}

// pair uses the code: once, so the token that it brings is kept at once.
func (d *nodeDialer) pair(ctx context.Context, o client.Options) (*client.Client, error) {
	o.Auth, o.PerAddress = &protocol.Auth{BootstrapToken: d.code}, withCode
	c, good, err := client.DialPinned(ctx, d.gateway.URLs, d.gateway.Pins, nil, o)
	if err != nil {
		return nil, &node.GaveUpError{Err: err}
	}
	if c.Hello().Auth.DeviceToken == "" {
		_ = c.Close()
		return nil, &node.GaveUpError{Err: &failure{exitRefused, "the gateway let this machine in but gave it no token", "try a new code"}}
	}
	if err := d.keep(good, c); err != nil {
		_ = c.Close()
		return nil, &node.GaveUpError{Err: err}
	}
	d.code = ""
	if !d.a.asJSON {
		_ = d.a.errs().print("Paired with ", line(d.gateway.Name), " at ", line(good), ", key ", identity.Short(d.gateway.Pins[0]), ".\n")
	}
	return c, nil
}

// keep remembers where the gateway is and what lets this machine in.
func (d *nodeDialer) keep(good string, c *client.Client) error {
	next := d.gateway
	next.URLs, next.Token = putFirst(good, d.gateway.URLs), cmp.Or(c.Hello().Auth.DeviceToken, d.gateway.Token)
	if pins := c.Hello().Auth.Pins; len(pins) > 0 {
		next.Pins = pins // told by the one that has the key of before
	}
	if next.Token == d.gateway.Token && slices.Equal(next.URLs, d.gateway.URLs) && slices.Equal(next.Pins, d.gateway.Pins) {
		return nil
	}
	s, err := d.f.Settings()
	if err == nil {
		s.Gateway, s.NodeID = next, d.me.ID()
		err = d.f.Save(s)
	}
	if err != nil {
		return fmt.Errorf("keep where the gateway is: %w", err)
	}
	d.gateway = next
	return nil
}

// looksEvery is how many failures lie between two looks at the network.
const looksEvery = 5

// looks tells whether to ask the network where the gateway is now: when somebody
// else is where it was, when nothing is there any more, and every few times when
// that goes on. A machine that refuses is one whose gateway is just starting.
func looks(err error, failures int) bool {
	var stranger *identity.MismatchError
	return errors.As(err, &stranger) || failures%looksEvery == looksEvery-1 || failures <= 1 && !client.Refused(err)
}

// dial goes to the addresses that are known and, when that fails, where the
// network says that the gateway is now. Its key decides who it is.
func (d *nodeDialer) dial(ctx context.Context, o client.Options, failures int) (*client.Client, error) {
	if d.code != "" {
		return d.pair(ctx, o)
	}
	o.Auth = &protocol.Auth{DeviceToken: d.gateway.Token}
	c, good, err := client.DialPinned(ctx, d.gateway.URLs, d.gateway.Pins, nil, o)
	var refusal *protocol.Error
	if err != nil && ctx.Err() == nil && !errors.As(err, &refusal) && looks(err, failures) {
		again, where, ferr := findAgain(ctx, d.gateway.ID, d.gateway.Pins, o)
		if ferr == nil || errors.As(ferr, &refusal) {
			c, good, err = again, where, ferr
		}
	}
	if err != nil {
		return nil, err
	}
	if err := d.keep(good, c); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// putFirst is the list with one at its beginning, and no longer than eight.
func putFirst(one string, all []string) []string {
	out := append([]string{one}, slices.DeleteFunc(slices.Clone(all), func(u string) bool { return u == one })...)
	return out[:min(8, len(out))]
}

// window is the program that shows pages, where it is installed.
func window() string {
	path, ok := beside.Find("hearth-window")
	if !ok {
		return ""
	}
	return path
}

func hostName() string {
	if host, err := os.Hostname(); err == nil && host != "" {
		return host
	}
	return "a computer"
}

// environ is this process's environment as far as a test's world has not
// another one.
func (a *app) environ() []string {
	out := os.Environ()
	if home := a.Env("HOME"); home != "" {
		out = append(out, "HOME="+home)
	}
	return out
}
