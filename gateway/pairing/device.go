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
	DisplayName  string      `json:"displayName,omitempty"`
	Platform     string      `json:"platform,omitempty"`
	DeviceFamily string      `json:"deviceFamily,omitempty"`
	Roles        []RoleGrant `json:"roles"`
	ApprovedVia  string      `json:"approvedVia"` // silent, launch, setup
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
}

// Store keeps devices. SaveDevice returns when the device is durable.
type Store interface {
	LoadDevices(ctx context.Context) ([]Device, error)
	SaveDevice(ctx context.Context, d Device) error
}

// Ways of approval.
const (
	viaSilent = "silent"
	viaLaunch = "launch"
	viaSetup  = "setup"
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

// role returns the grant of a role, or nil.
func (d *Device) role(r protocol.Role) *RoleGrant {
	for i := range d.Roles {
		if d.Roles[i].Role == r {
			return &d.Roles[i]
		}
	}
	return nil
}

func (d *Device) roleNames() []protocol.Role {
	names := make([]protocol.Role, len(d.Roles))
	for i, g := range d.Roles {
		names[i] = g.Role
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
