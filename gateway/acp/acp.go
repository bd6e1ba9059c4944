// Package acp is Hearth as an agent of an editor, by the Agent Client Protocol
// over standard input and output: sessions, prompts, what is said and done
// meanwhile, and questions that wait for the person at the editor. It speaks
// our protocol with the gateway through the client that is handed in, and
// decides nothing itself: rules and approvals are the gateway's.
package acp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/rpclines"
)

// Gateway makes calls of our protocol.
type Gateway interface {
	Call(ctx context.Context, method string, params, result any) error
}

// Agent is one editor's connection. Give it the gateway's events with Event.
type Agent struct {
	gateway Gateway
	version string
	conn    *sdk.AgentSideConnection
	ready   chan struct{} // closed when conn is set

	mu       sync.Mutex // guards the following
	sessions map[sdk.SessionId]bool
	folders  map[sdk.SessionId]string // where their editors work
	kept     map[sdk.SessionId]string // and what the gateway was told of it
	turns    map[string]*turn         // by run
}

// step is what an event means for its turn; end is set by the last.
type step func(context.Context) (end *sdk.PromptResponse, err error)

// turn is one prompt on its way.
type turn struct {
	session sdk.SessionId
	run     string
	events  chan step
	last    chan step   // the end has a place of its own, so that it always fits
	end     step        // taken from last
	lost    atomic.Bool // the editor was too slow for some of the events
	said    int64       // bytes of the answer that were taken
	told    string      // and the words
	pending string      // of them what the editor does not have yet
	sent    time.Time   // when it last got some

	mu    sync.Mutex              // guards the following
	calls map[sdk.ToolCallId]bool // that the editor was told of
}

func newTurn(id sdk.SessionId, run string) *turn {
	return &turn{session: id, run: run, calls: map[sdk.ToolCallId]bool{}, events: make(chan step, queued), last: make(chan step, 1)}
}

// next is the next thing to do: the end comes after all that was kept. Words that
// wait are told when nothing comes for a while.
func (t *turn) next(ctx context.Context) (step, error) {
	if t.end == nil {
		var quiet <-chan time.Time
		if t.pending != "" {
			timer := time.NewTimer(time.Until(t.sent.Add(wordsEvery)))
			defer timer.Stop()
			quiet = timer.C
		}
		select {
		case do := <-t.events:
			return do, nil
		case t.end = <-t.last:
		case <-quiet:
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	select {
	case do := <-t.events: // it came before the end
		return do, nil
	default:
		return t.end, nil
	}
}

const (
	sessionPrefix = "acp-"
	maxPrompt     = 256 << 10
	replayed      = 100 // messages of a loaded session
	queued        = 4096
	// wordsEvery is how often the editor gets words. Each time is a message, and
	// some editors hang up when a thousand of them wait.
	wordsEvery = 50 * time.Millisecond
	sendTime   = 30 * time.Second
)

// New returns an agent.
func New(version string) *Agent {
	return &Agent{version: version, ready: make(chan struct{}), sessions: map[sdk.SessionId]bool{}, folders: map[sdk.SessionId]string{},
		kept: map[sdk.SessionId]string{}, turns: map[string]*turn{}}
}

// Run serves until the editor leaves or ctx ends. A line that is no message is answered
// with an error and ends nothing. It is called once.
func (a *Agent) Run(ctx context.Context, g Gateway, in io.Reader, out io.Writer) error {
	a.gateway = g
	both := &rpclines.Whole{Writer: out}
	a.conn = sdk.NewAgentSideConnection(a, both, messages(in, both))
	close(a.ready)
	select {
	case <-a.conn.Done():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// editor is the other end. Its first request may come before Run has it.
func (a *Agent) editor() *sdk.AgentSideConnection {
	<-a.ready
	return a.conn
}

// Initialize implements sdk.Agent.
func (a *Agent) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	return sdk.InitializeResponse{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		AgentCapabilities: sdk.AgentCapabilities{
			LoadSession: true, PromptCapabilities: sdk.PromptCapabilities{EmbeddedContext: true},
			SessionCapabilities: sdk.SessionCapabilities{List: &sdk.SessionListCapabilities{}, Resume: &sdk.SessionResumeCapabilities{},
				Close: &sdk.SessionCloseCapabilities{}},
		},
		AgentInfo: &sdk.Implementation{Name: "hearth", Title: sdk.Ptr("Hearth"), Version: a.version},
	}, nil
}

// Prompt implements sdk.Agent: one message, and everything until its answer is
// whole.
func (a *Agent) Prompt(ctx context.Context, p sdk.PromptRequest) (sdk.PromptResponse, error) {
	text, err := words(p.Prompt)
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	run := rand.Text()
	t := newTurn(p.SessionId, run)
	a.mu.Lock()
	known := a.sessions[p.SessionId]
	a.turns[run] = t
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.turns, run)
	}()
	if !known {
		return sdk.PromptResponse{}, sdk.NewInvalidParams("there is no session " + string(p.SessionId))
	}
	if ctx.Err() != nil {
		return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, nil
	}
	// Whether a message was taken has to be known before it can be stopped: an
	// editor that cancels at once does not cut this off.
	sending, done := context.WithTimeout(context.WithoutCancel(ctx), sendTime)
	text = inFolder(a.settle(sending, p.SessionId), text)
	var sent protocol.ChatSendResult
	err = a.gateway.Call(sending, protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: string(p.SessionId), Message: text,
		IdempotencyKey: run}, &sent)
	done()
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	for {
		do, err := t.next(ctx)
		if ctx.Err() != nil {
			a.abort(context.WithoutCancel(ctx), p.SessionId, run) // this one: another may follow
			return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, nil
		}
		if err != nil {
			return sdk.PromptResponse{}, err
		}
		if do == nil {
			err = a.flush(ctx, t)
		} else {
			var end *sdk.PromptResponse
			if end, err = do(ctx); end != nil {
				return *end, err
			}
		}
		if err != nil && ctx.Err() == nil {
			return sdk.PromptResponse{}, err
		}
	}
}

func (a *Agent) abort(ctx context.Context, id sdk.SessionId, run string) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var res protocol.ChatAbortResult
	_ = a.gateway.Call(ctx, protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: string(id), RunID: run}, &res)
}

// Cancel implements sdk.Agent.
func (a *Agent) Cancel(ctx context.Context, p sdk.CancelNotification) error {
	a.mu.Lock()
	known := a.sessions[p.SessionId]
	a.mu.Unlock()
	if known {
		a.abort(ctx, p.SessionId, "")
	}
	return nil
}

// words is a prompt as a message: text, and what the editor put beside it.
func words(blocks []sdk.ContentBlock) (string, error) {
	var b strings.Builder
	for _, c := range blocks {
		switch {
		case c.Text != nil:
			b.WriteString(c.Text.Text + "\n")
		case c.ResourceLink != nil:
			fmt.Fprintf(&b, "[file %q]\n", c.ResourceLink.Uri)
		case c.Resource != nil && c.Resource.Resource.TextResourceContents != nil:
			r := c.Resource.Resource.TextResourceContents
			fmt.Fprintf(&b, "[content of %q]\n%s\n[end]\n", r.Uri, r.Text)
		default:
			return "", sdk.NewInvalidParams("only text can be sent")
		}
	}
	text := strings.TrimSpace(b.String())
	switch {
	case text == "":
		return "", sdk.NewInvalidParams("the prompt is empty")
	case len(text) > maxPrompt:
		return "", sdk.NewInvalidParams(fmt.Sprintf("the prompt is larger than %d KB", maxPrompt>>10))
	}
	return text, nil
}

// Event takes an event of the gateway. It does not wait for the editor.
func (a *Agent) Event(e protocol.Event) {
	switch e.Event {
	case protocol.EventChat:
		var ev protocol.ChatEvent
		if json.Unmarshal(e.Payload, &ev) != nil {
			return
		}
		if t := a.turn(ev.RunID); t != nil && (ends(ev) || !t.lost.Load()) { // no words after a gap
			t.hand(ends(ev), func(ctx context.Context) (*sdk.PromptResponse, error) { return a.chat(ctx, t, ev) })
		}
	case protocol.EventAgent:
		var ev protocol.AgentEvent
		if json.Unmarshal(e.Payload, &ev) != nil {
			return
		}
		show := map[string]func(context.Context, *turn, map[string]any) error{"tool": a.tool, "thinking": a.thought}[ev.Stream]
		if t := a.turn(ev.RunID); t != nil && show != nil {
			t.hand(false, func(ctx context.Context) (*sdk.PromptResponse, error) { return nil, show(ctx, t, ev.Data) })
		}
	case protocol.EventExecApprovalRequested:
		var ev protocol.Approval
		if json.Unmarshal(e.Payload, &ev) != nil {
			return
		}
		if t := a.turn(ev.Request.RunID); t != nil {
			t.hand(false, func(ctx context.Context) (*sdk.PromptResponse, error) {
				req := ev.Request
				if id := sdk.ToolCallId(req.ToolCallID); id != "" {
					if err := a.flush(ctx, t); err != nil {
						return nil, err
					}
					if err := a.begun(ctx, t, id, req.HearthTitle, map[string]any{"command": req.Command}, sdk.ToolCallStatusPending); err != nil {
						return nil, err
					}
				}
				go a.permission(ctx, t, ev) // the answer goes on to be shown meanwhile
				return nil, nil
			})
		}
	}
}

func (a *Agent) turn(run string) *turn {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.turns[run]
}

// ends reports whether nothing comes after an event.
func ends(ev protocol.ChatEvent) bool {
	return ev.State == protocol.ChatFinal || ev.State == protocol.ChatAborted || ev.State == protocol.ChatError
}

// hand keeps what is to be done. What an editor is too slow for is left out, and
// its end says so; the end itself is always kept.
func (t *turn) hand(end bool, do step) {
	if end {
		select {
		case t.last <- do:
		default: // a turn has one
		}
		return
	}
	select {
	case t.events <- do:
	default:
		t.lost.Store(true)
	}
}
