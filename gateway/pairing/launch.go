package pairing

import (
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Life of a launch ticket.
const (
	DefaultLaunchTTL = time.Minute
	MaxLaunchTTL     = 10 * time.Minute
	maxTickets       = 32
)

// ticket lets one device pair itself, once.
type ticket struct {
	digest  digest
	expires time.Time
	setup   bool // also for another machine, and for a node
	access  Access
	scopes  []protocol.Scope
}

// opens reports whether a device may come in that role: a launch link is for a
// browser, and a code for a node is for nothing else.
func (t ticket) opens(role protocol.Role) bool {
	if role == protocol.RoleNode {
		return t.setup
	}
	return role == protocol.RoleOperator && t.access != AccessNode
}

// launchScopes is what a person who opens a launch link gives the browser: all
// of Hearth, since it is their own.
func launchScopes() []protocol.Scope {
	return []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeAdmin,
		protocol.ScopeApprovals, protocol.ScopePairing, protocol.ScopeQuestions}
}

// MintLaunch makes a launch code that works once until it expires. The caller
// has checked that a person with admin rights asked for it. ttl 0 is the
// default.
func (r *Registry) MintLaunch(ttl time.Duration) (code string, expires time.Time, err error) {
	switch {
	case ttl <= 0:
		ttl = DefaultLaunchTTL
	case ttl > MaxLaunchTTL:
		ttl = MaxLaunchTTL
	}
	return r.mint(ttl, ticket{scopes: launchScopes()})
}

// Access is how much the device gets that uses a setup code.
type Access string

// What a setup code can give.
const (
	AccessLimited Access = "limited" // talk, read, decide approvals
	AccessFull    Access = "full"    // and change settings and devices
	AccessNode    Access = "node"    // only do what the gateway asks of it
)

// setupScopes is what a device gets, by what the owner chose.
func setupScopes(a Access) ([]protocol.Scope, error) {
	limited := []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeApprovals, protocol.ScopeQuestions}
	switch a {
	case AccessLimited:
		return limited, nil
	case AccessFull:
		return launchScopes(), nil
	case AccessNode:
		return nil, nil
	}
	return nil, fmt.Errorf("a setup code gives %q, %q or %q, not %q", AccessLimited, AccessFull, AccessNode, a)
}

// MintSetup makes a code that pairs one device, on any machine that reaches us,
// once and within MaxLaunchTTL. The caller has checked that a person with admin
// rights asked for it. A new code ends those that were made before it: the one
// on the screen is the one that counts.
func (r *Registry) MintSetup(a Access) (code string, expires time.Time, err error) {
	scopes, err := setupScopes(a)
	if err != nil {
		return "", time.Time{}, err
	}
	r.mu.Lock()
	r.dropTickets(func(t ticket) bool { return t.setup })
	r.mu.Unlock()
	return r.mint(MaxLaunchTTL, ticket{setup: true, access: a, scopes: scopes})
}

func (r *Registry) mint(ttl time.Duration, t ticket) (code string, expires time.Time, err error) {
	if code, err = randomCode(r.random); err != nil {
		return "", time.Time{}, fmt.Errorf("make a launch code: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	expires = now.Add(ttl)
	r.dropTickets(func(t ticket) bool { return !now.Before(t.expires) })
	if len(r.tickets) >= maxTickets {
		r.tickets = r.tickets[1:]
	}
	t.digest, t.expires = digestOf(code), expires
	r.tickets = append(r.tickets, t)
	return code, expires, nil
}

// takeTicket consumes the ticket of a code. Nobody else gets it, whatever
// happens next, unless giveBack returns it.
func (r *Registry) takeTicket(code string, local bool, role protocol.Role) (ticket, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	var found ticket
	var ok bool
	r.dropTickets(func(t ticket) bool {
		hit := t.digest.matches(code) && now.Before(t.expires) && (local || t.setup) && t.opens(role)
		if hit {
			found, ok = t, true
		}
		return hit
	})
	return found, ok
}

// giveBack returns a ticket whose pairing could not be saved.
func (r *Registry) giveBack(t ticket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tickets = append(r.tickets, t)
}

// dropTickets removes the tickets that match; mu is held. It looks at all of
// them, so its time says nothing about which one matched.
func (r *Registry) dropTickets(match func(ticket) bool) {
	kept := r.tickets[:0]
	for _, t := range r.tickets {
		if !match(t) {
			kept = append(kept, t)
		}
	}
	r.tickets = kept
}
