package gateway

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
)

func (g *Gateway) doctor(ctx context.Context, p protocol.DoctorParams) (protocol.Doctor, error) {
	return g.examine(ctx, p), ctx.Err()
}

// checkup gathers what the rooms say of themselves.
type checkup struct {
	g   *Gateway
	out protocol.Doctor
}

// examine looks at everything that only a running gateway knows; what lies in
// files is looked at by the command line.
func (g *Gateway) examine(ctx context.Context, p protocol.DoctorParams) protocol.Doctor {
	c := &checkup{g: g, out: protocol.Doctor{OK: true, Checks: []protocol.HealthCheck{}}}
	for _, x := range g.features.Checks(ctx, p) {
		c.add(x.Area, x.State, x.What, x.Advice)
	}
	c.problems()
	c.people()
	c.commands()
	return c.out
}

func (c *checkup) add(area, state, what, advice string) {
	c.out.Checks = append(c.out.Checks, protocol.HealthCheck{Area: area, State: state, What: what, Advice: advice})
	c.out.OK = c.out.OK && state != protocol.CheckFail
}

// problems are what status tells as well; settings and secrets are looked at by
// the command line.
func (c *checkup) problems() {
	list := slices.Concat(c.g.hardness, c.g.channels.Problems())
	for _, p := range list {
		what, advice, _ := strings.Cut(strings.TrimSuffix(p.Message, "."), ". ")
		c.add("gateway", protocol.CheckWarn, what, advice)
	}
}

// commands: are they confined?
func (c *checkup) commands() {
	r := sandbox.Probe()
	if r.Confined {
		by := r.Backend
		if r.ABI > 0 {
			by = fmt.Sprintf("Landlock ABI %d", r.ABI)
		}
		c.add("sandbox", protocol.CheckOK, "commands are confined by "+by, "")
		return
	}
	c.add("sandbox", protocol.CheckWarn, "commands are not confined: "+strings.TrimSuffix(strings.Join(r.Words, " "), "."), "each command is asked about; a newer Linux kernel with Landlock, or macOS, confines them")
}
