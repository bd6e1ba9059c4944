package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newChannels(a *app) *cobra.Command {
	list := a.run(func(ctx context.Context, _ []string) error { return runChannels(ctx, a) })
	c := group("channels", "Connect messaging networks, and tell how they are",
		&cobra.Command{Use: "list", Short: "Tell which messaging networks are connected", Args: cobra.NoArgs, RunE: list},
		newChannelsAdd(a), newChannelsLogin(a), newChannelsStart(a), newChannelsStop(a), newChannelsLogout(a), newChannelsRemove(a),
		newChannelsManifest(a), newChannelsCheck(a),
	)
	c.RunE = list
	return c
}

func runChannels(ctx context.Context, a *app) error {
	var res protocol.ChannelsStatus
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodChannelsStatus, nil, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	var rows [][]string
	for _, id := range res.ChannelOrder {
		for _, acc := range res.ChannelAccounts[id] {
			rows = append(rows, []string{res.ChannelLabels[id], acc.AccountID, channelState(acc), acc.LastError})
		}
	}
	if len(rows) == 0 {
		return a.out().print("No messaging network is connected. `hearth channels add` sets one up.\n")
	}
	return a.out().table([]string{"CHANNEL", "ACCOUNT", "STATE", "TROUBLE"}, rows)
}

func channelState(s protocol.ChannelAccountStatus) string {
	switch {
	case !s.Enabled:
		return "switched off"
	case !s.Configured:
		return "not set up"
	case s.Connected:
		return "connected"
	case s.State == "waiting":
		return "waiting"
	case s.State == "conflict":
		return "in conflict"
	case s.Running:
		return "connecting"
	}
	return "stopped"
}
