package cli

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/discovery"
	"github.com/hearth-assistant/hearth/internal/text"
)

func newDiscover(a *app) *cobra.Command {
	wait := 3 * time.Second
	c := &cobra.Command{
		Use:   "discover",
		Short: "Find gateways on the local network",
		Long: `Find gateways on the local network.

What is listed is what machines there say of themselves, and anybody can say
anything: it proves nothing. Who a gateway is shows in its key, which is checked
when you connect.`,
		Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return runDiscover(ctx, a, wait) }),
	}
	c.Flags().DurationVarP(&wait, "time", "t", wait, "look for so `LONG`")
	return c
}

// foundJSON is a gateway that was found. All of it is a claim.
type foundJSON struct {
	Name      string   `json:"name"`
	ID        string   `json:"id,omitempty"`
	Host      string   `json:"host"`
	Port      int      `json:"port"`
	Addresses []string `json:"addresses"`
	TLS       bool     `json:"tls"`
}

func foundOf(g discovery.Gateway) foundJSON {
	f := foundJSON{Name: g.Name, ID: text.Ellipsis(g.Text["id"], 64), Host: g.Host, Port: g.Port, Addresses: []string{},
		TLS: g.Text["gatewaytls"] == "1"}
	for _, ip := range g.Addrs {
		f.Addresses = append(f.Addresses, netip.AddrPortFrom(ip, uint16(g.Port)).String())
	}
	return f
}

func runDiscover(ctx context.Context, a *app, wait time.Duration) error {
	if wait < 100*time.Millisecond || wait > time.Minute {
		return usage("--time must be between 100ms and 1m")
	}
	if len(discovery.Interfaces()) == 0 {
		return &failure{exitFailure, "this machine is on no local network", "connect it and try again; `hearth connect` also takes an address"}
	}
	shown := map[string]bool{}
	var failed error
	all := discovery.Sweep(ctx, wait, func(g discovery.Gateway) {
		// What is found is shown at once, and not again when more is learned.
		if !a.asJSON && !shown[g.Name] && failed == nil {
			shown[g.Name] = true
			failed = a.printFound(foundOf(g))
		}
	})
	if failed != nil || ctx.Err() != nil {
		return failed
	}
	if !a.asJSON && len(shown) == 0 {
		return a.errs().print("No gateway was found. It must be switched on there with `hearth lan on`; some networks, such as those for " +
			"guests, keep machines apart.\n")
	}
	if a.asJSON {
		list := []foundJSON{}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			list = append(list, foundOf(all[name]))
		}
		return a.out().json(map[string]any{"gateways": list})
	}
	return nil
}

func (a *app) printFound(f foundJSON) error {
	parts := []any{bold(line(f.Name)), "  ", line(strings.Join(f.Addresses, ", "))}
	if len(f.Addresses) == 0 {
		parts = []any{bold(line(f.Name)), "  ", line(f.Host) + ":" + strconv.Itoa(f.Port)}
	}
	if f.ID != "" {
		parts = append(parts, dim("  id "+line(text.Ellipsis(f.ID, 16))))
	}
	if !f.TLS {
		parts = append(parts, yellow("  without TLS: Hearth does not connect to it"))
	}
	return a.out().print(append(parts, "\n")...)
}
