// Package approvals is the feature that asks people before Hearth acts, and takes
// their decisions: the methods exec.approval.*, exec.approvals.*, approval.* and
// hearth.approvals.*, the command /approve, and how news of requests reach the
// page, the audit log and the owner's network. What is asked, the rules and the
// waiting are package gateway/approval's; without this feature nobody can be
// reached, so everything that would be asked is denied.
package approvals

import (
	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/owner"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// Clients are the connected clients.
type Clients interface {
	// Hears reports whether one of them would get an event.
	Hears(event string) bool
	Broadcast(server.Broadcast)
}

// Options are the parts that the feature needs; all of them.
type Options struct {
	Broker   *approval.Broker
	Settings *config.File
	Agents   *agents.Directory
	Audit    *audit.Log
	Clients  Clients
	Owner    *owner.Line
}

type feature struct{ o Options }

// New makes the feature, which observes the broker from now on.
func New(o Options) host.Feature {
	f := &feature{o}
	o.Broker.Observe(f)
	return host.Feature{
		Methods: []method.Method{
			method.Called(protocol.MethodExecApprovalRequest, f.approvalRequest),
			method.Plain(protocol.MethodExecApprovalWait, f.approvalWait),
			method.Called(protocol.MethodExecApprovalResolve, f.approvalResolve),
			method.Plain(protocol.MethodExecApprovalList, f.approvalList),
			method.Plain(protocol.MethodExecApprovalGet, f.approvalGet),
			method.Plain(protocol.MethodApprovalGet, f.anyApprovalGet),
			method.Called(protocol.MethodApprovalResolve, f.anyApprovalResolve),
			method.Plain(protocol.MethodApprovalHistory, f.anyApprovalHistory),
			method.Plain(protocol.MethodPluginApprovalList, f.noApprovals),
			method.Plain(protocol.MethodOpenClawApprovalList, f.noApprovals),
			method.Plain(protocol.MethodExecApprovalsGet, f.execApprovalsGet),
			method.Called(protocol.MethodExecApprovalsSet, f.execApprovalsSet),
			method.Plain(protocol.MethodApprovalsRules, f.approvalRules),
			method.Called(protocol.MethodApprovalsRemoveRule, f.approvalRemoveRule),
		},
		Commands: []command.Command{{
			Spec: command.Spec{
				Name: "approve", Args: "[id] [once|session|here|program|deny|never]", Category: "tools",
				Description: "Decide about something that waits for your yes",
			},
			Do: f.cmdApprove,
		}},
		Run: f.takeUp,
	}
}
