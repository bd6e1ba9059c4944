package sessions

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/spend"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// usage tells the tokens of one session, or of the last used ones.
func (f *feature) usage(ctx context.Context, p protocol.SessionsUsageParams) (protocol.SessionsUsage, error) {
	out := protocol.SessionsUsage{UpdatedAt: f.o.Now().UnixMilli(), Sessions: []protocol.SessionUsageRow{}}
	var rows []protocol.SessionRow
	if p.Key != "" {
		key, err := f.o.Agents.Canonical(p.Key, "")
		if err != nil {
			return out, err
		}
		row, ok, err := f.o.Sessions.Get(key)
		if err != nil {
			return out, err
		}
		if ok {
			rows = append(rows, row)
		}
	} else {
		list, err := f.o.Sessions.List(ctx, protocol.SessionsListParams{Limit: p.Limit})
		if err != nil {
			return out, err
		}
		rows = list.Sessions
	}
	var all spend.Nano
	costs, err := f.costs(p.Key)
	if err != nil {
		return out, err
	}
	for _, r := range rows {
		cost := costs[r.Key]
		u := protocol.SessionUsageTotals{
			Input: r.InputTokens, Output: r.OutputTokens, TotalTokens: r.TotalTokens, TotalCost: cost.Cost().Units(),
			MissingCostEntries: cost.Unpriced,
		}
		out.Sessions = append(out.Sessions, protocol.SessionUsageRow{
			Key: r.Key, SessionID: r.SessionID, AgentID: r.AgentID, Label: r.Label, UpdatedAt: r.UpdatedAt, ModelProvider: r.ModelProvider,
			Model: r.Model, Usage: u,
		})
		out.Totals.Input += u.Input
		out.Totals.Output += u.Output
		out.Totals.TotalTokens += u.TotalTokens
		out.Totals.MissingCostEntries += u.MissingCostEntries
		all += cost.Cost()
	}
	out.Totals.TotalCost = all.Units()
	return out, nil
}

// costs are what sessions cost, by their keys; key "" means all.
func (f *feature) costs(key string) (map[string]spend.Sum, error) {
	q := spend.Query{}
	if key != "" {
		canonical, err := f.o.Agents.Canonical(key, "")
		if err != nil {
			return nil, err
		}
		q.Session = canonical
	}
	var rows []spend.Row
	err := f.o.DB.View(func(tx *store.Tx) (err error) {
		rows, err = f.o.Ledger.Rows(tx, q)
		return err
	})
	costs := map[string]spend.Sum{}
	for _, r := range rows {
		costs[r.Session] = costs[r.Session].Add(r.Sum)
	}
	return costs, err
}
