package launch

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
)

// systemFolders hold what only root changes; elsewhere a program can be
// exchanged between the look at it and its start.
var systemFolders = []string{"/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/opt/", "/nix/", "/snap/", "/System/", "/Library/Apple/"}

const maxCopy = 64 << 20

// copies reads the scripts and programs of a plan that could be exchanged, and
// refuses those that were.
func copies(p plan.Plan) ([]process.Copy, error) {
	var out []process.Copy
	for _, f := range exchangeable(p) {
		known := slices.IndexFunc(out, func(c process.Copy) bool { return c.Path == f.Path })
		var named []string
		if f.Named != "" && f.Named != f.Path {
			named = []string{f.Named}
		}
		if known >= 0 {
			out[known].Named = append(out[known].Named, named...)
			continue
		}
		data, err := content(f.Path)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", plan.ErrChanged, err)
		}
		if sha256.Sum256(data) != f.Hash {
			return nil, fmt.Errorf("%w: %s has another content now; ask again", plan.ErrChanged, plan.Show(f.Path))
		}
		out = append(out, process.Copy{Path: f.Path, Named: named, Data: data})
	}
	return out, nil
}

// exchangeable are the files of a plan that others than root could change, or
// whose names they could lead elsewhere.
func exchangeable(p plan.Plan) []plan.File {
	files := slices.Clone(p.Scripts)
	for _, pr := range p.Programs {
		if filepath.IsAbs(pr.Path) && filepath.Separator == '/' && !(ofSystem(pr.Path) && (pr.Named == "" || ofSystem(pr.Named))) {
			files = append(files, plan.File{Path: pr.Path, Hash: pr.Hash, Named: pr.Named})
		}
	}
	return files
}

func ofSystem(path string) bool {
	return !strings.Contains(path, "..") && slices.ContainsFunc(systemFolders, func(dir string) bool { return strings.HasPrefix(path, dir) })
}

func content(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxCopy+1))
	if err == nil && len(data) > maxCopy {
		err = fmt.Errorf("%s is larger than %d MB, too large to be kept as it was approved", plan.Show(path), maxCopy>>20)
	}
	return data, err
}

// rules is what a confined command may touch: the workspace, the folder that it
// was allowed to run in, its temporary files, and what the settings add.
func (o Place) rules(p plan.Plan, t Terms, temp string) (sandbox.Rules, error) {
	rules := sandbox.Rules{
		Read:    append([]string{filepath.Join(o.Home, ".gitconfig"), filepath.Join(o.Home, ".config", "git")}, t.Read...),
		Write:   append([]string{temp}, t.Write...),
		Hide:    append(sandbox.Secrets(o.Home), o.Hide...),
		Network: t.Network, Same: map[string]sandbox.ID{},
	}
	for path, info := range t.Same {
		rules.Same[path] = sandbox.IDOf(info)
	}
	for _, s := range t.Stay { // what is in the workspace is the command's to move
		if t.Workspace == "" || !strings.HasPrefix(s, t.Workspace+string(filepath.Separator)) {
			rules.Stay = append(rules.Stay, s)
		}
	}
	rules.Read = append(rules.Read, filepath.SplitList(o.Resolver.SearchPath())...)
	if t.Workspace != "" {
		rules.Write = append(rules.Write, t.Workspace)
	}
	if !o.workable(p.Dir, rules.Hide) || t.Workspace != "" &&
		(p.Dir == t.Workspace || strings.HasPrefix(p.Dir, t.Workspace+string(filepath.Separator))) {
		return rules, nil
	}
	info, err := os.Lstat(p.Dir)
	if err != nil || !p.InDir(info) {
		return rules, process.ErrMoved
	}
	rules.Write, rules.Same[p.Dir] = append(rules.Write, p.Dir), sandbox.IDOf(info)
	return rules, nil
}

// workable: the folder of a command is a place to work in, not the home folder
// as a whole, the system's, or one with secrets.
func (o Place) workable(dir string, hide []string) bool {
	home := o.Home
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	if home == "" || !strings.HasPrefix(dir, home+string(filepath.Separator)) {
		return false
	}
	return !slices.ContainsFunc(hide, func(h string) bool {
		if real, err := filepath.EvalSymlinks(h); err == nil {
			h = real
		}
		return dir == h || strings.HasPrefix(dir, h+string(filepath.Separator))
	})
}
