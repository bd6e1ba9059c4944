package nodes

import (
	"errors"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/node"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// Joined implements server.Watcher: it takes a node's connection up; others are nothing to the registry.
func (f *Nodes) Joined(c *server.Caller) {
	if c.Role != protocol.RoleNode || c.DeviceID == "" {
		return
	}
	i := c.Client
	err := f.nodes.Join(f.o.Work.Context(), node.Hello{
		ID: c.DeviceID, Conn: c, Peer: c.Peer, Local: c.Local, Trusted: c.Access == string(pairing.AccessLimited) ||
			c.Access == string(pairing.AccessFull),
		About: node.About{
			ClientID: i.ID, ClientMode: i.Mode, DisplayName: i.DisplayName, Platform: i.Platform, Version: i.Version,
			DeviceFamily: i.DeviceFamily, ModelIdentifier: i.ModelIdentifier,
		},
		Surface: node.Surface{Caps: c.Caps, Commands: c.Commands, Permissions: c.Permissions},
	})
	if err != nil {
		f.o.Log.Error("a node could not be kept", "node", c.DeviceID, "err", err)
	}
}

// Left implements server.Watcher.
func (f *Nodes) Left(c *server.Caller) {
	if c.Role == protocol.RoleNode && c.DeviceID != "" {
		f.nodes.Leave(f.o.Work.Context(), c.DeviceID, c)
	}
}

// deviceRemoved forgets what a device was approved for as a node: paired again, it asks anew.
func (f *Nodes) deviceRemoved(id string) {
	if err := f.nodes.Remove(f.o.Work.Context(), id, "a removed device"); err != nil && !errors.Is(err, node.ErrUnknown) {
		f.o.Log.Error("what a removed device was approved for could not be forgotten", "node", id, "err", err)
	}
}

// changed tells people and the audit log of news.
func (f *Nodes) changed(c node.Change) {
	ts := f.o.Now().UnixMilli()
	e := audit.Entry{Kind: audit.KindAuth, Who: c.By, Facts: map[string]string{"node": c.Row.ID, "name": c.Row.DisplayName()}}
	switch c.Kind {
	case node.Stats:
		f.o.Server.Broadcast(server.Broadcast{Event: protocol.EventNodeHostStats, Payload: protocol.NodeHostStats{NodeID: c.Row.ID,
			Stats: c.Row.Stats, TS: ts}})
		return
	case node.Requested:
		e.What, e.Facts["commands"] = "a node asks to be approved", strings.Join(c.Request.Declared.Commands, " ")
		f.o.Server.Broadcast(server.Broadcast{Event: protocol.EventNodePairRequested, Payload: f.nodeRequest(c.Request, c.Row)})
	case node.Approved, node.Rejected:
		e.What, e.Facts["commands"] = "a node was "+string(c.Kind), strings.Join(c.Request.Declared.Commands, " ")
		done := protocol.NodePairResolved{RequestID: c.Request.ID, NodeID: c.Row.ID, Decision: string(c.Kind), TS: ts}
		f.o.Server.Broadcast(server.Broadcast{Event: protocol.EventNodePairResolved, Payload: done})
		if c.Conn != nil {
			c.Conn.Send(protocol.EventNodePairResolved, done)
		}
	case node.Alarm:
		e.What, e.Facts["why"] = "a node did what a sound one does not", c.Detail
		f.o.Log.Warn("a node did what a sound one does not", "node", c.Row.ID, "name", c.Row.DisplayName(), "what", c.Detail)
	case node.Connected, node.Disconnected, node.Renamed, node.Removed:
		e.What = map[node.Kind]string{
			node.Connected: "a node connected", node.Disconnected: "a node left", node.Renamed: "a node was renamed",
			node.Removed: "a node was removed",
		}[c.Kind]
	}
	f.o.Audit.Add(e)
	f.o.Server.Broadcast(server.Broadcast{Event: protocol.EventNodePresence, Payload: protocol.NodePresence{NodeID: c.Row.ID,
		Connected: c.Connected, Reason: string(c.Kind), TS: ts}})
}
