// Package tool defines what a tool is and keeps the set that a run may use.
// It does not decide who may use which tool (that is policy), and holds no
// tool itself: each lives in a folder below, with its description in a .md
// file beside its code.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
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
}

// Tool is one thing a model may ask for. Run must return soon after ctx ends.
// An error is told to the model as an error result, in its own words.
type Tool interface {
	Spec() model.ToolSpec
	Run(ctx context.Context, scope Scope, args json.RawMessage) (string, error)
}

// Set is an ordered, fixed group of tools.
type Set struct{ tools []Tool }

// NewSet returns the set of the given tools, sorted by name; two of one name
// are a mistake of the program.
func NewSet(tools ...Tool) (*Set, error) {
	s := &Set{tools: slices.Clone(tools)}
	slices.SortFunc(s.tools, func(a, b Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	for i := 1; i < len(s.tools); i++ {
		if name := s.tools[i].Spec().Name; name == s.tools[i-1].Spec().Name {
			return nil, fmt.Errorf("two tools are called %q", name)
		}
	}
	return s, nil
}

// Specs describes the set to a model.
func (s *Set) Specs() []model.ToolSpec {
	specs := make([]model.ToolSpec, len(s.tools))
	for i, t := range s.tools {
		specs[i] = t.Spec()
	}
	return specs
}

// Run runs one call. It never panics and always returns a result for the
// model: what the tool said, cut to MaxResultBytes, or why it could not run.
func (s *Set) Run(ctx context.Context, scope Scope, call model.ToolCall) (res model.ToolResult) {
	res = model.ToolResult{CallID: call.ID, Name: call.Name}
	i := slices.IndexFunc(s.tools, func(t Tool) bool { return t.Spec().Name == call.Name })
	if i < 0 {
		return fail(res, fmt.Sprintf("There is no tool called %q. Available: %s.", call.Name, s.names()))
	}
	defer func() {
		if r := recover(); r != nil {
			res = fail(res, fmt.Sprintf("The tool %s stopped because of an internal error.", call.Name))
		}
	}()
	text, err := s.tools[i].Run(ctx, scope, call.Arguments)
	if err != nil {
		return fail(res, err.Error())
	}
	res.Text = cut(text)
	return res
}

func (s *Set) names() string {
	names := make([]string, len(s.tools))
	for i, t := range s.tools {
		names[i] = t.Spec().Name
	}
	return strings.Join(names, ", ")
}

func fail(res model.ToolResult, text string) model.ToolResult {
	res.Text, res.IsError = cut(text), true
	return res
}

func cut(s string) string {
	if len(s) <= MaxResultBytes {
		return s
	}
	return strings.ToValidUTF8(s[:MaxResultBytes], "") + "\n[the rest was cut]"
}
