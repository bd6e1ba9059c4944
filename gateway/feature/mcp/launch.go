package mcp

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/mcp"
	"github.com/hearth-assistant/hearth/gateway/mcp/named"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/process/stdio"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// launch starts a server's program: looked for where commands are, with the
// few variables that commands get, watched over by a guardian and confined.
func (f *Servers) launch(ctx context.Context, s mcp.Server) (mcp.Process, error) {
	path, err := f.findProgram(s.Command)
	if err != nil {
		return nil, err
	}
	temp, err := stdio.Folder("hearth-mcp-")
	if err != nil {
		return nil, err
	}
	spec := process.Spec{
		Owner: "mcp:" + s.ID, Title: "MCP server " + s.ID, Path: path, Argv: append([]string{path}, s.Args...), Env: f.environ(s, temp),
		Dir: cmp.Or(s.Dir, temp), Temp: temp,
	}
	if f.o.Execution.Sandbox.Confined && !s.Open {
		spec.Confine = f.rules(s, path, temp)
	}
	p, err := stdio.Start(ctx, f.o.Execution.Processes, spec)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// findProgram looks where commands are looked for, never in the folder of the
// moment.
func (f *Servers) findProgram(name string) (string, error) {
	if strings.HasPrefix(name, "~/") || filepath.IsAbs(name) {
		return statedir.Expand(statedir.Home(f.o.Env), []string{name})[0], nil
	}
	if strings.ContainsAny(name, `/\`) {
		return "", fmt.Errorf("the command %s is neither a name nor an absolute path", plan.Show(name))
	}
	for _, dir := range filepath.SplitList(f.o.Execution.SearchPath) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no program %s in %s. Install it, write its whole path, or add its folder to tools.exec.pathPrepend",
		plan.Show(name), plan.Show(f.o.Execution.SearchPath))
}

func (f *Servers) environ(s mcp.Server, temp string) []string {
	env := slices.DeleteFunc(slices.Clone(f.o.Execution.Environ), func(kv string) bool { return strings.HasPrefix(kv, "HOME=") })
	env = append(env, "HOME="+statedir.Home(f.o.Env), "PATH="+f.o.Execution.SearchPath, "TERM=dumb", "TMPDIR="+temp)
	return append(env, s.Env...)
}

// rules is what a server's program may touch: its own folder, what the
// settings add, and the downloads of the programs that fetch others.
func (f *Servers) rules(s mcp.Server, path, temp string) *sandbox.Rules {
	home := statedir.Home(f.o.Env)
	r := &sandbox.Rules{
		Read: slices.Concat([]string{filepath.Dir(path)}, filepath.SplitList(f.o.Execution.SearchPath),
			named.Paths(home, s.Dir, s.Command, s.Args), s.Read),
		Write:   append([]string{temp}, s.Write...),
		Hide:    append(sandbox.Secrets(home), f.o.Execution.Hide...),
		Network: !s.Offline,
	}
	if s.Dir != "" {
		r.Write = append(r.Write, s.Dir)
	}
	for _, dir := range downloads(filepath.Base(s.Command)) {
		dir = filepath.Join(home, dir)
		if err := os.MkdirAll(dir, 0o755); err == nil {
			r.Write = append(r.Write, dir)
		}
	}
	return r
}

func downloads(program string) []string {
	switch program {
	case "npx", "npm":
		return []string{".npm"}
	case "uvx", "uv", "pipx":
		return []string{".cache/uv", ".local/share/uv"}
	case "bunx", "bun":
		return []string{".bun"}
	}
	return nil
}
