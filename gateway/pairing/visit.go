package pairing

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// Visit is one request of a client. It ends when its token is revoked.
type Visit struct {
	Client Client
	// Noted is set when the client's last use was written down with this request:
	// at most once a minute, which is often enough for the audit log too.
	Noted bool

	c     *Clients
	ended chan struct{}
}

// Ended is closed when the token was revoked.
func (v *Visit) Ended() <-chan struct{} { return v.ended }

// Release forgets the visit.
func (v *Visit) Release() {
	v.c.mu.Lock()
	defer v.c.mu.Unlock()
	delete(v.c.visits, v)
}

// Bind returns a context that ends with the token: when it is revoked, and when
// it expires. cancel releases the visit.
func (v *Visit) Bind(ctx context.Context) (_ context.Context, cancel func()) {
	ctx, end := context.WithCancelCause(ctx)
	stop := func() {}
	if at := v.Client.ExpiresAtMs; at != 0 {
		t := time.AfterFunc(time.UnixMilli(at).Sub(v.c.now()), func() { end(ErrClientUnknown) })
		stop = func() { t.Stop() }
	}
	gone := make(chan struct{})
	go func() {
		select {
		case <-v.ended:
			end(ErrClientUnknown)
		case <-ctx.Done():
		}
		close(gone)
	}()
	return ctx, func() {
		stop()
		end(context.Canceled)
		<-gone
		v.Release()
	}
}

// ClientScopeError says that a token is right and not for this.
type ClientScopeError struct{ Need ClientScope }

func (e *ClientScopeError) Error() string {
	return fmt.Sprintf("this token has no right %q; make one with `hearth tokens create NAME --scope %s`", e.Need, e.Need)
}

// ClientWaitError says that too many tokens were wrong.
type ClientWaitError struct{ Wait time.Duration }

func (e *ClientWaitError) Error() string {
	return "too many wrong tokens were sent; wait a minute, then try again with the right one"
}

// AccessRequest is a request that asks to be let in.
type AccessRequest struct {
	Token  string
	Source netip.Addr // the peer address of the kernel, nothing from a header
	Origin string     // as sent by a browser, "" from others
	Need   ClientScope
}

// Admit looks at a token. The error is ErrClientUnknown, a *ClientScopeError or
// a *ClientWaitError. Who is admitted calls Release, or Bind's cancel.
func (c *Clients) Admit(ctx context.Context, k AccessRequest) (*Visit, error) {
	one, err := c.check(k)
	if err != nil {
		return nil, err
	}
	if !one.May(k.Need) {
		return nil, &ClientScopeError{k.Need}
	}
	v := &Visit{Client: one, c: c, ended: make(chan struct{})}
	c.mu.Lock()
	if now := c.known[one.ID]; !now.live(c.now().UnixMilli()) { // revoked a moment ago
		c.mu.Unlock()
		return nil, ErrClientUnknown
	}
	c.visits[v] = struct{}{}
	c.mu.Unlock()
	v.Noted = c.used(ctx, one.ID)
	return v, nil
}

// check finds whose token this is. A client that is not known costs the same
// work as a wrong token.
func (c *Clients) check(k AccessRequest) (Client, error) {
	c.looking.Lock()
	defer c.looking.Unlock()
	id := ""
	if rest, ok := strings.CutPrefix(k.Token, tokenHead); ok {
		id, _, _ = strings.Cut(rest, "_")
	}
	c.mu.Lock()
	one, known := c.known[id]
	c.mu.Unlock()
	known = known && one.live(c.now().UnixMilli())
	// A known client has its own bucket, so that strangers cannot lock it out.
	key := bucketKey{class: classClient, source: SourceKey(k.Source), origin: k.Origin}
	if known {
		key = bucketKey{class: classClient, device: id}
	}
	slot, wait := c.throttle.take(key)
	if slot == nil {
		return Client{}, &ClientWaitError{wait}
	}
	var want digest
	raw, err := base64.RawURLEncoding.DecodeString(one.Digest)
	if err != nil || copy(want[:], raw) != len(want) {
		known = false
	}
	if right := want.matches(k.Token); !right || !known {
		slot.wrong()
		return Client{}, ErrClientUnknown
	}
	slot.right()
	return one, nil
}

// used writes the last use down, when the last time is long enough ago.
func (c *Clients) used(ctx context.Context, id string) bool {
	now := c.now()
	recent := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return now.Sub(time.UnixMilli(c.known[id].LastUsedAtMs)) < lastUseEvery
	}
	if recent() {
		return false
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	if recent() {
		return false
	}
	c.mu.Lock()
	one, ok := c.known[id]
	one.LastUsedAtMs = now.UnixMilli()
	if ok {
		c.known[id] = one
	}
	c.mu.Unlock()
	if !ok {
		return false
	}
	if err := c.store.Save(ctx, one); err != nil {
		c.log.Warn("the last use of a token could not be saved", "token", one.Name, "err", err)
	}
	return true
}
