package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

func (g *Gateway) secretsList(ctx context.Context, _ method.None) (protocol.SecretsList, error) {
	entries, err := g.keys.List(ctx)
	if err != nil {
		return protocol.SecretsList{}, err
	}
	used := map[string][]string{}
	for _, f := range secretFields(g.config.Snapshot().Config) {
		if r, ok := f.setting.Ref(); ok && r.Source == secret.SourceKeychain {
			used[r.ID] = append(used[r.ID], f.path)
		}
	}
	out := protocol.SecretsList{Secrets: []protocol.SecretEntry{}}
	for _, e := range entries {
		by := used[e.Name]
		if by == nil {
			by = []string{}
		}
		out.Secrets = append(out.Secrets, protocol.SecretEntry{Name: e.Name, UpdatedAt: e.UpdatedAt.UnixMilli(), UsedBy: by})
	}
	return out, nil
}

func (g *Gateway) secretsSet(ctx context.Context, p protocol.SecretSetParams) (protocol.OKResult, error) {
	v, err := secret.Clean(p.Value)
	if err == nil {
		g.hide(v)
		err = g.keys.Set(ctx, p.Name, v)
	}
	if err == nil {
		g.refreshSecrets(ctx)
	}
	return protocol.OKResult{OK: err == nil}, err
}

func (g *Gateway) secretsRemove(ctx context.Context, p protocol.SecretNameParams) (protocol.OKResult, error) {
	err := g.keys.Delete(ctx, p.Name)
	if err == nil {
		g.refreshSecrets(ctx)
	}
	return protocol.OKResult{OK: err == nil}, err
}

func (g *Gateway) secretsStatus(ctx context.Context, _ method.None) (protocol.SecretsStatus, error) {
	s, snap := g.keeper.Status(ctx), g.config.Snapshot()
	out := protocol.SecretsStatus{
		Backend: s.Backend, Place: s.Place, State: s.State, Ready: s.Ready(), Message: s.Message, InTheOpen: []string{}, Problems: []string{},
	}
	for _, f := range snap.Literals() {
		out.InTheOpen = append(out.InTheOpen, f.Path)
	}
	for _, p := range g.secretProblems() {
		out.Problems = append(out.Problems, p.Message)
	}
	return out, nil
}

func (g *Gateway) secretsUnlock(ctx context.Context, p protocol.SecretsUnlockParams) (protocol.SecretsStatus, error) {
	pass := secret.New(p.Passphrase)
	g.hide(pass)
	if err := g.keeper.Unlock(ctx, pass, p.Create); err != nil {
		return protocol.SecretsStatus{}, err
	}
	g.refreshSecrets(ctx)
	return g.secretsStatus(ctx, method.None{})
}

func (g *Gateway) secretsMigrate(ctx context.Context, _ method.None) (protocol.SecretsMigrated, error) {
	moved, err := g.migrateKeys(ctx)
	return protocol.SecretsMigrated{Moved: moved}, err
}

func (g *Gateway) secretsReload(ctx context.Context, _ method.None) (protocol.SecretsReload, error) {
	g.refreshSecrets(ctx)
	return protocol.SecretsReload{OK: true, WarningCount: len(g.secretProblems())}, nil
}
