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

// ticket lets one device on this machine pair itself, once.
type ticket struct {
	digest  digest
	expires time.Time
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
	r.tickets = append(r.tickets, ticket{digest: digestOf(code), expires: expires})
	return code, expires, nil
}

// takeTicket consumes the ticket of a code. Nobody else gets it, whatever
// happens next, unless giveBack returns it.
func (r *Registry) takeTicket(code string) (ticket, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	var found ticket
	var ok bool
	r.dropTickets(func(t ticket) bool {
		hit := t.digest.matches(code) && now.Before(t.expires)
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
