// Package tool defines what a tool is and keeps the set that a run may use.
// It does not decide who may use which tool (that is policy), and holds no
// tool itself: each lives in a folder below, with its description in a .md
// file beside its code.
package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pretty"
)

// MaxResultBytes is the most of a result that a model gets to see.
const MaxResultBytes = 64 << 10

// Scope says on whose behalf a tool runs.
type Scope struct {
	RunID      string
	SessionKey string
	SessionID  string
	AgentID    string
	Model      model.Ref
	Workspace  string // absolute path of the agent's folder
	// Folder is where commands start and relative paths begin, when that is not
	// the workspace: the absolute path of the folder that an editor works in. It
	// gives no right to what is there.
	Folder string
	// Owner: the words that led here are the owner's own. Others, groups and
	// hooks get less.
	Owner   bool
	Surface string // where the words came from: webchat, cli, a messaging network
	Sender  string // who said them there, "" = the owner
	Route   string // the chat of a network that is answered, as channel.Route writes it; "" for none
	Group   bool   // said in a group
	Depth   int    // how many sub-agents deep; 0: a person's conversation
	Relayed bool   // another session sent the words, nobody said them here
}

// Call is one wish of a model.
type Call struct {
	Scope
	ID   string // unique within the run
	Args json.RawMessage
	// Progress shows what there is of the result while the tool runs; the text
	// replaces what was shown before. It does not block. Never nil.
	Progress func(text string)
}

// Result is what a tool came to.
type Result struct {
	Text    string // for the model and the person
	Images  []model.Image
	Details json.RawMessage // for surfaces only, see model.ToolResult
}

// Text is a result of words.
func Text(s string) Result { return Result{Text: s} }

// Tool is one thing a model may ask for. Run must return soon after ctx ends.
// An error is told to the model as an error result, in its own words; the
// result beside it is kept.
type Tool interface {
	Spec() model.ToolSpec
	Run(ctx context.Context, call Call) (Result, error)
}

// Set is an ordered, fixed group of tools.
type Set struct {
	tools  []named
	before func(ctx context.Context, name string, call Call) error
	after  func(name string, call Call, text string)
	redact Redactor // nil: nothing is hidden
	broken func(name string, panicked any)
	most   int // bytes of a result; 0: MaxResultBytes
	behind []model.ToolSpec
	exact  bool
}

// named is a tool with its name, which is asked for once.
type named struct {
	Tool
	name string
}

// Redactor hides secrets in what tools say.
type Redactor interface {
	Text(string) string
	JSON([]byte) []byte // stays JSON
}

// NewSet returns the set of the given tools, sorted by name; two of one name
// are a mistake of the program.
func NewSet(tools ...Tool) (*Set, error) {
	s := &Set{}
	for _, t := range tools {
		s.tools = append(s.tools, named{t, t.Spec().Name})
	}
	if err := s.sort(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Set) sort() error {
	slices.SortStableFunc(s.tools, func(a, b named) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(s.tools); i++ {
		if name := s.tools[i].name; name == s.tools[i-1].name {
			return fmt.Errorf("two tools are called %q", name)
		}
	}
	return nil
}

// Specs describes the set to a model.
func (s *Set) Specs() []model.ToolSpec {
	specs := make([]model.ToolSpec, len(s.tools))
	for i, t := range s.tools {
		specs[i] = t.Spec()
	}
	return specs
}

// Only returns the tools of the set that keep says yes to.
func (s *Set) Only(keep func(name string) bool) *Set {
	out := *s
	out.tools = make([]named, 0, len(s.tools))
	for _, t := range s.tools {
		if keep(t.name) {
			out.tools = append(out.tools, t)
		}
	}
	return &out
}

// With returns the set with more tools in it; two of one name are refused.
func (s *Set) With(more ...Tool) (*Set, error) {
	if len(more) == 0 {
		return s, nil
	}
	out := *s
	out.tools = slices.Clone(s.tools)
	for _, t := range more {
		out.tools = append(out.tools, named{t, t.Spec().Name})
	}
	if err := out.sort(); err != nil {
		return nil, err
	}
	return &out, nil
}

// Before returns the set with a check in front of every call: an error of it is
// the call's, and the tool does not start.
func (s *Set) Before(check func(ctx context.Context, name string, call Call) error) *Set {
	out := *s
	out.before = check
	return &out
}

// After returns the set with a listener for what tools said, failures too.
func (s *Set) After(hear func(name string, call Call, text string)) *Set {
	out := *s
	out.after = hear
	return &out
}

// Broken returns the set with a listener for tools that panic, called where that
// happened.
func (s *Set) Broken(hear func(name string, panicked any)) *Set {
	out := *s
	out.broken = hear
	return &out
}

// Most returns the set with another limit to its results, in bytes.
func (s *Set) Most(bytes int) *Set {
	out := *s
	out.most = bytes
	return &out
}

// Hiding returns the set as all that a model may be shown: a request with any
// other tool may not leave. hidden are the tools that stand behind it.
func (s *Set) Hiding(hidden []model.ToolSpec) *Set {
	out := *s
	out.exact, out.behind = true, slices.Clone(hidden)
	for i := range out.behind {
		out.behind[i].Hidden = true
	}
	return &out
}

// Exact are the names of the tools that a request must hold, nil when that does
// not matter.
func (s *Set) Exact() []string {
	if !s.exact {
		return nil
	}
	names := make([]string, len(s.tools))
	for i, t := range s.tools {
		names[i] = t.name
	}
	return names
}

// All describes the set to a model, and behind it what is hidden.
func (s *Set) All() []model.ToolSpec { return append(s.Specs(), s.behind...) }

// Empty reports a set without tools.
func (s *Set) Empty() bool { return len(s.tools) == 0 }

// Redact returns the set with secrets hidden in every result, and in what is
// shown of it before: neither a model nor a transcript gets to see one.
func (s *Set) Redact(r Redactor) *Set {
	out := *s
	out.redact = r
	return &out
}

// hide applies the redactor to a result that is ready.
func (s *Set) hide(res model.ToolResult) model.ToolResult {
	if s.redact == nil {
		return res
	}
	res.Text = s.redact.Text(res.Text)
	if len(res.Details) > 0 {
		res.Details = s.redact.JSON(res.Details)
	}
	return res
}

// Lookup finds a tool by name.
func (s *Set) Lookup(name string) (Tool, bool) {
	i := slices.IndexFunc(s.tools, func(t named) bool { return t.name == name })
	if i < 0 {
		return nil, false
	}
	return s.tools[i].Tool, true
}

// Run runs one call. It never panics and always returns a result for the
// model: what the tool said, cut to MaxResultBytes, or why it could not run.
// progress may be nil.
func (s *Set) Run(ctx context.Context, scope Scope, call model.ToolCall, progress func(text string)) model.ToolResult {
	res := s.hide(s.run(ctx, scope, call, progress))
	res.Text = s.cut(res.Text) // after hiding: a cut through a secret would leave a part of it
	res.Details = bound(res.Details)
	return res
}

func (s *Set) run(ctx context.Context, scope Scope, call model.ToolCall, progress func(text string)) (res model.ToolResult) {
	res = model.ToolResult{CallID: call.ID, Name: call.Name}
	t, ok := s.Lookup(call.Name)
	if !ok {
		return fail(res, fmt.Sprintf("There is no tool called %q. Available: %s.", call.Name, s.names()))
	}
	if progress == nil {
		progress = func(string) {}
	}
	if show := progress; s.redact != nil {
		progress = func(text string) { show(s.redact.Text(text)) }
	}
	c := Call{Scope: scope, ID: call.ID, Args: call.Arguments, Progress: progress}
	if pretty.Depth(c.Args) > pretty.MaxDepth {
		return fail(res, fmt.Sprintf("The arguments nest more than %d deep, so %s was not used. Send them flatter.", pretty.MaxDepth, call.Name))
	}
	asked := res // a tool that is left behind reads it later than this function ends
	return s.untilStopped(ctx, asked, c, func(c Call) model.ToolResult { return s.perform(ctx, t, asked, c) })
}

// perform runs a tool that is there, with arguments that can be looked at.
func (s *Set) perform(ctx context.Context, t Tool, res model.ToolResult, c Call) (end model.ToolResult) {
	name := res.Name
	defer func() {
		if r := recover(); r != nil {
			if s.broken != nil {
				s.broken(name, r)
			}
			end = fail(res, fmt.Sprintf("The tool %s stopped because of an internal error.", name))
		}
	}()
	if s.before != nil {
		if err := s.before(ctx, name, c); err != nil {
			return fail(res, err.Error())
		}
	}
	out, err := t.Run(ctx, c)
	if s.after != nil {
		said := out.Text
		if err != nil {
			said += err.Error()
		}
		s.after(name, c, said)
	}
	res.Images, res.Details = out.Images, out.Details
	if err != nil {
		text := err.Error()
		if out.Text != "" {
			text = out.Text + "\n\n" + text
		}
		return fail(res, text)
	}
	res.Text = out.Text
	return res
}

func (s *Set) names() string {
	names := make([]string, len(s.tools))
	for i, t := range s.tools {
		names[i] = t.name
	}
	return strings.Join(names, ", ")
}

func fail(res model.ToolResult, text string) model.ToolResult {
	res.Text, res.IsError = text, true
	return res
}

func (s *Set) cut(text string) string {
	most := cmp.Or(s.most, MaxResultBytes)
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "\n[the rest was cut]"
}
