package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func (g *Gateway) auditList(ctx context.Context, p protocol.AuditListParams) (protocol.AuditList, error) {
	out := protocol.AuditList{Entries: []protocol.AuditEntry{}}
	if p.Limit < 0 || p.Limit > 1000 {
		return out, protocol.InvalidParams(protocol.MethodAuditList, "limit must be 0 to 1000")
	}
	list, err := g.audit.List(ctx, audit.Query{Limit: p.Limit, Before: p.Before, Kind: audit.Kind(p.Kind)})
	for _, e := range list {
		out.Entries = append(out.Entries, protocol.AuditEntry{
			Seq: e.Seq, AtMs: e.At, Kind: string(e.Kind), What: e.What, Who: e.Who, Session: e.Session, RunID: e.Run, Facts: e.Facts, Hash: e.Hash,
		})
	}
	return out, err
}

func (g *Gateway) auditVerify(ctx context.Context, _ none) (protocol.AuditReport, error) {
	r, err := g.audit.Verify(ctx)
	return protocol.AuditReport(r), err
}
