package server

import "github.com/hearth-assistant/hearth/gateway/protocol"

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

	conn *conn
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
