package gateway

import (
	"context"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func (g *Gateway) modelsTest(ctx context.Context, p protocol.ModelsTestParams) (protocol.ModelsTestResult, error) {
	return trialOnWire(g.testModel(ctx, p)), ctx.Err()
}

func (g *Gateway) modelsPull(ctx context.Context, p protocol.ModelsPullParams) (protocol.ModelsPullProgress, error) {
	p.Model = strings.TrimSpace(strings.TrimPrefix(p.Model, "ollama/"))
	switch {
	case p.Model == "":
		return protocol.ModelsPullProgress{}, protocol.MissingParam(protocol.MethodModelsPull, "model")
	case p.Cancel && !g.pulls.cancel(p.Model):
		return protocol.ModelsPullProgress{}, protocol.Invalid("%q is not being downloaded.", p.Model)
	case p.Cancel:
		return protocol.ModelsPullProgress{Model: p.Model, State: "failed"}, nil
	}
	return g.pull(ctx, p, func(protocol.ModelsPullProgress) {})
}

func (g *Gateway) doctor(ctx context.Context, p protocol.DoctorParams) (protocol.Doctor, error) {
	return g.examine(ctx, p), ctx.Err()
}
