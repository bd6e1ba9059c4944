package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/launch"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/undo"
)

// Exec is the tool exec.
type Exec struct{ Options }

const execSchema = `{"type":"object","required":["command"],"properties":{
"command":{"type":"string","description":"the shell command"},
"why":{"type":"string","description":"what it is for, in a few plain words for the owner"},
"workdir":{"type":"string","description":"folder to run in; default: the working directory that the person named, or else the workspace"},
"env":{"type":"object","additionalProperties":{"type":"string"},"description":"extra variables; the owner sees them"},
"yieldMs":{"type":"integer","minimum":0,"description":"milliseconds before it goes on in the background, default 10000"},
"background":{"type":"boolean","description":"run in the background at once; it can be given input"},
"timeout":{"type":"integer","minimum":1,"description":"seconds after which it is ended, default 1800"},
"pty":{"type":"boolean","description":"run in a terminal, for programs that need one; it can be given input"},
"elevated":{"type":"boolean","description":"ask to run outside the sandbox"},
"host":{"type":"string","enum":["gateway","node"],"description":"node: on another device of the owner's, see the tool nodes"},
"node":{"type":"string","description":"which device, when there are several"}}}`

// arguments are what a model may say. ask and security are other gateways'
// words: who is asked is not the model's to say.
type arguments struct {
	Command    string            `json:"command"`
	Why        string            `json:"why"`
	Workdir    string            `json:"workdir"`
	Cwd        string            `json:"cwd"`
	Env        map[string]string `json:"env"`
	YieldMs    *int64            `json:"yieldMs"`
	Background bool              `json:"background"`
	Timeout    float64           `json:"timeout"`
	PTY        bool              `json:"pty"`
	Elevated   bool              `json:"elevated"`
	Host       string            `json:"host"`
	Node       string            `json:"node"`
}

// Spec describes the tool.
func (e *Exec) Spec() model.ToolSpec { return spec("exec", execDescription, execSchema) }

// Run plans, asks, runs and tells.
func (e *Exec) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a arguments
	if err := read(call.Args, &a); err != nil {
		return tool.Result{}, err
	}
	switch {
	case strings.TrimSpace(a.Command) == "":
		return tool.Result{}, errors.New("command is missing")
	case a.Host == "node" && e.Elsewhere == nil:
		return tool.Result{}, errors.New("other machines cannot be asked: the feature nodes is switched off. Leave host out to run it here")
	case a.Host == "node":
		return e.elsewhere(ctx, call, a)
	case a.Host != "" && a.Host != "gateway" && a.Host != "auto" && a.Host != "sandbox":
		return tool.Result{}, fmt.Errorf("commands run on the gateway's computer, or with host \"node\" on another one, not on %q; leave host "+
			"out", a.Host)
	}
	dir, err := e.folder(call, a)
	if err != nil {
		return tool.Result{}, err
	}
	if _, _, err := e.hold(call.Workspace); err != nil { // before anybody is asked about what is not the workspace
		return tool.Result{}, err
	}
	p, err := e.Resolver.Resolve(ctx, plan.Request{Command: a.Command, Dir: dir, Env: a.Env, Shell: shellPath(), Terminal: a.PTY})
	if err != nil {
		return tool.Result{}, err
	}
	s := e.Settings()
	w := Wish{Plan: p, Why: a.Why, Unconfined: a.Elevated || s.NoSandbox}
	if report := e.Probe(); !report.Confined {
		w.Unconfined, w.NoSandbox = true, strings.Join(report.Words, " ")
	} else if s.NoSandbox {
		w.NoSandbox = "The sandbox is switched off in the settings."
	}
	var pin bool
	pin, w.Loose = launch.Pinning(ctx, e.Keeper, p, !w.Unconfined)
	grant, err := e.Permit(ctx, call, w)
	if err != nil {
		return tool.Result{}, err
	}
	j := &run{Options: e.Options, call: call, args: a, settings: s, wish: w, pin: pin, confined: !(w.Unconfined && grant.Unconfined)}
	if w.Unconfined && !grant.Unconfined && w.NoSandbox != "" {
		return tool.Result{}, errors.New("not run: it was allowed only inside the sandbox, and there is none. " + w.NoSandbox)
	}
	return j.run(ctx)
}

// elsewhere hands the command to another machine, which runs it to its end.
func (e *Exec) elsewhere(ctx context.Context, call tool.Call, a arguments) (tool.Result, error) {
	if a.Background || a.PTY || a.Elevated {
		return tool.Result{}, errors.New("background, pty and elevated are for this computer; leave them out on a node")
	}
	dir := a.Workdir
	if dir == "" {
		dir = a.Cwd
	}
	return e.Elsewhere(ctx, call, Remote{
		Node: a.Node, Command: a.Command, Dir: dir, Env: a.Env, Timeout: time.Duration(a.Timeout * float64(time.Second)), Why: a.Why,
	})
}

// folder is where the command starts: absolute, and there.
func (e *Exec) folder(call tool.Call, a arguments) (string, error) {
	dir := a.Workdir
	if dir == "" {
		dir = a.Cwd
	}
	switch {
	case dir == "~" || strings.HasPrefix(dir, "~/"):
		dir = filepath.Join(e.Home, dir[1:])
	case !filepath.IsAbs(dir):
		dir = filepath.Join(cmp.Or(call.Folder, call.Workspace), dir)
	}
	if !filepath.IsAbs(dir) {
		return "", errors.New("there is no workspace to run in; give workdir as an absolute path")
	}
	if filepath.Clean(dir) == filepath.Clean(call.Workspace) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", fmt.Errorf("the workspace cannot be made: %w", err)
		}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("the folder %s is not there; make it first, or give another workdir", plan.Show(dir))
	}
	return filepath.Clean(dir), nil
}

// shellPath is the shell whose text models write.
func shellPath() string {
	if runtime.GOOS == "windows" {
		return filepath.Join(os.Getenv("SystemRoot"), `System32\WindowsPowerShell\v1.0\powershell.exe`)
	}
	for _, p := range []string{"/bin/bash", "/usr/bin/bash"} {
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	return "/bin/sh"
}

// run is one command on its way.
type run struct {
	Options
	call     tool.Call
	args     arguments
	settings Settings
	wish     Wish
	confined bool
	pin      bool
	p        *process.Process
	watched  *undo.Watched // nil: nothing is kept
}

func (r *run) run(ctx context.Context) (tool.Result, error) {
	if err := r.start(ctx); err != nil {
		return tool.Result{}, err
	}
	yield := defaultYield
	if r.settings.Yield > 0 {
		yield = r.settings.Yield
	}
	if r.args.YieldMs != nil {
		yield = min(time.Duration(max(*r.args.YieldMs, 0))*time.Millisecond, maxYield)
	}
	if r.args.Background {
		yield = 0
	}
	return r.watch(ctx, yield)
}

// watch shows progress until the command ends, its patience is over, or the
// run is stopped.
func (r *run) watch(ctx context.Context, yield time.Duration) (tool.Result, error) {
	patience := time.NewTimer(yield)
	defer patience.Stop()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	var shown int64
	for {
		select {
		case <-r.p.Done():
			return r.ended(context.WithoutCancel(ctx))
		case <-ctx.Done():
			r.p.Stop()
			<-r.p.Done()
			return r.ended(context.WithoutCancel(ctx))
		case <-patience.C:
			go r.notify(context.WithoutCancel(ctx))
			return r.running(), nil
		case <-tick.C:
			if n := r.p.Info().Bytes; n != shown {
				shown = n
				text, _ := words(r.p.Output())
				r.call.Progress(lastBytes(text, progressBytes))
			}
		}
	}
}

// notify tells when a command that was left running has ended.
func (r *run) notify(ctx context.Context) {
	<-r.p.Done()
	r.settle(ctx)
	if r.Ended == nil {
		return
	}
	text, _ := words(r.p.Output())
	r.Ended(r.call.Scope, r.p.Info(), lastBytes(strings.TrimSpace(text), progressBytes))
}

func (r *run) running() tool.Result {
	i := r.p.Info()
	text, cut := words(r.p.Next())
	if text = strings.TrimRight(text, "\n"); text != "" {
		text += "\n\n"
	}
	text += fmt.Sprintf("[still running: session %s, pid %d. Use the process tool: poll, log, write, kill.]", i.ID, i.PID)
	return tool.Result{Text: text, Details: r.details(i, cut)}
}

func (r *run) ended(ctx context.Context) (tool.Result, error) {
	r.settle(ctx)
	i := r.p.Info()
	text, cut := words(r.p.Output())
	text = strings.TrimRight(text, "\n")
	if end := ending(i); end != "" {
		text = strings.TrimLeft(text+"\n\n"+end, "\n")
	}
	if text == "" {
		text = "[no output]"
	}
	_ = r.Keeper.Remove(r.call.SessionKey, i.ID)
	return tool.Result{Text: text, Details: r.details(i, cut)}, nil
}

func (r *run) sandbox() string {
	switch {
	case r.confined:
		return "confined"
	case r.wish.NoSandbox != "":
		return "not confined: " + r.wish.NoSandbox
	}
	return "not confined: the owner allowed it to run outside the sandbox"
}

// Ending is how a command ended, as the end of a sentence.
func Ending(i process.Info) string {
	if end := strings.Trim(ending(i), "[]"); end != "" {
		return ": " + end
	}
	return " well"
}

// ending says how a command ended, when there is something to say.
func ending(i process.Info) string {
	x := i.Exit
	var out []string
	switch {
	case x.TimedOut:
		out = append(out, "ended: its time was over after "+i.EndedAt.Sub(i.StartedAt).Round(time.Second).String())
	case x.Stopped:
		out = append(out, "stopped")
	case x.Lost != "":
		out = append(out, "how it ended is not known: "+x.Lost)
	case x.Signal != "":
		out = append(out, "ended by "+x.Signal)
	case x.Code != 0:
		out = append(out, fmt.Sprintf("exit code %d", x.Code))
	}
	if x.Left > 0 {
		out = append(out, fmt.Sprintf("%d processes that it left behind were ended; run servers with background: true", x.Left))
	}
	if len(out) == 0 {
		return ""
	}
	return "[" + strings.Join(out, "; ") + "]"
}

func describe(i process.Info, cut bool, sandbox string) Details {
	d := Details{Status: "running", SessionID: i.ID, PID: i.PID, Cwd: i.Dir, Truncated: cut, Bytes: i.Bytes, Sandbox: sandbox}
	if i.State != process.Ended {
		return d
	}
	d.DurationMs, d.Signal, d.TimedOut = i.EndedAt.Sub(i.StartedAt).Milliseconds(), i.Exit.Signal, i.Exit.TimedOut
	d.Status = "failed"
	switch {
	case i.Exit.OK():
		d.Status = "completed"
	case i.Exit.Stopped:
		d.Status = "killed"
	}
	if i.Exit.Signal == "" && i.Exit.Lost == "" {
		d.ExitCode = &i.Exit.Code
	}
	return d
}
