package pairing

import (
	"context"
	"errors"
	"fmt"
)

// What was taken away from devices and programs is kept in a second place as
// well: else an older copy of the store, put back, would let in again whom
// somebody had removed (F-DB-07).

// takeAway makes d durable in both places; the second one comes first, so that
// a crash in between takes away rather than gives.
func (r *Registry) takeAway(ctx context.Context, d *Device) error {
	if r.removed == nil {
		return r.store.Save(ctx, *d)
	}
	return errors.Join(r.removed.Save(ctx, *d), r.store.Save(ctx, *d))
}

// recall applies to the loaded devices what was taken away and the store does
// not know, and notes what the store knows alone.
func (r *Registry) recall(ctx context.Context) error {
	if r.removed == nil {
		return nil
	}
	all, err := r.removed.Load(ctx)
	if err != nil {
		return fmt.Errorf("load what was taken away from devices: %w", err)
	}
	noted := map[string]*Device{}
	for i := range all {
		taken := &all[i]
		noted[taken.ID] = taken
		d, behind := taken.after(r.devices[taken.ID])
		if !behind {
			continue
		}
		r.devices[d.ID] = d
		r.recalled++
		if err := r.store.Save(ctx, *d); err != nil {
			return fmt.Errorf("take away from device %s again: %w", d.ID, err)
		}
		r.log.Warn("the store is older than a decision about a device, which holds again", "device", d.ID, "removed", d.revoked())
	}
	for _, d := range r.devices {
		if _, behind := d.after(noted[d.ID]); behind && d.lessThanBefore() {
			if err := r.removed.Save(ctx, *d); err != nil {
				return fmt.Errorf("note what was taken away from device %s: %w", d.ID, err)
			}
		}
	}
	return nil
}

// Recalled is how many devices had lost something that the store, an older copy
// of itself, had given back. It was taken away again.
func (r *Registry) Recalled() int { return r.recalled }

// after is known with what d, a later state, has taken from it; known may be nil.
func (d *Device) after(known *Device) (next *Device, behind bool) {
	if known == nil {
		return d.clone(), true
	}
	next = known.clone()
	for _, g := range d.Roles {
		switch have := next.anyRole(g.Role); {
		case have == nil:
			next.Roles, behind = append(next.Roles, g), true
		case have.Generation < g.Generation:
			*have, behind = g, true
		}
	}
	if behind && next.RevokedAtMs == 0 {
		next.RevokedAtMs = d.RevokedAtMs
	}
	return next, behind
}

// lessThanBefore reports whether anything was ever taken from the device.
func (d *Device) lessThanBefore() bool {
	for _, g := range d.Roles {
		if g.Generation > 1 {
			return true
		}
	}
	return d.revoked()
}

// recall makes tokens that were revoked stay so, whatever the store says.
func (c *Clients) recall(ctx context.Context) error {
	if c.removed == nil {
		return nil
	}
	all, err := c.removed.Load(ctx)
	if err != nil {
		return fmt.Errorf("load which tokens were revoked: %w", err)
	}
	noted := map[string]bool{}
	for _, one := range all {
		noted[one.ID] = true
		if have, ok := c.known[one.ID]; !ok || have.RevokedAtMs != 0 {
			continue
		}
		c.known[one.ID] = one
		c.recalled++
		if err := c.store.Save(ctx, one); err != nil {
			return fmt.Errorf("revoke token %s again: %w", one.Name, err)
		}
		c.log.Warn("the store is older than the revocation of a token, which holds again", "token", one.Name)
	}
	for _, one := range c.known {
		if one.RevokedAtMs != 0 && !noted[one.ID] {
			if err := c.removed.Save(ctx, one); err != nil {
				return fmt.Errorf("note that token %s is revoked: %w", one.Name, err)
			}
		}
	}
	return nil
}

// Recalled is how many revoked tokens the store, an older copy of itself, had
// brought back. They are revoked again.
func (c *Clients) Recalled() int { return c.recalled }

// end makes the revocation of a token durable in both places.
func (c *Clients) end(ctx context.Context, one Client) error {
	if c.removed == nil {
		return c.store.Save(ctx, one)
	}
	return errors.Join(c.removed.Save(ctx, one), c.store.Save(ctx, one))
}
