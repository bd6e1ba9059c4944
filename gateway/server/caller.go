package server

import (
	"net/netip"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Caller is who sent a request. Handlers read it and change only what the
// connection watches. A Caller of another origin than the server (in tests)
// watches nothing.
type Caller struct {
	ConnID   string
	Client   protocol.ClientInfo
	Role     protocol.Role
	Scopes   []protocol.Scope
	Caps     []string
	DeviceID string
	Local    bool
	Peer     netip.Addr

	// What a node said that it can do, and how much the setup code gave with
	// which it came just now ("": it did not come with one).
	Commands    []string
	Permissions map[string]bool
	Access      string

	conn *conn
}

// Send queues an event for this connection alone, which has no number; false
// means that it is gone, or that it takes too little and is ended.
func (c *Caller) Send(event string, payload any) bool {
	if c.conn == nil {
		return false
	}
	head, err := eventHead(event, payload)
	if err != nil {
		c.conn.log.Error("event is not sent", "error", err)
		return false
	}
	select {
	case <-c.conn.closing:
		return false
	default:
	}
	if !c.conn.out.pushEvent(item{frame: append(head, '}'), aside: true}) {
		c.conn.end(websocket.StatusTryAgainLater, "slow", true)
		return false
	}
	return true
}

// Close ends the connection, after what is queued.
func (c *Caller) Close(reason string) {
	if c.conn != nil {
		c.conn.end(websocket.StatusPolicyViolation, reason, false)
	}
}

// Gone is closed when the connection ends.
func (c *Caller) Gone() <-chan struct{} {
	if c.conn == nil {
		return nil
	}
	return c.conn.closing
}

// Revoked is closed when the authority of the connection ends, which may be
// before its end.
func (c *Caller) Revoked() <-chan struct{} {
	if c.conn == nil {
		return nil
	}
	return c.conn.grant.Lease.Ended()
}

// WatchSessions turns events for SessionsWatchers on or off.
func (c *Caller) WatchSessions(on bool) {
	if c.conn == nil {
		return
	}
	c.conn.watch.Lock()
	defer c.conn.watch.Unlock()
	c.conn.watch.sessions = on
}

// View notes which chat the person at this connection looks at; empty: none.
func (c *Caller) View(key string) {
	if c.conn == nil {
		return
	}
	c.conn.watch.Lock()
	defer c.conn.watch.Unlock()
	c.conn.watch.view = key
}

// WatchMessages turns events and deltas of one session on or off; key is the
// canonical one.
func (c *Caller) WatchMessages(key string, on bool) {
	if c.conn == nil {
		return
	}
	w := &c.conn.watch
	w.Lock()
	if on {
		w.messages[key] = true
	} else {
		delete(w.messages, key)
	}
	w.Unlock()
	if !on && c.conn.out.slim {
		c.conn.out.forget(func(r *run) bool { return r.sessionKey == key })
	}
}
