package models

import (
	"context"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/modelcheck"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/catalog"
)

func (f feature) test(ctx context.Context, p protocol.ModelsTestParams) (protocol.ModelsTestResult, error) {
	ask := modelcheck.Ask{Ref: f.Trials.Named(p.Model, p.Provider), Account: p.ProfileID, Window: p.Context}
	return result(f.Trials.Try(ctx, ask)), ctx.Err()
}

func (f feature) pull(ctx context.Context, p protocol.ModelsPullParams) (protocol.ModelsPullProgress, error) {
	p.Model = strings.TrimSpace(strings.TrimPrefix(p.Model, "ollama/"))
	switch {
	case p.Model == "":
		return protocol.ModelsPullProgress{}, protocol.MissingParam(protocol.MethodModelsPull, "model")
	case p.Cancel && !f.Downloads.Cancel(ctx, p.Model):
		return protocol.ModelsPullProgress{}, protocol.Invalid("%q is not being downloaded.", p.Model)
	case p.Cancel:
		return protocol.ModelsPullProgress{Model: p.Model, State: "failed"}, nil
	}
	return f.Downloads.Pull(ctx, p, func(protocol.ModelsPullProgress) {})
}

func result(r modelcheck.Result) protocol.ModelsTestResult {
	out := protocol.ModelsTestResult{
		Model: r.Ref.String(), OK: r.OK, TookMs: r.Took.Milliseconds(), Claimed: r.Claimed, Trained: r.Trained,
		Line: r.Line, Notes: r.Notes, Error: r.Error, ErrorKind: string(r.Why),
	}
	if r.Found != (provider.Tested{}) {
		out.Verified = catalog.Verified(r.Found)
	}
	return out
}
