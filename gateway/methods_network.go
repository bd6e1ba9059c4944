package gateway

import (
	"cmp"
	"context"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// networkMethods are about other machines.
func (g *Gateway) networkMethods() []method.Method {
	return []method.Method{
		method.Plain(protocol.MethodReachStatus, g.reachStatus),
		method.Plain(protocol.MethodReachRotate, g.reachRotate),
		method.Plain(protocol.MethodPairSetupCode, g.pairSetupCode),
		method.Plain(protocol.MethodPairList, g.pairList),
		method.Plain(protocol.MethodPairRemove, g.pairRemove),
		method.Called(protocol.MethodPairApprove, g.pairApprove),
		method.Plain(protocol.MethodPairReject, g.pairReject),
		method.Plain(protocol.MethodPairRename, g.pairRename),
		method.Called(protocol.MethodTokenRotate, g.tokenRotate),
		method.Called(protocol.MethodTokenRevoke, g.tokenRevoke),
	}
}

func (g *Gateway) reachStatus(ctx context.Context, _ method.None) (protocol.ReachStatus, error) {
	return g.network.status(ctx)
}

func (g *Gateway) reachRotate(context.Context, method.None) (protocol.ReachRotation, error) {
	who, err := g.network.identity()
	if err != nil {
		return protocol.ReachRotation{}, err
	}
	from, err := who.Rotate()
	if err != nil {
		return protocol.ReachRotation{}, err
	}
	g.audit.Add(audit.Entry{Kind: audit.KindAuth, What: "the gateway's key is being changed", Facts: map[string]string{"from": from.UTC().Format("2006-01-02")}})
	out := protocol.ReachRotation{FromMs: from.UnixMilli()}
	if pins := who.Pins(); len(pins) == 2 {
		out.Pin, out.NextPin = pins[0], pins[1]
	}
	return out, nil
}

func (g *Gateway) pairSetupCode(ctx context.Context, p protocol.PairSetupParams) (protocol.PairSetup, error) {
	s, err := g.network.setupCode(ctx, pairing.Access(cmp.Or(p.Access, string(pairing.AccessLimited))))
	if err != nil || !p.IncludeQR {
		return s, err
	}
	err = drawSetup(&s)
	return s, err
}

func (g *Gateway) pairRemove(ctx context.Context, p protocol.PairRemoveParams) (protocol.PairRemoveResult, error) {
	if !slices.ContainsFunc(g.pairing.Devices(), func(d pairing.Device) bool { return d.ID == p.DeviceID }) {
		return protocol.PairRemoveResult{}, protocol.Invalid("no device has this id; `hearth devices` lists them").With("code", "NOT_FOUND")
	}
	if err := g.pairing.Revoke(ctx, p.DeviceID); err != nil {
		return protocol.PairRemoveResult{}, err
	}
	g.audit.Add(audit.Entry{Kind: audit.KindAuth, Who: p.DeviceID, What: "a device was removed"})
	return protocol.PairRemoveResult{DeviceID: p.DeviceID, Removed: true}, nil
}
