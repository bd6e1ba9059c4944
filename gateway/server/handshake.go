package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// minimumProbeProtocol is the oldest version that probes and nodes may speak.
const minimumProbeProtocol = 3

// newID is a random UUID (version 4).
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// handshake takes the connection from the challenge to hello. After false the
// refusal is queued and the socket is closing.
func (c *conn) handshake(ctx, forever context.Context) bool {
	defer c.s.handshakeOver(c)
	c.ws.SetReadLimit(protocol.MaxPreAuth)
	head, err := eventHead(protocol.EventConnectChallenge, protocol.Challenge{Nonce: c.nonce, TS: c.s.now().UnixMilli()})
	if err != nil {
		c.end(websocket.StatusInternalError, "", true)
		return false
	}
	c.out.pushAnswer(append(head, '}'))
	data, ok := c.receive(forever)
	if !ok {
		return false
	}
	req, err := protocol.ParseFrame(data)
	if err != nil {
		var bad *protocol.FrameError
		if errors.As(err, &bad) && !bad.NotJSON {
			c.end(websocket.StatusPolicyViolation, "invalid request frame", false)
		} else {
			c.end(websocket.StatusNormalClosure, "", false)
		}
		return false
	}
	if req.Method != protocol.MethodConnect {
		c.refuse(req.ID, protocol.Invalid("invalid handshake: first request must be connect"))
		return false
	}
	p, err := protocol.DecodeParams[protocol.ConnectParams](protocol.MethodConnect, req.Params)
	if err != nil {
		c.refuse(req.ID, protocol.AsError(err))
		return false
	}
	if e := checkConnect(&p); e != nil {
		c.refuse(req.ID, e)
		return false
	}
	grant, e := c.s.auth.Authenticate(ctx, pairing.Attempt{Source: c.peer, Origin: c.origin, Local: c.local, Nonce: c.nonce, Params: &p})
	if e != nil {
		c.s.logRefusal(c, &p, e)
		c.refuse(req.ID, e)
		return false
	}
	c.grant = grant
	return c.welcome(ctx, req.ID, &p)
}

// logRefusal notes a refused connect, but does not let a flood of them fill
// the log: what was left out is counted in the next line.
func (s *Server) logRefusal(c *conn, p *protocol.ConnectParams, e *protocol.Error) {
	if !s.refusals.Allow() {
		s.unlogged.Add(1)
		return
	}
	c.log.Info("connect refused", "client", p.Client.ID, "code", e.Code, "reason", e.Details["code"], "notLogged", s.unlogged.Swap(0))
}

// refuse answers the connect and closes with the code that clients expect.
func (c *conn) refuse(id string, e *protocol.Error) {
	c.answer(id, nil, e)
	code, reason := websocket.StatusPolicyViolation, e.Message
	switch {
	case e.Details["code"] == "PROTOCOL_MISMATCH":
		code = websocket.StatusProtocolError
	case e.Code == protocol.CodeUnavailable:
		code = websocket.StatusTryAgainLater
	}
	if id, ok := e.Details["requestId"].(string); ok {
		reason += " (requestId: " + id + ")"
	}
	c.end(code, reason, false)
}

// checkConnect checks what does not need to know who asks.
func checkConnect(p *protocol.ConnectParams) *protocol.Error {
	if e := checkConnectSizes(p); e != nil {
		return e
	}
	role := p.RoleOrDefault()
	if role != protocol.RoleOperator && role != protocol.RoleNode {
		return protocol.Invalid("invalid role")
	}
	lowest := protocol.Version
	if p.Client.Mode == "probe" || role == protocol.RoleNode && p.Client.Mode == "node" {
		lowest = minimumProbeProtocol
	}
	if p.MinProtocol > protocol.Version || p.MaxProtocol < lowest || p.MinProtocol > p.MaxProtocol {
		return &protocol.Error{Code: protocol.CodeInvalidRequest, Message: "protocol mismatch", Details: map[string]any{
			"code": "PROTOCOL_MISMATCH", "clientMinProtocol": p.MinProtocol, "clientMaxProtocol": p.MaxProtocol,
			"expectedProtocol": protocol.Version, "minimumProbeProtocol": minimumProbeProtocol}}
	}
	return nil
}

// checkConnectSizes keeps what we store and show to others small.
func checkConnectSizes(p *protocol.ConnectParams) *protocol.Error {
	const longest, most = 256, 128
	if p.Client.ID == "" {
		return protocol.MissingParam(protocol.MethodConnect, "client")
	}
	c := &p.Client
	for _, s := range []string{c.ID, c.Mode, c.Version, c.Platform, c.DisplayName, c.DeviceFamily, c.ModelIdentifier, c.InstanceID,
		c.TimeZone} {
		if len(s) > longest {
			return protocol.InvalidParams(protocol.MethodConnect, "client has a text longer than %d bytes", longest)
		}
	}
	if len(p.Scopes) > most || len(p.Caps) > most || len(p.Commands) > 2*most || len(p.Permissions) > most {
		return protocol.InvalidParams(protocol.MethodConnect, "more than %d scopes, caps or permissions, or twice as many commands", most)
	}
	for _, s := range p.Commands {
		if len(s) > longest {
			return protocol.InvalidParams(protocol.MethodConnect, "a command is longer than %d bytes", longest)
		}
	}
	for s := range p.Permissions {
		if len(s) > longest {
			return protocol.InvalidParams(protocol.MethodConnect, "a permission is longer than %d bytes", longest)
		}
	}
	for _, s := range p.Scopes {
		if len(s) > longest {
			return protocol.InvalidParams(protocol.MethodConnect, "a scope is longer than %d bytes", longest)
		}
	}
	for _, s := range p.Caps {
		if len(s) > longest {
			return protocol.InvalidParams(protocol.MethodConnect, "a cap is longer than %d bytes", longest)
		}
	}
	return nil
}

// welcome joins the connection to the others and queues hello. From then on
// it sees every event.
func (c *conn) welcome(ctx context.Context, id string, p *protocol.ConnectParams) bool {
	c.caller = &Caller{ConnID: c.id, Client: p.Client, Role: c.grant.Role, Scopes: c.grant.Scopes,
		Caps: p.Caps, DeviceID: c.grant.DeviceID, Local: c.local, conn: c,
		Commands: p.Commands, Permissions: p.Permissions, Peer: c.peer, Access: c.grant.Access}
	c.out.slim = slices.Contains(p.Caps, protocol.CapSlimDeltas)
	c.ws.SetReadLimit(protocol.MaxPayload)
	c.granted <- c.grant.Lease
	snap := c.s.snapshot(ctx)
	hello := func(presence []protocol.PresenceEntry, version protocol.StateVersion) []byte {
		snap.Presence, snap.StateVersion = presence, version
		return c.frame(id, c.hello(snap), nil)
	}
	if !c.s.join(c, hello) {
		c.refuse(id, protocol.Unavailable(500, "gateway stopping; retry shortly"))
		return false
	}
	for _, w := range c.s.watchers {
		w.Joined(c.caller)
	}
	return true
}

func (c *conn) hello(snap protocol.Snapshot) *protocol.HelloOK {
	names := make([]string, 0, len(c.s.methods))
	for _, m := range protocol.Methods() {
		if _, ok := c.s.methods[m.Name]; ok {
			names = append(names, m.Name)
		}
	}
	if snap.AuthMode == "" {
		snap.AuthMode = "token"
	}
	var pins []string
	if r := c.s.remote; r != nil && r.Pins != nil && !c.local && c.grant.DeviceID != "" {
		pins = r.Pins()
	}
	return &protocol.HelloOK{
		Type: "hello-ok", Protocol: protocol.Version,
		Server: protocol.ServerInfo{Version: c.s.version, ConnID: c.id, BootID: c.s.bootID, ControlUIBuildSource: "configured"},
		Features: protocol.Features{Methods: names, Events: protocol.Events(),
			Capabilities: []string{protocol.GatewayCapModelCatalog, protocol.CapSlimDeltas, protocol.CapThoughts}},
		Snapshot: snap,
		Auth: protocol.HelloAuth{Role: c.grant.Role, Scopes: c.grant.Scopes, Method: c.grant.Method,
			DeviceToken: c.grant.DeviceToken, IssuedAtMs: c.grant.IssuedAtMs, DeviceTokens: c.grant.Also, Pins: pins},
		Policy: protocol.HelloPolicy{MaxPayload: protocol.MaxPayload, MaxBufferedBytes: protocol.MaxBuffered,
			TickIntervalMs: int(c.s.limits.Tick.Milliseconds())},
	}
}
