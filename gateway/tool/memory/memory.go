// Package memory holds the tools that look into what is remembered, and the one
// that adds to it. It owns what they take and say, and whose memory a run means;
// finding, reading and writing is gateway/memory's.
package memory

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/memory"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

//go:embed memory_search.md
var searchDescription string

//go:embed memory_get.md
var getDescription string

//go:embed memory_note.md
var noteDescription string

// Memory is what the tools look into.
type Memory interface {
	Search(ctx context.Context, q memory.Query) (memory.Found, error)
	Get(ctx context.Context, s memory.Scope, path string, from, lines int) (memory.Excerpt, error)
	Keep(ctx context.Context, s memory.Scope, text string, o memory.Origin) (memory.Change, error)
}

// Options of the tools.
type Options struct {
	Memory Memory
	// Wrap marks what was remembered as data.
	Wrap untrusted.Wrapper
	// Cite reports whether places are told; nil: they are.
	Cite func(tool.Scope) bool
	// Lines is how many lines memory_get reads when nobody says; nil, 0: as many
	// as fit.
	Lines func(tool.Scope) int
	// Secret reports a known key or password in a text; nil: there are none.
	Secret func(string) bool
	// Written hears of a note, and the file that it is in. nil: nobody does.
	Written func(call tool.Call, path string)
}

// New returns the tools.
func New(o Options) []tool.Tool {
	if o.Cite == nil {
		o.Cite = func(tool.Scope) bool { return true }
	}
	return []tool.Tool{&searchTool{o}, &getTool{o}, &noteTool{o}}
}

// ScopeOf is whose memory a run means: the owner's own words in a direct chat
// reach the owner's; everybody else, and every group, has one of their own.
func ScopeOf(s tool.Scope) memory.Scope {
	out := memory.Scope{Agent: s.AgentID}
	switch {
	case s.Group:
		out.Of = memory.Group(s.SessionKey)
	case !s.Owner:
		out.Of = memory.Person(s.Surface, s.Sender)
	}
	return out
}

// From is whose words led to a note.
func From(s tool.Scope) string {
	if s.Owner && s.Sender == "" {
		return "owner"
	}
	return s.Surface + ":" + s.Sender
}

type searchTool struct{ Options }

func (t *searchTool) Spec() model.ToolSpec {
	return model.ToolSpec{Name: "memory_search", Description: strings.TrimSpace(searchDescription),
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"query":{"type":"string","description":"What to look for, in a few words or a question"},` +
			`"maxResults":{"type":"integer","minimum":1,"maximum":50,"description":"How many passages at most"},` +
			`"minScore":{"type":"number","minimum":0,"maximum":1,"description":"Leave out what fits less; the best has about 1"}},"required":["query"]}`)}
}

// result is one passage for surfaces.
type result struct {
	Path      string  `json:"path"`
	StartLine int     `json:"startLine"`
	EndLine   int     `json:"endLine"`
	Score     float64 `json:"score"`
	Snippet   string  `json:"snippet"`
	Citation  string  `json:"citation,omitempty"`
}

func (t *searchTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a struct {
		Query      string
		MaxResults int
		MinScore   float64
	}
	if err := json.Unmarshal(call.Args, &a); err != nil {
		return tool.Result{}, fmt.Errorf("the arguments cannot be read: %w", err)
	}
	res, err := t.Memory.Search(ctx, memory.Query{Scope: ScopeOf(call.Scope), Text: a.Query, Limit: a.MaxResults, MinScore: a.MinScore})
	if err != nil {
		return tool.Result{}, fmt.Errorf("memory was not searched: %w", err)
	}
	details := struct {
		Results []result `json:"results"`
		Mode    string   `json:"mode"`
		Partial string   `json:"partial,omitempty"`
	}{Results: []result{}, Mode: res.Mode, Partial: res.Partial}
	cited := t.Cite(call.Scope)
	var b strings.Builder
	for _, h := range res.Hits {
		r := result{Path: h.Path, StartLine: h.From, EndLine: h.To, Score: h.Score, Snippet: h.Text}
		head := h.Path
		if cited {
			r.Citation = h.Citation()
			head = r.Citation
		}
		fmt.Fprintf(&b, "[%s] score %.2f\n%s\n\n", head, h.Score, strings.TrimSpace(h.Text))
		details.Results = append(details.Results, r)
	}
	raw, err := json.Marshal(details)
	if err != nil {
		return tool.Result{}, fmt.Errorf("describe what was found: %w", err)
	}
	text := "Nothing in memory fits."
	if b.Len() > 0 {
		text = t.Wrap.Wrap("memory notes", strings.TrimSpace(b.String()))
	}
	if res.Partial != "" {
		text += "\n\nNote: " + res.Partial
	}
	return tool.Result{Text: text, Details: raw}, nil
}

type getTool struct{ Options }

func (t *getTool) Spec() model.ToolSpec {
	return model.ToolSpec{Name: "memory_get", Description: strings.TrimSpace(getDescription),
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"MEMORY.md, or a file below memory/"},` +
			`"from":{"type":"integer","minimum":1,"description":"First line (1)"},` +
			`"lines":{"type":"integer","minimum":1,"description":"How many lines"}},"required":["path"]}`)}
}

func (t *getTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a struct {
		Path        string
		From, Lines int
	}
	if err := json.Unmarshal(call.Args, &a); err != nil {
		return tool.Result{}, fmt.Errorf("the arguments cannot be read: %w", err)
	}
	a.Path, _, _ = strings.Cut(a.Path, "#") // a citation names lines of its own
	if a.Lines <= 0 && t.Lines != nil {
		a.Lines = t.Lines(call.Scope)
	}
	e, err := t.Memory.Get(ctx, ScopeOf(call.Scope), a.Path, a.From, a.Lines)
	if errors.Is(err, memory.ErrNoFile) {
		return tool.Text(fmt.Sprintf("There is no %s (yet).", a.Path)), nil
	}
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s was not read: %w", a.Path, err)
	}
	raw, err := json.Marshal(struct {
		Path  string `json:"path"`
		From  int    `json:"from"`
		Lines int    `json:"lines"`
		More  bool   `json:"more"`
	}{e.Path, e.From, e.To - e.From + 1, e.More})
	if err != nil {
		return tool.Result{}, fmt.Errorf("describe what was read: %w", err)
	}
	if e.Text == "" {
		return tool.Result{Text: fmt.Sprintf("%s has nothing from line %d on.", e.Path, e.From), Details: raw}, nil
	}
	text := t.Wrap.Wrap("memory file "+e.Citation(), e.Text)
	if e.More {
		text += fmt.Sprintf("\n\nThere is more: go on with from=%d.", e.To+1)
	}
	return tool.Result{Text: text, Details: raw}, nil
}

// maxNote is the longest note, in bytes: some pages of text.
const maxNote = 16 << 10

type noteTool struct{ Options }

func (t *noteTool) Spec() model.ToolSpec {
	return model.ToolSpec{Name: "memory_note", Description: strings.TrimSpace(noteDescription),
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"text":{"type":"string","description":"What to remember"}},"required":["text"]}`)}
}

func (t *noteTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a struct{ Text string }
	if err := json.Unmarshal(call.Args, &a); err != nil {
		return tool.Result{}, fmt.Errorf("the arguments cannot be read: %w", err)
	}
	if strings.TrimSpace(a.Text) == "" {
		return tool.Result{}, errors.New("text is missing: say what to remember")
	}
	if len(a.Text) > maxNote {
		return tool.Result{}, fmt.Errorf("nothing was written down: the text is %d KB and a note is %d KB at most; keep what matters, or "+
			"write it into a file", len(a.Text)>>10, maxNote>>10)
	}
	if t.Secret != nil && t.Secret(a.Text) {
		return tool.Result{}, errors.New("nothing was written down: the text holds a key or password, and notes are plain files; leave it out")
	}
	c, err := t.Memory.Keep(ctx, ScopeOf(call.Scope), a.Text, memory.Origin{By: "memory_note", Session: call.SessionKey, Run: call.RunID,
		From: From(call.Scope)})
	switch {
	case err != nil:
		return tool.Result{}, fmt.Errorf("nothing was written down: %w", err)
	case c.UndoID == "":
		return tool.Text("All of that is in memory already; nothing was added."), nil
	}
	raw, err := json.Marshal(struct {
		Path   string `json:"path"`
		UndoID string `json:"undoId"`
	}{c.Paths[0], c.UndoID})
	if err != nil {
		return tool.Result{}, fmt.Errorf("describe the note: %w", err)
	}
	if t.Written != nil {
		t.Written(call, c.Paths[0])
	}
	return tool.Result{Text: "Written down in " + c.Paths[0] + ".", Details: raw}, nil
}
