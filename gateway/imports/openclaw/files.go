package openclaw

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/imports"
)

const maxFiles = 5000 // of a workspace

// readWorkspaces hands over the files of each agent: who it is, what it remembers,
// and what else lies there.
func (h *home) readWorkspaces(ctx context.Context) error {
	for _, w := range h.roots {
		many := 0
		for _, name := range h.filesBelow(w.dir) {
			if err := ctx.Err(); err != nil {
				return err
			}
			rel := strings.TrimPrefix(name, w.dir+"/")
			if strings.HasPrefix(rel, "skills/") || rel == "BOOTSTRAP.md" || hidden(rel) {
				continue // skills have rules of their own; an introduction was held already
			}
			if many++; many > maxFiles {
				if err := h.give(imports.Left(imports.Files, w.dir, "a workspace of more than 5,000 files: copy the rest by hand", 1)); err != nil {
					return err
				}
				break
			}
			if err := h.file(w.agent, name, rel); err != nil {
				return err
			}
		}
	}
	return nil
}

func hidden(rel string) bool {
	return slices.ContainsFunc(strings.Split(rel, "/"), func(p string) bool { return strings.HasPrefix(p, ".") })
}

func (h *home) file(agent, name, rel string) error {
	kind := imports.Files
	if isMemory(rel) {
		kind = imports.Memory
	}
	return h.give(imports.FileAt(h.t, kind, agent, name, rel))
}

func isMemory(rel string) bool {
	return rel == "MEMORY.md" || rel == "memory.md" || strings.HasPrefix(rel, "memory/") && strings.HasSuffix(strings.ToLower(rel), ".md")
}

// readSkills hands over the folders with a SKILL.md, those of all agents and those
// of a workspace.
func (h *home) readSkills(context.Context) error {
	places := []string{"skills"}
	for _, w := range h.roots {
		places = append(places, w.dir+"/skills")
	}
	for _, dir := range places {
		names := h.filesBelow(dir)
		for _, name := range names {
			if path.Base(name) != "SKILL.md" {
				continue
			}
			if err := h.give(imports.SkillAt(h.t, path.Dir(name), names)); err != nil {
				return err
			}
		}
	}
	return nil
}
