package protocol

// Event names.
const (
	EventConnectChallenge = "connect.challenge"
	EventTick             = "tick"
	EventHealth           = "health"
	EventPresence         = "presence"
	EventShutdown         = "shutdown"
	EventChat             = "chat"
	EventAgent            = "agent"
	EventSessionsChanged  = "sessions.changed"
	EventSessionMessage   = "session.message"
	EventSessionTool      = "session.tool"
	EventConfigChanged    = "config.changed"
	EventSkillsChanged    = "skills.changed"

	EventExecApprovalRequested = "exec.approval.requested"
	EventExecApprovalResolved  = "exec.approval.resolved"
	EventPairRequested         = "device.pair.requested"
	EventPairResolved          = "device.pair.resolved"
	EventNodePairRequested     = "node.pair.requested"
	EventNodePairResolved      = "node.pair.resolved"
	EventNodePresence          = "node.presence"
	EventNodeHostStats         = "node.hostStats"
	// These two go to one node only.
	EventNodeInvokeRequest = "node.invoke.request"
	EventNodeInvokeCancel  = "node.invoke.cancel"

	// EventPause is ours: the switch of hearth.pause.set has changed.
	EventPause = "hearth.pause"
	// EventModelsPull is ours: how far a download is.
	EventModelsPull = "hearth.models.pull"
	// EventSetup is ours: the first steps have changed.
	EventSetup = "hearth.setup"
	// EventCodeOutput is ours: what a program of hearth.code.run says.
	EventCodeOutput = "hearth.code.output"
	// Schedules, and what became of a heartbeat.
	EventCron      = "cron"
	EventHeartbeat = "heartbeat"
	// Background work, in OpenClaw's shape and in ours.
	EventTask     = "task"
	EventTaskView = "hearth.task"
	// EventCronProposals is ours: what the assistant would do, if somebody says yes.
	EventCronProposals = "hearth.cron.proposals"
)

// eventScopes says who may see an event (protocol.md §6). An event without a
// row is sent to nobody.
var eventScopes = map[string]Scope{
	EventTick: ScopeNone, EventHealth: ScopeNone, EventShutdown: ScopeNone,
	EventPresence: ScopeRead, EventChat: ScopeRead, EventAgent: ScopeRead,
	EventSessionsChanged: ScopeRead, EventSessionMessage: ScopeRead, EventSessionTool: ScopeRead,
	EventConfigChanged: ScopeRead, EventSkillsChanged: ScopeRead, EventPause: ScopeRead, EventModelsPull: ScopeRead, EventSetup: ScopeRead,
	EventNodePairRequested: ScopePairing, EventNodePairResolved: ScopePairing, EventNodePresence: ScopeRead, EventNodeHostStats: ScopeRead,
	EventCodeOutput: ScopeAdmin, EventExecApprovalRequested: ScopeApprovals, EventExecApprovalResolved: ScopeApprovals,
	EventPairRequested: ScopePairing, EventPairResolved: ScopePairing, EventCron: ScopeRead, EventHeartbeat: ScopeRead,
	EventTask: ScopeRead, EventTaskView: ScopeRead, EventCronProposals: ScopeRead,
}

// EventScope returns the scope that an event needs; ok is false for unknown ones.
func EventScope(event string) (s Scope, ok bool) { s, ok = eventScopes[event]; return s, ok }

// Events returns the names that hello-ok advertises.
func Events() []string {
	return []string{EventConnectChallenge, EventTick, EventHealth, EventPresence, EventShutdown, EventChat,
		EventAgent, EventSessionsChanged, EventSessionMessage, EventSessionTool, EventConfigChanged, EventSkillsChanged,
		EventExecApprovalRequested, EventExecApprovalResolved, EventPairRequested, EventPairResolved, EventPause, EventModelsPull, EventSetup,
		EventCodeOutput,
		EventNodePairRequested, EventNodePairResolved, EventNodePresence, EventNodeHostStats, EventNodeInvokeRequest, EventNodeInvokeCancel,
		EventCron, EventHeartbeat, EventTask, EventTaskView, EventCronProposals}
}

// Client capabilities that change what we send.
const (
	CapToolEvents = "tool-events" // agent events of stream "tool"
	// CapSlimDeltas is ours: chat deltas carry deltaText, offset and end, but not
	// the cumulative message.
	CapSlimDeltas = "hearth.deltas"
	// CapThoughts is ours: agent events of stream "thinking", of the sessions that
	// are watched.
	CapThoughts = "hearth.thoughts"
)

// Gateway capability without which the 9.6 CLI's `models list` stops.
const GatewayCapModelCatalog = "published-model-catalog"
