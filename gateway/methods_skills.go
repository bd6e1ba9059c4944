package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/skill"
)

func (g *Gateway) skillMethods() []method.Method {
	return []method.Method{
		method.Plain(protocol.MethodSkillsStatus, g.skillsStatus),
		method.Plain(protocol.MethodSkillsBins, g.skillsBins),
		method.Plain(protocol.MethodSkillsInstall, g.skillsInstall),
		method.Plain(protocol.MethodSkillsUpdate, g.skillsUpdate),
		method.Plain(protocol.MethodSkillPlan, g.skillPlan),
		method.Called(protocol.MethodSkillAccept, g.skillAccept),
		method.Called(protocol.MethodSkillRemove, g.skillRemove),
	}
}

func (g *Gateway) skillsStatus(_ context.Context, p protocol.SkillsStatusParams) (protocol.SkillsStatus, error) {
	out := protocol.SkillsStatus{ManagedSkillsDir: g.skills.Managed, AgentID: cmp.Or(p.AgentID, g.agents.Book().Default().ID), Skills: []protocol.SkillInfo{}}
	var err error
	if out.WorkspaceDir, err = g.skillWorkspace(p.AgentID); err != nil {
		return out, skillError(err)
	}
	agent := g.agents.Named(out.AgentID)
	for _, s := range g.skills.List(out.WorkspaceDir) {
		info := g.skillInfo(s)
		if !agent.AllSkills && !slices.Contains(agent.Skills, s.Name) {
			info.BlockedByAgentFilter, info.Eligible, info.ModelVisible, info.CommandVisible = true, false, false, false
		}
		out.Skills = append(out.Skills, info)
	}
	return out, nil
}

func (g *Gateway) skillInfo(s skill.Status) protocol.SkillInfo {
	out := protocol.SkillInfo{
		Name: s.Name, Description: s.Description, Source: "hearth-" + string(s.Source), Bundled: s.Source == skill.Bundled, FilePath: s.File(), BaseDir: s.Dir,
		SkillKey: s.Key, Emoji: s.Emoji, Homepage: s.Homepage, PrimaryEnv: s.PrimaryEnv, Always: s.Always, Disabled: s.Disabled, BlockedByAllowlist: s.Blocked,
		Eligible: s.Eligible(), PlatformIncompatible: len(s.Missing.OS) > 0, ModelVisible: s.ModelVisible(), UserInvocable: s.UserInvocable,
		CommandVisible: s.CommandVisible(), Requirements: skillNeeds(s.Requires), Missing: skillNeeds(s.Missing), ConfigChecks: []protocol.SkillConfigCheck{},
		Install: g.installers(s.Install), Version: s.Version, Trust: string(s.Trust), Problem: s.Problem, Shadowed: s.Shadowed, Warnings: g.skillWarnings(s),
	}
	for _, c := range s.Requires.Config {
		out.ConfigChecks = append(out.ConfigChecks, protocol.SkillConfigCheck{Path: c, Satisfied: s.Satisfied[c]})
	}
	return out
}

// skillWarnings says what a skill of the settings does not get, and why.
func (g *Gateway) skillWarnings(s skill.Status) (out []string) {
	entry := g.config.Snapshot().Config.Skills.Entries[s.Key]
	values := skillValues(s.Spec, entry)
	if len(values) > 0 && s.Problem == "" && !s.Trusted() {
		out = append(out, "It does not get the values that the settings keep for it until you have looked at its files: `hearth skills trust "+s.Name+"`")
	}
	for name := range values {
		if !skill.Injectable(name) {
			out = append(out, "A skill cannot set "+name+", which steers other programs; it is left out")
		}
	}
	for _, name := range s.Requires.Env {
		if _, kept := values[name]; !kept && g.opts.Env(name) != "" {
			out = append(out, name+" is in Hearth's own environment, which commands do not get; name it in skills.entries."+s.Key+".env, for example as { source: \"env\", id: \""+name+"\" }")
		}
	}
	return out
}

func skillNeeds(r skill.Requires) protocol.SkillNeeds {
	list := func(in []string) []string { return append([]string{}, in...) }
	return protocol.SkillNeeds{Bins: list(r.Bins), AnyBins: list(r.AnyBins), Env: list(r.Env), Config: list(r.Config), OS: list(r.OS)}
}

func (g *Gateway) installers(in []skill.Installer) []protocol.SkillInstaller {
	out := []protocol.SkillInstaller{}
	manager := g.config.Snapshot().Config.Skills.Install.NodeManager
	for _, i := range in {
		out = append(out, protocol.SkillInstaller{ID: i.ID, Kind: i.Kind, Label: i.Label, Bins: append([]string{}, i.Bins...), Command: i.Command(manager)})
	}
	return out
}

func (g *Gateway) skillsBins(context.Context, method.None) (protocol.SkillsBins, error) {
	bins := []string{}
	for _, ws := range g.skillWorkspaces() {
		bins = append(bins, g.skills.Bins(ws)...)
	}
	slices.Sort(bins)
	return protocol.SkillsBins{Bins: slices.Compact(bins)}, nil
}

// skillsInstall answers the clients of other gateways: Hearth runs no installer
// and fetches nothing by itself, it says what to run.
func (g *Gateway) skillsInstall(_ context.Context, p protocol.SkillsInstallParams) (protocol.SkillsInstallResult, error) {
	if p.Source != "" {
		return protocol.SkillsInstallResult{}, protocol.Invalid("Hearth installs skills from a folder, a zip archive or a git bundle on this computer, after you have seen them: `hearth skills install PATH`. It fetches none from a registry.").With("code", "NOT_SUPPORTED")
	}
	s, err := g.skills.Find(g.agents.Book().Default().Workspace, p.Name)
	if err != nil {
		return protocol.SkillsInstallResult{}, skillError(err)
	}
	for _, i := range g.installers(s.Install) {
		if i.ID == p.InstallID && i.Command != "" {
			return protocol.SkillsInstallResult{Message: "Hearth runs no installers by itself. To get what " + s.Name + " needs, run: " + i.Command}, nil
		}
	}
	return protocol.SkillsInstallResult{}, protocol.Invalid("%s names no way to install called %q that Hearth knows", s.Name, p.InstallID).With("code", "NOT_FOUND")
}

func (g *Gateway) skillsUpdate(ctx context.Context, p protocol.SkillsUpdateParams) (protocol.SkillsUpdateResult, error) {
	if p.Source != "" || p.SkillKey == "" {
		return protocol.SkillsUpdateResult{}, protocol.Invalid("skillKey says which skill; Hearth updates none from a registry, install the new files with `hearth skills install PATH`")
	}
	entry := map[string]any{}
	if p.Enabled != nil {
		entry["enabled"] = *p.Enabled
	}
	if p.APIKey != nil {
		entry["apiKey"] = orNull(*p.APIKey)
	}
	if p.Env != nil {
		env := map[string]any{}
		for name, v := range p.Env {
			env[name] = orNull(v)
		}
		entry["env"] = env
	}
	if len(entry) == 0 {
		return protocol.SkillsUpdateResult{}, protocol.Invalid("nothing to change: enabled, apiKey or env says what")
	}
	raw, err := json.Marshal(map[string]any{"skills": map[string]any{"entries": map[string]any{p.SkillKey: entry}}})
	if err != nil {
		return protocol.SkillsUpdateResult{}, fmt.Errorf("write the settings of a skill: %w", err)
	}
	_, notes, err := g.secrets.Patch(ctx, g.config.Snapshot().Hash, string(raw))
	g.skills.Refresh()
	return protocol.SkillsUpdateResult{OK: err == nil, SkillKey: p.SkillKey, Notes: notes}, err
}

// orNull: an empty text takes a key of the settings away.
func orNull(s string) any {
	if s = strings.TrimSpace(s); s == "" {
		return nil
	}
	return s
}

func (g *Gateway) skillPlan(_ context.Context, p protocol.SkillPlanParams) (protocol.SkillPlan, error) {
	if p.Path == "" {
		ws, err := g.skillWorkspace(p.AgentID)
		if err != nil {
			return protocol.SkillPlan{}, skillError(err)
		}
		plan, err := g.skills.Inspect(ws, p.Name)
		return g.skillPlanOf(plan), skillError(err)
	}
	files, err := loadSkill(p.Path)
	if err != nil {
		return protocol.SkillPlan{}, skillError(err)
	}
	plan, err := g.skills.Plan(files, p.Path)
	return g.skillPlanOf(plan), skillError(err)
}

func loadSkill(path string) (skill.Files, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("%w: the path must be a whole one", skill.ErrInvalid)
	}
	return skill.Load(filepath.Clean(path))
}

// skillAccept is the one way in for skills, whoever asks (A-SKILL-09).
func (g *Gateway) skillAccept(ctx context.Context, c *server.Caller, p protocol.SkillAcceptParams) (protocol.SkillPlan, error) {
	var plan skill.Plan
	var err error
	what := "trusted the skill "
	if p.Path == "" {
		var ws string
		if ws, err = g.skillWorkspace(p.AgentID); err == nil {
			plan, err = g.skills.Confirm(ws, p.Name, p.Hash)
		}
	} else {
		what = "installed the skill "
		var files skill.Files
		if files, err = loadSkill(p.Path); err == nil {
			plan, err = g.skills.Install(ctx, files, p.Path, p.Hash, p.Force)
		}
	}
	if err != nil {
		return protocol.SkillPlan{}, skillError(err)
	}
	g.audit.Add(audit.Entry{Kind: audit.KindConfig, What: what + plan.Name, Who: method.DeciderOf(c).ID, Facts: map[string]string{"hash": plan.Hash, "from": plan.From}})
	g.skillsChanged()
	return g.skillPlanOf(plan), nil
}

func (g *Gateway) skillRemove(_ context.Context, c *server.Caller, p protocol.SkillNameParams) (protocol.OKResult, error) {
	if err := g.skills.Remove(p.Name); err != nil {
		return protocol.OKResult{}, skillError(err)
	}
	g.audit.Add(audit.Entry{Kind: audit.KindConfig, What: "removed the skill " + p.Name, Who: method.DeciderOf(c).ID})
	g.skillsChanged()
	return protocol.OKResult{OK: true}, nil
}

func (g *Gateway) skillPlanOf(p skill.Plan) protocol.SkillPlan {
	out := protocol.SkillPlan{
		Name: p.Name, Description: p.Description, Version: p.Version, Homepage: p.Homepage, Dir: p.Dir, From: p.From, Hash: p.Hash, Bytes: p.Bytes,
		Files: []protocol.SkillFile{}, Update: p.Update, Same: p.Same, Diff: p.Diff, Findings: append([]string{}, p.Findings...), Refused: p.Refused,
		Requires: skillNeeds(p.Requires), PrimaryEnv: p.PrimaryEnv, Install: g.installers(p.Spec.Install),
	}
	if p.Dispatch != "" {
		out.Dispatch = p.DispatchTool
	}
	for _, f := range p.Files {
		out.Files = append(out.Files, protocol.SkillFile(f))
	}
	return out
}

func skillError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, skill.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return protocol.Invalid("%v", err).With("code", "NOT_FOUND")
	case errors.Is(err, skill.ErrMoved):
		return protocol.Invalid("%v", err).With("code", "SKILL_CHANGED")
	case errors.Is(err, skill.ErrRefused):
		return protocol.Invalid("%v", err).With("code", "SKILL_REFUSED")
	}
	return protocol.Invalid("%v", err).With("code", "INVALID")
}
