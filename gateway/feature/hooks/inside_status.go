package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/handler"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/skill"
)

// states are all handlers and whether they are run.
func (i *inside) states() []handler.State {
	set, snap := i.settings(), i.o.Settings.Snapshot()
	var out []handler.State
	for _, h := range i.places().Find() {
		e := set.Entries[h.Key]
		s := handler.Setting{Enabled: e.Enabled, SHA256: e.SHA256, Env: map[string]bool{}}
		for name, v := range e.Env {
			s.Env[name] = !v.IsZero()
		}
		w := skill.World{
			Find:   skill.FindIn(i.o.Inside.Execution.SearchPath),
			Env:    func(name string) bool { return strings.TrimSpace(i.o.Inside.Env(name)) != "" },
			Config: func(path string) bool { return truthy(snap, path) },
			Entry:  func(string) skill.Entry { return skill.Entry{Env: s.Env} },
		}
		out = append(out, handler.Judge(w, h, s, set.On()))
	}
	return out
}

// truthy: a setting is there and is not false, 0, null or empty. What OpenClaw takes
// for true when it is absent is true here.
func truthy(snap *config.Snapshot, path string) bool {
	raw, ok, err := snap.Get(path)
	if err == nil && !ok {
		raw, ok, err = snap.InUse(path)
	}
	if err != nil || !ok {
		return path == "workspace.dir" || path == "browser.enabled" || path == "browser.evaluateEnabled"
	}
	switch strings.TrimSpace(string(raw)) {
	case "", "null", "false", "0", `""`:
		return false
	}
	return true
}

// optionsOf are what the settings say to one handler alone.
func optionsOf(e Entry) json.RawMessage {
	if len(e.Options) == 0 || !json.Valid(e.Options) {
		return nil
	}
	return e.Options
}

// ofAgent leaves out what lies in the workspaces of others.
func ofAgent(all []handler.State, agent string) []handler.State {
	return slices.DeleteFunc(all, func(s handler.State) bool { return s.Agent != "" && s.Agent != agent })
}

func (i *inside) agent(id string) (string, string, error) {
	if id == "" {
		who := i.o.Agents.Book().Default()
		return who.ID, who.Workspace, nil
	}
	who, ok := i.o.Agents.Book().Get(id)
	if !ok {
		return "", "", protocol.Invalid("there is no agent %q; `hearth agents list` lists them", id)
	}
	return who.ID, who.Workspace, nil
}

// status answers hooks.status.
func (i *inside) status(_ context.Context, p protocol.HooksStatusParams) (out protocol.HooksStatus, err error) {
	id, workspace, err := i.agent(p.AgentID)
	if err != nil {
		return out, err
	}
	out = protocol.HooksStatus{
		WorkspaceDir: workspace, ManagedHooksDir: filepath.Join(string(i.o.Inside.Dir), "hooks"), Hooks: []protocol.HookInfo{},
	}
	for _, s := range ofAgent(i.states(), id) {
		out.Hooks = append(out.Hooks, i.wire(s))
	}
	return out, nil
}

// wire is a handler in the shape of OpenClaw's report.
func (i *inside) wire(s handler.State) protocol.HookInfo {
	out := protocol.HookInfo{
		Name: s.Name, Description: s.Description, Source: string(s.Source), FilePath: s.Descriptor(), BaseDir: s.Dir, HandlerPath: s.Path(),
		HookKey: s.Key, Emoji: s.Emoji, Homepage: s.Homepage, Events: list(s.Events), UnknownEvents: s.Unknown(), Always: s.Always,
		EnabledByConfig: s.Enabled, RequirementsSatisfied: s.Complete(), Loadable: s.Runs(), BlockedReason: s.Blocked,
		Requirements: needs(s.Requires), Missing: needs(s.Missing), ConfigChecks: []protocol.SkillConfigCheck{},
		Install: []protocol.SkillInstaller{},
	}
	for _, path := range slices.Sorted(maps.Keys(s.Checks)) {
		out.ConfigChecks = append(out.ConfigChecks, protocol.SkillConfigCheck{Path: path, Satisfied: s.Checks[path]})
	}
	for _, in := range s.Install {
		out.Install = append(out.Install, protocol.SkillInstaller{ID: in.ID, Kind: in.Kind, Label: in.Label, Bins: list(in.Bins)})
	}
	i.mu.Lock()
	r := i.records[s.Path()]
	i.mu.Unlock()
	out.Hearth = protocol.HookOwn{
		Form: string(s.Form), SHA256: s.SHA256, Seen: s.Seen, Files: list(s.Files()), Runs: r.runs, LastError: r.problem,
		LastDurationMs: r.took.Milliseconds(), Dropped: r.dropped, NeverTold: s.NeverTold(),
	}
	if !r.at.IsZero() {
		out.Hearth.LastRunAtMs = r.at.UnixMilli()
	}
	return out
}

func list(s []string) []string { return append([]string{}, s...) }

func needs(r skill.Requires) protocol.SkillNeeds {
	return protocol.SkillNeeds{Bins: list(r.Bins), AnyBins: list(r.AnyBins), Env: list(r.Env), Config: list(r.Config), OS: list(r.OS)}
}

// enable switches a handler on, with the very files that were looked at, or off.
func (i *inside) enable(ctx context.Context, p protocol.HookEnableParams) (out protocol.HookInfo, err error) {
	id, _, err := i.agent(p.AgentID)
	if err != nil {
		return out, err
	}
	found := handler.Pick(ofAgent(i.states(), id), p.Name)
	switch {
	case len(found) == 0:
		return out, protocol.Invalid("there is no hook %q; `hearth hooks list` lists them", p.Name)
	case len(found) > 1:
		names := make([]string, 0, len(found))
		for _, s := range found {
			names = append(names, s.Name)
		}
		return out, protocol.Invalid("%q is the key of several hooks (%s); say the name of one", p.Name, strings.Join(names, ", "))
	}
	s := found[0]
	entry := map[string]any{"enabled": p.Enabled}
	if p.Enabled {
		if err := mayEnable(s, p.SHA256); err != nil {
			return out, err
		}
		if s.Form != handler.Builtin {
			entry["sha256"] = s.SHA256
		}
	}
	inner := map[string]any{"entries": map[string]any{s.Key: entry}}
	if p.Enabled {
		inner["enabled"] = true
	}
	raw, err := json.Marshal(map[string]any{"hooks": map[string]any{"internal": inner}})
	if err != nil {
		return out, err
	}
	if _, err := i.o.Settings.MergePatch(ctx, "", string(raw)); err != nil {
		return out, err
	}
	for _, now := range i.states() {
		if now.Path() == s.Path() {
			return i.wire(now), nil
		}
	}
	return out, protocol.Invalid("the hook %q is not there any more", p.Name)
}

// mayEnable says why a handler cannot be switched on.
func mayEnable(s handler.State, seen string) error {
	switch {
	case s.Problem != "":
		return protocol.Invalid("the hook %s cannot be run: %s", s.Name, s.Problem)
	case s.HearsNothing():
		return protocol.Invalid("the hook %s would never be told: %s. Name other events in its HOOK.md (docs/hooks.md lists them), "+
			"then enable it", s.Name, s.NeverTold())
	case !s.Complete():
		return protocol.Invalid("the hook %s needs what is not here (%s); `hearth hooks info %s` says what", s.Name, handler.Incomplete, s.Name)
	case s.Form != handler.Builtin && seen != s.SHA256:
		return protocol.Invalid("the files of the hook %s are others than those that were looked at; look at them again (`hearth hooks "+
			"enable %s`)", s.Name, s.Name)
	}
	return nil
}

// problems are handlers that are enabled and do not run, and those that failed.
func (i *inside) problems() (out []protocol.Problem) {
	if !i.wanted() {
		return nil
	}
	now := i.o.Now()
	for _, s := range i.states() {
		i.mu.Lock()
		r := i.records[s.Path()]
		i.mu.Unlock()
		switch {
		case len(out) >= 5:
		case s.Enabled && s.Blocked == handler.NotSeen:
			out = append(out, protocol.Problem{Code: "HOOK_CHANGED", Message: "The hook " + s.Name + " has other files than those that you " +
				"enabled, so it does not run. Look at " + s.Dir + ", then run `hearth hooks enable " + s.Name + "`."})
		case s.Enabled && s.Problem != "":
			out = append(out, protocol.Problem{Code: "HOOK_BROKEN", Message: "The hook " + s.Name + " cannot be run: " + s.Problem + ". Mend " +
				s.Dir + ", then run `hearth hooks enable " + s.Name + "`."})
		case r.problem != "" && now.Sub(r.failedAt) < reportFailed:
			out = append(out, protocol.Problem{Code: "HOOK_FAILED", Message: "The hook " + s.Name + " failed: " + protocol.Sentence(r.problem) +
				" Nothing waited for it. `hearth hooks disable " + s.Name + "` switches it off."})
		}
	}
	return out
}

// checks are what `hearth doctor` says of handlers.
func (i *inside) checks(context.Context, protocol.DoctorParams) (out []protocol.HealthCheck) {
	on, ready := 0, 0
	for _, s := range i.states() {
		if !s.Enabled {
			continue
		}
		on++
		warn := protocol.HealthCheck{Area: "hooks", State: protocol.CheckWarn}
		switch {
		case !s.Runs() && s.HearsNothing():
			warn.What = "the hook " + s.Name + " is enabled and never told: " + s.Blocked
			warn.Advice = "name other events in " + s.Descriptor() + ", or run `hearth hooks disable " + s.Name + "`"
		case !s.Runs():
			warn.What = "the hook " + s.Name + " is enabled and does not run: " + s.Blocked
			warn.Advice = "`hearth hooks info " + s.Name + "` says more; `hearth hooks enable " + s.Name + "` enables it as it is now"
		case s.NeverTold() != "":
			ready++
			warn.What = "the hook " + s.Name + " is told of some of its events only: " + s.NeverTold()
			warn.Advice = "name other events in " + s.Descriptor() + ", then run `hearth hooks enable " + s.Name + "`"
		default:
			ready++
			continue
		}
		out = append(out, warn)
	}
	if on > 0 && on == ready {
		out = append(out, protocol.HealthCheck{Area: "hooks", State: protocol.CheckOK, What: fmt.Sprintf("%d hooks are told what happens", on)})
	}
	return out
}

func (i *inside) methods() []method.Method {
	return []method.Method{method.Plain(protocol.MethodHooksStatus, i.status), method.Plain(protocol.MethodHookEnable, i.enable)}
}
