// Package doctor is the feature that examines a running gateway: the method
// hearth.doctor. What is looked at is each feature's (host.Feature.Checks); what
// lies in files is looked at by the command line.
package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
)

// Checks is what all features tell.
type Checks func(ctx context.Context, p protocol.DoctorParams) []protocol.HealthCheck

// New makes the feature; found is what was found about the state folder at the
// start.
func New(checks Checks, found []protocol.Problem) host.Feature {
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodDoctor, func(ctx context.Context, p protocol.DoctorParams) (protocol.Doctor, error) {
				return examine(checks(ctx, p)), ctx.Err()
			}),
		},
		Checks: func(context.Context, protocol.DoctorParams) []protocol.HealthCheck {
			return append(ofFolder(found), commands())
		},
	}
}

func examine(all []protocol.HealthCheck) protocol.Doctor {
	out := protocol.Doctor{OK: true, Checks: append([]protocol.HealthCheck{}, all...)}
	for _, c := range all {
		out.OK = out.OK && c.State != protocol.CheckFail
	}
	return out
}

func ofFolder(found []protocol.Problem) (out []protocol.HealthCheck) {
	for _, p := range found {
		what, advice, _ := strings.Cut(strings.TrimSuffix(p.Message, "."), ". ")
		out = append(out, protocol.HealthCheck{Area: "gateway", State: protocol.CheckWarn, What: what, Advice: advice})
	}
	return out
}

// commands: are they confined?
func commands() protocol.HealthCheck {
	r := sandbox.Probe()
	if !r.Confined {
		return protocol.HealthCheck{
			Area: "sandbox", State: protocol.CheckWarn, What: "commands are not confined: " + strings.TrimSuffix(strings.Join(r.Words, " "), "."),
			Advice: "each command is asked about; a newer Linux kernel with Landlock, or macOS, confines them",
		}
	}
	by := r.Backend
	if r.ABI > 0 {
		by = fmt.Sprintf("Landlock ABI %d", r.ABI)
	}
	return protocol.HealthCheck{Area: "sandbox", State: protocol.CheckOK, What: "commands are confined by " + by}
}
