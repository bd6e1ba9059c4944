package cli

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// networkCommands are about other machines.
func networkCommands(a *app) []*cobra.Command {
	return []*cobra.Command{newLAN(a), newDiscover(a), newQR(a), newConnect(a), newDevices(a), newNode(a), newNodes(a)}
}

func newLAN(a *app) *cobra.Command {
	show := func(ctx context.Context, _ []string) error { return showReach(ctx, a) }
	c := group("lan", "See and choose whether other machines can reach Hearth",
		&cobra.Command{Use: "status", Short: "Show where other machines can reach it, and how they find it", Args: cobra.NoArgs,
			RunE: a.run(show)},
		&cobra.Command{Use: "on", Short: "Let machines on the local network reach it, by TLS", Args: cobra.NoArgs,
			Long: "Let machines on the local network reach Hearth. They need to be paired first\n" +
				"(`hearth qr`); what is said is encrypted, and this machine's key is checked.\n" +
				"`gateway.bind` has more choices: Tailscale's addresses, or one address.",
			RunE: a.run(func(ctx context.Context, _ []string) error { return switchLAN(ctx, a, "lan") })},
		&cobra.Command{Use: "off", Short: "Only this machine; connections of others end at once", Args: cobra.NoArgs,
			RunE: a.run(func(ctx context.Context, _ []string) error { return switchLAN(ctx, a, "loopback") })},
		&cobra.Command{Use: "rotate", Short: "Change the gateway's key; paired machines learn the new one within 30 days", Args: cobra.NoArgs,
			Long: "Change the key by which other machines know this gateway.\n\n" +
				"The old key is used for 30 days more. A paired machine that connects in that time\n" +
				"is told the new one, over a connection that the old key protects, and takes both.\n" +
				"One that does not has to be paired again: it refuses the new key and shows both.",
			RunE: a.run(func(ctx context.Context, _ []string) error { return rotateKey(ctx, a) })},
	)
	c.RunE = a.run(show)
	return c
}

func rotateKey(ctx context.Context, a *app) error {
	var res protocol.ReachRotation
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodReachRotate, nil, &res); err != nil {
		return err
	}
	return a.done(res, "From "+stamp(res.FromMs)+" on the gateway has the key "+identity.Short(res.NextPin)+"; until then "+
		identity.Short(res.Pin)+". Machines that connect before then learn it.")
}

func switchLAN(ctx context.Context, a *app, to string) error {
	quiet := *a
	quiet.asJSON = false
	quiet.Err = io.Discard
	if err := runConfigSet(ctx, &quiet, "gateway.bind", to); err != nil {
		return err
	}
	// The gateway opens its addresses a moment later.
	var st protocol.ReachStatus
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	end := time.After(15 * time.Second) // of a busy machine
	for {
		err := a.call(ctx, protocol.ScopeRead, protocol.MethodReachStatus, nil, &st)
		if errors.Is(err, statedir.ErrNotRunning) {
			return a.done(map[string]any{"mode": to}, "Set. Hearth does so when it is started.")
		}
		if err != nil {
			return err
		}
		done := st.Mode == to && (to == "loopback" || len(st.Addresses) > 0 || st.Problem != "")
		select {
		case <-look.C:
		case <-end:
			done = true
		}
		if done {
			return a.printReach(&st)
		}
	}
}

func showReach(ctx context.Context, a *app) error {
	var st protocol.ReachStatus
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodReachStatus, nil, &st); err != nil {
		return err
	}
	return a.printReach(&st)
}

func (a *app) printReach(st *protocol.ReachStatus) error {
	if a.asJSON {
		return a.out().json(st)
	}
	out := a.out()
	tail := tailscaleWords(st)
	if st.Mode == "loopback" {
		if st.Tailscale == nil || st.Tailscale.URL == "" {
			tail = append([]any{"Only this machine can reach Hearth. `hearth lan on` lets the local network in.\n"}, tail...)
		}
		return out.print(tail...)
	}
	if len(st.Addresses) == 0 {
		return out.print(append([]any{yellow("No other machine can reach Hearth: "), line(st.Problem), ".\n"}, tail...)...)
	}
	parts := []any{bold("Other machines can reach Hearth, by TLS and after pairing:"), "\n"}
	for _, addr := range st.Addresses {
		parts = append(parts, "  ", line(addr), "\n")
	}
	parts = append(parts, dim("Name   "), " ", line(st.Host), "\n", dim("Key    "), " ", identity.Short(st.Pins[0]), "\n")
	if st.Problem != "" {
		parts = append(parts, yellow("Trouble"), " ", line(st.Problem), "\n")
	}
	if n := st.Announcement; n != nil && n.Phase == "announced" {
		parts = append(parts, dim("Found  "), " as \"", line(n.Name), "\" on ", line(strings.Join(n.Interfaces, ", ")), "\n")
	} else if n != nil {
		parts = append(parts, dim("Found  "), " not now: ", line(n.Detail), "\n")
	} else {
		parts = append(parts, dim("Found  "), " it does not announce itself\n")
	}
	return out.print(append(parts, tail...)...)
}

// tailscaleWords tells of the way by Tailscale, or offers it.
func tailscaleWords(st *protocol.ReachStatus) []any {
	switch t := st.Tailscale; {
	case t == nil:
		return nil
	case t.URL != "":
		return []any{dim("Phones "), " of your tailnet: ", line(t.URL), " (`hearth qr` pairs one)\n"}
	case t.Public:
		return []any{yellow("Phones "), " not by Tailscale: ", line(t.Name), " is open to the whole internet (Funnel). Turn that off with " +
			"`tailscale funnel reset`.\n"}
	default:
		return []any{dim("Phones "), " can have an address whose certificate they trust: `tailscale serve --bg ", strconv.Itoa(st.Port), "`\n"}
	}
}
