// Package skills is the feature that lets a person see, allow and bring in
// skills: the methods skills.* and hearth.skills.*, the slash commands of skills,
// what waits for the owner's trust, and the watch over their folders. Which skills
// a conversation has is package gateway/skill/catalog's, and what a skill is
// package gateway/skill's.
package skills

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/skill"
	"github.com/hearth-assistant/hearth/gateway/skill/catalog"
	"github.com/hearth-assistant/hearth/gateway/task"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Catalog  *catalog.Catalog
	Agents   *agents.Directory
	Settings *config.File
	Secrets  *lookup.Secrets
	Audit    *audit.Log
	Tasks    *task.Book
	Env      func(string) string
	Calls    Calls
	Events   Events
	Logger   *slog.Logger
}

// Events is who hears that skills have changed.
type Events struct {
	Life    context.Context // of the gateway
	Clients *server.Server
	Health  func(context.Context) (protocol.Health, error) // says whether one waits for the owner
}

type feature struct{ o Options }

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{o}
	o.Calls.Dispatch.SetSkills(calls{o.Calls, o.Catalog, o.Audit})
	o.Settings.Subscribe(nil, func(_, _ config.Config) { f.o.Catalog.Reconsider() })
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodSkillsStatus, f.status),
			method.Plain(protocol.MethodSkillsBins, f.bins),
			method.Plain(protocol.MethodSkillsInstall, f.howToInstall),
			method.Plain(protocol.MethodSkillsUpdate, f.update),
			method.Plain(protocol.MethodSkillPlan, f.plan),
			method.Called(protocol.MethodSkillAccept, f.accept),
			method.Called(protocol.MethodSkillRemove, f.remove),
		},
		Problems: f.problems,
		Run:      f.watch,
	}
}

// problems are the skills that wait for the owner.
func (f *feature) problems() (out []protocol.Problem) {
	for _, name := range f.o.Catalog.Waiting() {
		out = append(out, protocol.Problem{Code: "SKILL", Message: "The skill “" + name + "” is new or was changed, and a command of the " +
			"assistant's may have done that. " +
			"It is not used until you have looked at it: in the settings, “Skills & MCP”, or with `hearth skills trust " +
			text.ShellWord(name) + "`."})
	}
	return out
}

// watch follows changes of skills until ctx ends.
func (f *feature) watch(ctx context.Context) error {
	if err := f.o.Catalog.Watch(ctx, f.o.Catalog.Workspaces, f.changed); err != nil {
		f.o.Logger.Warn("changes of skills are seen with the next session only", "err", err)
	}
	return nil
}

// changed tells clients that there are other skills.
func (f *feature) changed() {
	f.o.Events.Clients.Broadcast(server.Broadcast{Event: protocol.EventSkillsChanged, Payload: struct{}{}})
	if h, err := f.o.Events.Health(f.o.Events.Life); err == nil {
		f.o.Events.Clients.Broadcast(server.Broadcast{Event: protocol.EventHealth, Payload: h})
	}
}

// workspace is the folder of an agent, "" for the default one.
func (f *feature) workspace(agent string) (string, error) {
	if agent == "" {
		return f.o.Agents.Book().Default().Workspace, nil
	}
	a, ok := f.o.Agents.Book().Get(agent)
	if !ok {
		return "", fmt.Errorf("%w: there is no agent %q", skill.ErrInvalid, agent)
	}
	return a.Workspace, nil
}

func (f *feature) status(_ context.Context, p protocol.SkillsStatusParams) (protocol.SkillsStatus, error) {
	out := protocol.SkillsStatus{ManagedSkillsDir: f.o.Catalog.Managed, AgentID: cmp.Or(p.AgentID, f.o.Agents.Book().Default().ID),
		Skills: []protocol.SkillInfo{}}
	var err error
	if out.WorkspaceDir, err = f.workspace(p.AgentID); err != nil {
		return out, errorOf(err)
	}
	agent := f.o.Agents.Named(out.AgentID)
	for _, s := range f.o.Catalog.List(out.WorkspaceDir) {
		info := f.info(s)
		if !agent.AllSkills && !slices.Contains(agent.Skills, s.Name) {
			info.BlockedByAgentFilter, info.Eligible, info.ModelVisible, info.CommandVisible = true, false, false, false
		}
		out.Skills = append(out.Skills, info)
	}
	return out, nil
}

func (f *feature) info(s skill.Status) protocol.SkillInfo {
	out := protocol.SkillInfo{
		Name: s.Name, Description: s.Description, Source: "hearth-" + string(s.Source), Bundled: s.Source == skill.Bundled, FilePath: s.File(),
		BaseDir:  s.Dir,
		SkillKey: s.Key, Emoji: s.Emoji, Homepage: s.Homepage, PrimaryEnv: s.PrimaryEnv, Always: s.Always, Disabled: s.Disabled,
		BlockedByAllowlist: s.Blocked,
		Eligible:           s.Eligible(), PlatformIncompatible: len(s.Missing.OS) > 0, ModelVisible: s.ModelVisible(),
		UserInvocable:  s.UserInvocable,
		CommandVisible: s.CommandVisible(), Requirements: needs(s.Requires), Missing: needs(s.Missing),
		ConfigChecks: []protocol.SkillConfigCheck{},
		Install:      f.installers(s.Install), Version: s.Version, Trust: string(s.Trust), Problem: s.Problem, Shadowed: s.Shadowed,
		Warnings: f.warnings(s),
	}
	for _, c := range s.Requires.Config {
		out.ConfigChecks = append(out.ConfigChecks, protocol.SkillConfigCheck{Path: c, Satisfied: s.Satisfied[c]})
	}
	return out
}

// warnings says what a skill of the settings does not get, and why.
func (f *feature) warnings(s skill.Status) (out []string) {
	entry := catalog.Section.Of(f.o.Settings.Snapshot().Config).Entries[s.Key]
	values := catalog.Values(s.Spec, entry)
	if len(values) > 0 && s.Problem == "" && !s.Trusted() {
		out = append(out, "It does not get the values that the settings keep for it until you have looked at its files: `hearth skills trust "+
			text.ShellWord(s.Name)+"`")
	}
	for name := range values {
		if !skill.Injectable(name) {
			out = append(out, "A skill cannot set "+name+", which steers other programs; it is left out")
		}
	}
	for _, name := range s.Requires.Env {
		if _, kept := values[name]; !kept && f.o.Env(name) != "" {
			out = append(out, name+" is in Hearth's own environment, which commands do not get; name it in skills.entries."+s.Key+".env, for "+
				"example as { source: \"env\", id: \""+name+"\" }")
		}
	}
	return out
}

func needs(r skill.Requires) protocol.SkillNeeds {
	list := func(in []string) []string { return append([]string{}, in...) }
	return protocol.SkillNeeds{Bins: list(r.Bins), AnyBins: list(r.AnyBins), Env: list(r.Env), Config: list(r.Config), OS: list(r.OS)}
}

func (f *feature) installers(in []skill.Installer) []protocol.SkillInstaller {
	out := []protocol.SkillInstaller{}
	manager := catalog.Section.Of(f.o.Settings.Snapshot().Config).NodeManager
	for _, i := range in {
		out = append(out, protocol.SkillInstaller{ID: i.ID, Kind: i.Kind, Label: i.Label, Bins: append([]string{}, i.Bins...),
			Command: i.Command(manager)})
	}
	return out
}

func (f *feature) bins(context.Context, method.None) (protocol.SkillsBins, error) {
	bins := []string{}
	for _, ws := range f.o.Catalog.Workspaces() {
		bins = append(bins, f.o.Catalog.Bins(ws)...)
	}
	slices.Sort(bins)
	return protocol.SkillsBins{Bins: slices.Compact(bins)}, nil
}

// howToInstall answers the clients of other gateways: Hearth runs no installer
// and fetches nothing by itself, it says what to run.
func (f *feature) howToInstall(_ context.Context, p protocol.SkillsInstallParams) (protocol.SkillsInstallResult, error) {
	if p.Source != "" {
		return protocol.SkillsInstallResult{}, protocol.Invalid("Hearth installs skills from a folder, a zip archive or a git bundle on this "+
			"computer, "+
			"after you have seen them: `hearth skills install PATH`. It fetches none from a registry.").With("code", "NOT_SUPPORTED")
	}
	s, err := f.o.Catalog.Find(f.o.Agents.Book().Default().Workspace, p.Name)
	if err != nil {
		return protocol.SkillsInstallResult{}, errorOf(err)
	}
	for _, i := range f.installers(s.Install) {
		if i.ID == p.InstallID && i.Command != "" {
			return protocol.SkillsInstallResult{Message: "Hearth runs no installers by itself. To get what " + s.Name + " needs, run: " + i.Command},
				nil
		}
	}
	return protocol.SkillsInstallResult{}, protocol.Invalid("%s names no way to install called %q that Hearth knows", s.Name,
		p.InstallID).With("code", "NOT_FOUND")
}

func (f *feature) update(ctx context.Context, p protocol.SkillsUpdateParams) (protocol.SkillsUpdateResult, error) {
	if p.Source != "" || p.SkillKey == "" {
		return protocol.SkillsUpdateResult{}, protocol.Invalid("skillKey says which skill; Hearth updates none from a registry, install the " +
			"new files with `hearth skills install PATH`")
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
	_, notes, err := f.o.Secrets.Patch(ctx, f.o.Settings.Snapshot().Hash, string(raw))
	f.o.Catalog.Refresh()
	return protocol.SkillsUpdateResult{OK: err == nil, SkillKey: p.SkillKey, Notes: notes}, err
}

// orNull: an empty text takes a key of the settings away.
func orNull(s string) any {
	if s = strings.TrimSpace(s); s == "" {
		return nil
	}
	return s
}
