// Package doctor is the feature that examines a running gateway and mends what can be
// mended without a choice: the methods hearth.doctor and hearth.doctor.repair. What is
// looked at is each feature's (host.Feature.Checks) and, where it can be mended here,
// this one's; what lies in files is looked at by the command line.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
	"github.com/hearth-assistant/hearth/gateway/search"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/undo"
)

// Checks is what all features tell.
type Checks func(ctx context.Context, p protocol.DoctorParams) []protocol.HealthCheck

// Options are the parts that the feature needs; all of them.
type Options struct {
	All      Checks
	Found    []protocol.Problem // about the state folder, at the start
	Store    *store.DB
	Sessions *session.Manager
	Pictures *media.Store
	Index    *search.Index
	Undo     *undo.Log

	Deliveries *outbound.Deliverer
	Agents     *agents.Directory
	Dir        statedir.Dir
	Audit      *audit.Log
	Now        func() time.Time
}

// New makes the feature.
func New(o Options) host.Feature {
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodDoctor, func(ctx context.Context, p protocol.DoctorParams) (protocol.Doctor, error) {
				return examine(o.All(ctx, p)), ctx.Err()
			}),
			method.Called(protocol.MethodDoctorRepair, o.repair),
		},
		Checks: func(ctx context.Context, _ protocol.DoctorParams) []protocol.HealthCheck {
			return slices.Concat(ofFolder(o.Found), []protocol.HealthCheck{commands()}, o.orphans(ctx), o.index(ctx), o.halves(ctx),
				o.copies(), o.disk(), o.owned(ctx))
		},
	}
}

// repair mends one thing that a check named. It loses nothing, and a person agreed to
// it.
func (o Options) repair(ctx context.Context, c *server.Caller, p protocol.DoctorRepairParams) (protocol.DoctorRepaired, error) {
	do, ok := map[string]func(context.Context) (string, error){
		repairOrphans: o.adopt, repairIndex: o.rebuild, repairLeftovers: o.removeLeftovers, repairCopies: o.removeCopies,
		repairPictures: o.removePictures, repairDeliveries: o.forgetDeliveries, repairUploads: o.removeUploads,
	}[p.Repair]
	if !ok {
		return protocol.DoctorRepaired{}, protocol.Invalid("There is no repair of that name. `hearth doctor` lists what can be mended.").
			With("code", "NOT_FOUND")
	}
	said, err := do(ctx)
	if err != nil {
		return protocol.DoctorRepaired{}, fmt.Errorf("repair %s: %w", p.Repair, err)
	}
	o.Audit.Add(audit.Entry{Kind: audit.KindConfig, What: "repaired: " + said, Who: method.CallerName(c),
		Facts: map[string]string{"repair": p.Repair}})
	return protocol.DoctorRepaired{Said: said}, nil
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
