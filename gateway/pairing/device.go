package pairing

import (
	"context"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Device is one paired installation. Its tokens are not here: they are derived
// from the server key, so a copy of the store opens nothing.
type Device struct {
	ID           string      `json:"id"`
	PublicKey    string      `json:"publicKey"` // base64url of the raw key
	ClientID     string      `json:"clientId,omitempty"`
	ClientMode   string      `json:"clientMode,omitempty"`
	DisplayName  string      `json:"displayName,omitempty"` // its own words
	Label        string      `json:"label,omitempty"`       // the owner's name for it
	Platform     string      `json:"platform,omitempty"`
	DeviceFamily string      `json:"deviceFamily,omitempty"`
	Roles        []RoleGrant `json:"roles"`
	ApprovedVia  string      `json:"approvedVia"` // silent, launch, setup, owner
	CreatedAtMs  int64       `json:"createdAtMs"`
	ApprovedAtMs int64       `json:"approvedAtMs"`
	LastSeenAtMs int64       `json:"lastSeenAtMs,omitempty"`
	// RevokedAtMs is a tombstone: such a device is known and refused.
	RevokedAtMs int64 `json:"revokedAtMs,omitempty"`
}

// RoleGrant is what a device may do in one role. A token belongs to one
// generation; a new generation makes the old token worthless.
type RoleGrant struct {
	Role       protocol.Role    `json:"role"`
	Scopes     []protocol.Scope `json:"scopes"`
	Generation int              `json:"generation"`
	IssuedAtMs int64            `json:"issuedAtMs"`
	// RotatedAtMs is when its token was replaced by hand.
	RotatedAtMs int64 `json:"rotatedAtMs,omitempty"`
	// RevokedAtMs is a tombstone, as that of the device: the role comes back only
	// by a person's decision.
	RevokedAtMs int64 `json:"revokedAtMs,omitempty"`
}

// Store keeps devices. Save returns when the device is durable.
type Store interface {
	Load(ctx context.Context) ([]Device, error)
	Save(ctx context.Context, d Device) error
}

// Ways of approval.
const (
	viaSilent = "silent"
	viaLaunch = "launch"
	viaSetup  = "setup"
	viaOwner  = "owner" // a person said yes to its request
)

// clone copies d so that a change can be saved before it is seen.
func (d *Device) clone() *Device {
	c := *d
	c.Roles = slices.Clone(d.Roles)
	for i := range c.Roles {
		c.Roles[i].Scopes = slices.Clone(c.Roles[i].Scopes)
	}
	return &c
}

func (d *Device) revoked() bool { return d.RevokedAtMs != 0 }

// role returns the grant of a role that holds, or nil.
func (d *Device) role(r protocol.Role) *RoleGrant {
	if g := d.anyRole(r); g != nil && g.RevokedAtMs == 0 {
		return g
	}
	return nil
}

// anyRole returns the grant of a role, also a revoked one, or nil.
func (d *Device) anyRole(r protocol.Role) *RoleGrant {
	for i := range d.Roles {
		if d.Roles[i].Role == r {
			return &d.Roles[i]
		}
	}
	return nil
}

// revive takes a revocation back, and nothing else: no role holds until it is
// given again.
func (d *Device) revive(now int64) {
	if !d.revoked() {
		return
	}
	d.RevokedAtMs = 0
	for i := range d.Roles {
		if d.Roles[i].RevokedAtMs == 0 {
			d.Roles[i].RevokedAtMs = now
		}
	}
}

// give lets the device have scopes in a role and reports whether that changed
// anything. With fresh a wider grant gets a new token: the old one was given
// for less.
func (d *Device) give(r protocol.Role, scopes []protocol.Scope, now int64, fresh bool) bool {
	g := d.anyRole(r)
	switch {
	case g == nil:
		d.Roles = append(d.Roles, RoleGrant{Role: r, Scopes: slices.Clone(scopes), Generation: 1, IssuedAtMs: now})
	case g.RevokedAtMs != 0: // its generation rose when it was revoked
		g.Scopes, g.IssuedAtMs, g.RevokedAtMs = slices.Clone(scopes), now, 0
	case !covers(g.Scopes, scopes):
		g.Scopes = union(g.Scopes, scopes)
		if fresh {
			g.IssuedAtMs = now
			g.Generation++
		}
	default:
		return false
	}
	return true
}

func (d *Device) roleNames() []protocol.Role {
	names := []protocol.Role{}
	for _, g := range d.Roles {
		if g.RevokedAtMs == 0 {
			names = append(names, g.Role)
		}
	}
	return names
}

// covers reports whether every wanted scope is among the granted ones.
func covers(granted, wanted []protocol.Scope) bool {
	for _, w := range wanted {
		if !protocol.Allows(granted, w) {
			return false
		}
	}
	return true
}

// union adds the wanted scopes that are not granted yet.
func union(granted, wanted []protocol.Scope) []protocol.Scope {
	out := slices.Clone(granted)
	for _, w := range wanted {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}
