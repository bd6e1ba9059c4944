package shell

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// Process is the tool process.
type Process struct{ Options }

const processSchema = `{"type":"object","required":["action"],"properties":{
"action":{"type":"string","enum":["list","poll","log","write","send-keys","submit","paste","kill","clear","remove"]},
"sessionId":{"type":"string","description":"of the command, for everything but list"},
"data":{"type":"string","description":"for write"},
"eof":{"type":"boolean","description":"for write: close its input afterwards"},
"keys":{"type":"array","items":{"type":"string"},"description":"for send-keys: Enter, Tab, Escape, Space, Backspace, Up, Down, Left, Right, Home, End, PageUp, PageDown, C-c, M-x, …"},
"literal":{"type":"string","description":"for send-keys: text to type after the keys"},
"text":{"type":"string","description":"for paste"},
"offset":{"type":"integer","minimum":0,"description":"for log: first line"},
"limit":{"type":"integer","minimum":1,"description":"for log: lines, default 200"},
"timeout":{"type":"integer","minimum":0,"description":"for poll: milliseconds to wait for something new"}}}`

type wanted struct {
	Action    string   `json:"action"`
	SessionID string   `json:"sessionId"`
	Data      string   `json:"data"`
	EOF       bool     `json:"eof"`
	Keys      []string `json:"keys"`
	Literal   string   `json:"literal"`
	Text      string   `json:"text"`
	Offset    *int     `json:"offset"`
	Limit     int      `json:"limit"`
	Timeout   int64    `json:"timeout"`
}

const (
	defaultLines = 200
	maxPoll      = 2 * time.Minute
	settle       = 300 * time.Millisecond // for an answer to what was typed
)

// Spec describes the tool.
func (p *Process) Spec() model.ToolSpec { return spec("process", processDescription, processSchema) }

// Run does one action for a command of the call's session. A command is named
// by our own id only; a number of the system's is never taken.
func (p *Process) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a wanted
	if err := read(call.Args, &a); err != nil {
		return tool.Result{}, err
	}
	if a.Action == "list" {
		return p.list(call), nil
	}
	do, ok := map[string]func(context.Context, tool.Call, wanted, *process.Process) (tool.Result, error){
		"poll": p.poll, "log": p.log, "write": p.write, "send-keys": p.keys, "submit": p.keys, "paste": p.paste,
		"kill": p.kill, "clear": p.clear, "remove": p.remove,
	}[a.Action]
	if !ok {
		return tool.Result{}, fmt.Errorf("there is no action %q; use list, poll, log, write, send-keys, submit, paste, kill, clear or remove",
			a.Action)
	}
	if a.SessionID == "" {
		return tool.Result{}, errors.New("sessionId is missing; process list shows those of this session")
	}
	found, err := p.Keeper.Find(call.SessionKey, a.SessionID)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%w; process list shows those of this session", err)
	}
	return do(ctx, call, a, found)
}

func (p *Process) list(call tool.Call) tool.Result {
	var b strings.Builder
	for _, i := range p.Keeper.List(call.SessionKey) {
		state := "running"
		if i.State == process.Ended {
			if state = strings.Trim(ending(i), "[]"); state == "" {
				state = "completed"
			}
		}
		fmt.Fprintf(&b, "%s  %s  since %s  pid %d  %d bytes  %s\n", i.ID, state, i.StartedAt.Format("15:04:05"), i.PID, i.Bytes, line(i.Title))
	}
	if b.Len() == 0 {
		return tool.Text("Nothing runs in the background of this session.")
	}
	return tool.Text(strings.TrimRight(b.String(), "\n"))
}

// line is a command on one line, for lists.
func line(s string) string {
	s = strings.Join(strings.Fields(strip(s)), " ")
	if r := []rune(s); len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return s
}

func (p *Process) poll(ctx context.Context, _ tool.Call, a wanted, c *process.Process) (tool.Result, error) {
	wait(ctx, c, min(time.Duration(a.Timeout)*time.Millisecond, maxPoll))
	return p.news(c), nil
}

// wait returns when a command has printed something or ended.
func wait(ctx context.Context, c *process.Process, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-c.Done():
	case <-c.More():
	}
}

// news is what a command printed since somebody looked, and how it is.
func (p *Process) news(c *process.Process) tool.Result {
	i := c.Info() // before the output: what ends in between is told next time
	text, cut := words(c.Next())
	return p.result(i, text, cut)
}

func (p *Process) result(i process.Info, text string, cut bool) tool.Result {
	text = strings.TrimRight(text, "\n")
	state := "[still running]"
	if i.State == process.Ended {
		if state = ending(i); state == "" {
			state = "[completed, exit code 0]"
		}
	}
	if text == "" {
		text = "(no new output)"
	}
	sandbox := "confined"
	if !i.Confined {
		sandbox = "not confined"
	}
	return tool.Result{Text: text + "\n\n" + state, Details: details(describe(i, cut, sandbox))}
}

func (p *Process) log(_ context.Context, _ tool.Call, a wanted, c *process.Process) (tool.Result, error) {
	i, o := c.Info(), c.Output()
	text := clean(o.Head)
	if o.Dropped > 0 {
		text += fmt.Sprintf("\n[… %d bytes were not kept …]\n", o.Dropped)
	}
	lines := strings.Split(strings.TrimRight(text+clean(o.Tail), "\n"), "\n")
	limit := a.Limit
	if limit <= 0 {
		limit = defaultLines
	}
	from := max(0, len(lines)-limit)
	if a.Offset != nil {
		from = min(max(*a.Offset, 0), len(lines))
	}
	to := min(from+limit, len(lines))
	part, cut := words(process.Output{Head: []byte(strings.Join(lines[from:to], "\n"))})
	return p.result(i, fmt.Sprintf("[lines %d to %d of %d]\n%s", from, to, len(lines), part), cut), nil
}

// typed asks and types. Whatever goes into a program that runs may be a
// command to it, so it needs a yes like any other; only keys that stop or move
// do not.
func (p *Process) typed(ctx context.Context, call tool.Call, c *process.Process, data string, ask bool) (tool.Result, error) {
	if ask {
		i := c.Info()
		if _, err := p.Permit(ctx, call, Wish{Input: data, Into: i, Unconfined: !i.Confined}); err != nil {
			return tool.Result{}, err
		}
	}
	if err := c.Write([]byte(data)); err != nil {
		if errors.Is(err, process.ErrInput) {
			return tool.Result{}, errors.New("it reads no input: start it with background: true or pty: true to type into it")
		}
		return tool.Result{}, err
	}
	wait(ctx, c, settle)
	return p.news(c), nil
}

func (p *Process) write(ctx context.Context, call tool.Call, a wanted, c *process.Process) (tool.Result, error) {
	var res tool.Result
	if a.Data != "" {
		var err error
		if res, err = p.typed(ctx, call, c, a.Data, true); err != nil {
			return res, err
		}
	}
	if a.EOF {
		if err := c.CloseInput(); err != nil {
			return tool.Result{}, err
		}
		wait(ctx, c, settle)
		return p.news(c), nil
	}
	if a.Data == "" {
		return tool.Result{}, errors.New("data is missing")
	}
	return res, nil
}

func (p *Process) keys(ctx context.Context, call tool.Call, a wanted, c *process.Process) (tool.Result, error) {
	if a.Action == "submit" {
		a.Keys, a.Literal = []string{"Enter"}, ""
	}
	data, harmless := "", true
	for _, k := range a.Keys {
		s, quiet, err := key(k)
		if err != nil {
			return tool.Result{}, err
		}
		data += s
		harmless = harmless && quiet
	}
	data += a.Literal
	if data == "" {
		return tool.Result{}, errors.New("keys are missing")
	}
	return p.typed(ctx, call, c, data, !harmless || a.Literal != "")
}

func (p *Process) paste(ctx context.Context, call tool.Call, a wanted, c *process.Process) (tool.Result, error) {
	if a.Text == "" {
		return tool.Result{}, errors.New("text is missing")
	}
	// What is pasted must not end the paste.
	text := "\x1b[200~" + strings.ReplaceAll(a.Text, "\x1b", "") + "\x1b[201~"
	return p.typed(ctx, call, c, text, true)
}

func (p *Process) kill(ctx context.Context, _ tool.Call, _ wanted, c *process.Process) (tool.Result, error) {
	c.Stop()
	select {
	case <-c.Done():
	case <-ctx.Done():
	}
	return p.news(c), nil
}

func (p *Process) clear(_ context.Context, call tool.Call, _ wanted, c *process.Process) (tool.Result, error) {
	if err := p.Keeper.Remove(call.SessionKey, c.ID()); err != nil {
		return tool.Result{}, err
	}
	return tool.Text("Forgotten."), nil
}

func (p *Process) remove(ctx context.Context, call tool.Call, a wanted, c *process.Process) (tool.Result, error) {
	if _, err := p.kill(ctx, call, a, c); err != nil {
		return tool.Result{}, err
	}
	return p.clear(ctx, call, a, c)
}
