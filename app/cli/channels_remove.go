package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/statedir"
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
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeAdmin}})
	if errors.Is(err, statedir.ErrNotRunning) {
		return removeChannelHere(ctx, a, k, account)
	}
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Call(ctx, protocol.MethodChannelsRemove, protocol.ChannelRemoveParams{Channel: k.ID, AccountID: account}, nil); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(protocol.OKResult{OK: true})
	}
	return a.errs().print(dim("The account is removed, and the secrets that were kept for it. Those under names that you chose stay:\n"+
		"`hearth secrets list` shows them."), "\n")
}

// removeChannelHere does it without a gateway.
func removeChannelHere(ctx context.Context, a *app, k channel.Kind, account string) error {
	at := (&adding{kind: k, account: account}).path().String()
	s, err := a.settings(ctx)
	if err != nil {
		return err
	}
	if _, there, err := s.Get(at); err != nil || !there {
		return &failure{exitFailure, at + " is not in the settings", "`hearth channels` lists the accounts"}
	}
	if _, others, err := s.Get(at + ".accounts"); err == nil && others {
		return &failure{exitFailure, at + " has other accounts below it, which begin with what stands there", "start Hearth, and run this again"}
	}
	if err := runConfigUnset(ctx, a, at); err != nil {
		return err
	}
	kept, err := a.keeper(ctx)
	if err != nil {
		return err
	}
	for _, key := range k.Secrets() { // what hearth channels add kept; others are somebody's own
		if err := kept.Delete(ctx, at+"."+key); err != nil && !errors.Is(err, secret.ErrNotFound) {
			return fmt.Errorf("the account was removed, but not its %s: %w", key, err)
		}
	}
	return nil
}
