package server

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Presence lists the gateway itself and then every connected client.
func (s *Server) Presence() []protocol.PresenceEntry { return s.presenceOf(*s.conns.Load()) }

// Clients is the number of connected clients.
func (s *Server) Clients() int { return len(*s.conns.Load()) }

// Hears reports whether a connected client gets an event that goes to everyone.
func (s *Server) Hears(event string) bool {
	scope, ok := protocol.EventScope(event)
	if !ok {
		return false
	}
	for _, c := range *s.conns.Load() {
		if protocol.Allows(c.caller.Scopes, scope) {
			return true
		}
	}
	return false
}

func (s *Server) presenceOf(conns []*conn) []protocol.PresenceEntry {
	out := make([]protocol.PresenceEntry, 0, len(conns)+1)
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	out = append(out, protocol.PresenceEntry{
		Host: host, IP: "127.0.0.1", Version: s.version, Mode: "gateway", Reason: "self", TS: s.now().UnixMilli(),
		Text: "Gateway: " + host + " (127.0.0.1) · app " + s.version + " · mode gateway · reason self",
	})
	for _, c := range conns {
		info := &c.caller.Client
		name := info.DisplayName
		if name == "" {
			name = info.ID
		}
		c.watch.Lock()
		view := c.watch.view
		c.watch.Unlock()
		out = append(out, protocol.PresenceEntry{
			HearthView: view, Host: name, IP: c.peer.String(), Version: info.Version, Platform: info.Platform, DeviceFamily: info.DeviceFamily,
			Mode: info.Mode, Reason: "connect", DeviceID: c.caller.DeviceID, InstanceID: info.InstanceID, ClientID: info.ID,
			Roles: []protocol.Role{c.caller.Role}, Scopes: c.caller.Scopes, TS: c.joined.UnixMilli(),
		})
	}
	return out
}

// join adds a connection; hello builds the frame that is the first thing it
// reads.
func (s *Server) join(c *conn, hello func([]protocol.PresenceEntry, protocol.StateVersion) []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return false
	}
	c.joined = s.now()
	old := *s.conns.Load()
	conns := append(old[:len(old):len(old)], c)
	// Who is connected is for those who may read: a node learns of nobody, and a
	// house full of them comes back without each being told of all.
	presence := []protocol.PresenceEntry{}
	if protocol.Allows(c.caller.Scopes, protocol.ScopeRead) {
		presence = s.presenceOf(conns)
	}
	c.out.pushFirst(hello(presence, s.state), func() { s.conns.Store(&conns) })
	s.signalPresence()
	return true
}

func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := *s.conns.Load()
	conns := make([]*conn, 0, len(old))
	for _, other := range old {
		if other != c {
			conns = append(conns, other)
		}
	}
	s.conns.Store(&conns)
	s.signalPresence()
}

func (s *Server) signalPresence() {
	select {
	case s.presenceChanged <- struct{}{}:
	default:
	}
}

// gatherPresence waits a little for further changes, longer the more clients
// there are: the list goes to all of them, so its cost grows with their square.
func (s *Server) gatherPresence(ctx context.Context) bool {
	wait := max(s.limits.PresenceDelay, time.Duration(s.Clients())*10*time.Millisecond)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	}
	select {
	case <-s.presenceChanged: // part of what is sent now
	default:
	}
	conns := *s.conns.Load()
	var ids strings.Builder
	for _, c := range conns {
		ids.WriteString(c.id)
	}
	if ids.String() == s.lastPresence {
		return true // somebody came and went: nothing to tell
	}
	s.lastPresence = ids.String()
	s.Broadcast(Broadcast{Event: protocol.EventPresence, Payload: presencePayload{Presence: s.presenceOf(conns)}})
	return true
}

type presencePayload struct {
	Presence []protocol.PresenceEntry `json:"presence"`
}
