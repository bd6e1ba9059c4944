package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

func newAudit(a *app) *cobra.Command {
	var limit int
	var kind string
	list := &cobra.Command{Use: "list", Short: "Show who was let in, and what was asked, allowed and done", Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return listAudit(ctx, a, limit, kind) })}
	list.Flags().IntVar(&limit, "limit", 50, "how many entries")
	list.Flags().StringVar(&kind, "kind", "", "only auth, approval, exec, tool, config, install, send, pause or audit")
	return group("audit", "Read and check the log of what was allowed and done",
		list,
		&cobra.Command{Use: "verify", Short: "Check that nothing in the log was changed or removed", Args: cobra.NoArgs,
			RunE: a.run(func(ctx context.Context, _ []string) error { return verifyAudit(ctx, a) })},
	)
}

func listAudit(ctx context.Context, a *app, limit int, kind string) error {
	var res protocol.AuditList
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodAuditList, protocol.AuditListParams{Limit: limit, Kind: kind},
		&res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	var rows [][]string
	for _, e := range slices.Backward(res.Entries) {
		what := e.What
		for _, k := range slices.Sorted(maps.Keys(e.Facts)) {
			what += fmt.Sprintf("  %s=%s", k, text.Ellipsis(line(e.Facts[k]), 80))
		}
		rows = append(rows, []string{fmt.Sprint(e.Seq), stamp(e.AtMs), e.Kind, text.Ellipsis(e.Who, 40), what})
	}
	return a.out().table([]string{"NO", "TIME", "KIND", "WHO", "WHAT"}, rows)
}

func verifyAudit(ctx context.Context, a *app) error {
	var res protocol.AuditReport
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodAuditVerify, nil, &res); err != nil {
		return err
	}
	if !res.OK {
		if a.asJSON {
			if err := a.out().json(res); err != nil {
				return err
			}
		}
		return &failure{exitFailure, "the audit log is not as it was written: " + strings.TrimSuffix(line(res.Problem), "."),
			"somebody or something changed it; keep a copy of audit*.jsonl and look at what happened then"}
	}
	return a.done(res, fmt.Sprintf("The audit log is whole: %s, the last is number %d (%s).", fmt.Sprintf("%d entries", res.Entries), res.Last,
		shortID(res.Head)))
}
