package nodes

import (
	"context"
	"maps"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/node"
	"github.com/hearth-assistant/hearth/gateway/node/policy"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

func (f *Nodes) nodeList(context.Context, method.None) (protocol.NodeList, error) {
	out := protocol.NodeList{TS: f.o.Now().UnixMilli(), Nodes: []protocol.Node{}}
	for _, i := range f.nodes.List() {
		out.Nodes = append(out.Nodes, nodeRow(i))
	}
	return out, nil
}

func (f *Nodes) nodeDescribe(_ context.Context, p protocol.NodeIDParams) (protocol.NodeDescription, error) {
	i, ok := f.nodes.Get(p.NodeID)
	if !ok {
		return protocol.NodeDescription{}, nodeError(node.ErrUnknown)
	}
	return protocol.NodeDescription{TS: f.o.Now().UnixMilli(), Node: nodeRow(i)}, nil
}

// nodeRow is a node on the wire.
func nodeRow(i node.Info) protocol.Node {
	a := i.Row.About
	n := protocol.Node{
		NodeID: i.Row.ID, DisplayName: i.Row.DisplayName(), Platform: a.Platform, Version: a.Version, ClientID: a.ClientID,
		ClientMode:   a.ClientMode,
		DeviceFamily: a.DeviceFamily, ModelIdentifier: a.ModelIdentifier, Caps: filled(i.Caps), Commands: i.Commands,
		Permissions: i.Declared.Permissions,
		Paired:      i.Row.ApprovedAtMs != 0, Connected: i.Connected, ApprovalState: "approved", LastSeenAtMs: i.Row.LastSeenAtMs,
		LastSeenReason: i.Row.LastSeenReason, ApprovedAtMs: i.Row.ApprovedAtMs, HostStats: i.Row.Stats, Refused: i.Refused,
	}
	if i.Connected {
		n.ConnectedAtMs, n.RemoteIP = i.Row.ConnectedAtMs, i.Peer.String()
	} else {
		n.Permissions = i.Row.Approved.Permissions
	}
	if i.Row.ApprovedAtMs == 0 || i.Request != nil {
		n.ApprovalState = "pending-approval"
	}
	if i.Request != nil {
		n.PendingRequestID, n.PendingDeclaredCommands, n.PendingDeclaredCaps = i.Request.ID, i.Request.Declared.Commands, i.Request.Declared.Caps
	}
	return n
}

func filled(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func (f *Nodes) nodeRequest(q node.Request, row node.Row) protocol.NodeRequest {
	a := row.About
	return protocol.NodeRequest{
		RequestID: q.ID, NodeID: q.NodeID, ClientID: a.ClientID, ClientMode: a.ClientMode, DisplayName: row.DisplayName(), Platform: a.Platform,
		Version: a.Version, DeviceFamily: a.DeviceFamily, ModelIdentifier: a.ModelIdentifier, Caps: q.Declared.Caps,
		Commands:    q.Declared.Commands,
		Permissions: q.Declared.Permissions, RequiredApproveScopes: approveScopes(q), Silent: q.Silent, TS: q.At.UnixMilli(), New: q.New,
	}
}

// approveScopes is what a person needs to approve a request.
func approveScopes(q node.Request) []protocol.Scope {
	switch {
	case q.Hosts():
		return []protocol.Scope{protocol.ScopePairing, protocol.ScopeWrite, protocol.ScopeAdmin}
	case len(q.Declared.Commands) > 0:
		return []protocol.Scope{protocol.ScopePairing, protocol.ScopeWrite}
	}
	return []protocol.Scope{protocol.ScopePairing}
}

func (f *Nodes) nodePairList(context.Context, method.None) (protocol.NodePairs, error) {
	out := protocol.NodePairs{Pending: []protocol.NodeRequest{}, Paired: []protocol.PairedNode{}}
	for _, q := range f.nodes.Requests() {
		if i, ok := f.nodes.Get(q.NodeID); ok {
			out.Pending = append(out.Pending, f.nodeRequest(q, i.Row))
		}
	}
	for _, i := range f.nodes.List() {
		if i.Row.ApprovedAtMs != 0 {
			out.Paired = append(out.Paired, pairedNode(i.Row))
		}
	}
	return out, nil
}

func pairedNode(r node.Row) protocol.PairedNode {
	a := r.About
	return protocol.PairedNode{
		NodeID: r.ID, ClientID: a.ClientID, ClientMode: a.ClientMode, DisplayName: r.DisplayName(), Platform: a.Platform, Version: a.Version,
		DeviceFamily: a.DeviceFamily, ModelIdentifier: a.ModelIdentifier, Caps: filled(r.Approved.Caps), Commands: filled(r.Approved.Commands),
		Permissions: maps.Clone(r.Approved.Permissions), CreatedAtMs: r.CreatedAtMs, ApprovedAtMs: r.ApprovedAtMs,
		LastConnectedAtMs:    r.ConnectedAtMs,
		LastDisconnectedAtMs: r.LeftAtMs, LastSeenAtMs: r.LastSeenAtMs, LastSeenReason: r.LastSeenReason, LastHostStats: r.Stats,
	}
}

func (f *Nodes) nodeApprove(ctx context.Context, c *server.Caller, p protocol.NodeRequestParams) (protocol.NodeApproved, error) {
	q, _, err := f.nodes.Request(p.RequestID)
	if err != nil {
		return protocol.NodeApproved{}, nodeError(err)
	}
	for _, need := range approveScopes(q) {
		if !protocol.Allows(c.Scopes, need) {
			return protocol.NodeApproved{}, protocol.MissingScope(need)
		}
	}
	row, err := f.nodes.Decide(ctx, p.RequestID, true, method.CallerName(c))
	if err != nil {
		return protocol.NodeApproved{}, nodeError(err)
	}
	return protocol.NodeApproved{RequestID: p.RequestID, Node: pairedNode(row)}, nil
}

func (f *Nodes) nodeReject(ctx context.Context, c *server.Caller, p protocol.NodeRequestParams) (protocol.NodeRejected, error) {
	row, err := f.nodes.Decide(ctx, p.RequestID, false, method.CallerName(c))
	return protocol.NodeRejected{RequestID: p.RequestID, NodeID: row.ID}, nodeError(err)
}

func (f *Nodes) nodeRename(ctx context.Context, c *server.Caller, p protocol.NodeRenameParams) (protocol.NodeRenamed, error) {
	row, err := f.nodes.Rename(ctx, p.NodeID, p.DisplayName, method.CallerName(c))
	return protocol.NodeRenamed{NodeID: p.NodeID, DisplayName: row.DisplayName()}, nodeError(err)
}

// nodeRemove forgets what a node was approved for. A device that is nothing else
// is removed as well; another one may ask again.
func (f *Nodes) nodeRemove(ctx context.Context, c *server.Caller, p protocol.NodeIDParams) (protocol.NodeRemoved, error) {
	if err := f.nodes.Remove(ctx, p.NodeID, method.CallerName(c)); err != nil {
		return protocol.NodeRemoved{}, nodeError(err)
	}
	for _, d := range f.o.Pairing.Devices() {
		if d.ID == p.NodeID && len(d.Roles) == 1 && d.Roles[0].Role == protocol.RoleNode {
			if err := f.o.Pairing.Revoke(ctx, d.ID); err != nil {
				return protocol.NodeRemoved{}, err
			}
		}
	}
	return protocol.NodeRemoved{NodeID: p.NodeID, Removed: true}, nil
}

func (f *Nodes) nodeEnqueue(_ context.Context, p protocol.NodeEnqueueParams) (protocol.NodeEnqueued, error) {
	out, err := f.nodes.Enqueue(p)
	if err != nil && !method.ErrorIs(err, node.ErrUnknown) {
		return out, protocol.InvalidParams(protocol.MethodNodePendingEnqueue, "%v", err)
	}
	return out, nodeError(err)
}

// nodeInvoke is a person's own call. What runs programs takes the way of the
// approvals; what decides about them on the node cannot be called at all.
func (f *Nodes) nodeInvoke(ctx context.Context, c *server.Caller, p protocol.NodeInvokeParams) (protocol.NodeInvokeResult, error) {
	var none protocol.NodeInvokeResult
	for _, f := range [][2]string{{"nodeId", p.NodeID}, {"command", p.Command}, {"idempotencyKey", p.IdempotencyKey}} {
		if f[1] == "" {
			return none, protocol.MissingParam(protocol.MethodNodeInvoke, f[0])
		}
	}
	if policy.Reserved(p.Command) {
		return none, (&protocol.Error{Code: protocol.CodeForbidden, Message: "node command not allowed: " + p.Command + " decides about " +
			"approvals and cannot be called this way"}).With("command", p.Command)
	}
	if policy.Hosts(p.Command) && !policy.OnlyLooks(p.Command) && !protocol.Allows(c.Scopes, protocol.ScopeAdmin) {
		return none, protocol.MissingScope(protocol.ScopeAdmin)
	}
	want := node.Call{NodeID: p.NodeID, Command: p.Command, Params: p.Params, Timeout: method.Duration(p.TimeoutMs), Key: p.IdempotencyKey}
	var res node.Result
	var err error
	if p.Command == commandRun {
		res, err = f.invokeRun(ctx, c, want, p.SessionKey)
	} else {
		res, err = f.nodes.Invoke(ctx, want)
	}
	if err != nil {
		return none, nodeError(err)
	}
	out := protocol.NodeInvokeResult{OK: true, NodeID: p.NodeID, Command: p.Command, Payload: res.Payload}
	if res.Text {
		text := string(res.Payload)
		out.PayloadJSON = &text
	}
	return out, nil
}

func (f *Nodes) nodeResult(_ context.Context, c *server.Caller, p protocol.NodeResultParams) (protocol.NodeAck, error) {
	if p.NodeID != c.DeviceID {
		return protocol.NodeAck{}, protocol.Invalid("nodeId mismatch")
	}
	return protocol.NodeAck{OK: true, Ignored: !f.nodes.Answer(c.DeviceID, c, p)}, nil
}

func (f *Nodes) nodeProgress(_ context.Context, c *server.Caller, p protocol.NodeProgressParams) (protocol.NodeAck, error) {
	if p.NodeID != c.DeviceID {
		return protocol.NodeAck{}, protocol.Invalid("nodeId mismatch")
	}
	return protocol.NodeAck{OK: true, Ignored: !f.nodes.Progress(c.DeviceID, c, p)}, nil
}

// offered reports whether a node can be asked for a command now.
func offered(i node.Info, command string) bool {
	return i.Connected && slices.Contains(i.Commands, command)
}
