package protocol

import "encoding/json"

// Node is a device that does things for the assistant: a row of node.list.
type Node struct {
	NodeID          string          `json:"nodeId"`
	DisplayName     string          `json:"displayName,omitempty"`
	Platform        string          `json:"platform"`
	Version         string          `json:"version"`
	ClientID        string          `json:"clientId"`
	ClientMode      string          `json:"clientMode"`
	DeviceFamily    string          `json:"deviceFamily,omitempty"`
	ModelIdentifier string          `json:"modelIdentifier,omitempty"`
	RemoteIP        string          `json:"remoteIp,omitempty"`
	Caps            []string        `json:"caps"`
	Commands        []string        `json:"commands"` // those that may be called now
	Permissions     map[string]bool `json:"permissions,omitempty"`
	Paired          bool            `json:"paired"`
	Connected       bool            `json:"connected"`
	ApprovalState   string          `json:"approvalState"` // approved, pending-approval
	ConnectedAtMs   int64           `json:"connectedAtMs,omitempty"`
	LastSeenAtMs    int64           `json:"lastSeenAtMs,omitempty"`
	LastSeenReason  string          `json:"lastSeenReason,omitempty"`
	ApprovedAtMs    int64           `json:"approvedAtMs,omitempty"`
	// What it asks for beyond what it may.
	PendingRequestID        string          `json:"pendingRequestId,omitempty"`
	PendingDeclaredCaps     []string        `json:"pendingDeclaredCaps,omitempty"`
	PendingDeclaredCommands []string        `json:"pendingDeclaredCommands,omitempty"`
	HostStats               json.RawMessage `json:"hostStats,omitempty"`
	// Refused is ours: commands that it offers and that may not be called, and why.
	Refused map[string]string `json:"hearthRefused,omitempty"`
}

// NodeList is the result of node.list.
type NodeList struct {
	TS    int64  `json:"ts"`
	Nodes []Node `json:"nodes"`
}

// NodeDescription is the result of node.describe.
type NodeDescription struct {
	TS int64 `json:"ts"`
	Node
}

// NodeIDParams name a node.
type NodeIDParams struct {
	NodeID string `json:"nodeId"`
}

// NodeRenameParams give it a name for people.
type NodeRenameParams struct {
	NodeID      string `json:"nodeId"`
	DisplayName string `json:"displayName"`
}

// NodeRenamed is the result of that.
type NodeRenamed struct {
	NodeID      string `json:"nodeId"`
	DisplayName string `json:"displayName"`
}

// NodeRequest asks a person to let a node do what it says it can.
type NodeRequest struct {
	RequestID             string          `json:"requestId"`
	NodeID                string          `json:"nodeId"`
	ClientID              string          `json:"clientId"`
	ClientMode            string          `json:"clientMode"`
	DisplayName           string          `json:"displayName,omitempty"`
	Platform              string          `json:"platform"`
	Version               string          `json:"version"`
	DeviceFamily          string          `json:"deviceFamily,omitempty"`
	ModelIdentifier       string          `json:"modelIdentifier,omitempty"`
	RemoteIP              string          `json:"remoteIp,omitempty"`
	Caps                  []string        `json:"caps"`
	Commands              []string        `json:"commands"`
	Permissions           map[string]bool `json:"permissions,omitempty"`
	RequiredApproveScopes []Scope         `json:"requiredApproveScopes"`
	Silent                bool            `json:"silent"`
	TS                    int64           `json:"ts"`
	// New is ours: the commands beyond those that were approved before.
	New []string `json:"hearthNew,omitempty"`
}

// PairedNode is a node that was approved.
type PairedNode struct {
	NodeID               string          `json:"nodeId"`
	ClientID             string          `json:"clientId"`
	ClientMode           string          `json:"clientMode"`
	DisplayName          string          `json:"displayName,omitempty"`
	Platform             string          `json:"platform"`
	Version              string          `json:"version"`
	DeviceFamily         string          `json:"deviceFamily,omitempty"`
	ModelIdentifier      string          `json:"modelIdentifier,omitempty"`
	Caps                 []string        `json:"caps"`
	Commands             []string        `json:"commands"`
	Permissions          map[string]bool `json:"permissions,omitempty"`
	CreatedAtMs          int64           `json:"createdAtMs"`
	ApprovedAtMs         int64           `json:"approvedAtMs"`
	LastConnectedAtMs    int64           `json:"lastConnectedAtMs,omitempty"`
	LastDisconnectedAtMs int64           `json:"lastDisconnectedAtMs,omitempty"`
	LastSeenAtMs         int64           `json:"lastSeenAtMs,omitempty"`
	LastSeenReason       string          `json:"lastSeenReason,omitempty"`
	LastHostStats        json.RawMessage `json:"lastHostStats,omitempty"`
}

// NodePairs is the result of node.pair.list.
type NodePairs struct {
	Pending []NodeRequest `json:"pending"`
	Paired  []PairedNode  `json:"paired"`
}

// NodeRequestParams name a request.
type NodeRequestParams struct {
	RequestID string `json:"requestId"`
}

// NodeApproved is the result of node.pair.approve.
type NodeApproved struct {
	RequestID string     `json:"requestId"`
	Node      PairedNode `json:"node"`
}

// NodeRejected is the result of node.pair.reject.
type NodeRejected struct {
	RequestID string `json:"requestId"`
	NodeID    string `json:"nodeId"`
}

// NodeRemoved is the result of node.pair.remove.
type NodeRemoved struct {
	NodeID  string `json:"nodeId"`
	Removed bool   `json:"removed"`
}

// NodePairResolved is the event that ends a request.
type NodePairResolved struct {
	RequestID string `json:"requestId"`
	NodeID    string `json:"nodeId"`
	Decision  string `json:"decision"` // approved, rejected
	TS        int64  `json:"ts"`
}

// NodePresence is the event that a node came, went, or changed.
type NodePresence struct {
	NodeID    string `json:"nodeId"`
	Connected bool   `json:"connected"`
	Reason    string `json:"reason"` // connect, disconnect, approved, removed, renamed, alive
	TS        int64  `json:"ts"`
}

// NodeHostStats is the event with what a node's machine has left.
type NodeHostStats struct {
	NodeID string          `json:"nodeId"`
	Stats  json.RawMessage `json:"hostStats"`
	TS     int64           `json:"ts"`
}

// NodeInvokeParams call a command of a node.
type NodeInvokeParams struct {
	NodeID         string          `json:"nodeId"`
	Command        string          `json:"command"`
	Params         json.RawMessage `json:"params,omitempty"`
	TimeoutMs      int64           `json:"timeoutMs,omitempty"`
	IdempotencyKey string          `json:"idempotencyKey"`
	SessionKey     string          `json:"sessionKey,omitempty"`
}

// NodeInvokeResult is what came of it.
type NodeInvokeResult struct {
	OK      bool            `json:"ok"`
	NodeID  string          `json:"nodeId"`
	Command string          `json:"command"`
	Payload json.RawMessage `json:"payload"`
	// PayloadJSON is the payload as the node wrote it, null when it sent a value.
	PayloadJSON *string `json:"payloadJSON"`
}

// NodeInvokeRequest is the event by which a node is asked.
type NodeInvokeRequest struct {
	ID             string  `json:"id"`
	NodeID         string  `json:"nodeId"`
	Command        string  `json:"command"`
	ParamsJSON     *string `json:"paramsJSON"`
	TimeoutMs      int64   `json:"timeoutMs"`
	IdempotencyKey string  `json:"idempotencyKey"`
}

// NodeInvokeCancel is the event that nobody waits for an answer any more.
type NodeInvokeCancel struct {
	InvokeID string `json:"invokeId"`
	NodeID   string `json:"nodeId"`
}

// NodeResultParams are a node's answer.
type NodeResultParams struct {
	ID          string          `json:"id"`
	NodeID      string          `json:"nodeId"`
	OK          bool            `json:"ok"`
	Payload     json.RawMessage `json:"payload,omitempty"`
	PayloadJSON *string         `json:"payloadJSON,omitempty"`
	Error       *NodeError      `json:"error,omitempty"`
}

// NodeError is why a node did not do it.
type NodeError struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// NodeProgressParams are a part of what a command prints.
type NodeProgressParams struct {
	InvokeID string `json:"invokeId"`
	NodeID   string `json:"nodeId"`
	Seq      int64  `json:"seq"`
	Chunk    string `json:"chunk"`
}

// NodeAck answers what a node tells. Ignored: nobody waits for it.
type NodeAck struct {
	OK      bool `json:"ok"`
	Ignored bool `json:"ignored,omitempty"`
}

// NodeEventParams are news of a node.
type NodeEventParams struct {
	Event       string          `json:"event"`
	Payload     json.RawMessage `json:"payload,omitempty"`
	PayloadJSON *string         `json:"payloadJSON,omitempty"`
}

// NodeEventResult says what became of them.
type NodeEventResult struct {
	OK      bool   `json:"ok"`
	Event   string `json:"event"`
	Handled bool   `json:"handled"`
	Reason  string `json:"reason,omitempty"`
}

// NodePull are the calls that wait for a node to wake up.
type NodePull struct {
	NodeID  string          `json:"nodeId"`
	Actions []NodePulledRow `json:"actions"`
}

// NodePulledRow is one of them.
type NodePulledRow struct {
	ID           string  `json:"id"`
	Command      string  `json:"command"`
	ParamsJSON   *string `json:"paramsJSON"`
	EnqueuedAtMs int64   `json:"enqueuedAtMs"`
}

// NodePullAckParams say which of them were taken.
type NodePullAckParams struct {
	IDs []string `json:"ids"`
}

// NodePullAck is the result.
type NodePullAck struct {
	NodeID    string   `json:"nodeId"`
	AckedIDs  []string `json:"ackedIds"`
	Remaining int      `json:"remainingCount"`
}

// NodeEnqueueParams leave a wish for a node that sleeps.
type NodeEnqueueParams struct {
	NodeID      string `json:"nodeId"`
	Type        string `json:"type"`               // status.request, location.request
	Priority    string `json:"priority,omitempty"` // normal, high
	ExpiresInMs int64  `json:"expiresInMs,omitempty"`
	Wake        *bool  `json:"wake,omitempty"`
}

// NodePendingItem is one wish.
type NodePendingItem struct {
	ID          string         `json:"id"`
	Type        string         `json:"type"`
	Priority    string         `json:"priority"`
	CreatedAtMs int64          `json:"createdAtMs"`
	ExpiresAtMs int64          `json:"expiresAtMs"`
	Payload     map[string]any `json:"payload,omitempty"`
}

// NodeEnqueued is the result of node.pending.enqueue.
type NodeEnqueued struct {
	NodeID        string          `json:"nodeId"`
	Revision      int64           `json:"revision"`
	Queued        NodePendingItem `json:"queued"`
	WakeTriggered bool            `json:"wakeTriggered"`
}

// NodeDrainParams take wishes.
type NodeDrainParams struct {
	MaxItems int `json:"maxItems,omitempty"`
}

// NodeDrained is the result.
type NodeDrained struct {
	NodeID   string            `json:"nodeId"`
	Revision int64             `json:"revision"`
	Items    []NodePendingItem `json:"items"`
	HasMore  bool              `json:"hasMore"`
}

// NodeSkillsParams and NodeToolsParams are what other node hosts publish. They
// are taken note of and not offered to the model.
type NodeSkillsParams struct {
	Skills []json.RawMessage `json:"skills"`
}

// NodeSkills is the result: none are used.
type NodeSkills struct {
	NodeID string   `json:"nodeId"`
	Skills []string `json:"skills"`
}

// NodeToolsParams are like NodeSkillsParams.
type NodeToolsParams struct {
	Tools []json.RawMessage `json:"tools"`
}

// NodeTools is the result: none are used.
type NodeTools struct {
	NodeID string   `json:"nodeId"`
	Tools  []string `json:"tools"`
}

// NodeRunners is the result of node.runnerInventory.update.
type NodeRunners struct {
	NodeID string `json:"nodeId"`
}
