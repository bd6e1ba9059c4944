// Package nodes is the feature of devices that do things for the assistant: the
// methods node.*, the tools nodes and canvas, and commands on other machines.
// Which nodes there are, what they may do and how a call reaches one is package
// gateway/node's.
package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/hearth-assistant/hearth/gateway/uuid"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/node"
	"github.com/hearth-assistant/hearth/gateway/node/policy"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
	nodetool "github.com/hearth-assistant/hearth/gateway/tool/node"
	toolpolicy "github.com/hearth-assistant/hearth/gateway/tool/policy"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Store    *store.DB
	Settings *config.File
	Audit    *audit.Log
	Server   *server.Server // whose connections are watched
	Pairing  *pairing.Registry
	Gate     *gate.Gate
	Direct   *gate.Direct
	Pictures *media.Store
	Secrets  *redact.Redactor
	Work     *background.Group
	Now      func() time.Time
	Log      *slog.Logger
}

// Nodes is the feature.
type Nodes struct {
	o     Options
	nodes *node.Registry
}

// Open reads the nodes of the store and watches who connects.
func Open(ctx context.Context, o Options) (*Nodes, error) {
	f := &Nodes{o: o}
	var err error
	f.nodes, err = node.Open(ctx, node.Options{
		Store: store.NewSmallTable(o.Store, "nodes", func(r node.Row) string { return r.ID }), Policy: f.policy, Changed: f.changed,
		NewID: uuid.New, Now: o.Now, Logger: o.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("read the devices that do things for the assistant: %w", err)
	}
	o.Gate.AddRule(f.rule)
	o.Server.Watch(f)
	o.Pairing.WatchRemoved(f.deviceRemoved)
	return f, nil
}

// Feature is what it adds.
func (f *Nodes) Feature() host.Feature {
	return host.Feature{Methods: f.methods(), Tools: []tool.Tool{&nodetool.Nodes{Devices: f}, &nodetool.Canvas{Devices: f}}}
}

func (f *Nodes) policy() policy.Settings { return policy.Section.Of(f.o.Settings.Snapshot().Config) }

// rule refuses the tools of nodes while there is none.
func (f *Nodes) rule(name string, _ tool.Scope) string {
	if group := toolpolicy.GroupOf(name); (group == "group:nodes" || group == "group:ui") && f.nodes.Empty() {
		return "no device was approved as a node yet; docs/nodes.md says how one is added"
	}
	return ""
}

// methods are about devices that do things for the assistant: what people
// call, then what the devices call.
func (f *Nodes) methods() []method.Method {
	return []method.Method{
		method.Plain(protocol.MethodNodeList, f.nodeList),
		method.Plain(protocol.MethodNodeDescribe, f.nodeDescribe),
		method.Called(protocol.MethodNodeRename, f.nodeRename),
		method.Called(protocol.MethodNodeInvoke, f.nodeInvoke),
		method.Plain(protocol.MethodNodePairList, f.nodePairList),
		method.Called(protocol.MethodNodePairApprove, f.nodeApprove),
		method.Called(protocol.MethodNodePairReject, f.nodeReject),
		method.Called(protocol.MethodNodePairRemove, f.nodeRemove),
		method.Plain(protocol.MethodNodePendingEnqueue, f.nodeEnqueue),

		method.Called(protocol.MethodNodeInvokeResult, f.nodeResult),
		method.Called(protocol.MethodNodeInvokeProgress, f.nodeProgress),
		method.Called(protocol.MethodNodeEvent, func(_ context.Context, c *server.Caller, p protocol.NodeEventParams) (protocol.NodeEventResult,
			error) {
			return f.nodes.Event(c.DeviceID, c, p), nil
		}),
		method.Called(protocol.MethodNodePendingPull, func(_ context.Context, c *server.Caller, _ method.None) (protocol.NodePull, error) {
			return f.nodes.Pull(c.DeviceID), nil
		}),
		method.Called(protocol.MethodNodePendingAck, func(_ context.Context, c *server.Caller,
			p protocol.NodePullAckParams) (protocol.NodePullAck, error) {
			return f.nodes.Ack(c.DeviceID, p.IDs), nil
		}),
		method.Called(protocol.MethodNodePendingDrain, func(_ context.Context, c *server.Caller,
			p protocol.NodeDrainParams) (protocol.NodeDrained, error) {
			return f.nodes.Drain(c.DeviceID, p.MaxItems), nil
		}),
		// What other node hosts publish is taken note of and offered to nobody.
		method.Called(protocol.MethodNodeSkillsUpdate, func(_ context.Context, c *server.Caller,
			_ protocol.NodeSkillsParams) (protocol.NodeSkills, error) {
			return protocol.NodeSkills{NodeID: c.DeviceID, Skills: []string{}}, nil
		}),
		method.Called(protocol.MethodNodeToolsUpdate, func(_ context.Context, c *server.Caller, _ protocol.NodeToolsParams) (protocol.NodeTools,
			error) {
			return protocol.NodeTools{NodeID: c.DeviceID, Tools: []string{}}, nil
		}),
		method.Called(protocol.MethodNodeRunnersUpdate, func(_ context.Context, c *server.Caller, _ json.RawMessage) (protocol.NodeRunners,
			error) {
			return protocol.NodeRunners{NodeID: c.DeviceID}, nil
		}),
	}
}
