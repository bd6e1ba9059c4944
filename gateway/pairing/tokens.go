package pairing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

var (
	// ErrNoDevice: no paired device has that id.
	ErrNoDevice = errors.New("no device has this id; `hearth devices` lists them")
	// ErrNoRole: the device does not have that role, and gets none this way.
	ErrNoRole = errors.New("this device does not have that role; a token belongs to a role that a person approved")
)

// RotateToken replaces the token of a device in a role. The new one is for the
// scopes that are named, which the device must have already, and who asks as
// well; nil keeps those that it has. Connections with the old one end. The token
// is returned for the device itself: nobody else is told it.
func (r *Registry) RotateToken(ctx context.Context, id string, role protocol.Role, scopes []protocol.Scope, by []protocol.Scope) (RoleGrant,
	string, error) {
	g, err := r.changeRole(ctx, id, role, func(g *RoleGrant, now int64) error {
		if g.RevokedAtMs != 0 {
			return ErrNoRole
		}
		next := g.Scopes
		if scopes != nil {
			next = []protocol.Scope{}
			for _, s := range scopes {
				if !slices.Contains(next, s) {
					next = append(next, s)
				}
			}
		}
		// Also a token for less: who may not hold it may not make it, and may not
		// take it away from who holds more.
		if !covers(g.Scopes, next) || !covers(by, g.Scopes) || !mayDecide(role, by) {
			return ErrTooMuch
		}
		g.Scopes, g.IssuedAtMs, g.RotatedAtMs = slices.Clone(next), now, now
		return nil
	})
	if err != nil {
		return RoleGrant{}, "", err
	}
	return g, deviceToken(r.key, id, role, g.Generation), nil
}

// RevokeToken takes a role away from a device. It comes back only by a person's
// decision. It is not an error to revoke twice.
func (r *Registry) RevokeToken(ctx context.Context, id string, role protocol.Role, by []protocol.Scope) (RoleGrant, error) {
	return r.changeRole(ctx, id, role, func(g *RoleGrant, now int64) error {
		if !mayDecide(role, by) {
			return ErrTooMuch
		}
		if g.RevokedAtMs == 0 {
			g.RevokedAtMs = now
		}
		return nil
	})
}

// mayDecide: roles other than the operator's are given and changed by admins.
func mayDecide(role protocol.Role, by []protocol.Scope) bool {
	return role == protocol.RoleOperator || protocol.Allows(by, protocol.ScopeAdmin)
}

// changeRole changes a role of a device and makes its token worthless.
func (r *Registry) changeRole(ctx context.Context, id string, role protocol.Role, change func(g *RoleGrant, now int64) error) (RoleGrant,
	error) {
	r.pairing.Lock()
	defer r.pairing.Unlock()
	known := r.device(id)
	if known == nil || known.revoked() {
		return RoleGrant{}, ErrNoDevice
	}
	d := known.clone()
	g := d.anyRole(role)
	if g == nil {
		return RoleGrant{}, ErrNoRole
	}
	if err := change(g, r.now().UnixMilli()); err != nil {
		return RoleGrant{}, err
	}
	g.Generation++
	// The open sockets end even when the disk does not take the change.
	r.mu.Lock()
	r.devices[d.ID] = d
	r.endLeases("device removed", func(l *Lease) bool { return l.deviceID == id && l.role == role })
	r.mu.Unlock()
	if err := r.takeAway(ctx, d); err != nil {
		return *g, fmt.Errorf("save the change of device %s: %w", id, err)
	}
	return *g, nil
}

// Rename gives a device a name of the owner's choice.
func (r *Registry) Rename(ctx context.Context, id, name string) error {
	r.pairing.Lock()
	defer r.pairing.Unlock()
	known := r.device(id)
	if known == nil || known.revoked() {
		return ErrNoDevice
	}
	d := known.clone()
	d.Label = text.First(name, maxNameLength)
	if err := r.save(ctx, d); err != nil {
		return err
	}
	return nil
}
