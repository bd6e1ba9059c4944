package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret/keeper"
)

func newChannelsRemove(a *app) *cobra.Command {
	var account string
	c := &cobra.Command{
		Use: "remove NETWORK", Short: "Remove an account from the settings, and its secrets from the keychain", Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error { return removeChannel(ctx, a, args[0], account) }),
	}
	c.Flags().StringVar(&account, "account", "default", "the `NAME` of the account, where a network has several")
	return c
}

func removeChannel(ctx context.Context, a *app, network, account string) error {
	k, ok := gateway.Networks().Get(network)
	if !ok {
		return usage("there is no network %q; `hearth channels add` lists them", line(network))
	}
	at := (&adding{kind: k, account: account}).path().String()
	s, err := a.settings(ctx)
	if err != nil {
		return err
	}
	if _, there, err := s.Get(at); err != nil || !there {
		return &failure{exitFailure, at + " is not in the settings", "`hearth channels` lists the accounts"}
	}
	if err := runConfigUnset(ctx, a, at); err != nil {
		return err
	}
	for _, key := range k.Secrets() { // what hearth channels add kept; others are somebody's own
		name := at + "." + key
		_ = secretsAt(ctx, a, func(c *client.Client) error {
			return c.Call(ctx, protocol.MethodSecretsRemove, protocol.SecretNameParams{Name: name}, nil)
		}, func(kept *keeper.Keeper) error { return kept.Delete(ctx, name) })
	}
	return nil
}
