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
	if err := prepareNode(ctx, a, f, code, o); err != nil {
		return err
	}
	me, err := client.RemoteIdentity(ctx, f.Dir)
	if err != nil {
		return err
	}
	s, err := f.Settings()
	if err != nil {
		return err
	}
	h := node.New(node.Options{
		Dial: a.dialNode, Device: me, Folder: f, Version: a.Version, Name: hostName(), Environ: a.environ(), Home: a.homeDir(),
		Work: f.Dir.NodeWork(), Guardian: guardian(), Window: window(), Logger: notices(a.errs(), false),
		Report: func(st node.State) {
			_ = f.Note(node.Note{State: st, AtMs: time.Now().UnixMilli(), PID: os.Getpid()}) // only for `hearth node status`
			a.tellNode(s.Gateway.Name, st)
		},
	})
	err = h.Run(ctx)
	switch {
	case errors.Is(err, node.ErrRemoved) && o.service:
		return nil // starting it again would not help
	case errors.Is(err, node.ErrRemoved):
		return &failure{exitRefused, "the gateway " + s.Gateway.Name + " does not want this machine any more: it was removed there", "to have it back: `hearth qr --node` there, then `hearth node run CODE` here"}
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

// prepareNode takes what the command line says: what is allowed, the name, and a
// code that pairs.
func prepareNode(ctx context.Context, a *app, f node.Folder, code string, o nodeOptions) error {
	if err := setNode(a, f, node.Named(o.allow), true); err != nil {
		return err
	}
	s, err := f.Settings()
	if err != nil {
		return err
	}
	if o.name != "" && s.Name != line(o.name) {
		s.Name = line(o.name)
		if err := f.Save(s); err != nil {
			return err
		}
	}
	if code == "" && a.gateway != "" && a.gateway != s.Gateway.Name {
		if code, err = a.nodeCode(ctx); err != nil {
			return err
		}
	}
	if code != "" {
		return pairNode(ctx, a, f, s, code)
	}
	if len(s.Gateway.URLs) == 0 {
		return &failure{exitUsage, "this machine does not belong to a gateway yet", "on the gateway's machine run `hearth qr --node`, then here `hearth node run CODE`"}
	}
	return nil
}

// nodeCode has a gateway that this machine controls make a code.
func (a *app) nodeCode(ctx context.Context) (string, error) {
	var s protocol.PairSetup
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodPairSetupCode, protocol.PairSetupParams{Access: "node"}, &s); err != nil {
		return "", err
	}
	return s.SetupCode, nil
}

// pairNode uses a code: once, so what came of it is kept before anything else.
func pairNode(ctx context.Context, a *app, f node.Folder, s node.Settings, text string) error {
	code, err := protocol.ParseSetupCode(text)
	if err != nil {
		return &failure{exitUsage, err.Error(), "run `hearth qr --node` on the gateway's machine and give all of the code that it prints"}
	}
	if code.Pin == "" {
		return &failure{exitUsage, "this setup code is of another program: it does not say which key the gateway has", "make one with `hearth qr --node`"}
	}
	me, err := client.RemoteIdentity(ctx, f.Dir)
	if err != nil {
		return err
	}
	o := node.Introduce(s, a.Version, hostName())
	o.Device, o.Auth = me, &protocol.Auth{BootstrapToken: code.BootstrapToken}
	c, good, err := client.DialPinned(ctx, code.Addresses(), []string{code.Pin}, nil, o)
	if err != nil {
		return err
	}
	defer c.Close()
	token := c.Hello().Auth.DeviceToken
	if token == "" {
		return &failure{exitRefused, "the gateway let this machine in but gave it no token", "try a new code"}
	}
	id := cmp.Or(code.ID, identity.IDOf(code.Pin))
	s.NodeID = me.ID()
	s.Gateway = node.Gateway{ID: id, Name: "hearth-" + id[:min(4, len(id))], URLs: putFirst(good, code.Addresses()), Pins: []string{code.Pin}, Token: token}
	if a.gateway != "" {
		s.Gateway.Name = a.gateway
	}
	if err := f.Save(s); err != nil {
		return err
	}
	if a.asJSON {
		return nil
	}
	return a.errs().print("Paired with ", line(s.Gateway.Name), " at ", line(good), ", key ", identity.Short(code.Pin), ".\n")
}

// looksEvery is how many failures lie between two looks at the network.
const looksEvery = 5

// dialNode connects to the gateway that this machine is a node of: at the
// addresses that are known and, when that failed for a while, where the network
// says that it is now. Its key decides who it is.
func (a *app) dialNode(ctx context.Context, o client.Options, failures int) (*client.Client, error) {
	f, err := a.nodeFolder()
	if err != nil {
		return nil, err
	}
	s, err := f.Settings()
	if err != nil {
		return nil, err
	}
	g := s.Gateway
	o.Auth = &protocol.Auth{DeviceToken: g.Token}
	c, good, err := client.DialPinned(ctx, g.URLs, g.Pins, nil, o)
	var refusal *protocol.Error
	if err != nil && ctx.Err() == nil && !errors.As(err, &refusal) && failures%looksEvery == looksEvery-1 {
		if found := lookFor(ctx, client.Remote{ID: g.ID}); len(found) > 0 {
			again, where, ferr := client.DialPinned(ctx, found, g.Pins, nil, o)
			if ferr == nil || errors.As(ferr, &refusal) {
				c, good, err = again, where, ferr
			}
		}
	}
	if err != nil {
		return nil, err
	}
	next := g
	next.URLs = putFirst(good, g.URLs)
	if t := c.Hello().Auth.DeviceToken; t != "" {
		next.Token = t
	}
	if next.Token != g.Token || !slices.Equal(next.URLs, g.URLs) {
		s.Gateway = next
		if err := f.Save(s); err != nil {
			_ = c.Close()
			return nil, fmt.Errorf("keep where the gateway is: %w", err)
		}
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

func (a *app) homeDir() string {
	if home := a.Env("HOME"); home != "" {
		return home
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}
