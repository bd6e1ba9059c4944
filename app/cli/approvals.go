package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/app/terminal"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newApprovals(a *app) *cobra.Command {
	list := func(ctx context.Context, _ []string) error { return listApprovals(ctx, a) }
	scope, never := "once", false
	approve := &cobra.Command{Use: "approve ID", Short: "Allow what waits under this id", Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error { return resolveApproval(ctx, a, args[0], scope) })}
	approve.Flags().StringVar(&scope, "scope", "once", "how far: once, session (the same again in this session), here (the same here, for "+
		"90 days), program (this program with any arguments in this folder, for 90 days), folder (reading all that is in this folder, for 90 "+
		"days)")
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
		if err := printApproval(a, &r, scriptRows); err != nil {
			return err
		}
	}
	return a.out().print("Decide with `hearth approvals approve ID` or `hearth approvals deny ID`.\n")
}

// How much of a script's text is printed.
const (
	scriptRows  = 12
	wholeScript = 1 << 20
)

// printApproval shows a request whole: what is cut off is not approved. Of a
// script it prints the first rows and where the rest is.
func printApproval(a *app, r *protocol.Approval, rows int) error {
	q := &r.Request
	parts := []any{bold(shortID(r.ID) + "  " + line(q.Says())), "\n"}
	row := func(name, text string) {
		if text != "" {
			parts = append(parts, "  ", dim(name), " ", line(text), "\n")
		}
	}
	lines := q.HearthLines
	if len(lines) == 0 { // of a gateway that names none
		row("command", q.Command)
		if q.Cwd != nil {
			row("folder", *q.Cwd)
		}
		lines = q.HearthWarn
	}
	for _, l := range lines {
		if slices.Contains(q.HearthWarn, l) {
			parts = append(parts, "  ", yellow("! "+oneRow(l)), "\n")
		} else {
			parts = append(parts, "  ", oneRow(l), "\n")
		}
	}
	for _, s := range q.HearthScripts {
		parts = append(parts, scriptParts(r, s, rows)...)
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

// oneRow is line with its spaces as they are: in a command they count.
func oneRow(s string) string { return strings.ReplaceAll(terminal.Clean(s), "\n", " ") }

// scriptParts is the text of a script that the yes would be for.
func scriptParts(r *protocol.Approval, s protocol.ApprovalScript, most int) []any {
	parts := []any{"  ", dim("text of " + line(s.Path)), "\n"}
	shown, more := s.Head(most)
	for _, l := range shown {
		parts = append(parts, "  ", dim("|"), " ", oneRow(l), "\n")
	}
	switch {
	case len(shown) == 0 && r.State != "pending":
		parts = append(parts, "  ", dim("| it is kept only while the request waits"), "\n")
	case len(shown) == 0:
		parts = append(parts, "  ", yellow("! "+line(s.Why)), "\n")
	case more > 0 && s.Cut && most == wholeScript:
		parts = append(parts, "  ", yellow(fmt.Sprintf("… and %d more lines, in the file itself", more)), "\n")
	case more > 0:
		parts = append(parts, "  ", yellow(fmt.Sprintf("… and %d more lines: `hearth approvals show %s`", more, shortID(r.ID))), "\n")
	}
	return parts
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
	return protocol.Approval{}, &failure{exitFailure, "nothing waits under the id " + line(id), "it may have been decided, or its time is " +
		"over; `hearth approvals` lists what waits"}
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
	return printApproval(a, &r, wholeScript)
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
		rows = append(rows, []string{shortID(r.ID), r.Scope, stamp(r.ExpiresAtMs), r.AgentID, ruleWords(r)})
	}
	return a.out().table([]string{"RULE", "SCOPE", "UNTIL", "AGENT", "WHAT"}, rows)
}

// ruleWords are the rule's own; a gateway of another version may say less in them.
func ruleWords(r protocol.ApprovalRule) string {
	words := r.Title
	if r.AnyArguments && !strings.Contains(words, "any arguments") {
		words += ", with any arguments"
	}
	if r.Unconfined && !strings.Contains(words, "outside the sandbox") {
		words += ", outside the sandbox"
	}
	return words
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
