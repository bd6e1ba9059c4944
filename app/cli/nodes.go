package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

func newNodes(a *app) *cobra.Command {
	list := func(ctx context.Context, _ []string) error { return listNodes(ctx, a) }
	c := group("nodes", "See what other devices do for your assistant, and decide what they may",
		&cobra.Command{Use: "list", Short: "List the nodes and what waits for you", Args: cobra.NoArgs, RunE: a.run(list)},
		&cobra.Command{Use: "describe NODE", Short: "Show one: what it can do, and what not and why", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return describeNode(ctx, a, args[0]) })},
		decideNode(a, "approve", "Let a node do what it asks for", protocol.MethodNodePairApprove, "It may do that now."),
		decideNode(a, "reject", "Say no to what a node asks for", protocol.MethodNodePairReject, "It may not. It stays connected and does "+
			"what you allowed before."),
		&cobra.Command{Use: "remove NODE", Short: "Forget what a node was approved for and cut it off", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return removeNode(ctx, a, args[0]) })},
		&cobra.Command{Use: "rename NODE NAME", Short: "Call a node something else", Args: cobra.ExactArgs(2),
			RunE: a.run(func(ctx context.Context, args []string) error { return renameNode(ctx, a, args[0], args[1]) })},
		newNodeInvoke(a),
	)
	c.RunE = a.run(list)
	return c
}

func newNodeInvoke(a *app) *cobra.Command {
	var params string
	var timeout time.Duration
	c := &cobra.Command{
		Use: "invoke NODE COMMAND", Short: "Call a command of a node and print its answer", Args: cobra.ExactArgs(2),
		Long: `Call a command of a node and print its answer, JSON.

  hearth nodes invoke phone location.get
  hearth nodes invoke attic system.run --params '{"command":["uptime"]}'

What runs programs (system.run) is shown and decided like every other command:
with "hearth approvals", in the page, or by the icon.`,
		RunE: a.run(func(ctx context.Context, args []string) error {
			return invokeNode(ctx, a, args[0], args[1], params, timeout)
		}),
	}
	c.Flags().StringVar(&params, "params", "", "parameters, a JSON object")
	c.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "how long the node may take")
	return c
}

func listNodes(ctx context.Context, a *app) error {
	var res protocol.NodeList
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodNodeList, nil, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if len(res.Nodes) == 0 {
		return a.out().print("No device does things for your assistant yet. `hearth qr --node` makes a code for one; docs/nodes.md says more.\n")
	}
	var rows [][]string
	waiting := false
	for _, n := range res.Nodes {
		now := "away"
		if n.Connected {
			now = "connected"
		}
		if n.PendingRequestID != "" {
			waiting, now = true, now+", asks"
		}
		rows = append(rows, []string{n.NodeID[:min(12, len(n.NodeID))], now, n.Platform, stamp(n.LastSeenAtMs),
			text.Ellipsis(line(strings.Join(n.Commands, " ")), 60), nodeName(n)})
	}
	if err := a.out().table([]string{"ID", "NOW", "KIND", "SEEN", "MAY", "NAME"}, rows); err != nil || !waiting {
		return err
	}
	return a.out().print("\n`hearth nodes describe NODE` shows what a node asks for, `hearth nodes approve NODE` lets it.\n")
}

func nodeName(n protocol.Node) string { return text.Ellipsis(line(n.DisplayName), 40) }

// withNode finds a node by its name, its id, or the beginning of one.
func withNode(ctx context.Context, a *app, who string, scopes []protocol.Scope, do func(*client.Client, protocol.Node) error) error {
	c, err := a.dial(ctx, client.Options{Scopes: append(scopes, protocol.ScopeRead)})
	if err != nil {
		return err
	}
	defer c.Close()
	var res protocol.NodeList
	if err := c.Call(ctx, protocol.MethodNodeList, nil, &res); err != nil {
		return err
	}
	var hits []protocol.Node
	for _, n := range res.Nodes {
		if n.NodeID == who || strings.EqualFold(n.DisplayName, who) || len(who) >= 4 && strings.HasPrefix(n.NodeID, strings.ToLower(who)) {
			hits = append(hits, n)
		}
	}
	if len(hits) != 1 {
		if len(hits) == 0 {
			return &failure{exitFailure, "no node has this name or an id that begins with " + line(who), "`hearth nodes` lists them"}
		}
		return &failure{exitFailure, count(len(hits), "node") + " have this name or an id that begins with " + line(who),
			"`hearth nodes` lists them"}
	}
	return do(c, hits[0])
}

func describeNode(ctx context.Context, a *app, who string) error {
	return withNode(ctx, a, who, nil, func(_ *client.Client, n protocol.Node) error {
		if a.asJSON {
			return a.out().json(n)
		}
		rows := [][]string{
			{"Name", nodeName(n)}, {"Id", n.NodeID}, {"Kind", line(strings.TrimSpace(n.Platform + " " + n.DeviceFamily + " " + n.ModelIdentifier))},
			{"Program", line(strings.TrimSpace(n.ClientID + " " + n.Version))}, {"Seen", stamp(n.LastSeenAtMs)},
		}
		for _, command := range n.Commands {
			rows = append(rows, []string{"May", line(command)})
		}
		for _, command := range n.PendingDeclaredCommands {
			if !slices.Contains(n.Commands, command) {
				rows = append(rows, []string{"Asks", line(command)})
			}
		}
		refused := make([]string, 0, len(n.Refused))
		for command := range n.Refused {
			refused = append(refused, command)
		}
		slices.Sort(refused)
		for _, command := range refused {
			rows = append(rows, []string{"May not", line(command + ": " + n.Refused[command])})
		}
		return a.out().table([]string{"", ""}, rows)
	})
}

// decideNode decides about what a node asks for; the node stands for its one
// request.
func decideNode(a *app, verb, short, method, words string) *cobra.Command {
	return &cobra.Command{Use: verb + " NODE", Short: short, Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			scopes := []protocol.Scope{protocol.ScopePairing, protocol.ScopeWrite, protocol.ScopeAdmin}
			return withNode(ctx, a, args[0], scopes, func(c *client.Client, n protocol.Node) error {
				if n.PendingRequestID == "" {
					return &failure{exitFailure, nodeName(n) + " asks for nothing now",
						"`hearth nodes describe " + n.NodeID[:min(8, len(n.NodeID))] + "` shows what it may do"}
				}
				var done any
				if err := c.Call(ctx, method, protocol.NodeRequestParams{RequestID: n.PendingRequestID}, &done); err != nil {
					return err
				}
				return a.done(done, nodeName(n)+": "+line(strings.Join(n.PendingDeclaredCommands, " "))+"\n"+words)
			})
		})}
}

func removeNode(ctx context.Context, a *app, who string) error {
	return withNode(ctx, a, who, []protocol.Scope{protocol.ScopePairing}, func(c *client.Client, n protocol.Node) error {
		var done protocol.NodeRemoved
		if err := c.Call(ctx, protocol.MethodNodePairRemove, protocol.NodeIDParams{NodeID: n.NodeID}, &done); err != nil {
			return err
		}
		return a.done(done, "Removed: "+nodeName(n)+". It is not paired any more and may do nothing; `hearth qr --node` pairs it again.")
	})
}

func renameNode(ctx context.Context, a *app, who, name string) error {
	return withNode(ctx, a, who, []protocol.Scope{protocol.ScopePairing}, func(c *client.Client, n protocol.Node) error {
		var done protocol.NodeRenamed
		if err := c.Call(ctx, protocol.MethodNodeRename, protocol.NodeRenameParams{NodeID: n.NodeID, DisplayName: name}, &done); err != nil {
			return err
		}
		return a.done(done, "It is called "+line(done.DisplayName)+" now.")
	})
}

func invokeNode(ctx context.Context, a *app, who, command, params string, timeout time.Duration) error {
	if params != "" && !json.Valid([]byte(params)) {
		return &failure{exitUsage, "--params is not JSON", `give an object, for example --params '{"title":"Hello"}'`}
	}
	return withNode(ctx, a, who, []protocol.Scope{protocol.ScopeWrite, protocol.ScopeAdmin}, func(c *client.Client, n protocol.Node) error {
		p := protocol.NodeInvokeParams{
			NodeID: n.NodeID, Command: command, Params: json.RawMessage(params), TimeoutMs: timeout.Milliseconds(),
			IdempotencyKey: fmt.Sprintf("cli-%d", time.Now().UnixNano()),
		}
		var res protocol.NodeInvokeResult
		if err := c.Call(ctx, protocol.MethodNodeInvoke, p, &res); err != nil {
			return whatIsKnown(err)
		}
		if a.asJSON {
			return a.out().json(res)
		}
		return a.out().json(res.Payload)
	})
}

// whatIsKnown adds to the end of a call that its node went away: nothing is sent
// again, for nobody knows how far it was.
func whatIsKnown(err error) error {
	var refusal *protocol.Error
	if !errors.As(err, &refusal) {
		return err
	}
	if n, _ := refusal.Details["nodeError"].(map[string]any); n["code"] == "DISCONNECTED" {
		return &failure{exitFailure, "the node went away during the call; it may have been done", "look there before you ask again; `hearth " +
			"nodes` shows when it is back"}
	}
	return err
}
