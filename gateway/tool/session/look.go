package session

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
	"github.com/hearth-assistant/hearth/internal/text"
)

//go:embed sessions_list.md
var listDescription string

//go:embed sessions_history.md
var historyDescription string

const (
	defaultList = 20
	maxList     = 200
	maxLast     = 20
	// lastChars and entryChars bound one entry as a list, and as a history, has it.
	lastChars      = 400
	entryChars     = 4000
	defaultEntries = 50
	maxEntries     = 500
	maxActive      = 525_600 // minutes of a year
)

type listTool struct {
	sessions Sessions
	wrap     untrusted.Wrapper
}

func (t *listTool) Spec() model.ToolSpec {
	return spec("sessions_list", listDescription, `{"type":"object","properties":{`+
		`"limit":{"type":"number","description":"default 20"},`+
		`"activeMinutes":{"type":"number","description":"only those used within so many minutes"},`+
		`"kinds":{"type":"array","items":{"type":"string","enum":["main","group","subagent","other"]}},`+
		`"messageLimit":{"type":"number","description":"also the last so many messages of each, 0 to 20"}},`+
		`"additionalProperties":false}`)
}

func (t *listTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var raw struct {
		Limit         float64  `json:"limit"`
		ActiveMinutes float64  `json:"activeMinutes"`
		Kinds         []string `json:"kinds"`
		MessageLimit  float64  `json:"messageLimit"`
	}
	if err := readArgs(call.Args, &raw); err != nil {
		return tool.Result{}, err
	}
	for _, k := range raw.Kinds {
		if !slices.Contains([]string{"main", "group", "subagent", "other"}, k) {
			return tool.Result{}, fmt.Errorf("there is no kind of session called %q; kinds are main, group, subagent and other",
				text.Ellipsis(k, 40))
		}
	}
	if raw.Limit == 0 {
		raw.Limit = defaultList
	}
	q := Query{
		Limit: int(min(max(raw.Limit, 1), maxList)), ActiveMinutes: int(min(max(raw.ActiveMinutes, 0), maxActive)), Kinds: raw.Kinds,
		MessageLimit: int(min(max(raw.MessageLimit, 0), maxLast)),
	}
	list, err := t.sessions.List(ctx, call, q)
	if err != nil {
		return tool.Result{}, fmt.Errorf("the sessions could not be listed: %w", err)
	}
	if list == nil {
		list = []Info{}
	}
	for i := range list {
		s := &list[i]
		s.Label, s.Title = text.Ellipsis(s.Label, 100), text.Ellipsis(s.Title, 100)
		for j := range s.Last {
			s.Last[j].Text = text.Ellipsis(s.Last[j].Text, lastChars)
		}
	}
	found := inJSON(map[string]any{"count": len(list), "sessions": list})
	return tool.Result{Text: t.wrap.Wrap("the list of sessions", string(found)), Details: found}, nil
}

type historyTool struct {
	sessions Sessions
	wrap     untrusted.Wrapper
}

func (t *historyTool) Spec() model.ToolSpec {
	return spec("sessions_history", historyDescription, `{"type":"object","properties":{`+
		`"sessionKey":{"type":"string"},`+
		`"limit":{"type":"number","description":"the newest so many entries, default 50"},`+
		`"includeTools":{"type":"boolean","description":"results of tools too"}},`+
		`"required":["sessionKey"],"additionalProperties":false}`)
}

func (t *historyTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var raw struct {
		Key   string  `json:"sessionKey"`
		Limit float64 `json:"limit"`
		Tools bool    `json:"includeTools"`
	}
	if err := readArgs(call.Args, &raw); err != nil {
		return tool.Result{}, err
	}
	if raw.Key == "" {
		return tool.Result{}, errors.New("sessionKey is missing; sessions_list tells the keys")
	}
	if raw.Limit == 0 {
		raw.Limit = defaultEntries
	}
	entries, err := t.sessions.History(ctx, call, raw.Key, int(min(max(raw.Limit, 1), maxEntries)), raw.Tools)
	if err != nil {
		return tool.Result{}, err
	}
	if len(entries) == 0 {
		return tool.Result{Text: "Nothing was said there yet.", Details: inJSON(map[string]any{"sessionKey": raw.Key, "count": 0})}, nil
	}
	return tool.Result{
		Text:    t.wrap.Wrap("session "+raw.Key, newest(entries, tool.MaxResultBytes-2048)),
		Details: inJSON(map[string]any{"sessionKey": raw.Key, "count": len(entries)}),
	}, nil
}

// newest writes entries down in order, as many of the last ones as fit.
func newest(entries []Said, room int) string {
	var lines []string
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		who := e.Role
		if e.Tool != "" {
			who += " " + e.Tool
		}
		line := who + ": " + text.Ellipsis(strings.TrimSpace(e.Text), entryChars)
		if room -= len(line) + 2; room < 0 {
			lines = append(lines, "[older entries are left out]")
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n\n")
}
