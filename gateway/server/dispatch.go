package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// closeAuthChanged tells a client that its authority ended.
const closeAuthChanged websocket.StatusCode = 4001

// maxBadRole is how often a connection may call methods of the other role.
const maxBadRole = 10

func isTooBig(err error) bool { return errors.Is(err, websocket.ErrMessageTooBig) }

// request handles one message after hello; false ends the connection.
func (c *conn) request(ctx context.Context, data []byte) bool {
	select {
	case <-c.grant.Lease.Ended(): // not one more request after a revocation
		c.end(closeAuthChanged, c.grant.Lease.Reason(), true)
		return false
	default:
	}
	req, err := protocol.ParseFrame(data)
	if err != nil {
		var bad *protocol.FrameError
		if errors.As(err, &bad) && !bad.NotJSON {
			id := bad.ID
			if id == "" {
				id = "invalid"
			}
			c.answer(id, nil, bad.Answer())
		}
		return true
	}
	// Above its rate a client is slowed down, not refused: nothing is lost and
	// nobody else waits.
	if wait := c.limiter.Reserve().Delay(); wait > 0 && !c.pause(wait) {
		return false
	}
	spec, known := c.s.methods[req.Method]
	switch {
	case req.Method == protocol.MethodConnect:
		c.answer(req.ID, nil, protocol.Invalid("connect is only valid as the first request"))
		return true
	case known && spec.Role != c.caller.Role, !known && c.caller.Role == protocol.RoleNode:
		c.answer(req.ID, nil, protocol.Invalid("unauthorized role: %s", c.caller.Role))
		if c.badRole++; c.badRole > maxBadRole {
			c.end(websocket.StatusPolicyViolation, "repeated unauthorized calls", false)
			return false
		}
		return true
	case !known:
		c.answer(req.ID, nil, protocol.UnknownMethod(req.Method))
		return true
	case !protocol.Allows(c.caller.Scopes, spec.Scope):
		c.answer(req.ID, nil, protocol.MissingScope(spec.Scope))
		return true
	}
	return c.start(ctx, req)
}

// start runs the handler. Subscriptions run at once, so that what a client
// reads next is after them; requests that name the same session run in the
// order they came; all others run at the same time.
func (c *conn) start(ctx context.Context, req protocol.Request) bool {
	if strings.HasSuffix(req.Method, "subscribe") {
		c.handle(ctx, req)
		return true
	}
	select {
	case c.slots <- struct{}{}:
	default:
		c.answer(req.ID, nil, protocol.Unavailable(1000, "too many requests of this client are still running; wait for some answers, then try "+
			"again"))
		return true
	}
	key := sessionOf(req.Params)
	if key == "" {
		c.flight.Go(func() {
			defer c.release()
			c.finishLater(ctx, req.ID, c.handle(ctx, req))
		})
		return true
	}
	turn := c.lanes.enter(key)
	c.flight.Go(func() {
		defer c.release()
		later := turn.run(func() *Later { return c.handle(ctx, req) })
		c.finishLater(ctx, req.ID, later)
	})
	return true
}

func (c *conn) release() { <-c.slots }

// handle calls the handler, contains its panic and sends its (first) answer.
func (c *conn) handle(ctx context.Context, req protocol.Request) *Later {
	result, err := c.contain(req.Method, func() (any, error) {
		return c.s.handlers[req.Method](ctx, c.caller, req.Params)
	})
	if err != nil {
		c.fail(ctx, req.ID, req.Method, err)
		return nil
	}
	later, twice := result.(*Later)
	if !twice {
		if l, ok := result.(Later); ok {
			later, twice = &l, true
		}
	}
	if twice {
		c.answer(req.ID, later.First, nil)
		return later
	}
	c.answer(req.ID, result, nil)
	return nil
}

// finishLater sends the second answer of a method that has one.
func (c *conn) finishLater(ctx context.Context, id string, later *Later) {
	if later == nil || later.Final == nil {
		return
	}
	result, err := c.contain("second answer", func() (any, error) { return later.Final(ctx) })
	if err != nil {
		c.fail(ctx, id, "second answer", err)
		return
	}
	c.answer(id, result, nil)
}

// contain turns a panic into an error: one broken request must not take the
// gateway down.
func (c *conn) contain(what string, f func() (any, error)) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic in a handler", "method", what, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			c.s.broken(what, p)
			result, err = nil, protocol.AsError(fmt.Errorf("panic in %s", what))
		}
	}()
	return f()
}

func (c *conn) fail(ctx context.Context, id, method string, err error) {
	if ctx.Err() != nil {
		return // nobody is there to read it
	}
	var known *protocol.Error
	if !errors.As(err, &known) {
		c.log.Error("request failed", "method", method, "error", err)
	}
	c.answer(id, nil, protocol.AsError(err))
}

// answer queues a response.
func (c *conn) answer(id string, payload any, e *protocol.Error) {
	c.out.pushAnswer(c.frame(id, payload, e))
}

// frame encodes a response. A payload that cannot be encoded is a fault of ours.
func (c *conn) frame(id string, payload any, e *protocol.Error) []byte {
	frame, err := responseFrame(id, payload, e)
	if err != nil {
		c.log.Error("encode an answer", "error", err)
		frame, _ = responseFrame(id, nil, protocol.AsError(err)) // strings only: always encodes
	}
	return frame
}

// sessionOf finds the session that a request is about.
func sessionOf(params json.RawMessage) string {
	var p struct {
		SessionKey string `json:"sessionKey"`
		Key        string `json:"key"`
	}
	if len(params) == 0 || json.Unmarshal(params, &p) != nil {
		return ""
	}
	if p.SessionKey != "" {
		return p.SessionKey
	}
	return p.Key
}

// lanes keep the requests of one connection about one session in order.
type lanes struct {
	mu   sync.Mutex
	last map[string]chan struct{}
}

// turn is a place in a lane.
type turn struct {
	lanes  *lanes
	key    string
	before chan struct{} // nil when nobody is before
	done   chan struct{}
}

func (l *lanes) enter(key string) *turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		l.last = make(map[string]chan struct{})
	}
	t := &turn{lanes: l, key: key, before: l.last[key], done: make(chan struct{})}
	l.last[key] = t.done
	return t
}

// run waits for the requests before and runs f.
func (t *turn) run(f func() *Later) *Later {
	defer func() {
		close(t.done)
		t.lanes.mu.Lock()
		defer t.lanes.mu.Unlock()
		if t.lanes.last[t.key] == t.done {
			delete(t.lanes.last, t.key)
		}
	}()
	if t.before != nil {
		<-t.before
	}
	return f()
}
