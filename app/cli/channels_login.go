package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newChannelsLogin(a *app) *cobra.Command {
	var account string
	c := &cobra.Command{
		Use: "login NETWORK", Short: "Log an account in that asks for somebody: show the code to scan or type", Args: cobra.ExactArgs(1),
		Long: "Log an account in that its network asks a person for: a QR code is drawn here, for a phone to\n" +
			"scan, and drawn anew when it ends. `hearth channels add` does it as a part of the set-up. What\n" +
			"an account asks a person to compare or to decide is answered here as well.",
		RunE: a.run(func(ctx context.Context, args []string) error {
			return loginChannel(ctx, a, strings.ToLower(args[0]), account)
		}),
	}
	c.Flags().StringVar(&account, "account", "default", "the `NAME` of the account, where a network has several")
	return c
}

func loginChannel(ctx context.Context, a *app, network, account string) error {
	k, ok := gateway.Networks().Get(network)
	if !ok {
		return usage("there is no network %q", line(network))
	}
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeAdmin}})
	if err != nil {
		return err
	}
	defer c.Close()
	n := &adding{wizard: &wizard{a: a, c: c}, kind: k, account: account}
	if asks, err := n.compares(ctx); asks || err != nil {
		return err
	}
	return n.connects(ctx)
}

// compares shows what the account asks a person to compare with another device, or to
// decide, and hands on what they say; asks reports that there was something.
func (n *adding) compares(ctx context.Context) (asks bool, err error) {
	var l protocol.WebLogin
	p := protocol.WebLoginStartParams{Channel: n.kind.ID, AccountID: n.account, TimeoutMs: 1}
	err = n.c.Call(ctx, protocol.MethodWebLoginStart, p, &l)
	if err != nil || l.Ask == nil || l.Ask.Kind != "confirm" && l.Ask.Kind != "decide" {
		return false, err
	}
	if err := n.a.errs().print("\n", line(l.Message), "\n\n  ", bold(line(l.Ask.Value)), "\n\n"); err != nil {
		return true, err
	}
	ask, no, yes := n.a.say("Type yes when all is the same, no when it differs:"), n.a.say("It was refused; nothing is verified."),
		n.a.say("Say so on the other device too.")
	if l.Ask.Kind == "decide" {
		ask, no, yes = n.a.say("Type yes or no:"), n.a.say("Nothing was done."), n.a.say("It is done. `hearth channels` says what comes next.")
	}
	said, err := n.question(bufio.NewReader(n.a.input()), ask+" ")
	if err != nil {
		return true, err
	}
	p.Compared = l.Ask.Value
	switch p.Answer = strings.ToLower(said); p.Answer {
	case "yes", "no":
	default:
		return true, usage("nothing was answered: type yes or no")
	}
	if err := n.c.Call(ctx, protocol.MethodWebLoginStart, p, &l); err != nil {
		return true, err
	}
	if p.Answer == "no" {
		return true, n.a.errs().print(no, "\n")
	}
	return true, n.a.errs().print(green("✓ "), yes, "\n")
}

// shownAsk is what of a login was shown.
type shownAsk struct {
	value string
	until time.Time
}

// show shows what the account asks of a person, once; waits reports that there is
// something.
func (n *adding) show(ctx context.Context, was *shownAsk) (waits bool, err error) {
	var l protocol.WebLogin
	p := protocol.WebLoginStartParams{Channel: n.kind.ID, AccountID: n.account, TimeoutMs: 1}
	if err := n.c.Call(ctx, protocol.MethodWebLoginStart, p, &l); err != nil || l.Ask == nil {
		return false, err
	}
	if l.Ask.Value == was.value {
		return true, nil
	}
	*was = shownAsk{l.Ask.Value, time.UnixMilli(l.Ask.ExpiresAtMs)}
	s := n.a.errs()
	if err := s.print("\n", line(l.Message), "\n"); err != nil {
		return true, err
	}
	if l.Ask.Kind == "qr" {
		picture, err := drawQR(l.Ask.Value, s.colour)
		if err != nil {
			return true, err
		}
		if err := s.raw(picture); err != nil {
			return true, err
		}
	} else if err := s.print("\n  ", bold(line(l.Ask.Value)), "\n\n"); err != nil {
		return true, err
	}
	return true, s.print(dim(n.a.say(fmt.Sprintf("It holds until %s.", was.until.Format("15:04:05")))), "\n")
}
