package gateway

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/incident"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Failures of Hearth itself: whoever asked is answered, and the failure is kept
// where doctor and status find it. Nothing is dropped without a sign.

// recentFailures is how long a failure is told of.
const recentFailures = 7 * 24 * time.Hour

// broke keeps what panicked. It is called where that happened.
func (g *Gateway) broke(where string, panicked any) {
	g.incidents.Note(g.work.Context(), where, panicked)
}

func (g *Gateway) toolBroke(name string, panicked any) {
	g.log.Error("a tool panicked", "tool", name, "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
	g.broke("the tool "+name, panicked)
}

func (g *Gateway) messageBroke(_ context.Context, panicked any) {
	g.log.Error("handling a message panicked", "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
	g.broke("a message from a channel", panicked)
}

// failures: did Hearth itself fail lately, and is a message waiting for a decision?
func (c *checkup) failures() {
	list, err := c.g.incidents.Since(c.g.opts.Now().Add(-recentFailures))
	if err == nil && len(list) > 0 {
		last := list[len(list)-1]
		c.add("gateway", protocol.CheckWarn, fmt.Sprintf("Hearth itself failed %s in the last seven days, last in %s at %s: %s", times(len(list)), last.Where,
			c.g.clock.Words(last.At), last.What), "whoever asked was told; `hearth logs` has the whole of it, which helps when you report it")
	}
	if aside, err := c.g.gate.Quarantine(); err == nil && len(aside) > 0 {
		c.add("messages", protocol.CheckWarn, fmt.Sprintf("%s from a messaging network could not be handled and %s put aside", command.Counted(len(aside), "message"), wasWere(len(aside))), "`hearth deliveries` lists them; `hearth deliveries retry ID` tries again, `hearth deliveries drop ID` forgets one")
	}
}

// failureProblems are the same for status and the page.
func (g *Gateway) failureProblems() (out []protocol.Problem) {
	if aside, err := g.gate.Quarantine(); err == nil && len(aside) > 0 {
		out = append(out, protocol.Problem{Code: "ASIDE", Message: fmt.Sprintf("%s from a messaging network could not be handled and %s put aside. `hearth deliveries` lists them, and tries them again or forgets them.", command.Counted(len(aside), "message"), wasWere(len(aside)))})
	}
	if list, err := g.incidents.Since(g.opts.Now().Add(-24 * time.Hour)); err == nil && len(list) > 0 {
		last := list[len(list)-1]
		out = append(out, protocol.Problem{Code: "FAILED", Message: fmt.Sprintf("Hearth itself failed in the last day, in %s. `hearth doctor` says more.", last.Where)})
	}
	return out
}

func (g *Gateway) openIncidents() { g.incidents = incident.New(g.store, g.opts.Now) }

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
