package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newChannelsStart(a *app) *cobra.Command {
	return ofAccount(a, &cobra.Command{Use: "start NETWORK", Short: "Switch an account on"},
		func(ctx context.Context, p protocol.ChannelAccountParams) error {
			var res protocol.ChannelStarted
			return switched(ctx, a, protocol.MethodChannelsStart, p, &res, "The account is switched on.\n")
		})
}

func newChannelsStop(a *app) *cobra.Command {
	return ofAccount(a, &cobra.Command{Use: "stop NETWORK", Short: "Switch an account off"},
		func(ctx context.Context, p protocol.ChannelAccountParams) error {
			var res protocol.ChannelStopped
			return switched(ctx, a, protocol.MethodChannelsStop, p, &res, "The account is switched off, and stays so.\n")
		})
}

func newChannelsLogout(a *app) *cobra.Command {
	return ofAccount(a, &cobra.Command{Use: "logout NETWORK", Short: "End the login of an account, and forget its secrets"},
		func(ctx context.Context, p protocol.ChannelAccountParams) error {
			var res protocol.ChannelLoggedOut
			if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodChannelsLogout, p, &res); err != nil {
				return err
			}
			if a.asJSON {
				return a.out().json(res)
			}
			return a.out().print(line(res.Message), "\n")
		})
}

// ofAccount is a command about one account.
func ofAccount(a *app, c *cobra.Command, do func(context.Context, protocol.ChannelAccountParams) error) *cobra.Command {
	var account string
	c.Args = cobra.ExactArgs(1)
	c.RunE = a.run(func(ctx context.Context, args []string) error {
		k, ok := gateway.Networks().Get(args[0])
		if !ok {
			return usage("there is no network %q; `hearth channels` lists the accounts that there are", line(args[0]))
		}
		return do(ctx, protocol.ChannelAccountParams{Channel: k.ID, AccountID: account})
	})
	c.Flags().StringVar(&account, "account", "default", "the `NAME` of the account, where a network has several")
	return c
}

func switched(ctx context.Context, a *app, method string, p protocol.ChannelAccountParams, res any, said string) error {
	if err := a.call(ctx, protocol.ScopeAdmin, method, p, res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	return a.out().print(said)
}
