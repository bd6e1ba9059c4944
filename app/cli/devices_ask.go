package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newApprove(a *app) *cobra.Command {
	var code string
	var full bool
	c := &cobra.Command{Use: "approve ID", Short: "Let a device in that asks, after comparing the digits on its screen",
		Args: cobra.ExactArgs(1),
		Long: `Let a device in that asks. ID is the beginning of the request's or the device's id.

A device that shows six digits is asked about: compare them with those here. --code
takes the digits of its screen instead, and ends the request when they differ. Such
a device may talk, read and decide approvals; --full lets it change settings and
devices as well. A device that asks with the gateway's token, or for more than it
has, gets exactly what is listed.`,
		Example: "  hearth devices approve 3f2a\n  hearth devices approve 3f2a --code \"230 104\"",
		RunE:    a.run(func(ctx context.Context, args []string) error { return approveDevice(ctx, a, args[0], code, full) })}
	c.Flags().StringVar(&code, "code", "", "the six `DIGITS` that the other screen shows")
	c.Flags().BoolVar(&full, "full", false, "it may change settings and devices as well")
	return c
}

func (a *app) printWaiting(list []protocol.PairRequest) error {
	rows := [][]string{}
	for _, r := range list {
		rows = append(rows, []string{line(r.RequestID[:min(12, len(r.RequestID))]), protocol.ShownCode(line(r.Code)), line(r.RemoteIP),
			stamp(r.TS), string(r.Role), strings.Join(rights(r.Scopes), " "), askerName(r)})
	}
	if err := a.out().print(bold("These devices ask to be let in; `hearth devices approve ID` does that:"), "\n"); err != nil {
		return err
	}
	if err := a.out().table([]string{"ID", "DIGITS", "FROM", "ASKED", "AS", "WANTS", "NAME"}, rows); err != nil {
		return err
	}
	return a.out().print("\n")
}

// askerName is what a device calls itself, and what is known of it.
func askerName(r protocol.PairRequest) string {
	name := deviceName(protocol.PairedDevice{DisplayName: r.DisplayName, ClientID: r.ClientID, Platform: r.Platform})
	switch r.Reason {
	case "revoked":
		return name + " (you removed it before)"
	case "scope-upgrade", "role-upgrade":
		return name + " (paired, wants more)"
	}
	return name
}

// withRequest finds one that waits, by the beginning of its own or its device's
// id.
func withRequest(ctx context.Context, a *app, id string, scopes []protocol.Scope,
	do func(*client.Client, protocol.PairRequest) error) error {
	c, err := a.dial(ctx, client.Options{Scopes: scopes})
	if err != nil {
		return err
	}
	defer c.Close()
	var res protocol.PairedDevices
	if err := c.Call(ctx, protocol.MethodPairList, nil, &res); err != nil {
		return err
	}
	var hits []protocol.PairRequest
	for _, r := range res.Pending {
		if len(id) >= 4 && (strings.HasPrefix(r.RequestID, strings.ToLower(id)) || strings.HasPrefix(r.DeviceID, strings.ToLower(id))) {
			hits = append(hits, r)
		}
	}
	if len(hits) != 1 {
		f := &failure{exitFailure, "no request has an id that begins with " + line(id),
			"`hearth devices` lists who asks; requests end after a few minutes, and the device can ask again"}
		if len(hits) > 1 {
			f.message = count(len(hits), "request") + " have an id that begins with " + line(id)
		}
		return f
	}
	return do(c, hits[0])
}

func approveDevice(ctx context.Context, a *app, id, code string, full bool) error {
	// Nobody gives more than they have.
	return withRequest(ctx, a, id, allScopes(), func(c *client.Client, r protocol.PairRequest) error {
		p := protocol.PairDecisionParams{RequestID: r.RequestID, Code: code}
		if full {
			p.Access = "full"
		}
		if r.Code != "" && code == "" {
			same, err := a.agree(askerName(r) + " at " + line(r.RemoteIP) + " asks to be let in. Does its screen show " +
				protocol.ShownCode(line(r.Code)) + "? [y/N] ")
			if err != nil {
				return err
			}
			if !same {
				var no protocol.PairRejected
				if err := c.Call(ctx, protocol.MethodPairReject, protocol.PairDecisionParams{RequestID: r.RequestID}, &no); err != nil {
					return err
				}
				return &failure{exitRefused, "it was not let in", "when the digits differ somebody sits between the two machines: try another " +
					"network, or `hearth qr`"}
			}
		}
		var res protocol.PairApproved
		if err := c.Call(ctx, protocol.MethodPairApprove, p, &res); err != nil {
			return err
		}
		return a.done(res, "Let in: "+askerName(r)+". It may "+strings.Join(rights(res.Device.Scopes), ", ")+".")
	})
}

func rejectDevice(ctx context.Context, a *app, id string) error {
	return withRequest(ctx, a, id, []protocol.Scope{protocol.ScopePairing}, func(c *client.Client, r protocol.PairRequest) error {
		var res protocol.PairRejected
		if err := c.Call(ctx, protocol.MethodPairReject, protocol.PairDecisionParams{RequestID: r.RequestID}, &res); err != nil {
			return err
		}
		return a.done(res, "Turned away: "+askerName(r)+".")
	})
}
