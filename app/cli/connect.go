package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

func newConnect(a *app) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "connect NAME|ADDRESS|CODE",
		Short: "Pair this machine with a gateway on another one",
		Long: `Pair this machine with a gateway on another one.

With the code that "hearth qr" shows there it is done at once: the code says where
the gateway is and which key it has, and nothing is sent to a machine with another
key.

Without a code, name the gateway as "hearth discover" does, or give its address.
Both machines show six digits then. Compare them, say yes here, and allow it there
("hearth devices approve", the page or the menu of the icon). When they differ,
somebody sits between the two: say no.

With "-" the code is read from the standard input, where no other program sees it.

Afterwards --gateway NAME, or HEARTH_GATEWAY, makes a command talk to it.`,
		Example: "  hearth connect \"Hearth 3f2a\" --name home\n  hearth connect 192.168.1.20:18789\n  hearth connect eyJ1cmwi…\n" +
			"  hearth --gateway home chat \"hello\"",
		Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			if args[0] == "-" || isSetupCode(args[0]) {
				return runConnect(ctx, a, args[0], name)
			}
			return connectByDigits(ctx, a, args[0], name)
		}),
	}
	c.Flags().StringVar(&name, "name", "", "call it `NAME` here")
	c.AddCommand(
		&cobra.Command{Use: "list", Short: "List the gateways that this machine is paired with", Args: cobra.NoArgs,
			RunE: a.run(func(context.Context, []string) error { return listRemotes(a) })},
		&cobra.Command{Use: "forget NAME", Short: "Forget a gateway; there, `hearth devices remove` ends its side", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return forgetRemote(ctx, a, args[0]) })},
	)
	return c
}

// allScopes is everything that a code may give; the gateway gives what its
// owner chose.
func allScopes() []protocol.Scope {
	return []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeAdmin, protocol.ScopeApprovals, protocol.ScopePairing,
		protocol.ScopeQuestions}
}

func runConnect(ctx context.Context, a *app, text, name string) error {
	if text == "-" { // it is a secret for as long as it was not used
		b, err := io.ReadAll(io.LimitReader(a.input(), 8<<10))
		if err != nil {
			return err
		}
		text = string(b)
	}
	code, err := protocol.ParseSetupCode(text)
	if err != nil {
		return &failure{exitUsage, err.Error(), "run `hearth qr` on the gateway's machine and give all of the code that it prints"}
	}
	if code.Pin == "" {
		return &failure{exitUsage, "this setup code is of another program: it does not say which key the gateway has",
			"make one with `hearth qr`"}
	}
	dir, err := a.dir()
	if err != nil {
		return err
	}
	me, err := client.RemoteIdentity(ctx, dir)
	if err != nil {
		return err
	}
	r := client.Remote{ID: cmp.Or(code.ID, identity.IDOf(code.Pin)), Pins: []string{code.Pin}, PairedAtMs: time.Now().UnixMilli()}
	if r.Name, err = remoteName(dir, name, r.ID); err != nil {
		return err
	}
	o := a.remoteOptions(client.Options{Scopes: allScopes(), Device: me, Auth: &protocol.Auth{BootstrapToken: code.BootstrapToken}})
	o.PerAddress = withCode
	c, good, err := client.DialPinned(ctx, code.Addresses(), r.Pins, nil, o)
	if err != nil {
		return err
	}
	defer c.Close()
	hello := c.Hello()
	if hello.Auth.DeviceToken == "" {
		return &failure{exitRefused, "the gateway let this machine in but gave it no token", "try a new code"}
	}
	r.DeviceToken, r.Scopes = hello.Auth.DeviceToken, hello.Auth.Scopes
	r.URLs = append([]string{good}, slices.DeleteFunc(code.Addresses(), func(u string) bool { return u == good })...)
	return a.keepRemote(ctx, dir, r)
}

// withCode is how long an address of a code may take: it is the only way in, and
// nothing else is tried after it.
const withCode = 10 * time.Second

// remoteName is what a gateway is called here: as the person says, or by its id.
func remoteName(dir statedir.Dir, name, id string) (string, error) {
	name = cmp.Or(line(strings.TrimSpace(name)), "hearth-"+id[:min(4, len(id))])
	if known, err := client.FindRemote(dir, name); err == nil && known.ID != id {
		return "", &failure{exitUsage, "another gateway is called " + name + " here already", "choose another --name, or `hearth connect " +
			"forget " + name + "`"}
	}
	return name, nil
}

func (a *app) keepRemote(ctx context.Context, dir statedir.Dir, r client.Remote) error {
	if err := client.SaveRemote(ctx, dir, r); err != nil {
		return err
	}
	words := "Paired with " + r.Name + " at " + r.URLs[0] + ", key " + identity.Short(r.Pins[0]) + ". It may " + strings.Join(rights(r.Scopes),
		", ") +
		".\nUse it with `hearth --gateway " + r.Name + " …`, for example `hearth --gateway " + r.Name + " chat \"hello\"`."
	return a.done(map[string]any{"name": r.Name, "id": r.ID, "url": r.URLs[0], "scopes": r.Scopes}, words)
}

// rights are scopes in words.
func rights(scopes []protocol.Scope) (out []string) {
	for _, s := range scopes {
		out = append(out, strings.TrimPrefix(line(string(s)), "operator."))
	}
	return out
}

func (a *app) remoteOptions(o client.Options) client.Options {
	name := "hearth command line"
	if host, err := os.Hostname(); err == nil {
		name = host
	}
	o.Client = protocol.ClientInfo{ID: "cli", Mode: "cli", Version: a.Version, DisplayName: name}
	return o
}

// dialRemote connects to a paired gateway: at the addresses that are known, and
// then where the network says that it is now. Its key decides who it is.
func (a *app) dialRemote(ctx context.Context, o client.Options) (*client.Client, error) {
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	r, err := client.FindRemote(dir, a.gateway)
	if err != nil {
		return nil, err
	}
	me, err := client.RemoteIdentity(ctx, dir)
	if err != nil {
		return nil, err
	}
	o = a.remoteOptions(o)
	o.Device, o.Auth = me, &protocol.Auth{DeviceToken: r.DeviceToken}
	c, good, err := client.DialPinned(ctx, r.URLs, r.Pins, nil, o)
	var refusal *protocol.Error
	if err != nil && ctx.Err() == nil && !errors.As(err, &refusal) {
		again, where, ferr := findAgain(ctx, r.ID, r.Pins, o)
		var stranger *identity.MismatchError
		if ferr == nil || errors.As(ferr, &refusal) || errors.As(ferr, &stranger) {
			c, good, err = again, where, ferr
		}
	}
	if errors.Is(err, client.ErrUnreachable) {
		return nil, &awayError{r.Name, err}
	}
	if err != nil {
		return nil, err
	}
	a.learn(ctx, r, good, c)
	return c, nil
}

// awayError: a paired gateway is nowhere to be found.
type awayError struct {
	name string
	err  error
}

func (e *awayError) Error() string { return e.name + " does not answer: " + e.err.Error() }
func (e *awayError) Unwrap() error { return e.err }

// learn remembers where the gateway was and, once a day, which key it will
// have. What cannot be kept is found again the next time.
func (a *app) learn(ctx context.Context, r client.Remote, good string, c *client.Client) {
	dir, err := a.dir()
	if err != nil {
		return
	}
	next := r
	next.URLs = append([]string{good}, slices.DeleteFunc(slices.Clone(r.URLs), func(u string) bool { return u == good })...)
	next.URLs = next.URLs[:min(8, len(next.URLs))]
	var st protocol.ReachStatus
	if protocol.Allows(c.Hello().Auth.Scopes, protocol.ScopeRead) && c.Call(ctx, protocol.MethodReachStatus, nil, &st) == nil &&
		len(st.Pins) > 0 {
		next.Pins = st.Pins
	}
	if !slices.Equal(next.URLs, r.URLs) || !slices.Equal(next.Pins, r.Pins) {
		_ = client.SaveRemote(ctx, dir, next)
	}
}

func listRemotes(a *app) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	all, err := client.Remotes(dir)
	if err != nil {
		return err
	}
	if a.asJSON {
		list := []map[string]any{}
		for _, r := range all {
			list = append(list, map[string]any{"name": r.Name, "id": r.ID, "urls": r.URLs, "pins": r.Pins, "scopes": r.Scopes,
				"pairedAtMs": r.PairedAtMs})
		}
		return a.out().json(map[string]any{"gateways": list})
	}
	if len(all) == 0 {
		return a.out().print("This machine is paired with no gateway on another one. `hearth connect CODE` does that.\n")
	}
	var rows [][]string
	for _, r := range all {
		rows = append(rows, []string{r.Name, r.ID, identity.Short(r.Pins[0]), stamp(r.PairedAtMs), strings.Join(rights(r.Scopes), " "),
			r.URLs[0]})
	}
	return a.out().table([]string{"NAME", "ID", "KEY", "SINCE", "MAY", "ADDRESS"}, rows)
}

func forgetRemote(ctx context.Context, a *app, name string) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	r, err := client.FindRemote(dir, name)
	if err != nil {
		return err
	}
	if err := client.ForgetRemote(ctx, dir, r.ID); err != nil {
		return err
	}
	return a.done(map[string]any{"ok": true, "id": r.ID}, "Forgotten. On the gateway's machine, `hearth devices remove` ends its side.")
}

// whereItWorks checks that a command can be used with a gateway on another
// machine: some look at files of this one.
func (a *app) whereItWorks(c *cobra.Command) error {
	if a.gateway == "" {
		a.gateway = a.Env("HEARTH_GATEWAY")
	}
	if a.gateway == "" {
		return nil
	}
	top := c
	for top.HasParent() && top.Parent().HasParent() {
		top = top.Parent()
	}
	switch top.Name() {
	case "chat", "tui", "status", "sessions", "search", "queue", "why", "compact", "contacts", "deliveries", "undo", "approvals", "pause",
		"resume", "audit", "usage", "channels", "devices", "node":
		return nil
	case "gateway", "connect", "discover", "version", "help", "exit-codes", "completion":
		a.gateway = ""
		return nil
	}
	a.ran = true
	return &failure{exitUsage, "`hearth " + top.Name() + "` works only on the gateway's own machine in this version",
		"log in there, or leave --gateway and HEARTH_GATEWAY out to use this machine's own gateway"}
}
