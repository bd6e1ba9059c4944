package node

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
	"github.com/hearth-assistant/hearth/internal/text"
)

//go:embed canvas.md
var canvasDescription string

const (
	canvasSchema = `{"type":"object","required":["action"],"additionalProperties":false,"properties":{
"action":{"type":"string","enum":["present","hide","navigate","eval","snapshot","a2ui_push","a2ui_reset"]},
"node":{"type":"string","description":"name or id of the device; may be left out when only one can do it"},
"url":{"type":"string","description":"https address for present and navigate"},
"x":{"type":"number"},"y":{"type":"number"},"width":{"type":"number"},"height":{"type":"number"},
"javaScript":{"type":"string"},
"maxWidth":{"type":"integer","minimum":64,"maximum":4096},
"jsonl":{"type":"string","description":"A2UI messages, one JSON object a line"}}}`

	maxScript = 16 << 10
	maxJSONL  = 256 << 10
)

// Canvas is the tool canvas.
type Canvas struct {
	Devices Host
	Wrap    untrusted.Wrapper
}

type canvasIn struct {
	Action, Node, URL, JavaScript, JSONL string
	X, Y, Width, Height                  *float64
	MaxWidth                             int
}

// Spec describes the tool.
func (t *Canvas) Spec() model.ToolSpec {
	return model.ToolSpec{Name: "canvas", Description: strings.TrimSpace(canvasDescription), Schema: json.RawMessage(canvasSchema)}
}

// Run does one action.
func (t *Canvas) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in canvasIn
	if err := read(call.Args, &in); err != nil {
		return tool.Result{}, err
	}
	w, err := t.wish(in)
	if err != nil {
		return tool.Result{}, err
	}
	if w.Device, err = Find(t.Devices.Devices(), in.Node, w.Command); err != nil {
		return tool.Result{}, err
	}
	if t.Devices.Secret(in.URL + "\n" + in.JavaScript + "\n" + in.JSONL) {
		return tool.Result{}, errors.New("this holds one of the owner's keys or passwords, so it was not sent to a device; leave it out")
	}
	if w.Ask != "" {
		w.Ask += " on " + w.Device.Name
	}
	payload, err := t.Devices.Invoke(ctx, call, w)
	if err != nil {
		return tool.Result{}, err
	}
	switch in.Action {
	case "snapshot":
		return picture(t.Devices, w.Device, "canvas", payload)
	case "eval":
		return said(t.Wrap, w.Device, payload), nil
	}
	return tool.Result{Text: "Done on " + w.Device.Name + ".", Details: details(w.Device, nil)}, nil
}

// wish is the command of an action.
func (t *Canvas) wish(in canvasIn) (NodeCall, error) {
	p := map[string]any{}
	switch in.Action {
	case "present", "navigate":
		w := NodeCall{Command: "canvas." + in.Action, Params: p}
		if in.URL == "" && in.Action == "navigate" {
			return w, errors.New("url is missing")
		}
		if in.URL != "" {
			u, err := url.Parse(in.URL)
			if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
				return w, fmt.Errorf("%q is no https address without a name and password in it", text.Ellipsis(in.URL, 80))
			}
			p["url"] = u.String()
			// The whole address is shown: it can carry words out of the house.
			w.Ask, w.Once = "Open "+u.String(), true
		}
		if place := in.place(); len(place) > 0 {
			p["placement"] = place
		}
		return w, nil
	case "hide":
		return NodeCall{Command: "canvas.hide", Params: p}, nil
	case "eval":
		if strings.TrimSpace(in.JavaScript) == "" || len(in.JavaScript) > maxScript {
			return NodeCall{}, fmt.Errorf("javaScript is missing or longer than %d bytes", maxScript)
		}
		p["javaScript"] = in.JavaScript
		return NodeCall{Command: "canvas.eval", Params: p, Ask: "Run JavaScript in the canvas", Once: true}, nil
	case "snapshot":
		p["format"], p["maxWidth"] = "jpeg", 1600
		if in.MaxWidth > 0 {
			p["maxWidth"] = in.MaxWidth
		}
		return NodeCall{Command: "canvas.snapshot", Params: p}, nil
	case "a2ui_push":
		if strings.TrimSpace(in.JSONL) == "" || len(in.JSONL) > maxJSONL {
			return NodeCall{}, fmt.Errorf("jsonl is missing or longer than %d bytes", maxJSONL)
		}
		for i, line := range strings.Split(strings.TrimSpace(in.JSONL), "\n") {
			if !json.Valid([]byte(line)) {
				return NodeCall{}, fmt.Errorf("line %d of jsonl is not JSON", i+1)
			}
		}
		p["jsonl"] = in.JSONL
		return NodeCall{Command: "canvas.a2ui.pushJSONL", Params: p}, nil
	case "a2ui_reset":
		return NodeCall{Command: "canvas.a2ui.reset", Params: p}, nil
	}
	return NodeCall{}, errAction
}

func (in canvasIn) place() map[string]any {
	out := map[string]any{}
	for name, v := range map[string]*float64{"x": in.X, "y": in.Y, "width": in.Width, "height": in.Height} {
		if v != nil {
			out[name] = *v
		}
	}
	return out
}
