package pairing

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

// How long and how many devices wait for a person.
const (
	requestLife    = 5 * time.Minute
	compareLife    = 2 * time.Minute // while two people look at two screens
	maxWaiting     = 32
	maxWaitingEach = 3               // from one source
	noMeansNo      = 5 * time.Minute // a device that was refused asks nobody again
	maxNameLength  = 64
)

// Request is a device that asks to be let in, or for more than it has. It never
// changes: who asks for something else makes another request.
type Request struct {
	ID           string
	DeviceID     string
	PublicKey    string // base64url of the raw key
	ClientID     string
	ClientMode   string
	DisplayName  string // what it calls itself, which proves nothing
	Platform     string
	DeviceFamily string
	Role         protocol.Role
	Scopes       []protocol.Scope
	Reason       string // not-paired, revoked, role-upgrade, scope-upgrade
	Source       string // the address that it came from
	// Code is the six digits that the other screen shows too. "": the device knew
	// the gateway's token, or was paired before.
	Code        string
	AtMs        int64
	ExpiresAtMs int64
}

// Decision is how a request ended.
type Decision string

// Ends of a request.
const (
	Approved Decision = "approved"
	Rejected Decision = "rejected"
	Expired  Decision = "expired"
	Replaced Decision = "replaced" // the device asks for something else now
	Gone     Decision = "gone"     // the other machine gave up, or the digits were wrong
)

// PairEvent tells of a request: that it waits (Decision is empty), or how it
// ended.
type PairEvent struct {
	Request  Request
	Decision Decision
}

// Outcome is the end of a request for who waits for it.
type Outcome struct {
	Decision Decision
	Grant    Grant // of an approved device, without a lease
}

// waiting is a request and who wants to know how it ends.
type waiting struct {
	Request
	// keeps is set for a device that showed its own token: it keeps that one.
	keeps bool
	ended chan Outcome // of one
}

var (
	// ErrNoRequest: nobody waits under that id any more.
	ErrNoRequest = errors.New("no device waits under this id; it may have been decided already, or it has expired, and the device can ask " +
		"again")
	// ErrCodeDiffers ends the request: somebody may sit in between.
	ErrCodeDiffers = errors.New("the digits are not those of this request, so it was ended: somebody may sit between the two machines; try " +
		"again, and if that happens twice use another network or `hearth qr`")
	// ErrTooMuch: who decides has fewer rights than the device would get.
	ErrTooMuch = errors.New("you cannot give a device more than you may do yourself")
)

// Approval is what a person decided.
type Approval struct {
	By []protocol.Scope // what the person may do
	// Code are the digits on the other screen, when the person typed them.
	Code string
	// Access narrows what the device gets. "": what it asked for, but for a
	// compared device no more than AccessLimited.
	Access Access
}

// Waiting returns the requests that wait, the oldest first.
func (r *Registry) Waiting() []Request {
	defer r.tell(r.expire()...)
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Request, len(r.waiting))
	for i, w := range r.waiting {
		out[i] = w.Request
	}
	return out
}

// ask lets a connect that needs a person wait for one and returns the id of the
// request, or "" when nobody is asked.
func (r *Registry) ask(a *Attempt, pub ed25519.PublicKey, reason string, scopes []protocol.Scope, showedToken bool) string {
	c := a.Params.Client
	w, err := r.wait(&waiting{keeps: showedToken, Request: Request{
		DeviceID: a.Params.Device.ID, PublicKey: base64.RawURLEncoding.EncodeToString(pub),
		ClientID: c.ID, ClientMode: c.Mode, DisplayName: c.DisplayName, Platform: c.Platform, DeviceFamily: c.DeviceFamily,
		Role: a.Params.RoleOrDefault(), Scopes: slices.Clone(scopes), Reason: reason, Source: SourceKey(a.Source),
	}}, requestLife)
	if err != nil {
		return ""
	}
	return w.ID
}

// errCrowd: too many wait already, or this device was refused just now.
var errCrowd = errors.New("too many devices wait for approval, or this one was refused a moment ago; try again in five minutes")

// wait puts a request in the row. The same one again stays where it is; another
// one of the same device takes its place.
func (r *Registry) wait(w *waiting, life time.Duration) (*waiting, error) {
	var id [8]byte // in hex: people type the beginning of it
	if _, err := io.ReadFull(r.random, id[:]); err != nil {
		return nil, fmt.Errorf("make the id of a request: %w", err)
	}
	w.DisplayName = text.First(w.DisplayName, maxNameLength)
	events := r.expire()
	defer func() { r.tell(events...) }()
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Before(r.refused[w.DeviceID]) {
		return nil, errCrowd
	}
	of := func(o *waiting) bool { return o.DeviceID == w.DeviceID && o.Role == w.Role }
	if i := slices.IndexFunc(r.waiting, of); i >= 0 {
		old := r.waiting[i]
		if w.Code == "" && old.Code == "" && old.keeps == w.keeps && old.Reason == w.Reason && slices.Equal(old.Scopes, w.Scopes) {
			return old, nil
		}
		if old.Code != "" && w.Code == "" {
			return nil, errCrowd // two people are looking at that one
		}
		events = append(events, r.drop(old, Outcome{Decision: Replaced}))
	}
	same := 0
	for _, o := range r.waiting {
		if o.Source == w.Source {
			same++
		}
	}
	if same >= maxWaitingEach || len(r.waiting) >= maxWaiting {
		return nil, errCrowd
	}
	w.ID, w.ended = hex.EncodeToString(id[:]), make(chan Outcome, 1)
	w.AtMs, w.ExpiresAtMs = now.UnixMilli(), now.Add(life).UnixMilli()
	r.waiting = append(r.waiting, w)
	events = append(events, PairEvent{Request: w.Request})
	r.log.Info("a device asks to be let in", "device", w.DeviceID, "client", w.ClientID, "reason", w.Reason, "request", w.ID)
	return w, nil
}

// drop ends a request; mu is held.
func (r *Registry) drop(w *waiting, o Outcome) PairEvent {
	r.waiting = slices.DeleteFunc(r.waiting, func(x *waiting) bool { return x == w })
	w.ended <- o
	return PairEvent{Request: w.Request, Decision: o.Decision}
}

// expire ends what waited too long and returns what is to be told of it.
func (r *Registry) expire() (events []PairEvent) {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range slices.Clone(r.waiting) {
		if now.UnixMilli() >= w.ExpiresAtMs {
			events = append(events, r.drop(w, Outcome{Decision: Expired}))
		}
	}
	for id, until := range r.refused {
		if !now.Before(until) {
			delete(r.refused, id)
		}
	}
	return events
}

// tell reports requests; mu is not held.
func (r *Registry) tell(events ...PairEvent) {
	for _, e := range events {
		r.onPair(e)
	}
}

// take finds a request and takes it out of the row: it is decided once.
func (r *Registry) take(id string) (*waiting, error) {
	r.tell(r.expire()...)
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.waiting, func(w *waiting) bool { return w.ID == id })
	if i < 0 {
		return nil, ErrNoRequest
	}
	w := r.waiting[i]
	r.waiting = slices.Delete(r.waiting, i, i+1)
	return w, nil
}

// putBack returns a request that could not be decided.
func (r *Registry) putBack(w *waiting) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, w)
	slices.SortStableFunc(r.waiting, func(a, b *waiting) int { return int(a.AtMs - b.AtMs) })
}

// finish tells everybody how a request ended that was taken.
func (r *Registry) finish(w *waiting, o Outcome) {
	w.ended <- o
	r.tell(PairEvent{Request: w.Request, Decision: o.Decision})
}

// Approve lets a device in, or gives it more. It gets what it asked for and the
// person allows, never more than the person may do.
func (r *Registry) Approve(ctx context.Context, id string, a Approval) (Device, error) {
	w, err := r.take(id)
	if err != nil {
		return Device{}, err
	}
	if w.Code != "" && a.Code != "" && plainCode(a.Code) != w.Code {
		r.finish(w, Outcome{Decision: Gone})
		return Device{}, ErrCodeDiffers
	}
	scopes, err := w.allowed(a)
	if err != nil {
		r.putBack(w)
		return Device{}, err
	}
	d, err := r.letIn(ctx, w, scopes)
	if err != nil {
		r.putBack(w)
		return Device{}, err
	}
	own := d.role(w.Role)
	r.finish(w, Outcome{Decision: Approved, Grant: Grant{
		Role: w.Role, Scopes: slices.Clone(own.Scopes), Method: MethodDeviceToken, DeviceID: d.ID,
		DeviceToken: deviceToken(r.key, d.ID, w.Role, own.Generation), IssuedAtMs: own.IssuedAtMs,
	}})
	return *d.clone(), nil
}

// allowed is what the device gets.
func (w *waiting) allowed(a Approval) ([]protocol.Scope, error) {
	access := a.Access
	if access == "" && w.Code != "" {
		access = AccessLimited
	}
	scopes := w.Scopes
	if access != "" {
		most, err := setupScopes(access)
		if err != nil {
			return nil, err
		}
		scopes = slices.DeleteFunc(slices.Clone(scopes), func(s protocol.Scope) bool { return !slices.Contains(most, s) })
	}
	if !covers(a.By, scopes) || w.Role != protocol.RoleOperator && !protocol.Allows(a.By, protocol.ScopeAdmin) {
		return nil, ErrTooMuch
	}
	return scopes, nil
}

// letIn saves the device of a request with what it gets.
func (r *Registry) letIn(ctx context.Context, w *waiting, scopes []protocol.Scope) (*Device, error) {
	r.pairing.Lock()
	defer r.pairing.Unlock()
	now := r.now().UnixMilli()
	d := &Device{ID: w.DeviceID, PublicKey: w.PublicKey, CreatedAtMs: now}
	if known := r.device(w.DeviceID); known != nil {
		d = known.clone()
	}
	d.revive(now)
	d.ApprovedVia, d.ApprovedAtMs = viaOwner, now
	d.ClientID, d.ClientMode, d.DisplayName = w.ClientID, w.ClientMode, w.DisplayName
	d.Platform, d.DeviceFamily = w.Platform, w.DeviceFamily
	d.give(w.Role, scopes, now, !w.keeps)
	if err := r.save(ctx, d); err != nil {
		return nil, err
	}
	r.log.Info("paired device", "device", d.ID, "client", d.ClientID, "via", d.ApprovedVia, "role", w.Role)
	return d, nil
}

// Reject says no: the device may ask again after a while.
func (r *Registry) Reject(id string) (Request, error) {
	w, err := r.take(id)
	if err != nil {
		return Request{}, err
	}
	r.mu.Lock()
	if len(r.refused) < maxBuckets {
		r.refused[w.DeviceID] = r.now().Add(noMeansNo)
	}
	r.mu.Unlock()
	r.finish(w, Outcome{Decision: Rejected})
	return w.Request, nil
}

// plainCode are the digits of what a person typed.
func plainCode(s string) string {
	out := make([]byte, 0, 6)
	for _, c := range []byte(s) {
		if c >= '0' && c <= '9' {
			out = append(out, c)
		}
	}
	return string(out)
}
