package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/mcp"
	"github.com/hearth-assistant/hearth/gateway/mcp/named"
	"github.com/hearth-assistant/hearth/gateway/pretty"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/sandbox"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// openMCP makes what keeps the connections to MCP servers; they begin beside
// the gateway's work, see mcp.Hub.Run.
func (g *Gateway) openMCP() {
	g.mcpLogins = g.openMCPLogins()
	g.mcp = mcp.New(mcp.Options{
		Version: g.opts.Version, Log: g.log, Now: g.opts.Now, Launch: g.launchMCP, Permit: g.permitMCP, Bearer: g.bearerMCP,
		Pins: mcpPins{g.store, store.NewBucket[[]byte]("mcp.pins")},
	})
	g.configureMCP(g.config.Snapshot().Config)
	g.secrets.Subscribe(g.configureMCP)
}

// configureMCP takes the servers of the settings.
func (g *Gateway) configureMCP(c config.Config) {
	var out []mcp.Server
	for _, id := range slices.Sorted(maps.Keys(c.MCP.Servers)) {
		if s := c.MCP.Servers[id]; s.Enabled {
			out = append(out, g.mcpServer(id, s))
		}
	}
	g.mcp.Configure(out)
}

func (g *Gateway) mcpServer(id string, s config.MCPServer) mcp.Server {
	home := statedir.Home(g.opts.Env)
	out := mcp.Server{
		ID: id, Command: s.Command, Args: s.Args, URL: s.URL, Allow: s.Tools.Allow, Deny: s.Tools.Deny, Ask: mcp.Ask(s.Ask),
		Timeout: time.Duration(s.TimeoutSeconds) * time.Second, Start: time.Duration(s.StartSeconds) * time.Second,
		Read: statedir.Expand(home, s.Sandbox.Read), Write: statedir.Expand(home, s.Sandbox.Write), Open: s.Sandbox.Backend == "off", Offline: !s.Sandbox.Network,
	}
	if s.Cwd != "" {
		out.Dir = statedir.Expand(home, []string{s.Cwd})[0]
	}
	if out.Command = statedir.Expand(home, []string{s.Command})[0]; s.Command == "" || !strings.HasPrefix(s.Command, "~/") {
		out.Command = s.Command
	}
	out.Confined = s.URL == "" && g.confined.Confined && !out.Open
	known := func(what string, v secret.Setting) string {
		found, ok := g.secrets.Known(v)
		if !ok && !v.IsZero() {
			out.Missing = fmt.Sprintf("the secret for mcp.servers.%s.%s was not found yet; `hearth secrets` shows what there is", id, what)
		}
		return found.Reveal()
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		out.Env = append(out.Env, name+"="+known("env."+name, s.Env[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		if out.Headers == nil {
			out.Headers = map[string]string{}
		}
		out.Headers[name] = known("headers."+name, s.Headers[name])
	}
	out.OAuth = s.URL != "" && loginMCP(s, out.Headers)
	return out
}

// permitMCP is the question about a tool of an MCP server. A decision for longer
// than once is about the tool as it is now, with any arguments.
func (g *Gateway) permitMCP(ctx context.Context, call tool.Call, w mcp.Wish) error {
	if w.Server.Ask == mcp.AskOff && !w.Changed {
		return nil
	}
	if len(w.Args) > approval.MaxBytes { // A-EXEC-13
		return fmt.Errorf("the arguments are larger than the %d KB that a person can be asked to read, so the tool was not used. The owner can set mcp.servers.%s.ask to \"off\" for a server that is trusted", approval.MaxBytes>>10, w.Server.ID)
	}
	_, err := g.toolGate.Permit(ctx, call, askMCP(call, w))
	return err
}

func askMCP(call tool.Call, w mcp.Wish) approval.Ask {
	a := approval.For(approval.KindTool, call)
	name := plan.Show(w.Tool)
	a.Tool, a.Host, a.Title = "mcp__"+w.Server.ID, w.Server.ID, fmt.Sprintf("Use %s of the MCP server %s", name, w.Server.ID)
	a.Known = w.Server.Ask != mcp.AskAlways
	a.Lasting = !w.Harmful
	if w.Changed {
		a.Warnings = append(a.Warnings, "This tool is not what it was when you allowed it: its server changed what it says of itself.")
	}
	if w.Harmful {
		a.Warnings = append(a.Warnings, "Its server says that it may destroy something.")
	}
	if a.Known {
		a.Warnings = append(a.Warnings, "To allow it for longer allows this tool with any arguments.")
	}
	h := sha256.New()
	fmt.Fprintf(h, "mcp 1\x00%s\x00%s\x00%q\x00%s\x00%s\x00%x", w.Server.ID, w.Server.Command, w.Server.Args, w.Server.URL, w.Tool, w.Hash)
	if !a.Known { // each use is another wish
		h.Write(w.Args)
	}
	a.Digest = [32]byte(h.Sum(nil))
	a.Lines = []string{"Server: " + w.Server.ID + " (" + plan.Show(cmp.Or(w.Server.URL, strings.Join(append([]string{w.Server.Command}, w.Server.Args...), " "))) + ")", "Tool: " + name}
	a.Lines = append(append(a.Lines, a.Warnings...), "Arguments:")
	for _, line := range strings.Split(string(pretty.JSON(w.Args, "  ", 4*approval.MaxBytes)), "\n") {
		a.Lines = append(a.Lines, "  "+plan.Show(line))
	}
	return a
}

// mcpPins keep what tools were when they were allowed.
type mcpPins struct {
	db   *store.DB
	rows store.Bucket[[]byte]
}

func pinKey(server, name string) []byte {
	sum := sha256.Sum256([]byte(name))
	return append([]byte(server+"\x00"), sum[:]...)
}

// Pin implements mcp.Pins.
func (p mcpPins) Pin(server, name string) (hash [32]byte, ok bool) {
	err := p.db.View(func(tx *store.Tx) error {
		ok = copy(hash[:], p.rows.GetRaw(tx, pinKey(server, name))) == len(hash)
		return nil
	})
	return hash, ok && err == nil
}

// SetPin implements mcp.Pins.
func (p mcpPins) SetPin(ctx context.Context, server, name string, hash [32]byte) error {
	return p.db.Update(ctx, store.Write{Do: func(tx *store.Tx) error { return p.rows.PutRaw(tx, pinKey(server, name), hash[:]) }})
}

// launchMCP starts a server's program: looked for where commands are, with the
// few variables that commands get, watched over by a guardian and confined.
func (g *Gateway) launchMCP(ctx context.Context, s mcp.Server) (mcp.Process, error) {
	path, err := g.findProgram(s.Command)
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "hearth-mcp-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for it: %w", err)
	}
	if real, err := filepath.EvalSymlinks(temp); err == nil {
		temp = real
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe for it: %w", err)
	}
	defer func() { _ = theirs.Close() }()
	spec := process.Spec{
		Owner: "mcp:" + s.ID, Title: "MCP server " + s.ID, Path: path, Argv: append([]string{path}, s.Args...), Env: g.mcpEnv(s, temp),
		Dir: cmp.Or(s.Dir, temp), Input: true, Stdout: theirs, Temp: temp,
	}
	if g.confined.Confined && !s.Open {
		spec.Confine = g.mcpRules(s, path, temp)
	}
	p, err := g.processes.Start(ctx, spec)
	if err != nil {
		_ = out.Close()
		_ = os.RemoveAll(temp)
		return nil, err
	}
	return &mcpProcess{p, out}, nil
}

// findProgram looks where commands are looked for, never in the folder of the
// moment.
func (g *Gateway) findProgram(name string) (string, error) {
	if strings.HasPrefix(name, "~/") || filepath.IsAbs(name) {
		return statedir.Expand(statedir.Home(g.opts.Env), []string{name})[0], nil
	}
	if strings.ContainsAny(name, `/\`) {
		return "", fmt.Errorf("the command %s is neither a name nor an absolute path", plan.Show(name))
	}
	for _, dir := range filepath.SplitList(g.path) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no program %s in %s. Install it, write its whole path, or add its folder to tools.exec.pathPrepend", plan.Show(name), plan.Show(g.path))
}

func (g *Gateway) mcpEnv(s mcp.Server, temp string) []string {
	env := slices.DeleteFunc(g.passedOn(), func(kv string) bool { return strings.HasPrefix(kv, "HOME=") })
	env = append(env, "HOME="+statedir.Home(g.opts.Env), "PATH="+g.path, "TERM=dumb", "TMPDIR="+temp)
	return append(env, s.Env...)
}

// mcpRules is what a server's program may touch: its own folder, what the
// settings add, and the downloads of the programs that fetch others.
func (g *Gateway) mcpRules(s mcp.Server, path, temp string) *sandbox.Rules {
	home := statedir.Home(g.opts.Env)
	r := &sandbox.Rules{
		Read:    slices.Concat([]string{filepath.Dir(path)}, filepath.SplitList(g.path), named.Paths(home, s.Dir, s.Command, s.Args), s.Read),
		Write:   append([]string{temp}, s.Write...),
		Hide:    append(sandbox.Secrets(home), string(g.opts.Dir), g.config.Path()),
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

// causeIn is the line of a program's last words that says what went wrong: in
// the middle of a stack, most often.
func causeIn(text string) string {
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.Contains(line, "EACCES") || strings.Contains(line, "Error: ") || strings.Contains(strings.ToLower(line), "permission denied") {
			return strings.ToValidUTF8(line[:min(len(line), 190)], "")
		}
	}
	return ""
}

// mcpProcess is a server's program.
type mcpProcess struct {
	*process.Process
	out *os.File
}

// Output implements mcp.Process.
func (p *mcpProcess) Output() io.ReadCloser { return p.out }

// Words implements mcp.Process.
func (p *mcpProcess) Words() string {
	o := p.Process.Output()
	text := strings.TrimSpace(string(o.Head) + string(o.Tail))
	if len(text) > 400 {
		if cause := causeIn(text); cause != "" {
			text = cause + " … " + text[len(text)-min(len(text), 200):]
		}
		text = "…" + strings.ToValidUTF8(text[len(text)-400:], "")
	}
	if i := p.Info(); i.State == process.Ended && !i.Exit.OK() && !i.Exit.Stopped {
		text = strings.TrimSpace(fmt.Sprintf("%s (exit code %d %s)", text, i.Exit.Code, i.Exit.Signal))
	}
	return text
}
