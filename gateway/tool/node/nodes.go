package node

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

//go:embed nodes.md
var nodesDescription string

const nodesSchema = `{"type":"object","required":["action"],"additionalProperties":false,"properties":{
"action":{"type":"string","enum":["status","describe","notify","camera_list","camera_snap","screen_snap","location_get","device_status","device_info","run"]},
"node":{"type":"string","description":"name or id of the device; may be left out when only one can do it"},
"title":{"type":"string","description":"of a note"},
"body":{"type":"string","description":"of a note"},
"facing":{"type":"string","enum":["front","back"],"description":"which camera"},
"deviceId":{"type":"string","description":"a camera of camera_list"},
"maxWidth":{"type":"integer","minimum":64,"maximum":4096},
"desiredAccuracy":{"type":"string","enum":["coarse","balanced","precise"]},
"command":{"type":"array","items":{"type":"string"},"description":"for run: the program and its arguments"},
"cwd":{"type":"string","description":"for run: folder on the device"},
"timeoutMs":{"type":"integer","minimum":1,"maximum":1800000},
"why":{"type":"string","description":"for run: what it is for, in a few plain words for the owner"}}}`

// Nodes is the tool nodes.
type Nodes struct {
	Devices Host
	Wrap    untrusted.Wrapper
}

type nodesIn struct {
	Action, Node, Title, Body, Facing, DeviceID, DesiredAccuracy, Cwd, Why string
	MaxWidth                                                               int
	TimeoutMs                                                              int64
	Command                                                                []string
}

// Spec describes the tool.
func (t *Nodes) Spec() model.ToolSpec {
	return model.ToolSpec{Name: "nodes", Description: strings.TrimSpace(nodesDescription), Schema: json.RawMessage(nodesSchema)}
}

// Run does one action.
func (t *Nodes) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in nodesIn
	if err := read(call.Args, &in); err != nil {
		return tool.Result{}, err
	}
	all := t.Devices.Devices()
	switch in.Action {
	case "status":
		return t.list(all)
	case "describe":
		d, err := Find(all, in.Node, "")
		if d.ID == "" {
			return tool.Result{}, err
		}
		return t.list([]Device{d})
	case "run":
		return t.run(ctx, call, all, in)
	}
	a, ok := actions()[in.Action]
	if !ok {
		return tool.Result{}, errAction
	}
	d, err := Find(all, in.Node, a.command)
	if err != nil {
		return tool.Result{}, err
	}
	params, err := a.params(in)
	if err != nil {
		return tool.Result{}, err
	}
	for _, v := range params {
		if s, ok := v.(string); ok && t.Devices.Secret(s) {
			return tool.Result{}, errors.New("this holds one of the owner's keys or passwords, so it was not sent to a device; leave it out")
		}
	}
	w := NodeCall{Device: d, Command: a.command, Params: params, Timeout: time.Duration(in.TimeoutMs) * time.Millisecond}
	if a.ask != "" {
		w.Ask = fmt.Sprintf(a.ask, d.Name)
	}
	payload, err := t.Devices.Invoke(ctx, call, w)
	if err != nil {
		return tool.Result{}, err
	}
	if a.picture != "" {
		return picture(t.Devices, d, a.picture, payload)
	}
	return said(t.Wrap, d, payload), nil
}

// action is one that is a single command.
type action struct {
	command string
	ask     string // with the device's name
	picture string // what it is of
	params  func(nodesIn) (map[string]any, error)
}

func nothing(nodesIn) (map[string]any, error) { return map[string]any{}, nil }

func actions() map[string]action {
	return map[string]action{
		"notify":        {command: "system.notify", params: note},
		"camera_list":   {command: "camera.list", params: nothing},
		"camera_snap":   {command: "camera.snap", ask: "Take a picture with the camera of %s", picture: "camera", params: snap},
		"screen_snap":   {command: "screen.snapshot", ask: "Take a picture of the screen of %s", picture: "screen", params: screen},
		"location_get":  {command: "location.get", ask: "Ask %s where it is", params: where},
		"device_status": {command: "device.status", params: nothing},
		"device_info":   {command: "device.info", params: nothing},
	}
}

func note(in nodesIn) (map[string]any, error) {
	if strings.TrimSpace(in.Title+in.Body) == "" {
		return nil, errors.New("title or body is missing")
	}
	return map[string]any{"title": in.Title, "body": in.Body}, nil
}

func snap(in nodesIn) (map[string]any, error) {
	p := map[string]any{"format": "jpg", "maxWidth": 1600}
	if in.Facing != "" {
		p["facing"] = in.Facing
	}
	if in.DeviceID != "" {
		p["deviceId"] = in.DeviceID
	}
	if in.MaxWidth > 0 {
		p["maxWidth"] = in.MaxWidth
	}
	return p, nil
}

func screen(in nodesIn) (map[string]any, error) {
	p := map[string]any{"format": "jpeg", "maxWidth": 1600}
	if in.MaxWidth > 0 {
		p["maxWidth"] = in.MaxWidth
	}
	return p, nil
}

func where(in nodesIn) (map[string]any, error) {
	p := map[string]any{"desiredAccuracy": "balanced"}
	if in.DesiredAccuracy != "" {
		p["desiredAccuracy"] = in.DesiredAccuracy
	}
	return p, nil
}

func (t *Nodes) run(ctx context.Context, call tool.Call, all []Device, in nodesIn) (tool.Result, error) {
	if len(in.Command) == 0 {
		return tool.Result{}, errors.New("command is missing: a list of the program and its arguments")
	}
	d, err := Find(all, in.Node, "system.run")
	if err != nil {
		return tool.Result{}, err
	}
	text, err := t.Devices.Run(ctx, call, Run{Device: d, Argv: in.Command, Dir: in.Cwd,
		Timeout: time.Duration(in.TimeoutMs) * time.Millisecond, Why: in.Why})
	if text != "" {
		text = t.Wrap.Wrap("what a program on "+d.Name+" printed", text)
	} else if err == nil {
		text = "It ended well and printed nothing."
	}
	return tool.Result{Text: text, Details: details(d, nil)}, err
}

// list tells of devices. Their names are of their own choosing.
func (t *Nodes) list(all []Device) (tool.Result, error) {
	type row struct {
		ID        string            `json:"id"`
		Name      string            `json:"name"`
		Platform  string            `json:"platform"`
		Connected bool              `json:"connected"`
		LastSeen  string            `json:"lastSeen,omitempty"`
		Commands  []string          `json:"commands"`
		Refused   map[string]string `json:"notAllowed,omitempty"`
	}
	rows := make([]row, len(all))
	for i, d := range all {
		rows[i] = row{ID: d.ID, Name: d.Name, Platform: d.Platform, Connected: d.Connected, Commands: d.Commands, Refused: d.Refused}
		if !d.Connected && !d.LastSeen.IsZero() {
			rows[i].LastSeen = d.LastSeen.UTC().Format(time.RFC3339)
		}
	}
	raw, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		return tool.Result{}, fmt.Errorf("tell of devices: %w", err)
	}
	return tool.Result{Text: t.Wrap.Wrap("the list of the owner's devices", string(raw))}, nil
}
