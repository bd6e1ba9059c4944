package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// remote is a tool of a server, as it was when it was listed.
type remote struct {
	s       *server
	spec    model.ToolSpec
	own     string // the server's name of it
	said    string
	hash    [32]byte
	harmful bool
}

// Spec implements tool.Tool.
func (r *remote) Spec() model.ToolSpec { return r.spec }

func (r *remote) isChanged() bool {
	hash, ok := r.s.o.Pins.Pin(r.s.set.ID, r.own)
	return ok && hash != r.hash
}

// Run implements tool.Tool. The call is made once: whether one that was cut off
// took effect is not known, so nothing repeats it.
func (r *remote) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var args map[string]json.RawMessage
	if err := json.Unmarshal(orEmpty(call.Args), &args); err != nil {
		return tool.Result{}, errors.New("the arguments have to be a JSON object")
	}
	if err := r.current(); err != nil {
		return tool.Result{}, err
	}
	w := Wish{Server: r.s.set, Tool: r.own, Hash: r.hash, Changed: r.isChanged(), Harmful: r.harmful, Args: orEmpty(call.Args)}
	if err := r.s.permit(ctx, call, w); err != nil {
		return tool.Result{}, err
	}
	if err := r.current(); err != nil { // a person may have thought for long
		return tool.Result{}, err
	}
	session, err := r.s.connected()
	if err != nil {
		return tool.Result{}, err
	}
	res, err := r.s.call(ctx, session, r.own, args, call.Progress)
	if err != nil {
		return tool.Result{}, err
	}
	return r.s.result(r.own, res)
}

func orEmpty(args json.RawMessage) json.RawMessage {
	if len(args) == 0 {
		return json.RawMessage("{}")
	}
	return args
}

// current refuses a tool that its server has changed or taken back since it was
// listed for this run.
func (r *remote) current() error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.s.session == nil {
		return nil // connected says why
	}
	for _, t := range r.s.offer.tools {
		if t.own == r.own {
			if t.hash != r.hash {
				return fmt.Errorf("%s changed its tool %q since this run began, so it was not used. It can be used, and will be asked for, from the "+
					"next message on", r.s.set.what(), clean(r.own, 80))
			}
			return nil
		}
	}
	return fmt.Errorf("%s does not offer %q any more", r.s.set.what(), clean(r.own, 80))
}

// permit asks, and remembers what was allowed.
func (s *server) permit(ctx context.Context, call tool.Call, w Wish) error {
	if err := s.o.Permit(ctx, call, w); err != nil {
		return err
	}
	if hash, ok := s.o.Pins.Pin(s.set.ID, w.Tool); ok && hash == w.Hash {
		return nil
	}
	if err := s.o.Pins.SetPin(ctx, s.set.ID, w.Tool, w.Hash); err != nil {
		return fmt.Errorf("what was allowed could not be kept, so the tool was not used: %w", err)
	}
	return nil
}

// call makes one call, which ends with ctx or its time.
func (s *server) call(ctx context.Context, session *mcp.ClientSession, own string, args map[string]json.RawMessage,
	show func(string)) (*mcp.CallToolResult, error) {
	limit := s.set.callTime()
	ctx, cancel := awake.WithTimeoutCause(ctx, limit, errLate)
	defer cancel()
	p := &mcp.CallToolParams{Name: own, Arguments: args}
	link := s.linked()
	token, forget := s.follow(show)
	defer forget()
	p.SetProgressToken(token)
	res, err := session.CallTool(ctx, p)
	late := errors.Is(context.Cause(ctx), errLate)
	s.late(err != nil && late)
	switch {
	case err == nil:
		return res, nil
	case late:
		return nil, fmt.Errorf("%s did not answer within %s, so the call was cancelled. It may have taken effect all the same", s.set.what(),
			limit)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case link.why() != nil:
		return nil, fmt.Errorf("%s: %w. It may have taken effect all the same, so it was not repeated", s.set.what(), link.why())
	}
	if said := (*jsonrpc.Error)(nil); !errors.As(err, &said) {
		if unreadable(err) {
			return nil, fmt.Errorf("%s answered what Hearth cannot read (%s). It may have taken effect all the same, so it was not repeated",
				s.set.what(), clean(err.Error(), 200))
		}
		return nil, fmt.Errorf("%s ended during the call. It may have taken effect all the same, so it was not repeated", s.set.what())
	}
	if refusedWithoutTask(err) {
		s.tasks.add(own)
		s.refreshSoon()
		return nil, fmt.Errorf("%s can use %q only as a task, which Hearth cannot do; the tool is left out from now on", s.set.what(),
			clean(own, 80))
	}
	return nil, fmt.Errorf("%s refused the call: %s", s.set.what(), clean(err.Error(), 600))
}

// unreadable: the server answered, and what it said is neither a result of a call nor
// a refusal, which has an error of its own.
func unreadable(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &kind) ||
		strings.Contains(err.Error(), "content type") || strings.Contains(err.Error(), "nil content") // of the library, which has no type for it
}

var errLate = errors.New("no answer in time")

// follow gives a call a name under which its progress comes.
func (s *server) follow(show func(string)) (token string, forget func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextCall++
	token = strconv.Itoa(s.nextCall)
	var last time.Time
	s.progress[token] = func(text string) {
		if now := s.o.Now(); now.Sub(last) >= progressEvery {
			last = now
			show(text)
		}
	}
	return token, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.progress, token)
	}
}

const progressEvery = 100 * time.Millisecond

// gotProgress shows progress of a call that is still waited for.
func (s *server) gotProgress(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
	token, _ := req.Params.ProgressToken.(string)
	s.mu.Lock()
	show := s.progress[token]
	s.mu.Unlock()
	if show == nil {
		return
	}
	text := strconv.FormatFloat(req.Params.Progress, 'g', 6, 64)
	if req.Params.Total > 0 {
		text += " of " + strconv.FormatFloat(req.Params.Total, 'g', 6, 64)
	}
	if m := clean(req.Params.Message, 200); m != "" {
		text += ": " + m
	}
	show(text)
}
