package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newApprovals(a *app) *cobra.Command {
	list := func(ctx context.Context, _ []string) error { return listApprovals(ctx, a) }
	scope, never := "once", false
	approve := &cobra.Command{Use: "approve ID", Short: "Allow what waits under this id", Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error { return resolveApproval(ctx, a, args[0], scope) })}
	approve.Flags().StringVar(&scope, "scope", "once", "how far: once, session (the same again in this session), here (the same here, for 90 days), program (this program in this folder, for 90 days), folder (reading all that is in this folder, for 90 days)")
	deny := &cobra.Command{Use: "deny ID", Short: "Refuse what waits under this id", Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			if never {
				return resolveApproval(ctx, a, args[0], "never")
			}
			return resolveApproval(ctx, a, args[0], "deny")
		})}
	deny.Flags().BoolVar(&never, "never", false, "and never ask about exactly this here again")
	c := group("approvals", "See and decide what waits for your yes, and what you allowed",
		&cobra.Command{Use: "list", Short: "List what waits for your yes", Args: cobra.NoArgs, RunE: a.run(list)},
		&cobra.Command{Use: "show ID", Short: "Show all of one request", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return showApproval(ctx, a, args[0]) })},
		approve, deny,
		&cobra.Command{Use: "rules", Short: "List what is allowed or forbidden without asking", Args: cobra.NoArgs,
			RunE: a.run(func(ctx context.Context, _ []string) error { return listRules(ctx, a) })},
		&cobra.Command{Use: "forget RULE", Short: "Remove a rule, so that you are asked again", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return forgetRule(ctx, a, args[0]) })},
	)
	c.RunE = a.run(list)
	return c
}

// shortID is enough of an id to tell it from the few that wait.
func shortID(id string) string { return id[:min(8, len(id))] }

func listApprovals(ctx context.Context, a *app) error {
	res := []protocol.Approval{}
	if err := a.call(ctx, protocol.ScopeApprovals, protocol.MethodExecApprovalList, nil, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if len(res) == 0 {
		return a.out().print("Nothing waits for your yes.\n")
	}
	for _, r := range res {
		if err := printApproval(a, &r); err != nil {
			return err
		}
	}
	return a.out().print("Decide with `hearth approvals approve ID` or `hearth approvals deny ID`.\n")
}

// printApproval shows a request whole: what is cut off is not approved.
func printApproval(a *app, r *protocol.Approval) error {
	q := &r.Request
	parts := []any{bold(shortID(r.ID) + "  " + line(q.HearthTitle)), "\n"}
	row := func(name, text string) {
		if text != "" {
			parts = append(parts, "  ", dim(name), " ", line(text), "\n")
		}
	}
	for _, l := range q.HearthLines {
		parts = append(parts, "  ", line(l), "\n")
	}
	if len(q.HearthLines) == 0 {
		row("command", q.Command)
		if q.Cwd != nil {
			row("folder", *q.Cwd)
		}
		for _, w := range q.HearthWarn {
			parts = append(parts, "  ", yellow("! "+line(w)), "\n")
		}
	}
	row("why", q.HearthWhy)
	row("asked by", q.AgentID+" in "+q.SessionKey+", from "+q.HearthFrom)
	if r.State == "pending" {
		row("waits until", time.UnixMilli(r.ExpiresAtMs).Format("15:04:05"))
		row("choices", strings.Join(q.HearthScopes, ", "))
	} else {
		row("state", strings.TrimSpace(r.State+" "+r.HearthScope+" "+r.ResolvedBy+" "+r.Reason))
	}
	return a.out().print(append(parts, "\n")...)
}

// findApproval reads the request whose id begins as typed.
func findApproval(ctx context.Context, c *client.Client, id string) (protocol.Approval, error) {
	var list []protocol.Approval
	if err := c.Call(ctx, protocol.MethodExecApprovalList, nil, &list); err != nil {
		return protocol.Approval{}, err
	}
	var found []protocol.Approval
	for _, r := range list {
		if len(id) >= 4 && strings.HasPrefix(r.ID, id) {
			found = append(found, r)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return protocol.Approval{}, &failure{exitFailure, "nothing waits under the id " + line(id), "it may have been decided, or its time is over; `hearth approvals` lists what waits"}
}

func showApproval(ctx context.Context, a *app, id string) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeApprovals}})
	if err != nil {
		return err
	}
	defer c.Close()
	r, err := findApproval(ctx, c, id)
	if err != nil {
		if gerr := c.Call(ctx, protocol.MethodExecApprovalGet, protocol.ApprovalIDParams{ID: id}, &r); gerr != nil {
			return err
		}
	}
	if a.asJSON {
		return a.out().json(r)
	}
	return printApproval(a, &r)
}

func resolveApproval(ctx context.Context, a *app, id, scope string) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeApprovals}})
	if err != nil {
		return err
	}
	defer c.Close()
	r, err := findApproval(ctx, c, id)
	if err != nil {
		return err
	}
	var res protocol.OKResult
	p := protocol.ApprovalResolveParams{ID: r.ID, Decision: decision(scope), HearthScope: scope}
	if err := c.Call(ctx, protocol.MethodExecApprovalResolve, p, &res); err != nil {
		return err
	}
	if scope == "deny" || scope == "never" {
		return a.done(res, "Refused: "+line(r.Request.HearthTitle))
	}
	return a.done(res, "Allowed ("+scope+"): "+line(r.Request.HearthTitle))
}

// decision is a scope in the words that every gateway knows.
func decision(scope string) string {
	switch scope {
	case "deny", "never":
		return protocol.DecisionDeny
	case "once":
		return protocol.DecisionAllowOnce
	}
	return protocol.DecisionAllowAlways
}

func listRules(ctx context.Context, a *app) error {
	var res protocol.ApprovalRules
	if err := a.call(ctx, protocol.ScopeApprovals, protocol.MethodApprovalsRules, nil, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if len(res.Rules) == 0 {
		return a.out().print("There are no rules: you are asked about everything.\n")
	}
	var rows [][]string
	for _, r := range res.Rules {
		rows = append(rows, []string{shortID(r.ID), r.Scope, stamp(r.ExpiresAtMs), r.AgentID, r.Title})
	}
	return a.out().table([]string{"RULE", "SCOPE", "UNTIL", "AGENT", "WHAT"}, rows)
}

func forgetRule(ctx context.Context, a *app, id string) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeApprovals}})
	if err != nil {
		return err
	}
	defer c.Close()
	var rules protocol.ApprovalRules
	if err := c.Call(ctx, protocol.MethodApprovalsRules, nil, &rules); err != nil {
		return err
	}
	var found []protocol.ApprovalRule
	for _, r := range rules.Rules {
		if len(id) >= 4 && strings.HasPrefix(r.ID, id) {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		return &failure{exitFailure, "there is no rule " + line(id), "`hearth approvals rules` lists them"}
	}
	var res protocol.OKResult
	if err := c.Call(ctx, protocol.MethodApprovalsRemoveRule, protocol.ApprovalIDParams{ID: found[0].ID}, &res); err != nil {
		return err
	}
	return a.done(res, "Removed. You are asked again about: "+line(found[0].Title))
}
