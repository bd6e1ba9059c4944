// Package control holds the tool gateway: looking at the settings, changing
// the few that a model may propose to change, and a restart. It owns the list
// of those few and everything else is refused, whatever it is called. Reading,
// asking and writing are handed in.
package control

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

//go:embed gateway.md
var description string

const (
	maxPath   = 256
	maxValue  = 4 << 10
	maxReason = 500
	maxShown  = 24 << 10
)

// Change is one setting that is to be different.
type Change struct {
	Path   string // as the settings write it
	Old    string // JSON, secrets hidden; "" when it is not set
	New    string // JSON; "" goes back to the default
	Reason string // in the model's words
}

// Settings are Hearth's.
type Settings interface {
	// Path is the one spelling of a path, or why it is none.
	Path(path string) (string, error)
	// Get is a setting in use as JSON, with secrets hidden. "" is all of them.
	Get(path string) (value string, ok bool, err error)
	// Written is what the file says, "" when it says nothing.
	Written(path string) (string, error)
	// Manual is the page about settings, in Markdown.
	Manual() string
	// Change asks the owner and does it.
	Change(ctx context.Context, call tool.Call, c Change) error
	// Restart asks the owner and does it; the error says how else.
	Restart(ctx context.Context, call tool.Call, reason string) error
}

// Tool is the tool gateway.
type Tool struct{ Settings Settings }

// Spec describes the tool.
func (t *Tool) Spec() model.ToolSpec {
	return model.ToolSpec{
		Name: "gateway", Description: strings.TrimSpace(description),
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"action":{"type":"string","enum":["config.get","config.schema.lookup","config.patch","restart"]},` +
			`"path":{"type":"string","description":"such as agents.defaults.model"},` +
			`"value":{"description":"config.patch: the new value; null goes back to the default"},` +
			`"reason":{"type":"string","description":"config.patch, restart: why, for the person"}},` +
			`"required":["action"],"additionalProperties":false}`),
	}
}

type args struct {
	Action string          `json:"action"`
	Path   string          `json:"path"`
	Value  json.RawMessage `json:"value"`
	Reason string          `json:"reason"`
}

// Run does one of the actions.
func (t *Tool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in args
	if err := json.Unmarshal(call.Args, &in); err != nil {
		return tool.Result{}, fmt.Errorf("the arguments are not what this tool takes: %w", err)
	}
	switch {
	case !call.Owner || call.Group || call.Relayed || call.Depth > 0:
		return tool.Result{}, errors.New("the settings are for the owner's own words in a direct chat only")
	case len(in.Path) > maxPath || len(in.Reason) > maxReason:
		return tool.Result{}, fmt.Errorf("path may have %d bytes and reason %d", maxPath, maxReason)
	}
	if in.Path != "" {
		path, err := t.Settings.Path(in.Path)
		if err != nil {
			return tool.Result{}, err
		}
		in.Path = path
	}
	switch in.Action {
	case "config.get":
		return t.get(in.Path)
	case "config.schema.lookup":
		return t.look(in.Path)
	case "config.patch":
		return t.patch(ctx, call, in)
	case "restart":
		if err := t.Settings.Restart(ctx, call, in.Reason); err != nil {
			return tool.Result{}, err
		}
		return tool.Text("Hearth restarts after this answer."), nil
	}
	return tool.Result{}, errors.New("action can be config.get, config.schema.lookup, config.patch or restart")
}

func (t *Tool) get(path string) (tool.Result, error) {
	value, ok, err := t.Settings.Get(path)
	switch {
	case err != nil:
		return tool.Result{}, fmt.Errorf("the settings could not be read: %w", err)
	case !ok:
		return tool.Result{}, fmt.Errorf("there is no setting %s in use; config.schema.lookup tells which there are", path)
	case len(value) > maxShown:
		value = strings.ToValidUTF8(value[:maxShown], "") + "\n[the rest was cut; ask for a part of it]"
	}
	return tool.Text(value), nil
}

// look tells what the manual says about a setting and those below it.
func (t *Tool) look(path string) (tool.Result, error) {
	rows := find(entries(t.Settings.Manual()), path)
	if len(rows) == 0 {
		return tool.Result{}, fmt.Errorf("nothing is known about a setting %q; leave path out to see all", path)
	}
	var b strings.Builder
	for _, e := range rows {
		how := "can be changed with config.patch, which asks the person"
		if !changeable(e.Path) {
			how = "only the person changes it"
		}
		fmt.Fprintf(&b, "%s (default %s): %s [%s]\n", e.Path, e.Default, e.Meaning, how)
		if b.Len() > maxShown {
			b.WriteString("[there are more; ask for a part]\n")
			break
		}
	}
	return tool.Text(strings.TrimSuffix(b.String(), "\n")), nil
}

func (t *Tool) patch(ctx context.Context, call tool.Call, in args) (tool.Result, error) {
	switch {
	case in.Path == "":
		return tool.Result{}, errors.New("path is missing; config.patch changes one setting at a time")
	case !changeable(in.Path):
		return tool.Result{}, fmt.Errorf("%s was not changed: it is not among the settings that may be changed from here. Tell the person to "+
			"change it in the settings page or with `hearth config set`, if they want to; do not try another way", in.Path)
	case len(in.Value) == 0:
		return tool.Result{}, errors.New("value is missing; null goes back to the default")
	case len(in.Value) > maxValue:
		return tool.Result{}, fmt.Errorf("the value has %d bytes, at most %d can be shown to the person", len(in.Value), maxValue)
	}
	c := Change{Path: in.Path, New: string(in.Value), Reason: in.Reason}
	if c.New == "null" {
		c.New = ""
	}
	var err error
	if c.Old, err = t.Settings.Written(in.Path); err != nil {
		return tool.Result{}, fmt.Errorf("the settings could not be read: %w", err)
	}
	if c.Old == c.New {
		return tool.Text(in.Path + " is that already."), nil
	}
	if err := t.Settings.Change(ctx, call, c); err != nil {
		return tool.Result{}, err
	}
	details, err := json.Marshal(map[string]any{"path": c.Path, "old": c.Old, "new": c.New})
	if err != nil {
		return tool.Result{}, fmt.Errorf("tell of the change: %w", err)
	}
	return tool.Result{Text: c.Path + " was changed and is in use.", Details: details}, nil
}
