package gateway

import (
	"context"
	"errors"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/spend"
)

func (g *Gateway) commandsList(context.Context, method.None) (protocol.CommandsList, error) {
	out := protocol.CommandsList{Commands: []protocol.CommandInfo{}}
	for _, c := range g.dispatch.Commands().All() {
		info := protocol.CommandInfo{
			Name: c.Name, TextAliases: []string{"/" + c.Name}, Description: c.Description, Category: c.Category,
			Source: "native", Scope: "both", AcceptsArgs: c.Args != "",
		}
		for _, a := range c.Aliases {
			info.TextAliases = append(info.TextAliases, "/"+a)
		}
		if c.Args != "" {
			arg := protocol.CommandArg{Name: c.Args, Description: c.Description, Type: "string"}
			for _, v := range c.Choices {
				arg.Choices = append(arg.Choices, protocol.CommandChoice{Value: v, Label: v})
			}
			info.Args = []protocol.CommandArg{arg}
		}
		out.Commands = append(out.Commands, info)
	}
	for _, c := range g.skillCommands(g.agentSkills("")) {
		out.Commands = append(out.Commands, protocol.CommandInfo{
			Name: c.Name, TextAliases: []string{"/" + c.Name}, Description: c.Skill.Description, Category: "tools", Source: "skill", Scope: "both", AcceptsArgs: true,
		})
	}
	return out, nil
}

func (g *Gateway) why(_ context.Context, p protocol.WhyParams) (protocol.Why, error) {
	if p.RunID == "" {
		key, err := g.agents.Canonical(p.Key, "")
		if err != nil {
			return protocol.Why{}, err
		}
		p.Key = key
	}
	return g.whyOf(p)
}

func (g *Gateway) queueEdit(ctx context.Context, p protocol.QueueEditParams) (protocol.OKResult, error) {
	turn, err := g.dispatch.Turn(protocol.MethodQueueEdit, p.Key, "", p.Message, p.RunID, 0)
	if err != nil {
		return protocol.OKResult{}, err
	}
	err = g.session.EditQueued(ctx, g.dispatch.Hinted(turn))
	if isNotFound(err) {
		return protocol.OKResult{}, protocol.Invalid("This message does not wait any more, so it was not changed. Send a new one.").With("code", "NOT_WAITING")
	}
	return protocol.OKResult{OK: err == nil}, err
}

func (g *Gateway) sessionsCompact(ctx context.Context, p protocol.SessionsCompactParams) (protocol.SessionsCompactResult, error) {
	key, err := g.agents.Canonical(p.Key, p.AgentID)
	if err != nil {
		return protocol.SessionsCompactResult{}, err
	}
	if p.Restore {
		err := g.session.Restore(ctx, key)
		return protocol.SessionsCompactResult{OK: err == nil, Key: key}, err
	}
	_, err = g.session.Compact(ctx, key, p.Instructions)
	if errors.Is(err, session.ErrNothingToCompact) {
		return protocol.SessionsCompactResult{OK: true, Key: key, Reason: err.Error()}, nil
	}
	return protocol.SessionsCompactResult{OK: err == nil, Key: key, Compacted: err == nil}, err
}

// sessionsUsage tells the tokens of one session, or of the last used ones.
func (g *Gateway) sessionsUsage(ctx context.Context, p protocol.SessionsUsageParams) (protocol.SessionsUsage, error) {
	out := protocol.SessionsUsage{UpdatedAt: g.opts.Now().UnixMilli(), Sessions: []protocol.SessionUsageRow{}}
	var rows []protocol.SessionRow
	if p.Key != "" {
		key, err := g.agents.Canonical(p.Key, "")
		if err != nil {
			return out, err
		}
		row, ok, err := g.session.Get(key)
		if err != nil {
			return out, err
		}
		if ok {
			rows = append(rows, row)
		}
	} else {
		list, err := g.session.List(ctx, protocol.SessionsListParams{Limit: p.Limit})
		if err != nil {
			return out, err
		}
		rows = list.Sessions
	}
	var all spend.Nano
	costs, err := g.sessionCosts(p.Key)
	if err != nil {
		return out, err
	}
	for _, r := range rows {
		cost := costs[r.Key]
		u := protocol.SessionUsageTotals{
			Input: r.InputTokens, Output: r.OutputTokens, TotalTokens: r.TotalTokens, TotalCost: cost.Cost().Units(), MissingCostEntries: cost.Unpriced,
		}
		out.Sessions = append(out.Sessions, protocol.SessionUsageRow{
			Key: r.Key, SessionID: r.SessionID, AgentID: r.AgentID, Label: r.Label, UpdatedAt: r.UpdatedAt, ModelProvider: r.ModelProvider, Model: r.Model, Usage: u,
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

// sessionCosts are what sessions cost, by their keys; key "" means all.
func (g *Gateway) sessionCosts(key string) (map[string]spend.Sum, error) {
	q := spend.Query{}
	if key != "" {
		canonical, err := g.agents.Canonical(key, "")
		if err != nil {
			return nil, err
		}
		q.Session = canonical
	}
	rows, err := g.ledger(q)
	costs := map[string]spend.Sum{}
	for _, r := range rows {
		costs[r.Session] = costs[r.Session].Add(r.Sum)
	}
	return costs, err
}

// sessionsAbort is chat.abort by the session's name, or by the run's alone.
func (g *Gateway) sessionsAbort(ctx context.Context, p protocol.SessionsAbortParams) (protocol.SessionsAbortResult, error) {
	if p.Key == "" && p.RunID != "" {
		rec, err := g.session.Why("", p.RunID)
		if err != nil {
			return protocol.SessionsAbortResult{}, err
		}
		p.Key = rec.SessionKey
	}
	stopped, err := g.chatAbort(ctx, protocol.ChatAbortParams{SessionKey: p.Key, AgentID: p.AgentID, RunID: p.RunID})
	res := protocol.SessionsAbortResult{OK: err == nil, Status: "no-active-run", RunIDs: stopped.RunIDs}
	if n := len(stopped.RunIDs); n > 0 {
		res.Status, res.AbortedRunID = "aborted", &stopped.RunIDs[n-1]
	}
	return res, err
}

func (g *Gateway) sessionsDescribe(_ context.Context, p protocol.SessionKeyParams) (protocol.SessionsDescribeResult, error) {
	key, err := g.agents.Canonical(p.Key, p.AgentID)
	if err != nil {
		return protocol.SessionsDescribeResult{}, err
	}
	row, ok, err := g.session.Get(key)
	if err != nil || !ok {
		return protocol.SessionsDescribeResult{}, err
	}
	return protocol.SessionsDescribeResult{Session: &row}, nil
}

func (g *Gateway) sessionsResolve(ctx context.Context, p protocol.SessionsResolveParams) (protocol.SessionsResolveResult, error) {
	if p.Key != "" {
		key, err := g.agents.Canonical(p.Key, p.AgentID)
		return protocol.SessionsResolveResult{OK: err == nil, Key: key, AgentID: session.AgentOf(key)}, err
	}
	want := strings.ToLower(p.Label)
	for offset := 0; ; {
		list, err := g.session.List(ctx, protocol.SessionsListParams{Limit: 1000, Offset: offset})
		if err != nil {
			return protocol.SessionsResolveResult{}, err
		}
		for _, s := range list.Sessions {
			if p.SessionID != "" && s.SessionID == p.SessionID || want != "" && strings.ToLower(s.Label) == want {
				return protocol.SessionsResolveResult{OK: true, Key: s.Key, AgentID: session.AgentOf(s.Key)}, nil
			}
		}
		if list.NextOffset == nil {
			return protocol.SessionsResolveResult{}, protocol.Invalid("No session has that name. `sessions.list` shows them.").With("code", "NOT_FOUND")
		}
		offset = *list.NextOffset
	}
}

func (g *Gateway) sessionsPreview(ctx context.Context, p protocol.SessionsPreviewParams) (protocol.SessionsPreview, error) {
	const defaultItems, maxItems, defaultChars, maxKeys = 6, 50, 240, 200
	if len(p.Keys) > maxKeys {
		return protocol.SessionsPreview{}, protocol.InvalidParams(protocol.MethodSessionsPreview, "at most %d keys at a time", maxKeys)
	}
	if p.Limit <= 0 {
		p.Limit = defaultItems
	}
	if p.MaxChars <= 0 {
		p.MaxChars = defaultChars
	}
	out := protocol.SessionsPreview{TS: g.opts.Now().UnixMilli(), Previews: []protocol.SessionPreview{}}
	for _, k := range p.Keys {
		key, err := g.agents.Canonical(k, "")
		if err != nil {
			return out, err
		}
		h, err := g.session.History(ctx, key, protocol.ChatHistoryParams{Limit: min(p.Limit, maxItems), MaxChars: p.MaxChars})
		if err != nil {
			return out, err
		}
		pv := protocol.SessionPreview{Key: key, Status: "ok", Items: []protocol.PreviewItem{}}
		for _, m := range h.Messages {
			if text := m.Text(); text != "" {
				pv.Items = append(pv.Items, protocol.PreviewItem{Role: m.Role, Text: text})
			}
		}
		if h.SessionID == "" {
			pv.Status = "missing"
		} else if len(pv.Items) == 0 {
			pv.Status = "empty"
		}
		out.Previews = append(out.Previews, pv)
	}
	return out, nil
}
