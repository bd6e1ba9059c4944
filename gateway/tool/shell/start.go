package shell

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
)

// start starts exactly the plan that was allowed, or nothing.
func (r *run) start(ctx context.Context) error {
	p := r.wish.Plan
	temp, err := os.MkdirTemp("", "hearth-run-")
	if err != nil {
		return fmt.Errorf("make a folder for temporary files: %w", err)
	}
	if temp, err = filepath.EvalSymlinks(temp); err != nil {
		return fmt.Errorf("find the folder for temporary files: %w", err)
	}
	s := process.Spec{
		Owner: r.call.SessionKey, Title: title(p), Dir: p.Dir, Env: r.environment(p, temp, r.args.PTY, r.extra(ctx)),
		TTY: r.args.PTY, Cols: 120, Rows: 40, Input: r.args.Background || r.args.PTY, Timeout: r.timeout(), Temp: temp,
	}
	s.Path, s.Argv = command(p)
	if r.confined {
		rules := r.rules(p, temp)
		s.Confine = &rules
	}
	// The folder is open when this looks: nothing that happens to its path
	// afterwards leads the command elsewhere.
	s.CheckDir = func(f *os.File) error {
		info, err := f.Stat()
		if err != nil {
			return fmt.Errorf("look at the working folder: %w", err)
		}
		if !p.InDir(info) {
			return process.ErrMoved
		}
		return r.Resolver.Verify(ctx, p)
	}
	if s.Copies, err = copies(p); err == nil {
		err = r.keep(ctx)
	}
	if err == nil {
		if r.p, err = r.Keeper.Start(ctx, s); err != nil {
			r.settle(context.WithoutCancel(ctx)) // nothing ran
		}
	}
	if err != nil {
		_ = os.RemoveAll(temp)
	}
	return err
}

// extra are the variables for this call alone.
func (r *run) extra(ctx context.Context) []string {
	if r.Extra == nil {
		return nil
	}
	return r.Extra(ctx, r.call)
}

func (r *run) timeout() time.Duration {
	if r.args.Timeout > 0 {
		return min(time.Duration(r.args.Timeout*float64(time.Second)), maxTimeout)
	}
	if r.settings.Timeout > 0 {
		return r.settings.Timeout
	}
	return defaultTimeout
}

func title(p plan.Plan) string {
	if p.Command != "" {
		return p.Command
	}
	return strings.Join(p.Argv, " ")
}

// systemFolders hold what only root changes; elsewhere a program can be
// exchanged between the look at it and its start.
var systemFolders = []string{"/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/opt/", "/nix/", "/snap/", "/System/", "/Library/Apple/"}

const maxCopy = 64 << 20

// copies reads the scripts and programs of a plan that could be exchanged, and
// refuses those that were.
func copies(p plan.Plan) ([]process.Copy, error) {
	files := slices.Clone(p.Scripts)
	for _, pr := range p.Programs {
		system := func(dir string) bool { return strings.HasPrefix(pr.Path, dir) }
		if filepath.IsAbs(pr.Path) && filepath.Separator == '/' && !slices.ContainsFunc(systemFolders, system) {
			files = append(files, plan.File{Path: pr.Path, Hash: pr.Hash})
		}
	}
	var out []process.Copy
	for _, f := range files {
		if slices.ContainsFunc(out, func(c process.Copy) bool { return c.Path == f.Path }) {
			continue
		}
		data, err := content(f.Path)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", plan.ErrChanged, err)
		}
		if sha256.Sum256(data) != f.Hash {
			return nil, fmt.Errorf("%w: %s has another content now; ask again", plan.ErrChanged, plan.Show(f.Path))
		}
		out = append(out, process.Copy{Path: f.Path, Data: data})
	}
	return out, nil
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
func (r *run) rules(p plan.Plan, temp string) sandbox.Rules {
	rules := sandbox.Rules{
		Read:    append([]string{filepath.Join(r.Home, ".gitconfig"), filepath.Join(r.Home, ".config", "git")}, r.settings.Read...),
		Write:   append([]string{temp}, r.settings.Write...),
		Hide:    append(sandbox.Secrets(r.Home), r.Hide...),
		Network: r.settings.Network,
	}
	rules.Read = append(rules.Read, filepath.SplitList(r.Resolver.SearchPath())...)
	if r.call.Workspace != "" {
		rules.Write = append(rules.Write, r.call.Workspace)
	}
	if r.workable(p.Dir, rules.Hide) {
		rules.Write = append(rules.Write, p.Dir)
	}
	return rules
}

// workable: the folder of a command is a place to work in, not the home folder
// as a whole, the system's, or one with secrets.
func (r *run) workable(dir string, hide []string) bool {
	home := r.Home
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
