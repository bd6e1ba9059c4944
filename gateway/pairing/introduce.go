package pairing

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/pairing/compare"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Line carries the messages of an introduction. Its reads end with the context.
type Line interface {
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, v any) error
}

// Introduction is a machine without a code that asks to be let in, by six digits
// that people compare.
type Introduction struct {
	Line    Line
	Source  netip.Addr
	Channel compare.Channel
	ID      string // of the gateway
}

// patience is how long the two machines may take for their words.
const patience = 10 * time.Second

// Introduce talks to a machine that asks to be let in, until a person has
// decided. What it tells the other machine is all that is to be told.
func (r *Registry) Introduce(ctx context.Context, in Introduction) error {
	ctx, cancel := context.WithTimeout(ctx, compareLife+2*patience)
	defer cancel()
	refuse := func(err error) error {
		_ = in.Line.Write(ctx, compare.Result{Type: "refused", Message: err.Error()})
		return err
	}
	// Every try is charged: nobody gets many guesses, or many interruptions.
	slot, _ := r.throttle.take(bucketKey{class: classCompare, source: SourceKey(in.Source)})
	if slot == nil {
		return refuse(errors.New("too many machines asked to be let in; try again in a minute"))
	}
	slot.wrong()
	w, err := r.meet(ctx, in)
	if err != nil {
		return refuse(err)
	}
	defer r.withdraw(w)
	if err := in.Line.Write(ctx, compare.Result{Type: "compare", RequestID: w.ID, ExpiresAtMs: w.ExpiresAtMs, GatewayID: in.ID}); err != nil {
		return err
	}
	// The other machine says nothing meanwhile: when it does, or goes away, it has
	// given up.
	listening, stop := context.WithCancel(ctx)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = in.Line.Read(listening)
	}()
	defer func() { stop(); <-gone }()
	o, err := r.decided(ctx, w, gone)
	if err != nil {
		return err
	}
	res := compare.Result{Type: string(o.Decision), GatewayID: in.ID}
	if o.Decision == Approved {
		g := o.Grant
		res.Role, res.Scopes, res.DeviceToken, res.IssuedAtMs = g.Role, g.Scopes, g.DeviceToken, g.IssuedAtMs
	}
	return in.Line.Write(ctx, res)
}

// meet is the exchange up to the digits.
func (r *Registry) meet(ctx context.Context, in Introduction) (*waiting, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	raw, err := in.Line.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("read who asks: %w", err)
	}
	a, err := compare.NewAnswerer(r.random, in.Channel, raw)
	if err != nil {
		return nil, err
	}
	if err := in.Line.Write(ctx, a.Nonce()); err != nil {
		return nil, err
	}
	if raw, err = in.Line.Read(ctx); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	code, err := a.Check(raw)
	if err != nil {
		return nil, err
	}
	q := a.Ask
	reason := "not-paired"
	if known := r.device(a.DeviceID()); known != nil && known.revoked() {
		reason = "revoked"
	} else if known != nil {
		reason = "scope-upgrade"
	}
	scopes := []protocol.Scope{}
	for _, s := range q.Scopes {
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return r.wait(&waiting{Request: Request{
		DeviceID: a.DeviceID(), PublicKey: q.PublicKey, ClientID: q.Client.ID, ClientMode: q.Client.Mode,
		DisplayName: q.Client.DisplayName, Platform: q.Client.Platform, DeviceFamily: q.Client.DeviceFamily,
		Role: q.Role, Scopes: scopes, Reason: reason, Source: SourceKey(in.Source), Code: code,
	}}, compareLife)
}

// decided waits for the person, as long as the other machine does.
func (r *Registry) decided(ctx context.Context, w *waiting, gone <-chan struct{}) (Outcome, error) {
	late := time.NewTimer(time.UnixMilli(w.ExpiresAtMs).Sub(r.now()))
	defer late.Stop()
	select {
	case o := <-w.ended:
		return o, nil
	case <-late.C:
		r.tell(r.expire()...)
		return Outcome{Decision: Expired}, nil
	case <-gone:
		return Outcome{}, errors.New("the other machine gave up")
	case <-ctx.Done():
		return Outcome{}, ctx.Err()
	}
}

// withdraw ends a request that nobody asks for any more.
func (r *Registry) withdraw(w *waiting) {
	r.mu.Lock()
	var events []PairEvent
	if slices.Contains(r.waiting, w) {
		events = append(events, r.drop(w, Outcome{Decision: Gone}))
	}
	r.mu.Unlock()
	r.tell(events...)
}
