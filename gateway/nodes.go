package gateway

import (
	"context"
	"errors"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/node"
	"github.com/hearth-assistant/hearth/gateway/node/policy"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Devices that do things for the assistant.

func (g *Gateway) openNodes(ctx context.Context) (err error) {
	g.nodes, err = node.Open(ctx, node.Options{
		Store: store.NewShelf(g.store, "nodes", func(r node.Row) string { return r.ID }), Policy: g.nodePolicy, Changed: g.nodeChanged,
		NewID: newUUID, Now: g.opts.Now, Logger: g.log,
	})
	if err != nil {
		return &StartError{What: "The devices that do things for the assistant could not be read", Err: err, Fix: "Restore the store from a backup"}
	}
	return nil
}

func (g *Gateway) nodePolicy() policy.Settings {
	c := g.config.Snapshot().Config.Gateway.Nodes
	return policy.Settings{Allow: c.Allow, Deny: c.Deny}
}

// clientJoined takes a node's connection up; others are nothing to the registry.
func (g *Gateway) clientJoined(c *server.Caller) {
	if c.Role != protocol.RoleNode || c.DeviceID == "" {
		return
	}
	i := c.Client
	err := g.nodes.Join(g.work.Context(), node.Hello{
		ID: c.DeviceID, Conn: c, Peer: c.Peer, Local: c.Local, Trusted: c.Access == string(pairing.AccessLimited) || c.Access == string(pairing.AccessFull),
		About: node.About{
			ClientID: i.ID, ClientMode: i.Mode, DisplayName: i.DisplayName, Platform: i.Platform, Version: i.Version,
			DeviceFamily: i.DeviceFamily, ModelIdentifier: i.ModelIdentifier,
		},
		Surface: node.Surface{Caps: c.Caps, Commands: c.Commands, Permissions: c.Permissions},
	})
	if err != nil {
		g.log.Error("a node could not be kept", "node", c.DeviceID, "err", err)
	}
}

func (g *Gateway) clientLeft(c *server.Caller) {
	if c.Role == protocol.RoleNode && c.DeviceID != "" {
		g.nodes.Leave(g.work.Context(), c.DeviceID, c)
	}
}

// nodeChanged tells people and the audit log of news.
func (g *Gateway) nodeChanged(c node.Change) {
	ts := g.opts.Now().UnixMilli()
	e := audit.Entry{Kind: audit.KindAuth, Who: c.By, Facts: map[string]string{"node": c.Row.ID, "name": c.Row.DisplayName()}}
	switch c.Kind {
	case node.Stats:
		g.server.Broadcast(server.Broadcast{Event: protocol.EventNodeHostStats, Payload: protocol.NodeHostStats{NodeID: c.Row.ID, Stats: c.Row.Stats, TS: ts}})
		return
	case node.Requested:
		e.What, e.Facts["commands"] = "a node asks to be approved", strings.Join(c.Request.Declared.Commands, " ")
		g.server.Broadcast(server.Broadcast{Event: protocol.EventNodePairRequested, Payload: g.nodeRequest(c.Request, c.Row)})
	case node.Approved, node.Rejected:
		e.What, e.Facts["commands"] = "a node was "+string(c.Kind), strings.Join(c.Request.Declared.Commands, " ")
		done := protocol.NodePairResolved{RequestID: c.Request.ID, NodeID: c.Row.ID, Decision: string(c.Kind), TS: ts}
		g.server.Broadcast(server.Broadcast{Event: protocol.EventNodePairResolved, Payload: done})
		if c.Conn != nil {
			c.Conn.Send(protocol.EventNodePairResolved, done)
		}
	case node.Alarm:
		e.What, e.Facts["why"] = "a node did what a sound one does not", c.Detail
		g.log.Warn("a node did what a sound one does not", "node", c.Row.ID, "name", c.Row.DisplayName(), "what", c.Detail)
	case node.Connected, node.Disconnected, node.Renamed, node.Removed:
		e.What = map[node.Kind]string{
			node.Connected: "a node connected", node.Disconnected: "a node left", node.Renamed: "a node was renamed", node.Removed: "a node was removed",
		}[c.Kind]
	}
	g.audit.Add(e)
	g.server.Broadcast(server.Broadcast{Event: protocol.EventNodePresence, Payload: protocol.NodePresence{NodeID: c.Row.ID, Connected: c.Connected, Reason: string(c.Kind), TS: ts}})
}

// nodeError gives the registry's errors their form on the wire.
func nodeError(err error) error {
	var refused *node.NotAllowedError
	var failed *node.FailedError
	var bad *node.BadAnswerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return protocol.Invalid("%v", err).With("reason", "command not allowlisted").With("command", refused.Command)
	case errors.As(err, &failed) && failed.Code == node.BackgroundUnavailable:
		return protocol.Invalid("%v", err).With("code", failed.Code).With("nodeError", nodeErrorOf(failed.Code, failed.Message)).With("nodeCommandDispatched", true)
	case errors.As(err, &failed):
		return dispatched(err.Error(), failed.Code, failed.Message)
	case errors.As(err, &bad):
		return dispatched(err.Error(), "BAD_ANSWER", bad.Why)
	case errors.Is(err, node.ErrNotConnected):
		e := dispatched(err.Error(), "NOT_CONNECTED", err.Error())
		return e.With("code", "NOT_CONNECTED").With("nodeCommandDispatched", false)
	case errors.Is(err, node.ErrTimeout):
		return dispatched("TIMEOUT: "+err.Error(), "TIMEOUT", err.Error())
	case errors.Is(err, node.ErrGone):
		return dispatched("DISCONNECTED: "+err.Error(), "DISCONNECTED", err.Error()+"; it may have been done")
	case errors.Is(err, node.ErrBusy):
		return protocol.Unavailable(1000, "%v", err)
	case isAny(err, node.ErrUnknown, node.ErrNoRequest):
		return protocol.Invalid("%v", err).With("code", "NOT_FOUND")
	case isAny(err, node.ErrKeyUsed, node.ErrKeyOld):
		return protocol.Invalid("%v", err).With("code", "CONFLICT")
	}
	return err
}

func nodeErrorOf(code, message string) map[string]any {
	return map[string]any{"code": code, "message": message}
}

func dispatched(text, code, message string) *protocol.Error {
	return &protocol.Error{Code: protocol.CodeUnavailable, Message: text, Details: map[string]any{
		"nodeError": nodeErrorOf(code, message), "nodeCommandDispatched": true}}
}
