// Package incidents is the feature that says where Hearth itself failed, and which
// messages it put aside: in the doctor, in status and on the page. Nothing is
// dropped without a sign. The record is package incident's, which whoever
// recovers from a panic writes to.
package incidents

import (
	"context"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/incident"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// recentFailures is how long a failure is told of.
const recentFailures = 7 * 24 * time.Hour

// Options are the parts that the feature needs; all of them.
type Options struct {
	Log      *incident.Log
	Messages *inbound.Gate // which puts aside what cannot be handled
	Clock    *clock.Clock
	Now      func() time.Time
}

type feature struct{ o Options }

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{o}
	return host.Feature{Checks: f.checks, Problems: f.problems}
}

// checks: did Hearth itself fail lately, and is a message waiting for a decision?
func (f *feature) checks(context.Context, protocol.DoctorParams) (out []protocol.HealthCheck) {
	if list, err := f.o.Log.Since(f.o.Now().Add(-recentFailures)); err == nil && len(list) > 0 {
		last := list[len(list)-1]
		out = append(out, protocol.HealthCheck{Area: "gateway", State: protocol.CheckWarn,
			What: fmt.Sprintf("failures of Hearth itself in the last seven days: %d, the last one in %s at %s: %s", len(list), last.Where,
				f.o.Clock.Words(last.At), last.What),
			Advice: "whoever asked was told; `hearth logs` has the whole of it, which helps when you report it"})
	}
	if aside, err := f.o.Messages.Quarantine(); err == nil && len(aside) > 0 {
		out = append(out, protocol.HealthCheck{Area: "messages", State: protocol.CheckWarn,
			What:   fmt.Sprintf("messages from networks that could not be handled and were put aside: %d", len(aside)),
			Advice: "`hearth deliveries` lists them; `hearth deliveries retry ID` tries again, `hearth deliveries drop ID` forgets one"})
	}
	return out
}

// problems are the same for status and the page.
func (f *feature) problems() (out []protocol.Problem) {
	if aside, err := f.o.Messages.Quarantine(); err == nil && len(aside) > 0 {
		out = append(out, protocol.Problem{Code: "ASIDE", Message: fmt.Sprintf("Messages from networks could not be handled and were put "+
			"aside: %d. `hearth deliveries` lists them, and tries them again or forgets them.", len(aside))})
	}
	if list, err := f.o.Log.Since(f.o.Now().Add(-24 * time.Hour)); err == nil && len(list) > 0 {
		last := list[len(list)-1]
		out = append(out, protocol.Problem{Code: "FAILED", Message: fmt.Sprintf("Hearth itself failed in the last day, in %s. `hearth doctor` "+
			"says more.", last.Where)})
	}
	return out
}
