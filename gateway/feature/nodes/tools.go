package nodes

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	nodetool "github.com/hearth-assistant/hearth/gateway/tool/node"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/approval/sentence"
	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/node"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/shell"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

// Devices are the nodes that were approved for something.
func (f *Nodes) Devices() (out []nodetool.Device) {
	for _, i := range f.nodes.List() {
		if i.Row.ApprovedAtMs != 0 {
			out = append(out, deviceOf(i))
		}
	}
	return out
}

func deviceOf(i node.Info) nodetool.Device {
	return nodetool.Device{
		ID: i.Row.ID, Name: plan.Show(untrusted.Clean(i.Row.DisplayName())), Platform: plan.Show(i.Row.About.Platform), Connected: i.Connected,
		Commands: i.Commands, Refused: i.Refused, LastSeen: method.Time(i.Row.LastSeenAtMs),
	}
}

// Secret reports whether a text holds one of the owner's keys.
func (f *Nodes) Secret(text string) bool { return f.o.Secrets.Has(text) }

// Keep stores a picture.
func (f *Nodes) Keep(data []byte) (media.Picture, error) { return f.o.Pictures.Put(data) }

// Invoke asks the owner, where that is wanted, then the node.
func (f *Nodes) Invoke(ctx context.Context, call tool.Call, w nodetool.NodeCall) (json.RawMessage, error) {
	params, err := json.Marshal(w.Params)
	if err != nil {
		return nil, fmt.Errorf("encode the parameters: %w", err)
	}
	if w.Ask != "" {
		if _, err := f.o.Gate.Permit(ctx, call, askNode(call, w, params)); err != nil {
			return nil, err
		}
	}
	call.Progress("Waiting for " + w.Device.Name + "…")
	res, err := f.nodes.Invoke(ctx, node.Call{NodeID: w.Device.ID, Command: w.Command, Params: params, Timeout: w.Timeout})
	return res.Payload, nodeWords(w.Device.Name, err)
}

// askNode is the question about a device's camera, screen or place. A yes for
// longer is for this command of this device, whatever the parameters, unless
// they are what matters.
func askNode(call tool.Call, w nodetool.NodeCall, params json.RawMessage) approval.Ask {
	a := approval.For(approval.KindTool, call)
	a.Tool, a.Host, a.Title = "nodes", "node:"+w.Device.ID, plan.Show(w.Ask)
	a.Says = sentence.New("device", "device", w.Device.Name, "what", w.Ask)
	a.Known, a.Lasting = !w.Once, !w.Once
	d := sha256.New()
	fmt.Fprintf(d, "hearth node call 1\x00%s\x00%s\x00", w.Device.ID, w.Command)
	if w.Once {
		d.Write(params)
	}
	a.Digest = [32]byte(d.Sum(nil))
	a.Lines = []string{"Device: " + plan.Show(w.Device.Name) + " (" + approval.ShortID(w.Device.ID) + ")", "Command: " + w.Command}
	for _, name := range slices.Sorted(maps.Keys(w.Params)) {
		for i, line := range strings.Split(fmt.Sprint(w.Params[name]), "\n") {
			if i == 0 {
				line = name + ": " + line
			} else {
				line = "  " + line // a value must not look like a fact of its own
			}
			a.Lines = append(a.Lines, plan.Show(line))
		}
	}
	return a
}

// nodeWords says for a model why a call to a node failed. The node's own words
// are marked.
func nodeWords(name string, err error) error {
	var failed *node.FailedError
	var refused *node.NotAllowedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed) && failed.Code == node.BackgroundUnavailable:
		return fmt.Errorf("%s can do this only while its app is open; ask the owner to open it, then try again", name)
	case errors.As(err, &failed):
		return errors.New(untrusted.Wrapper{}.Wrap("why the device "+name+" did not do it", failed.Error()))
	case errors.As(err, &refused):
		return fmt.Errorf("not allowed: %s. Only the owner can change that", refused.Why)
	case errors.Is(err, node.ErrNotConnected):
		return fmt.Errorf("%s is not connected now", name)
	case errors.Is(err, node.ErrTimeout):
		return fmt.Errorf("%s did not answer in time; it may have been done", name)
	case errors.Is(err, node.ErrGone):
		return fmt.Errorf("%s went away before it answered; it may have been done", name)
	}
	return err
}

// Run runs a program on a node.
func (f *Nodes) Run(ctx context.Context, call tool.Call, r nodetool.Run) (string, error) {
	out, err := f.runForTool(ctx, call, r.Device.ID, nodeRun{Argv: r.Argv, Dir: r.Dir, Timeout: r.Timeout, Why: r.Why})
	if err != nil {
		return "", err
	}
	return out.words()
}

func (f *Nodes) runForTool(ctx context.Context, call tool.Call, id string, run nodeRun) (out nodeRunResult, err error) {
	i, ok := f.nodes.Get(id)
	if !ok || !i.Connected {
		return out, nodeWords("the device", node.ErrNotConnected)
	}
	res, err := f.runOnNode(ctx, call, i, run, "")
	if err != nil {
		return out, nodeWords(plan.Show(untrusted.Clean(i.Row.DisplayName())), err)
	}
	return out, json.Unmarshal(res.Payload, &out)
}

// Exec is exec with host=node: a shell of the node runs the command.
func (f *Nodes) Exec(ctx context.Context, call tool.Call, r shell.Remote) (tool.Result, error) {
	d, err := nodetool.Find(f.Devices(), r.Node, commandRun)
	if err != nil {
		return tool.Result{}, err
	}
	argv := []string{"/bin/sh", "-lc", r.Command}
	if i, ok := f.nodes.Get(d.ID); ok && i.Row.Class() == "windows" {
		argv = []string{"cmd.exe", "/d", "/s", "/c", r.Command}
	}
	began := f.o.Now()
	out, err := f.runForTool(ctx, call, d.ID, nodeRun{Argv: argv, Text: r.Command, Dir: r.Dir, Env: r.Env, Timeout: r.Timeout, Why: r.Why})
	if err != nil {
		return tool.Result{}, err
	}
	status, code := "completed", 0
	if out.ExitCode != nil {
		code = *out.ExitCode
	}
	if code != 0 || !out.Success {
		status = "failed"
	}
	text, fault := out.words()
	shown := text
	if text != "" {
		text = untrusted.Wrapper{}.Wrap("what a command on "+d.Name+" printed", text)
	} else if fault == nil {
		text = "It ended well and printed nothing."
	}
	details, err := json.Marshal(map[string]any{
		"status": status, "exitCode": code, "durationMs": f.o.Now().Sub(began) / time.Millisecond, "host": "node", "nodeId": d.ID, "node": d.Name,
		"aggregated": shown, "cwd": r.Dir,
	})
	if err != nil {
		return tool.Result{}, fmt.Errorf("tell of the command: %w", err)
	}
	return tool.Result{Text: text, Details: details}, fault
}
