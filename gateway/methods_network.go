package gateway

import (
	"cmp"
	"context"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// networkHandlers are about other machines.
func (g *Gateway) networkHandlers() map[string]server.Handler {
	return map[string]server.Handler{
		protocol.MethodReachStatus:   plain(protocol.MethodReachStatus, g.reachStatus),
		protocol.MethodPairSetupCode: plain(protocol.MethodPairSetupCode, g.pairSetupCode),
		protocol.MethodPairList:      plain(protocol.MethodPairList, g.pairList),
		protocol.MethodPairRemove:    plain(protocol.MethodPairRemove, g.pairRemove),
	}
}

func (g *Gateway) reachStatus(context.Context, none) (protocol.ReachStatus, error) {
	return g.network.status()
}

func (g *Gateway) pairSetupCode(_ context.Context, p protocol.PairSetupParams) (protocol.PairSetup, error) {
	return g.network.setupCode(pairing.Access(cmp.Or(p.Access, string(pairing.AccessLimited))))
}

func (g *Gateway) pairList(context.Context, none) (protocol.PairedDevices, error) {
	out := protocol.PairedDevices{Pending: []protocol.PairedDevice{}, Paired: []protocol.PairedDevice{}}
	here := map[string]bool{}
	for _, p := range g.server.Presence() {
		here[p.DeviceID] = p.DeviceID != ""
	}
	for _, d := range g.pairing.Devices() {
		if d.RevokedAtMs != 0 {
			continue
		}
		row := protocol.PairedDevice{
			DeviceID: d.ID, PublicKey: d.PublicKey, DisplayName: d.DisplayName, Platform: d.Platform, DeviceFamily: d.DeviceFamily,
			ClientID: d.ClientID, ClientMode: d.ClientMode, ApprovedVia: d.ApprovedVia, CreatedAtMs: d.CreatedAtMs, ApprovedAtMs: d.ApprovedAtMs,
			LastSeenAtMs: d.LastSeenAtMs, Connected: here[d.ID], Roles: []protocol.Role{}, Scopes: []protocol.Scope{},
		}
		for _, r := range d.Roles {
			row.Roles = append(row.Roles, r.Role)
			row.Scopes = append(row.Scopes, r.Scopes...)
		}
		if len(row.Roles) > 0 {
			row.Role = row.Roles[0]
		}
		out.Paired = append(out.Paired, row)
	}
	slices.SortFunc(out.Paired, func(a, b protocol.PairedDevice) int {
		return cmp.Or(cmp.Compare(b.ApprovedAtMs, a.ApprovedAtMs), cmp.Compare(a.DeviceID, b.DeviceID))
	})
	return out, nil
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
