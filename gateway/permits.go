package gateway

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/file"
)

// What the tools ask for, in the words of the approvals.

// permitFile is the question of the file tools about a place that is not theirs.
func (g *Gateway) permitFile(ctx context.Context, call tool.Call, f file.Ask) error {
	a := approval.For(approval.KindFile, call)
	a.Tool, a.Path, a.Digest, a.Known = f.Tool, f.Path, f.Digest, true
	a.Title = fileVerb(f) + " " + plan.Show(f.Path)
	// To read a file is one thing for ever; each change is another.
	a.Lasting = !f.Change
	a.Warnings = []string{"It is asked because " + f.Reason + "."}
	a.Lines = []string{"Tool: " + f.Tool, "File: " + plan.Show(f.Path)}
	if f.Folder != "" && !f.Change && !g.inWorkspaces(f.Path) {
		folder := g.shownFolder(f.Folder)
		a.Folder, a.FolderTitle = f.Folder, approval.ReadFilesIn+folder
		if name, _ := filepath.Rel(f.Folder, f.Path); name != "." {
			a.Title = "Read " + plan.Show(name) + " in " + folder
		} else {
			a.Title = "Read what is in " + folder
		}
	}
	if f.Written != f.Path {
		a.Lines = append(a.Lines, "Written as: "+plan.Show(f.Written))
	}
	a.Lines = append(append(a.Lines, a.Warnings...), diffLines(f.Diff)...)
	// What is to be written is part of what is decided about: too much of it to
	// read cannot be approved.
	a.Command = f.Diff
	_, err := g.toolGate.Permit(ctx, call, a)
	if err == nil && !f.Change {
		g.taint.Mark(call.RunID) // a file that is not the workspace's is somebody's words
	}
	return err
}

// inWorkspaces reports files in the workspace of an agent. One agent's own are
// not asked for, so these are another's: allowing a folder does not open them.
func (g *Gateway) inWorkspaces(path string) bool {
	for _, a := range g.agents.Book().All() {
		dir := a.Workspace
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// shownFolder is a folder without links, as people write it.
func (g *Gateway) shownFolder(dir string) string {
	home := g.finder().Home
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	if rel, err := filepath.Rel(home, dir); home != "" && err == nil && filepath.IsLocal(rel) {
		dir = filepath.Join("~", rel)
	}
	return plan.Show(dir)
}

func fileVerb(f file.Ask) string {
	switch {
	case f.Gone:
		return "Delete"
	case f.New:
		return "Make"
	case f.Change:
		return "Change"
	}
	return "Read"
}

// diffLines shows a change line by line.
func diffLines(diff string) []string {
	if diff == "" {
		return nil
	}
	out := []string{"Change:"}
	for _, line := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n") {
		out = append(out, "  "+plan.Show(line))
	}
	return out
}
