package cli

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret/keeper"
)

// setKeys changes a setting in the file, and puts the keys in it, alone or as parts
// of it, into the keychain or vault where that can be; else they stand in the file,
// with a warning.
func (a *app) setKeys(ctx context.Context, f *config.File, path, literal string) (*config.Snapshot, error) {
	clean, found, err := f.Sections().HoistAt(path, literal)
	if err != nil {
		return nil, asSecretsFailure(err)
	}
	if len(found) == 0 {
		return f.SetPath(ctx, path, literal)
	}
	var status protocol.SecretsStatus
	err = secretsAt(ctx, a, func(c *client.Client) error {
		return c.Call(ctx, protocol.MethodSecretsStatus, nil, &status)
	}, func(k *keeper.Keeper) error {
		s := k.Status(ctx)
		status.Ready, status.Message = s.Ready(), s.Message
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !status.Ready {
		if err := a.errs().print(yellow("Note: "), "the key stands in the settings file, where your other programs can read it. "+
			line(status.Message), "\n"); err != nil {
			return nil, err
		}
		return f.SetPath(ctx, path, literal)
	}
	for _, h := range found {
		err := secretsAt(ctx, a, func(c *client.Client) error {
			return c.Call(ctx, protocol.MethodSecretsSet, protocol.SecretSetParams{Name: h.Path, Value: h.Value.Reveal()}, nil)
		}, func(k *keeper.Keeper) error { return k.Set(ctx, h.Path, h.Value) })
		if err != nil {
			return nil, err
		}
	}
	return f.SetPath(ctx, path, clean)
}

// noPassphrase is why a vault stays locked that nobody gave a passphrase for.
func noPassphrase(a *app) error {
	if a.InTerminal {
		return &failure{exitUsage, "no passphrase was typed, so the vault stays locked", "run `hearth secrets unlock` again"}
	}
	return &failure{exitUsage, "this is no terminal to type the passphrase in, and standard input held none, so the vault stays locked",
		"run `hearth secrets unlock` in a terminal, or give the passphrase on standard input: `hearth secrets unlock < FILE`"}
}
