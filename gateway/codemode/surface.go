package codemode

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/codemode/engine"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

//go:embed exec.md
var execText string

//go:embed wait.md
var waitText string

// Surface is what takes the place of a run's tools.
type Surface struct {
	runs   *Runs
	set    Settings
	tools  *tool.Set
	origin func(name string) Origin

	once sync.Once // the catalogue is made when it is needed
	cat  *catalog
	err  error
}

// Surface returns exec and wait, behind which the tools of a run stand. tools has
// its policy before every call already.
func (r *Runs) Surface(set Settings, tools *tool.Set, origin func(name string) Origin) (*tool.Set, error) {
	s := &Surface{runs: r, set: set, tools: tools, origin: origin}
	out, err := tool.NewSet(execTool{s}, waitTool{s})
	if err != nil {
		return nil, err
	}
	return out.Most(2*set.Output + 32<<10).Hiding(tools.Specs()), nil
}

func (s *Surface) catalog() (*catalog, error) {
	s.once.Do(func() {
		s.cat, s.err = newCatalog(s.tools.Specs(), s.origin)
	})
	return s.cat, s.err
}

// program is what every program of a call is made with.
type program struct {
	set     Settings
	cat     *catalog
	tools   *tool.Set
	scope   tool.Scope
	parent  string
	say     func(text string)
	heard   func(Output) // nil: nobody listens before the end
	patient bool
}

func (s *Surface) program(call tool.Call) (program, error) {
	cat, err := s.catalog()
	if err != nil {
		return program{}, fmt.Errorf("make the catalogue of tools: %w", err)
	}
	return program{set: s.set, cat: cat, tools: s.tools, scope: call.Scope, parent: call.ID, say: call.Progress}, nil
}

// Input is what exec takes.
type Input struct {
	Code     string `json:"code"`
	Language string `json:"language,omitempty"`
}

type execTool struct{ s *Surface }

func (t execTool) Spec() model.ToolSpec {
	langs := t.s.set.Languages
	about := strings.TrimSpace(execText)
	if !slices.Contains(langs, TypeScript) {
		about = strings.Replace(about, ` (or TypeScript, with language: "typescript")`, "", 1)
	}
	enum, err := json.Marshal(langs)
	if err != nil {
		enum = []byte(`["javascript"]`)
	}
	return model.ToolSpec{Name: Exec, Description: about,
		Schema: json.RawMessage(`{"type":"object","properties":{"code":{"type":"string","description":"The program: the body of an async function."},"language":{"type":"string","enum":` + string(enum) + `,"description":"Default: javascript."}},"required":["code"],"additionalProperties":false}`)}
}

func (t execTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	began := time.Now()
	u := t.s.runs.of(call.RunID, call.SessionKey, call.SessionID)
	u.count(func(tele *Telemetry) { tele.Exec++ })
	p, err := t.s.program(call)
	if err != nil {
		return tool.Result{}, err
	}
	in, bad := readInput(call.Args, t.s.set.Languages)
	if bad != nil {
		return result(u.refuse(p.cat, bad), began)
	}
	return result(t.s.runs.start(ctx, u, p, in), began)
}

type waitTool struct{ s *Surface }

func (waitTool) Spec() model.ToolSpec {
	return model.ToolSpec{Name: Wait, Description: strings.TrimSpace(waitText),
		Schema: json.RawMessage(`{"type":"object","properties":{"runId":{"type":"string","description":"As the waiting result named it."}},"required":["runId"],"additionalProperties":false}`)}
}

func (t waitTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	began := time.Now()
	u := t.s.runs.of(call.RunID, call.SessionKey, call.SessionID)
	u.count(func(tele *Telemetry) { tele.Wait++ })
	p, err := t.s.program(call)
	if err != nil {
		return tool.Result{}, err
	}
	var in struct {
		RunID string `json:"runId"`
	}
	if err := strict(call.Args, &in); err != nil || in.RunID == "" {
		return result(u.refuse(p.cat, &engine.Error{Code: engine.InvalidInput, Message: "wait takes {runId}, as a waiting result named it"}),
			began)
	}
	return result(t.s.runs.proceed(ctx, u, p, in.RunID), began)
}

// readInput reads what exec was given.
func readInput(args json.RawMessage, languages []string) (in Input, bad *engine.Error) {
	wrong := func(code engine.Code, format string, a ...any) (Input, *engine.Error) {
		return Input{}, &engine.Error{Code: code, Message: fmt.Sprintf(format, a...)}
	}
	if len(languages) == 0 {
		return wrong(engine.InvalidConfig, "tools.codeMode.languages names no language")
	}
	if err := strict(args, &in); err != nil {
		return wrong(engine.InvalidInput, "exec takes {code, language}: %v", err)
	}
	if in.Language == "" {
		in.Language = JavaScript
	}
	switch {
	case strings.TrimSpace(in.Code) == "":
		return wrong(engine.InvalidInput, "code is empty; it is the body of an async function")
	case len(in.Code) > maxCode:
		return wrong(engine.InvalidInput, "the program is longer than %d MB", maxCode>>20)
	case !slices.Contains(languages, in.Language):
		return wrong(engine.UnsupportedLanguage, "programs are written in %s here", strings.Join(languages, " or "))
	}
	return in, nil
}

// strict reads an object and refuses fields that it does not know: a model that
// means something by them learns that they do nothing.
func strict(raw json.RawMessage, to any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(to)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("the arguments must be an object, not %s", kindWords(kind.Value))
	case errors.As(err, &kind):
		return fmt.Errorf("%s must be text, not %s", kind.Field, kindWords(kind.Value))
	case err != nil && strings.HasPrefix(err.Error(), "json: unknown field "):
		return errors.New("it has no argument " + strings.TrimPrefix(err.Error(), "json: unknown field "))
	case err != nil:
		return errors.New("the arguments are not readable as JSON")
	}
	return nil
}

// kindWords names a kind of JSON value.
func kindWords(kind string) string {
	kind, _, _ = strings.Cut(kind, " ")
	switch kind {
	case "bool":
		return "true or false"
	case "number":
		return "a number"
	case "array":
		return "a list"
	case "object":
		return "an object"
	}
	return kind
}

// locate puts the place into an error that says that the program's text cannot
// be read.
func (r *Runs) locate(ctx context.Context, in Input, err error) {
	var own *engine.Error
	if r.o.Locate == nil || in.Language == TypeScript || !errors.As(err, &own) || own.Code != "" ||
		!strings.HasPrefix(own.Message, "SyntaxError: ") {
		return
	}
	if line, column := r.o.Locate(ctx, in.Code); line > 0 {
		own.Line, own.Column = line, column
	}
}

// start runs a program from its beginning.
func (r *Runs) start(ctx context.Context, u *run, p program, in Input) Result {
	code, places, bad := r.o.Prepare(ctx, in.Code, in.Language)
	if bad != nil {
		return u.refuse(p.cat, bad)
	}
	c := r.cell(ctx, u, p)
	c.left = p.set.Timeout
	r.debug(stateRunning, "program", c.id, "run", u.id, "language", in.Language, "bytes", len(code), "visible", []string{Exec, Wait},
		"catalog", p.cat.tele.Size, "sources", p.cat.tele.Sources)
	vm, st, err := r.o.Engine.Start(ctx, engine.Program{Code: code, Places: places, Catalog: p.cat.image, Limits: p.set.limits()})
	c.vm = vm
	r.locate(ctx, in, err)
	return c.drive(ctx, st, err)
}

// proceed goes on with a program that waits.
func (r *Runs) proceed(ctx context.Context, u *run, p program, id string) Result {
	u.mu.Lock()
	c, ended := u.cells[id], u.ended[id]
	u.mu.Unlock()
	if c == nil && ended == "" {
		var err error
		if c, err = r.revive(ctx, u, p, id); err != nil && !errors.Is(err, errNotKept) {
			return u.refuse(p.cat, &engine.Error{Code: engine.SnapshotRestoreFailed, Message: "the waiting program cannot be brought back: " +
				err.Error()})
		}
	}
	if c == nil {
		return u.tell(unknown(ended), p.cat)
	}
	c.mu.Lock()
	c.parent, c.say, c.patient, c.set = p.parent, p.say, p.patient, p.set
	c.mu.Unlock()
	c.left = c.set.Timeout
	return c.resume(ctx)
}

// unknown is what wait says of a program that does not wait: why, where that is
// known to the run that asks.
func unknown(state string) Result {
	switch state {
	case stateExpired:
		return failure(engine.SnapshotExpired, "the program waited for too long and was given up; run what is left of it again with exec")
	case stateAborted:
		return failure(engine.Aborted, "the program was stopped")
	case stateCompleted, stateFailed:
		return failure(engine.InvalidInput, "the program has ended already; its result was given then")
	}
	return failure(engine.InvalidInput, "no program of this answer waits under that runId")
}

func failure(code engine.Code, message string) Result {
	return Result{Status: Failed, Code: code, Error: message}
}

// refuse is the result of a program that did not run.
func (u *run) refuse(cat *catalog, e *engine.Error) Result {
	return u.tell(Result{Status: Failed, Error: e.Message, Code: e.Code, Line: e.Line, Column: e.Column}, cat)
}

func (u *run) tell(res Result, cat *catalog) Result {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.tele.failed(res.Code)
	res.Telemetry = u.tele.clone()
	res.Telemetry.Visible, res.Telemetry.Catalog = []string{Exec, Wait}, cat.tele
	return res
}

func (u *run) count(f func(*Telemetry)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	f(&u.tele)
}

// result is what the model and the surfaces get. Text of pages and strangers that
// a program read is marked again: it may be anywhere in what the program says.
func result(res Result, began time.Time) (tool.Result, error) {
	text := res.JSON()
	if len(res.outside) > 0 {
		text = untrusted.Wrapper{}.Wrap("a program that read "+strings.Join(res.outside, "; "), text)
	}
	out := tool.Result{Details: res.details(time.Since(began))}
	if res.Status == Failed {
		return out, errors.New(text)
	}
	out.Text = text
	return out, nil
}

// details are the result for surfaces, flat, so that what is too large is left
// out by itself.
func (r Result) details(took time.Duration) json.RawMessage {
	raw, err := json.Marshal(r)
	if err != nil {
		return nil
	}
	parts := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &parts) != nil {
		return nil
	}
	parts["codeMode"], parts["tookMs"] = json.RawMessage("true"), json.RawMessage(fmt.Sprint(took.Milliseconds()))
	raw, err = json.Marshal(parts)
	if err != nil {
		return nil
	}
	return raw
}

// Run runs one program to its end for somebody who waits for it, whatever it
// waits for: nothing is put away. say gets what it says on the way.
func (s *Surface) run(ctx context.Context, scope tool.Scope, callID string, in Input, say func(string), heard func(Output)) (Result,
	error) {
	u := s.runs.of(scope.RunID, scope.SessionKey, scope.SessionID)
	defer s.runs.Over(ctx, scope.RunID)
	u.count(func(t *Telemetry) { t.Exec++ })
	p, err := s.program(tool.Call{Scope: scope, ID: callID, Progress: say})
	if err != nil {
		return Result{}, err
	}
	p.patient, p.heard = true, heard
	args, err := json.Marshal(in)
	if err != nil {
		return Result{}, err
	}
	in, bad := readInput(args, s.set.Languages)
	if bad != nil {
		return u.refuse(p.cat, bad), nil
	}
	return s.runs.start(ctx, u, p, in), nil
}

// RunToEnd runs one program to its end for a person who waits for it, whatever
// it waits for: nothing is put away. tools may be empty. progress says how its
// calls stand and heard gets what it says, as it comes; both may be nil.
func (r *Runs) RunToEnd(ctx context.Context, set Settings, scope tool.Scope, tools *tool.Set, origin func(name string) Origin, in Input,
	progress func(text string), heard func(Output)) (Result, error) {
	if progress == nil {
		progress = func(string) {}
	}
	s := &Surface{runs: r, set: set, tools: tools, origin: origin}
	return s.run(ctx, scope, r.o.NewID(), in, progress, heard)
}
