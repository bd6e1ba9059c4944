// Package launch turns a plan that was allowed into exactly one start: the
// program and its arguments, an environment of which little is the gateway's
// own, copies of what could be exchanged between the look and the start, and
// the rules of the sandbox. The plan is checked once more in the folder that is
// then open. Who may run what is decided elsewhere; gateway/process runs it.
package launch

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/process"
)

// Place is the machine that commands run on.
type Place struct {
	Resolver *plan.Resolver
	Home     string
	// Environ is this program's own environment, of which little is passed on.
	Environ []string
	// Hide are folders and files of ours that no command sees.
	Hide []string
}

// Terms are how one command runs.
type Terms struct {
	Owner     string
	Workspace string // may be changed by a confined command
	Confined  bool
	Read      []string // for confined ones, beyond the system's folders
	Write     []string // and beyond the workspace
	// Stay are folders that stay where they are, also where the folder above them
	// may be changed; Same says which folder a path of Workspace or Write is.
	Stay    []string
	Same    map[string]fs.FileInfo
	Network bool
	// Extra are variables, NAME=value, beside the usual ones, which they never
	// replace.
	Extra   []string
	TTY     bool
	Input   bool
	Timeout time.Duration
	Stdout  *os.File
	// Pin is what Pinning said when the question was asked.
	Pin bool
}

// Spec is the start of a plan. Its Temp is removed when the command has ended;
// who does not start it removes it.
func (o Place) Spec(ctx context.Context, p plan.Plan, t Terms) (process.Spec, error) {
	temp, err := os.MkdirTemp("", "hearth-run-")
	if err != nil {
		return process.Spec{}, fmt.Errorf("make a folder for temporary files: %w", err)
	}
	s, err := o.spec(ctx, p, t, temp)
	if err != nil {
		_ = os.RemoveAll(temp)
	}
	return s, err
}

func (o Place) spec(ctx context.Context, p plan.Plan, t Terms, temp string) (process.Spec, error) {
	temp, err := filepath.EvalSymlinks(temp)
	if err != nil {
		return process.Spec{}, fmt.Errorf("find the folder for temporary files: %w", err)
	}
	s := process.Spec{
		Owner: t.Owner, Title: title(p), Dir: p.Dir, Env: o.environment(p, temp, t.TTY, t.Extra),
		TTY: t.TTY, Cols: 120, Rows: 40, Input: t.Input, Timeout: t.Timeout, Temp: temp, Stdout: t.Stdout,
	}
	s.Path, s.Argv = command(p)
	if t.Confined {
		rules, err := o.rules(p, t, temp)
		if err != nil {
			return process.Spec{}, err
		}
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
		return o.Resolver.Verify(ctx, p)
	}
	s.Pin = t.Pin
	s.Copies, err = copies(p)
	return s, err
}

// command is the file and arguments of a plan.
func command(p plan.Plan) (path string, argv []string) {
	if runtime.GOOS == "windows" && p.Shell != "" {
		return p.Shell, []string{p.Shell, "-NoProfile", "-NonInteractive", "-Command", p.Command}
	}
	return p.Exec()
}

func title(p plan.Plan) string {
	if p.Command != "" {
		return p.Command
	}
	return strings.Join(p.Argv, " ")
}
