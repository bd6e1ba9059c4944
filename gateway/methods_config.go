package gateway

import (
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

func (g *Gateway) configGet(context.Context, method.None) (protocol.ConfigSnapshot, error) {
	return configView(g.config.Snapshot())
}

// configView shows the settings with every secret replaced.
func configView(s *config.Snapshot) (protocol.ConfigSnapshot, error) {
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
		out[i] = protocol.ConfigIssue(is)
	}
	return out
}

func (g *Gateway) configSet(ctx context.Context, p protocol.ConfigSetParams) (protocol.ConfigSetResult, error) {
	return g.editConfig(ctx, p.Raw, func(raw string) (*config.Snapshot, error) { return g.config.Set(ctx, p.BaseHash, raw) })
}

func (g *Gateway) configPatch(ctx context.Context, p protocol.ConfigSetParams) (protocol.ConfigSetResult, error) {
	return g.editConfig(ctx, p.Raw, func(raw string) (*config.Snapshot, error) { return g.config.MergePatch(ctx, p.BaseHash, raw) })
}

// editConfig runs an edit whose keys go into the store.
func (g *Gateway) editConfig(ctx context.Context, raw string, edit func(raw string) (*config.Snapshot, error)) (protocol.ConfigSetResult, error) {
	var s *config.Snapshot
	notes, err := g.secrets.Keep(ctx, raw, func(raw string) (err error) {
		s, err = edit(raw)
		return err
	})
	if errors.Is(err, config.ErrStale) {
		// Whoever reads the settings again because of it must read the new ones,
		// which may not have been noticed yet.
		if again := g.config.Reload(ctx); again != nil {
			g.log.Warn("the settings that were changed could not be read", "err", again)
		}
	}
	res, err := configResult(s, err)
	res.Notes = notes
	return res, err
}

func configResult(s *config.Snapshot, err error) (protocol.ConfigSetResult, error) {
	if err != nil {
		return protocol.ConfigSetResult{}, err
	}
	r, err := s.Redacted()
	return protocol.ConfigSetResult{OK: err == nil, Path: s.Path, Hash: s.Hash, Config: r.Config}, err
}

// applyConfig puts changed settings to use without a restart. The port and the
// address are taken at the next start, which the log says.
func (g *Gateway) applyConfig(old, next config.Config) {
	g.level.Set(next.Logging.SlogLevel())
	if g.purse != nil {
		g.purse.Look()
	}
	if g.skills != nil {
		g.skills.Reconsider()
	}
	if old.Tools.Web.Proxy != next.Tools.Web.Proxy {
		g.openWeb(next.Tools.Web.Proxy)
	}
	if old.Gateway.Port != next.Gateway.Port {
		g.log.Warn("gateway.port is used at the next start", "now", old.Gateway.Port, "next", next.Gateway.Port)
	}
}

// configChanged tells clients that the settings, or their problems, are others.
func (g *Gateway) configChanged(s *config.Snapshot) {
	if g.server == nil {
		return // while starting
	}
	g.audit.Add(audit.Entry{Kind: audit.KindConfig, What: "the settings changed", Facts: map[string]string{"hash": s.Hash, "file": s.Path}})
	g.server.Broadcast(server.Broadcast{Event: protocol.EventConfigChanged, Payload: map[string]any{
		"path": s.Path, "hash": s.Hash, "ts": g.opts.Now().UnixMilli(),
	}})
}
