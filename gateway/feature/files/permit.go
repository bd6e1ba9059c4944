package files

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/approval/sentence"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/file"
)

// permit is the question of the tools about a place that is not theirs.
func (f *feature) permit(ctx context.Context, call tool.Call, w file.Ask) error {
	a := approval.For(approval.KindFile, call)
	a.Tool, a.Path, a.Digest, a.Known = w.Tool, w.Path, w.Digest, true
	a.Title = verb(w) + " " + plan.Show(w.Path)
	a.Says = sentence.New(says(w)).With("paths", sentence.Path(w.Path, f.o.Finder.Home))
	// To read a file is one thing for ever; each change is another.
	a.Lasting = !w.Change
	a.Warnings = []string{"It is asked because " + w.Reason + "."}
	a.Lines = []string{"Tool: " + w.Tool, "File: " + plan.Show(w.Path)}
	if w.Folder != "" && !w.Change && !f.inWorkspaces(w.Path) {
		folder := f.shownFolder(w.Folder)
		a.Folder, a.FolderTitle = w.Folder, approval.ReadFilesIn+folder
		if name, _ := filepath.Rel(w.Folder, w.Path); name != "." {
			a.Title = "Read " + plan.Show(name) + " in " + folder
		} else {
			a.Title = "Read what is in " + folder
			a.Says = sentence.New("file.folder").With("paths", sentence.Path(w.Folder, f.o.Finder.Home))
		}
	}
	if w.Written != w.Path {
		a.Lines = append(a.Lines, "Written as: "+plan.Show(w.Written))
	}
	a.Lines = append(append(a.Lines, a.Warnings...), diffLines(w.Diff)...)
	// What is to be written is part of what is decided about: too much of it to
	// read cannot be approved.
	a.Command = w.Diff
	_, err := f.o.Gate.Permit(ctx, call, a)
	if err == nil && !w.Change {
		f.o.Taint.Mark(call.RunID) // a file that is not the workspace's is somebody's words
	}
	return err
}

// inWorkspaces reports files in the workspace of an agent. One agent's own are
// not asked for, so these are another's: allowing a folder does not open them.
func (f *feature) inWorkspaces(path string) bool {
	for _, a := range f.o.Agents.Book().All() {
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
func (f *feature) shownFolder(dir string) string {
	home := f.o.Finder.Home
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	if rel, err := filepath.Rel(home, dir); home != "" && err == nil && filepath.IsLocal(rel) {
		dir = filepath.Join("~", rel)
	}
	return plan.Show(dir)
}

func says(w file.Ask) sentence.Code {
	switch {
	case w.Gone:
		return "file.delete"
	case w.New:
		return "file.make"
	case w.Change:
		return "file.change"
	}
	return "file.read"
}

func verb(w file.Ask) string {
	switch {
	case w.Gone:
		return "Delete"
	case w.New:
		return "Make"
	case w.Change:
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
