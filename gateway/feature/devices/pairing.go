package devices

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pairing/admission"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

func (f *feature) pairList(context.Context, method.None) (protocol.PairedDevices, error) {
	out := protocol.PairedDevices{Pending: []protocol.PairRequest{}, Paired: []protocol.PairedDevice{}}
	for _, q := range f.o.Pairing.Waiting() {
		out.Pending = append(out.Pending, requestOnWire(q))
	}
	here := map[string]bool{}
	for _, p := range f.o.Clients.Presence() {
		here[p.DeviceID] = p.DeviceID != ""
	}
	for _, d := range f.o.Pairing.Devices() {
		if d.RevokedAtMs == 0 {
			out.Paired = append(out.Paired, deviceOnWire(d, here[d.ID]))
		}
	}
	slices.SortStableFunc(out.Paired, func(a, b protocol.PairedDevice) int {
		return cmp.Or(cmp.Compare(b.ApprovedAtMs, a.ApprovedAtMs), cmp.Compare(a.DeviceID, b.DeviceID))
	})
	return out, nil
}

func deviceOnWire(d pairing.Device, connected bool) protocol.PairedDevice {
	row := protocol.PairedDevice{
		DeviceID: d.ID, PublicKey: d.PublicKey, DisplayName: cmp.Or(d.Label, d.DisplayName), Platform: d.Platform, DeviceFamily: d.DeviceFamily,
		ClientID: d.ClientID, ClientMode: d.ClientMode, ApprovedVia: d.ApprovedVia, CreatedAtMs: d.CreatedAtMs, ApprovedAtMs: d.ApprovedAtMs,
		LastSeenAtMs: d.LastSeenAtMs, Connected: connected, Roles: []protocol.Role{}, Scopes: []protocol.Scope{},
		Tokens: []protocol.DeviceTokenInfo{},
	}
	for _, r := range d.Roles {
		row.Tokens = append(row.Tokens, protocol.DeviceTokenInfo{Role: r.Role, Scopes: orEmpty(r.Scopes), CreatedAtMs: r.IssuedAtMs,
			RotatedAtMs: r.RotatedAtMs, RevokedAtMs: r.RevokedAtMs})
		if r.RevokedAtMs == 0 {
			row.Roles = append(row.Roles, r.Role)
			row.Scopes = append(row.Scopes, r.Scopes...)
		}
	}
	if len(row.Roles) > 0 {
		row.Role = row.Roles[0]
	}
	return row
}

func orEmpty(scopes []protocol.Scope) []protocol.Scope {
	if scopes == nil {
		return []protocol.Scope{}
	}
	return scopes
}

func requestOnWire(q pairing.Request) protocol.PairRequest {
	return protocol.PairRequest{
		RequestID: q.ID, DeviceID: q.DeviceID, PublicKey: q.PublicKey, DisplayName: q.DisplayName, Platform: q.Platform,
		DeviceFamily: q.DeviceFamily,
		ClientID:     q.ClientID, ClientMode: q.ClientMode, Role: q.Role, Roles: []protocol.Role{q.Role}, Scopes: orEmpty(q.Scopes),
		RemoteIP: q.Source,
		IsRepair: q.Reason == "revoked", TS: q.AtMs, Reason: q.Reason, ExpiresAtMs: q.ExpiresAtMs, Code: q.Code,
	}
}

// pairChanged tells people that a device asks, and how that ended.
func (f *feature) pairChanged(e pairing.PairEvent) {
	q, what := e.Request, "a device asks to be let in"
	if e.Decision != "" {
		what = "a device that asked to be let in: " + string(e.Decision)
		f.o.Clients.Broadcast(server.Broadcast{Event: protocol.EventPairResolved, Payload: protocol.PairResolved{
			RequestID: q.ID, DeviceID: q.DeviceID, Decision: string(e.Decision), TS: f.o.Now().UnixMilli()}})
	} else {
		f.o.Clients.Broadcast(server.Broadcast{Event: protocol.EventPairRequested, Payload: requestOnWire(q)})
	}
	f.o.Audit.Add(audit.Entry{Kind: audit.KindAuth, Who: q.DeviceID, What: what,
		Facts: map[string]string{"from": q.Source, "request": q.ID, "reason": q.Reason, "scopes": admission.Scopes(q.Scopes)}})
}

func (f *feature) pairApprove(ctx context.Context, c *server.Caller, p protocol.PairDecisionParams) (protocol.PairApproved, error) {
	d, err := f.o.Pairing.Approve(ctx, p.RequestID, pairing.Approval{By: c.Scopes, Code: p.Code, Access: pairing.Access(p.Access)})
	if err != nil {
		return protocol.PairApproved{}, pairError(err)
	}
	return protocol.PairApproved{RequestID: p.RequestID, Device: deviceOnWire(d, false)}, nil
}

func (f *feature) pairReject(_ context.Context, p protocol.PairDecisionParams) (protocol.PairRejected, error) {
	q, err := f.o.Pairing.Reject(p.RequestID)
	if err != nil {
		return protocol.PairRejected{}, pairError(err)
	}
	return protocol.PairRejected{RequestID: q.ID, DeviceID: q.DeviceID}, nil
}

func (f *feature) pairRename(ctx context.Context, p protocol.PairRenameParams) (protocol.PairRenamed, error) {
	if err := f.o.Pairing.Rename(ctx, p.DeviceID, p.Label); err != nil {
		return protocol.PairRenamed{}, pairError(err)
	}
	return protocol.PairRenamed(p), nil
}

func (f *feature) tokenRotate(ctx context.Context, c *server.Caller, p protocol.DeviceTokenParams) (protocol.DeviceTokenRotated, error) {
	grant, token, err := f.o.Pairing.RotateToken(ctx, p.DeviceID, p.Role, p.Scopes, c.Scopes)
	if err != nil {
		return protocol.DeviceTokenRotated{}, pairError(err)
	}
	f.o.Audit.Add(audit.Entry{Kind: audit.KindAuth, Who: p.DeviceID, What: "a device's token was replaced",
		Facts: map[string]string{"role": string(p.Role), "scopes": admission.Scopes(grant.Scopes)}})
	out := protocol.DeviceTokenRotated{DeviceID: p.DeviceID, Role: grant.Role, Scopes: orEmpty(grant.Scopes), RotatedAtMs: grant.RotatedAtMs,
		TokenDelivery: "withheld-cross-device"}
	if c.DeviceID == p.DeviceID && c.Role == p.Role {
		out.Token, out.TokenDelivery = token, "inline"
	}
	return out, nil
}

func (f *feature) tokenRevoke(ctx context.Context, c *server.Caller, p protocol.DeviceTokenRevokeParams) (protocol.DeviceTokenRevoked,
	error) {
	grant, err := f.o.Pairing.RevokeToken(ctx, p.DeviceID, p.Role, c.Scopes)
	if err != nil {
		return protocol.DeviceTokenRevoked{}, pairError(err)
	}
	f.o.Audit.Add(audit.Entry{Kind: audit.KindAuth, Who: p.DeviceID, What: "a device's role was taken away",
		Facts: map[string]string{"role": string(p.Role)}})
	if p.Role == protocol.RoleOperator {
		if err := f.o.Removed(ctx, p.DeviceID); err != nil {
			return protocol.DeviceTokenRevoked{}, err
		}
	}
	return protocol.DeviceTokenRevoked{DeviceID: p.DeviceID, Role: p.Role, RevokedAtMs: grant.RevokedAtMs}, nil
}

// pairError gives pairing's errors their form on the wire.
func pairError(err error) error {
	for of, code := range map[error]string{
		pairing.ErrNoRequest: "NOT_FOUND", pairing.ErrNoDevice: "NOT_FOUND", pairing.ErrNoRole: "FORBIDDEN",
		pairing.ErrTooMuch: "FORBIDDEN", pairing.ErrCodeDiffers: "CODE_DIFFERS",
	} {
		if errors.Is(err, of) {
			return protocol.Invalid("%v", err).With("code", code)
		}
	}
	return err
}

func (f *feature) pairRemove(ctx context.Context, p protocol.PairRemoveParams) (protocol.PairRemoveResult, error) {
	if !slices.ContainsFunc(f.o.Pairing.Devices(), func(d pairing.Device) bool { return d.ID == p.DeviceID }) {
		return protocol.PairRemoveResult{}, protocol.Invalid("no device has this id; `hearth devices` lists them").With("code", "NOT_FOUND")
	}
	if err := f.o.Pairing.Revoke(ctx, p.DeviceID); err != nil {
		return protocol.PairRemoveResult{}, err
	}
	f.o.Audit.Add(audit.Entry{Kind: audit.KindAuth, Who: p.DeviceID, What: "a device was removed"})
	if err := f.o.Removed(ctx, p.DeviceID); err != nil {
		return protocol.PairRemoveResult{}, err
	}
	return protocol.PairRemoveResult{DeviceID: p.DeviceID, Removed: true}, nil
}
