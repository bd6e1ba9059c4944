package skills

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/skill"
	"github.com/hearth-assistant/hearth/gateway/task"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

func (f *feature) plan(_ context.Context, p protocol.SkillPlanParams) (protocol.SkillPlan, error) {
	if p.Path == "" {
		ws, err := f.workspace(p.AgentID)
		if err != nil {
			return protocol.SkillPlan{}, errorOf(err)
		}
		plan, err := f.o.Catalog.Inspect(ws, p.Name)
		return f.onWire(plan), errorOf(err)
	}
	files, err := load(p.Path)
	if err != nil {
		return protocol.SkillPlan{}, errorOf(err)
	}
	plan, err := f.o.Catalog.Plan(files, p.Path)
	return f.onWire(plan), errorOf(err)
}

func load(path string) (skill.Files, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("%w: the path must be a whole one", skill.ErrInvalid)
	}
	return skill.Load(filepath.Clean(path))
}

// accept is the one way in for skills, whoever asks (A-SKILL-09).
func (f *feature) accept(ctx context.Context, c *server.Caller, p protocol.SkillAcceptParams) (protocol.SkillPlan, error) {
	var plan skill.Plan
	var err error
	what := "trusted the skill "
	if p.Path == "" {
		var ws string
		if ws, err = f.workspace(p.AgentID); err == nil {
			plan, err = f.o.Catalog.Confirm(ws, p.Name, p.Hash)
		}
	} else {
		what = "installed the skill "
		var files skill.Files
		if files, err = load(p.Path); err == nil {
			plan, err = f.install(ctx, files, p)
		}
	}
	if err != nil {
		return protocol.SkillPlan{}, errorOf(err)
	}
	f.o.Audit.Add(audit.Entry{Kind: audit.KindConfig, What: what + plan.Name, Who: method.DeciderOf(c).ID,
		Facts: map[string]string{"hash": plan.Hash, "from": plan.From}})
	f.changed()
	return f.onWire(plan), nil
}

// install puts a skill where skills lie, as a task: what was refused can be read
// there later too.
func (f *feature) install(ctx context.Context, files skill.Files, p protocol.SkillAcceptParams) (plan skill.Plan, err error) {
	t := task.Task{}
	t.ID, t.Kind, t.Runtime, t.Title = uuid.New(), protocol.TaskSkill, "skill", filepath.Base(p.Path)
	err = f.o.Tasks.Do(ctx, t, func(ctx context.Context) (string, error) {
		plan, err = f.o.Catalog.Install(ctx, files, p.Path, p.Hash, p.Force)
		return plan.Description, err
	})
	return plan, err
}

func (f *feature) remove(_ context.Context, c *server.Caller, p protocol.SkillNameParams) (protocol.OKResult, error) {
	if err := f.o.Catalog.Remove(p.Name); err != nil {
		return protocol.OKResult{}, errorOf(err)
	}
	f.o.Audit.Add(audit.Entry{Kind: audit.KindConfig, What: "removed the skill " + p.Name, Who: method.DeciderOf(c).ID})
	f.changed()
	return protocol.OKResult{OK: true}, nil
}

func (f *feature) onWire(p skill.Plan) protocol.SkillPlan {
	out := protocol.SkillPlan{
		Name: p.Name, Description: p.Description, Version: p.Version, Homepage: p.Homepage, Dir: p.Dir, From: p.From, Hash: p.Hash,
		Bytes: p.Bytes,
		Files: []protocol.SkillFile{}, Update: p.Update, Same: p.Same, Diff: p.Diff, Findings: append([]string{}, p.Findings...),
		Refused:  p.Refused,
		Requires: needs(p.Requires), PrimaryEnv: p.PrimaryEnv, Install: f.installers(p.Spec.Install),
	}
	if p.Dispatch != "" {
		out.Dispatch = p.DispatchTool
	}
	for _, f := range p.Files {
		out.Files = append(out.Files, protocol.SkillFile(f))
	}
	return out
}

func errorOf(err error) error {
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
