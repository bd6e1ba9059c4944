package server

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

// conn is one socket. Its reader is the goroutine of the HTTP request, its
// writer a second one; both end before serve returns. Whoever wants the socket
// closed calls end, and the writer does it.
type conn struct {
	s      *Server
	id     string
	nonce  string
	ws     *websocket.Conn
	raw    net.Conn
	log    *slog.Logger
	peer   netip.Addr
	origin string
	local  bool

	out     outbox
	pings   *rate.Limiter
	ignored atomic.Int32 // pings above the limit

	// Set before the connection joins the others, then read only.
	caller *Caller
	grant  *pairing.Grant
	joined time.Time

	granted chan *pairing.Lease // tells the writer, once

	closing chan struct{} // closed by end
	endOnce sync.Once
	code    websocket.StatusCode // set before closing is closed; 0 is a plain cut
	reason  string
	closeBy time.Time

	watch struct {
		sync.Mutex
		sessions bool
		messages map[string]bool
		view     string
	}

	flight  sync.WaitGroup // handlers and pings
	slots   chan struct{}
	limiter *rate.Limiter
	lanes   lanes
	badRole int // calls of the other role's methods; reader only
}

// rawConnKey carries the TCP connection to the handler: only deadlines on it
// end a stuck write or a peer that does not finish a close.
type rawConnKey struct{}

func (s *Server) newConn(r *http.Request, peer netip.Addr, local bool) *conn {
	c := &conn{
		s: s, id: newID(), nonce: newID(), peer: peer, origin: r.Header.Get("Origin"), local: local,
		granted: make(chan *pairing.Lease, 1), closing: make(chan struct{}), slots: make(chan struct{}, s.limits.InFlight),
		limiter: rate.NewLimiter(rate.Limit(s.limits.RequestRate), s.limits.RequestBurst),
		pings:   rate.NewLimiter(10, 50),
	}
	c.raw, _ = r.Context().Value(rawConnKey{}).(net.Conn)
	c.log = s.log.With("conn", c.id)
	c.watch.messages = make(map[string]bool)
	c.out.init(s.limits.QueueBytes)
	return c
}

// onPing answers a sane number of pings and cuts off a flood.
func (c *conn) onPing(context.Context, []byte) bool {
	if c.pings.Allow() {
		return true
	}
	if c.ignored.Add(1) > 1000 {
		c.end(websocket.StatusPolicyViolation, "too many pings", true)
	}
	return false
}

// maxReason is how many bytes of a reason the protocol allows.
const maxReason = 123

// end closes the socket once: with discard at once, else after what is queued.
func (c *conn) end(code websocket.StatusCode, reason string, discard bool) {
	c.endOnce.Do(func() {
		c.code, c.reason = code, text.Prefix(reason, maxReason)
		c.closeBy = time.Now().Add(c.s.limits.CloseWait)
		c.limitSocket()
		close(c.closing)
	})
	c.out.close(discard)
}

// limitSocket bounds what is still read and written on a closing socket.
func (c *conn) limitSocket() {
	if c.raw != nil {
		_ = c.raw.SetDeadline(c.closeBy) // an error means that it is closed already
	}
}

// serve runs the connection to its end.
func (c *conn) serve(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	forever := context.WithoutCancel(ctx) // for the socket, which has deadlines
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.write(forever)
	}()
	c.read(ctx, forever)
	c.end(0, "", true)
	cancel()
	c.flight.Wait()
	<-written
	if c.grant != nil {
		c.grant.Lease.Release()
	}
}

// read is the life of the connection as its reader sees it.
func (c *conn) read(ctx, forever context.Context) {
	timeout := awake.AfterFunc(c.s.limits.Handshake, func() { c.end(websocket.StatusNormalClosure, "", true) })
	ok := c.handshake(ctx, forever)
	timeout.Stop()
	if !ok {
		c.drain(forever)
		return
	}
	defer func() {
		for _, w := range c.s.watchers {
			w.Left(c.caller)
		}
	}()
	defer c.s.leave(c)
	for {
		data, ok := c.receive(forever)
		if !ok || !c.request(ctx, data) {
			c.drain(forever)
			return
		}
	}
}

// receive reads one message; Apple clients send theirs as binary. ctx must not
// end before the socket: ending a read by its context would cut the socket
// without a close frame.
func (c *conn) receive(ctx context.Context) ([]byte, bool) {
	_, data, err := c.ws.Read(ctx)
	if err != nil {
		if isTooBig(err) {
			c.end(websocket.StatusMessageTooBig, "message too big", true)
		} else {
			c.end(0, "", true) // the peer is gone
		}
		return nil, false
	}
	if !utf8.Valid(data) {
		c.end(websocket.StatusInvalidFramePayloadData, "not valid UTF-8", true)
		return nil, false
	}
	return data, true
}

// drain waits until the writer has sent its last words, with the peer's own
// messages thrown away, so that a close frame is not lost in a reset.
func (c *conn) drain(ctx context.Context) {
	<-c.closing
	for {
		_, r, err := c.ws.Reader(ctx)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			return
		}
	}
}

// write is the only goroutine that sends messages.
func (c *conn) write(ctx context.Context) {
	defer c.finish()
	ping := time.NewTicker(c.s.limits.Ping)
	defer ping.Stop()
	var buf []byte
	var seq uint64
	var lease *pairing.Lease
	var ended <-chan struct{}
	for {
		w, ok, done := c.out.next()
		if done {
			return
		}
		if !ok {
			select {
			case <-c.out.wake:
			case lease = <-c.granted:
				ended = lease.Ended()
			case <-ended: // the device was revoked or the token replaced
				c.end(closeAuthChanged, lease.Reason(), true)
			case <-ping.C:
				c.flight.Go(func() { c.ping(ctx) })
			}
			continue
		}
		if w.run != nil {
			frame, at, of := w.run.encode(c.out.slim, w.cursor.sent, w.upto, w.cursor.epoch)
			if frame != nil {
				w.cursor.sent, w.cursor.epoch = at, of
				seq++
				buf = appendEvent(buf[:0], frame, seq, "")
				if !c.send(ctx, buf) {
					return
				}
			}
		}
		if w.frame {
			frame := w.item.frame
			if w.item.event {
				seq++
				buf = appendEvent(buf[:0], frame, seq, w.item.tail)
				frame = buf
			}
			if !c.send(ctx, frame) {
				return
			}
		}
		if cap(buf) > 64<<10 {
			buf = nil // one long answer must not cost its size for ever
		}
	}
}

// send writes one message. A client that does not take it in time is gone. The
// deadline must not outlive the message: pings and pongs are written too.
func (c *conn) send(ctx context.Context, frame []byte) bool {
	by := time.Now().Add(c.s.limits.WriteTimeout)
	select {
	case <-c.closing:
		by = c.closeBy
	default:
	}
	if c.raw != nil {
		_ = c.raw.SetWriteDeadline(by) // on error the write fails by itself
	}
	if err := c.ws.Write(ctx, websocket.MessageText, frame); err != nil {
		c.end(websocket.StatusTryAgainLater, "slow", true)
		return false
	}
	if c.raw != nil {
		_ = c.raw.SetWriteDeadline(time.Time{})
	}
	return true
}

// finish closes the socket with the recorded reason.
func (c *conn) finish() {
	c.end(0, "", true) // only when nobody did before
	<-c.closing
	c.limitSocket() // again: the upgrade and send clear deadlines
	if c.code == 0 {
		_ = c.ws.CloseNow()
		return
	}
	_ = c.ws.Close(c.code, c.reason) // the peer may be gone already: nothing left to do
}

// ping asks for a sign of life.
func (c *conn) ping(ctx context.Context) {
	ctx, cancel := awake.WithTimeout(ctx, c.s.limits.Ping)
	defer cancel()
	if c.ws.Ping(ctx) != nil {
		c.end(0, "", true)
	}
}

// wants reports whether the connection is among an event's audience.
func (c *conn) wants(b *Broadcast, scope protocol.Scope) bool {
	if !protocol.Allows(c.caller.Scopes, scope) {
		return false
	}
	switch b.Audience {
	case Everyone:
		return true
	case SessionsWatchers:
		c.watch.Lock()
		defer c.watch.Unlock()
		return c.watch.sessions
	case MessageWatchers:
		return c.watches(b.SessionKey)
	case ToolWatchers:
		return slices.Contains(c.caller.Caps, protocol.CapToolEvents)
	case ThoughtWatchers:
		return slices.Contains(c.caller.Caps, protocol.CapThoughts) && c.watches(b.SessionKey)
	}
	return false
}

func (c *conn) watches(key string) bool {
	c.watch.Lock()
	defer c.watch.Unlock()
	return c.watch.messages[key]
}

// wantsDeltas: our own clients get the text of what they look at, the others
// of everything that they may read.
func (c *conn) wantsDeltas(r *run) bool {
	if c.out.slim {
		return c.watches(r.sessionKey)
	}
	return protocol.Allows(c.caller.Scopes, protocol.ScopeRead)
}

// pause waits d, or less when the connection ends.
func (c *conn) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.closing:
		return false
	}
}
