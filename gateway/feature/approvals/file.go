package approvals

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// The approvals file of other gateways' clients. There is no such file here: it
// is made from the settings and the rules, and setting it changes those.

func (f *feature) execApprovalsGet(context.Context, method.None) (protocol.ExecApprovals, error) {
	return f.execApprovals()
}

func (f *feature) execApprovals() (protocol.ExecApprovals, error) {
	e := approval.CommandsSection.Of(f.o.Settings.Snapshot().Config)
	d := protocol.ExecDefaults{Security: e.Security, Ask: e.Ask, AskFallback: "deny"}
	out := protocol.ExecApprovals{Path: f.o.Settings.Path(), Exists: true, ResolvedDefaults: d}
	out.File = protocol.ExecApprovalsFile{Version: 1, Defaults: d, Agents: map[string]protocol.ExecApprovalsAgent{}}
	for _, r := range f.o.Broker.Rules() {
		if r.Kind != approval.KindExec || !r.Scope.Allows() {
			continue
		}
		a := out.File.Agents[r.AgentID]
		a.Allowlist = append(a.Allowlist, protocol.ExecAllowlistItem{ID: r.ID, Pattern: rulePattern(r)})
		out.File.Agents[r.AgentID] = a
	}
	raw, err := json.Marshal(out.File)
	if err != nil {
		return out, fmt.Errorf("show the approvals: %w", err)
	}
	sum := sha256.Sum256(raw)
	out.Hash = hex.EncodeToString(sum[:])
	return out, nil
}

func rulePattern(r approval.Rule) string {
	if r.Scope == approval.ScopeProgram {
		return r.Program
	}
	return r.Title
}

// execApprovalsSet takes the defaults, and removes the rules that the new file
// does not hold any more. Rules are made by decisions about what was shown, so
// a written one is refused.
func (f *feature) execApprovalsSet(ctx context.Context, c *server.Caller, p protocol.ExecApprovalsSetParams) (protocol.ExecApprovals,
	error) {
	now, err := f.execApprovals()
	if err != nil {
		return now, err
	}
	if p.BaseHash != "" && p.BaseHash != now.Hash {
		return now, protocol.Invalid("The approvals have changed since they were read. Read them again and repeat the change.").With("code",
			"CONFIG_STALE")
	}
	keep := map[string]bool{}
	for agent, a := range p.File.Agents {
		if a.Security != "" || a.Ask != "" {
			return now, protocol.Invalid("Hearth has no security or ask of its own for the agent %q. Set tools.exec.security and tools.exec.ask "+
				"for all.", agent)
		}
		for _, item := range a.Allowlist {
			if item.ID == "" || !hasRule(f.o.Broker.Rules(), item.ID) {
				return now, protocol.Invalid("A rule cannot be written by hand (%q): allow the command when you are asked, with \"here\" or "+
					"\"program\".", item.Pattern)
			}
			keep[item.ID] = true
		}
	}
	patch := map[string]any{}
	if p.File.Defaults.Security == "full" { // in a file it is said and not used; here somebody waits for an answer
		return now, protocol.Invalid("Hearth has no \"full\": every command would run unasked. Use \"allowlist\", and allow what you trust " +
			"when you are asked.")
	}
	if s := p.File.Defaults.Security; s != "" && s != now.File.Defaults.Security {
		patch["security"] = s
	}
	if a := p.File.Defaults.Ask; a != "" && a != now.File.Defaults.Ask {
		patch["ask"] = a
	}
	if len(patch) > 0 {
		raw, err := json.Marshal(map[string]any{"tools": map[string]any{"exec": patch}})
		if err != nil {
			return now, fmt.Errorf("change the settings: %w", err)
		}
		if _, err := f.o.Settings.MergePatch(ctx, "", string(raw)); err != nil {
			return now, err
		}
	}
	for _, r := range f.o.Broker.Rules() {
		if r.Kind != approval.KindExec || !r.Scope.Allows() || keep[r.ID] {
			continue
		}
		if _, err := f.o.Broker.RemoveRule(ctx, r.ID); err != nil {
			return now, err
		}
		f.noteRuleGone(r.ID, method.CallerName(c))
	}
	return f.execApprovals()
}

func hasRule(rules []approval.Rule, id string) bool {
	for _, r := range rules {
		if r.ID == id {
			return true
		}
	}
	return false
}

func (f *feature) noteRuleGone(id, who string) {
	f.o.Audit.Add(audit.Entry{Kind: audit.KindApproval, What: "a rule was removed", Who: who, Facts: map[string]string{"id": id}})
}
