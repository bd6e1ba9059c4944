package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// nestPatience is how long the end of a run waits for calls that were told to
// end.
const nestPatience = 5 * time.Second

var (
	errNestOver = errors.New("the answer that this belongs to is over")
	errRunOver  = errors.New("the answer is finished")
)

// NestedCalls writes down the calls that a tool makes of other tools: a program in code
// mode. They stand in the transcript as calls under the one that made them; no
// model is sent them. They may begin and end on any goroutine, also while the
// model is asked again, and end with the run at the latest.
type NestedCalls struct {
	m               *Manager
	r               *run
	key, session    string
	id, agent       string
	stop            context.CancelCauseFunc
	mu              sync.Mutex
	open            int
	closing, closed bool
	idle            chan struct{} // closed when nothing is open after closing began
}

type nestKey struct{}

// NestedCallsOf finds those of the run that ctx belongs to.
func NestedCallsOf(ctx context.Context) (*NestedCalls, bool) {
	n, ok := ctx.Value(nestKey{}).(*NestedCalls)
	return n, ok
}

// nest makes the run's own; tools get the context that it returns.
func (m *Manager) nest(ctx context.Context, r *run) (context.Context, *NestedCalls) {
	n := &NestedCalls{m: m, r: r, key: r.rec.SessionKey, session: r.rec.SessionID, id: r.id, agent: AgentOf(r.rec.SessionKey),
		idle: make(chan struct{})}
	ctx, n.stop = context.WithCancelCause(context.WithValue(ctx, nestKey{}, n))
	return ctx, n
}

// close ends what is open and waits for it, for a while.
func (n *NestedCalls) close() {
	if n == nil {
		return
	}
	n.mu.Lock()
	first, open := !n.closing, n.open > 0
	n.closing = true
	n.mu.Unlock()
	n.stop(errRunOver)
	if first && open {
		patience := nestPatience
		if n.m.runCtx.Err() != nil { // Hearth stops; what is lost is told at the next start
			patience /= 10
		}
		late := time.NewTimer(patience)
		defer late.Stop()
		select {
		case <-n.idle:
		case <-late.C:
			n.m.Logger.Warn("tools of a program did not end in time; what became of them is not known", "run", n.id, "session", n.key)
		}
	}
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
}

// Begin records that a call was asked for, before it starts. toolID is its name
// in the program's catalogue.
func (n *NestedCalls) Begin(ctx context.Context, parent, toolID string, call model.ToolCall) error {
	n.mu.Lock()
	if n.closing {
		n.mu.Unlock()
		return errNestOver
	}
	n.open++
	n.mu.Unlock()
	msg := &protocol.Message{
		Role: protocol.MessageAssistant, Timestamp: n.m.nowMs(), StopReason: string(model.StopTool), Meta: n.m.nextMeta(n.r),
		Content: []protocol.Block{{Type: protocol.BlockToolCall, ID: call.ID, Name: call.Name, Arguments: n.m.shownArgs(call.Arguments),
			ParentID: parent, ToolID: toolID}},
	}
	if err := n.m.DB.Update(context.WithoutCancel(ctx), store.Write{Must: true, Do: n.put(msg)}); err != nil {
		n.done()
		return err
	}
	n.event(map[string]any{"phase": "start", "name": call.Name, "toolCallId": call.ID, "args": n.m.shownArgs(call.Arguments),
		"parentToolCallId": parent, "toolId": toolID})
	n.show(msg)
	return nil
}

// Progress shows what there is of a call's result.
func (n *NestedCalls) Progress(parent string, call model.ToolCall, text string) {
	n.event(map[string]any{
		"phase": "update", "name": call.Name, "toolCallId": call.ID, "parentToolCallId": parent,
		"partialResult": map[string]any{"content": protocol.TextBlocks(text)},
	})
}

// End records what became of a call.
func (n *NestedCalls) End(parent string, call model.ToolCall, res model.ToolResult, took time.Duration) {
	defer n.done()
	n.mu.Lock()
	closed := n.closed
	n.mu.Unlock()
	if closed {
		return
	}
	msg := &protocol.Message{
		Role: protocol.MessageToolResult, Content: protocol.TextBlocks(res.Text), Timestamp: n.m.nowMs(), ToolCallID: call.ID,
		ToolName: call.Name,
		IsError:  res.IsError, Details: res.Details, DurationMs: took.Milliseconds(), ParentToolCallID: parent, Meta: n.m.nextMeta(n.r),
	}
	err := n.m.DB.Post(context.WithoutCancel(n.m.runCtx), store.Write{Must: true, Do: n.put(msg), Then: func() { n.show(msg) }})
	if err != nil {
		n.m.Logger.Error("the result of a program's call could not be kept", "run", n.id, "tool", call.Name, "err", err)
	}
	n.m.tellCalled(n.id, Called{ID: call.ID, Parent: parent, Name: call.Name, At: n.m.Now(), Took: took, Failed: res.IsError})
	n.event(map[string]any{
		"phase": "result", "name": call.Name, "toolCallId": call.ID, "isError": res.IsError, "parentToolCallId": parent,
		"result":     map[string]any{"content": protocol.TextBlocks(res.Text), "details": res.Details},
		"durationMs": took.Milliseconds(),
	})
}

func (n *NestedCalls) done() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.open--; n.open == 0 && n.closing {
		close(n.idle)
	}
}

// put writes an entry of the run's turn. The words of the answer go on: nothing
// of them is touched.
func (n *NestedCalls) put(msg *protocol.Message) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		row, ok, err := n.m.t.sessions.Get(tx, []byte(n.key))
		if err != nil || !ok || row.SessionID != n.session {
			return err // the session was cleared meanwhile
		}
		row.Messages++
		row.UpdatedAt = n.m.nowMs()
		if err := n.m.t.putRow(tx, row); err != nil {
			return err
		}
		return n.m.t.putEntry(tx, n.session, *msg)
	}
}

func (n *NestedCalls) show(msg *protocol.Message) {
	n.m.Publish.Message(protocol.SessionMessage{SessionKey: n.key, AgentID: n.agent, Message: shown(msg), MessageID: msg.Meta.ID,
		MessageSeq: msg.Meta.Seq})
}

func (n *NestedCalls) event(data map[string]any) {
	n.r.tell.Lock()
	defer n.r.tell.Unlock()
	n.r.seq++
	n.m.Publish.Agent(protocol.AgentEvent{
		RunID: n.id, Stream: "tool", Data: data, SessionKey: n.key, SessionID: n.session, AgentID: n.agent, Seq: n.r.seq, TS: n.m.nowMs(),
	})
}
