// Package settings is the feature that shows the settings and changes them: the
// methods config.*, among them what there is to set (schema.go), and telling clients that they have changed. The file is
// package config's; keys that a change holds go into the store of secrets.
package settings

import (
	"context"
	"log/slog"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/reach"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Settings *config.File
	Secrets  *lookup.Secrets
	Clients  *server.Server
	Now      func() time.Time
	Logger   *slog.Logger
}

type feature struct{ Options }

// New makes the feature.
func New(o Options) host.Feature {
	f := feature{o}
	o.Settings.Follow(f.changed)
	o.Settings.Subscribe(nil, f.later)
	return host.Feature{Methods: []method.Method{
		method.Plain(protocol.MethodConfigGet, f.get),
		method.Plain(protocol.MethodConfigSet, f.set),
		method.Plain(protocol.MethodConfigPatch, f.patch),
		method.Plain(protocol.MethodConfigSchema, f.schema),
		method.Plain(protocol.MethodConfigSchemaLookup, f.lookup),
	}}
}

func (f feature) get(context.Context, method.None) (protocol.ConfigSnapshot, error) {
	return view(f.Settings.Snapshot())
}

// view shows the settings with every secret replaced.
func view(s *config.Snapshot) (protocol.ConfigSnapshot, error) {
	r, err := s.Redacted()
	if err != nil {
		return protocol.ConfigSnapshot{}, err
	}
	return protocol.ConfigSnapshot{
		Path: s.Path, Exists: s.Exists, Raw: r.Raw, Parsed: r.Parsed, Valid: s.Valid, Config: r.Config, Hash: s.Hash,
		Issues: issuesOf(s.Issues), Warnings: issuesOf(s.Warnings), LegacyIssues: []protocol.ConfigIssue{},
	}, nil
}

func issuesOf(in []config.Issue) []protocol.ConfigIssue {
	out := make([]protocol.ConfigIssue, len(in))
	for i, is := range in {
		out[i] = protocol.ConfigIssue{Path: is.Path, Message: is.Message, Line: is.Line, Column: is.Column}
	}
	return out
}

func (f feature) set(ctx context.Context, p protocol.ConfigSetParams) (protocol.ConfigSetResult, error) {
	return result(f.Secrets.Set(ctx, p.BaseHash, p.Raw))
}

func (f feature) patch(ctx context.Context, p protocol.ConfigSetParams) (protocol.ConfigSetResult, error) {
	return result(f.Secrets.Patch(ctx, p.BaseHash, p.Raw))
}

func result(s *config.Snapshot, notes []string, err error) (protocol.ConfigSetResult, error) {
	if err != nil {
		return protocol.ConfigSetResult{}, err
	}
	r, err := s.Redacted()
	return protocol.ConfigSetResult{OK: err == nil, Path: s.Path, Hash: s.Hash, Config: r.Config, Notes: notes}, err
}

// changed tells clients that the settings, or their problems, are others.
func (f feature) changed(s *config.Snapshot) {
	f.Clients.Broadcast(server.Broadcast{Event: protocol.EventConfigChanged, Payload: map[string]any{
		"path": s.Path, "hash": s.Hash, "ts": f.Now().UnixMilli(),
	}})
}

// later says which change is not put to use at once.
func (f feature) later(old, next config.Config) {
	if now, then := reach.Section.Of(old).Port, reach.Section.Of(next).Port; now != then {
		f.Logger.Warn("gateway.port is used at the next start", "now", now, "next", then)
	}
}
