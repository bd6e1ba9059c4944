// Package audit is the feature that shows what Hearth did and whether the record
// of it is whole: the methods hearth.audit.*, a check and a problem. The log
// itself is package gateway/audit's, which every part of the kernel writes to.
package audit

import (
	"context"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

type feature struct{ log *audit.Log }

// New makes the feature for a log.
func New(log *audit.Log) host.Feature {
	f := feature{log}
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodAuditList, f.list),
			method.Plain(protocol.MethodAuditVerify, f.verify),
		},
		Checks:   f.checks,
		Problems: f.problems,
	}
}

func (f feature) list(ctx context.Context, p protocol.AuditListParams) (protocol.AuditList, error) {
	out := protocol.AuditList{Entries: []protocol.AuditEntry{}}
	if p.Limit < 0 || p.Limit > 1000 {
		return out, protocol.InvalidParams(protocol.MethodAuditList, "limit must be 0 to 1000")
	}
	list, err := f.log.List(ctx, audit.Query{Limit: p.Limit, Before: p.Before, Kind: audit.Kind(p.Kind)})
	for _, e := range list {
		out.Entries = append(out.Entries, protocol.AuditEntry{
			Seq: e.Seq, AtMs: e.At, Kind: string(e.Kind), What: e.What, Who: e.Who, Session: e.Session, RunID: e.Run, Facts: e.Facts, Hash: e.Hash,
		})
	}
	return out, err
}

func (f feature) verify(ctx context.Context, _ method.None) (protocol.AuditReport, error) {
	r, err := f.log.Verify(ctx)
	return protocol.AuditReport(r), err
}

// problems says when nothing can be written down.
func (f feature) problems() []protocol.Problem {
	err := f.log.Problem()
	if err == nil {
		return nil
	}
	return []protocol.Problem{{
		Code:    "AUDIT",
		Message: "The audit log cannot be written: " + err.Error() + ". Make room on the disk and check the folder's permissions.",
	}}
}

// checks: is the log whole?
func (f feature) checks(ctx context.Context, _ protocol.DoctorParams) []protocol.HealthCheck {
	c := protocol.HealthCheck{Area: "audit"}
	switch r, err := f.log.Verify(ctx); {
	case err != nil:
		c.State, c.What, c.Advice = protocol.CheckFail, "the audit log cannot be read: "+err.Error(), "check the permissions of the state folder"
	case !r.OK:
		c.State, c.What = protocol.CheckFail, "the audit log is not as it was written: "+strings.TrimSuffix(r.Problem, ".")
		c.Advice = "somebody or something changed it; keep a copy of audit*.jsonl and look at what happened then"
	default:
		c.State, c.What = protocol.CheckOK, fmt.Sprintf("the audit log is whole: %d entries", r.Entries)
	}
	return []protocol.HealthCheck{c}
}
