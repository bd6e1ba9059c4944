// Package secrets is the feature that lets a person keep keys and passwords
// where no program of theirs can read them: the methods hearth.secrets.* and
// secrets.reload, and what status says of those that are missing. Keeping and
// finding them is package gateway/secret's.
package secrets

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Secrets  *lookup.Secrets
	Settings *config.File
}

type feature struct{ Options }

// New makes the feature.
func New(o Options) host.Feature {
	f := feature{o}
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodSecretsList, f.list),
			method.Plain(protocol.MethodSecretsSet, f.set),
			method.Plain(protocol.MethodSecretsRemove, f.remove),
			method.Plain(protocol.MethodSecretsStatus, f.status),
			method.Plain(protocol.MethodSecretsUnlock, f.unlock),
			method.Plain(protocol.MethodSecretsMigrate, f.migrate),
			method.Plain(protocol.MethodSecretsReload, f.reload),
		},
		Problems: f.Secrets.Problems,
	}
}

func (f feature) list(ctx context.Context, _ method.None) (protocol.SecretsList, error) {
	entries, err := f.Secrets.Store().List(ctx)
	if err != nil {
		return protocol.SecretsList{}, err
	}
	used := f.Settings.Snapshot().Config.KeychainUsers()
	out := protocol.SecretsList{Secrets: []protocol.SecretEntry{}, Elsewhere: f.Secrets.Elsewhere(ctx)}
	for _, e := range entries {
		by := used[e.Name]
		if by == nil {
			by = []string{}
		}
		out.Secrets = append(out.Secrets, protocol.SecretEntry{Name: e.Name, UpdatedAt: e.UpdatedAt.UnixMilli(), UsedBy: by})
	}
	return out, nil
}

func (f feature) set(ctx context.Context, p protocol.SecretSetParams) (protocol.OKResult, error) {
	v, err := secret.Clean(p.Value)
	if err == nil {
		f.Secrets.Hide(v)
		err = f.Secrets.Store().Set(ctx, p.Name, v)
	}
	if err == nil {
		f.Secrets.Refresh(ctx)
	}
	return protocol.OKResult{OK: err == nil}, err
}

func (f feature) remove(ctx context.Context, p protocol.SecretNameParams) (protocol.OKResult, error) {
	err := f.Secrets.Store().Delete(ctx, p.Name)
	if err == nil {
		f.Secrets.Refresh(ctx)
	}
	return protocol.OKResult{OK: err == nil}, err
}

func (f feature) status(ctx context.Context, _ method.None) (protocol.SecretsStatus, error) {
	s, snap := f.Secrets.Try(ctx), f.Settings.Snapshot()
	out := protocol.SecretsStatus{
		Backend: s.Backend, Place: s.Place, State: s.State, Ready: s.Ready(), Message: s.Message, InTheOpen: []string{}, Problems: []string{},
		InLists: snap.InLists(),
	}
	for _, l := range snap.Literals() {
		out.InTheOpen = append(out.InTheOpen, l.Path)
	}
	for _, p := range f.Secrets.Problems() {
		out.Problems = append(out.Problems, p.Message)
	}
	out.Problems = append(out.Problems, f.Secrets.Elsewhere(ctx)...)
	return out, nil
}

func (f feature) unlock(ctx context.Context, p protocol.SecretsUnlockParams) (protocol.SecretsStatus, error) {
	if err := f.Secrets.Unlock(ctx, secret.New(p.Passphrase), p.Create); err != nil {
		return protocol.SecretsStatus{}, err
	}
	return f.status(ctx, method.None{})
}

func (f feature) migrate(ctx context.Context, _ method.None) (protocol.SecretsMigrated, error) {
	gathered, err := f.Secrets.Gather(ctx)
	if err != nil {
		return protocol.SecretsMigrated{}, err
	}
	moved, err := f.Secrets.Migrate(ctx)
	return protocol.SecretsMigrated{Moved: moved, InLists: f.Settings.Snapshot().InLists(), Gathered: gathered}, err
}

func (f feature) reload(ctx context.Context, _ method.None) (protocol.SecretsReload, error) {
	f.Secrets.Refresh(ctx)
	return protocol.SecretsReload{OK: true, WarningCount: len(f.Secrets.Problems())}, nil
}
