package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agent"
	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/stopwatch"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	// checkpointEvery and checkpointBytes bound how much streamed text a crash
	// can cost.
	checkpointEvery = time.Second
	checkpointBytes = 4 << 10
)

// perform takes one run from claim to end. Whatever happens, the run has ended
// afterwards or is left pending for the next start.
func (m *Manager) perform(l *lane, r *run) {
	defer m.forget(r)
	defer r.cancel(nil)
	if m.Gate != nil {
		l.hold(m.held())
		m.Gate.Hold(r.ctx, r.rec, func() (failover.Selection, error) { return m.Selection(r.rec) }, m.teller(r))
		l.hold(false) // an end of ctx is dealt with below, like any other
	}
	timeout := time.Duration(r.rec.TimeoutMs) * time.Millisecond
	if timeout <= 0 {
		timeout = m.Settings.Timeout()
	}
	ctx, stop := withPatience(r.ctx, timeout)
	defer stop()

	end, err := m.steadily(ctx, l, r)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		// A write that was given up only says "canceled"; the cause says why. ctx
		// hears of the run's end a moment after the run's own context.
		if cause := cmp.Or(context.Cause(ctx), context.Cause(r.ctx)); cause != nil {
			err = cause
		}
	}
	if errors.Is(err, errShutdown) || errors.Is(context.Cause(r.ctx), errShutdown) && err != nil {
		m.keepPartial(l, r)
		return
	}
	if err != nil {
		end = m.failure(l, r, err, end)
	}
	if f := m.follower(r); f != nil {
		f.End(context.WithoutCancel(r.ctx), r.rec, end.message, end.state == RunFailed)
	}
	m.settle(r, end)
	if m.Observer != nil {
		m.Observer.Over(context.WithoutCancel(r.ctx), r.id)
	}
	if f := m.follower(r); f != nil {
		f.Done(r.id)
	}
}

// held reports whether answers are paused.
func (m *Manager) held() bool { return m.Gate != nil && m.Gate.Held() }

// forget ends the live part of a run and of those it answered too.
func (m *Manager) forget(r *run) {
	all := append([]*run{r}, r.with...)
	m.mu.Lock()
	for _, x := range all {
		delete(m.live, x.id)
	}
	m.mu.Unlock()
	for _, x := range all {
		close(x.done)
	}
}

// errBroke: Hearth itself failed while it made an answer.
var errBroke = errors.New("a part of Hearth failed")

// steadily is answer for which a panic is the failure of one run, and not the end
// of everybody's Hearth.
func (m *Manager) steadily(ctx context.Context, l *lane, r *run) (end ending, err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		m.Logger.Error("an answer panicked", "run", r.rec.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		if m.Observer != nil {
			m.Observer.Broke("an answer", p)
		}
		end, err = ending{}, errBroke
	}()
	return m.answer(ctx, l, r)
}

// answer claims the run, asks the model and returns how it ended well. With an
// error, the ending holds what is known of the model.
func (m *Manager) answer(ctx context.Context, l *lane, r *run) (ending, error) {
	select { // the lane of all sessions together
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		return ending{}, context.Cause(ctx)
	}
	if err := m.claim(ctx, r); err != nil {
		return ending{}, err
	}
	m.announceStart(r)
	if f := m.follower(r); f != nil {
		f.Begin(r.rec)
	}
	end := &ending{}
	mdl, sel, row, err := m.begin(ctx, r, end)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return *end, err
	}
	end.ref, end.builtIn = mdl.Ref, mdl.BuiltIn
	m.because(&r.rec, protocol.WhyModel, "%s answers, %s", mdl.Ref, choiceOf(r, sel, mdl))
	if words := r.rec.Hints.levels(); words != "" {
		m.because(&r.rec, protocol.WhyLevels, "this message asked for %s", words)
	}
	history, err := m.fitting(ctx, r, mdl)
	if err != nil {
		return *end, err
	}
	turn := agent.Turn{Provider: mdl.Provider, Model: mdl.Ref.Model, Messages: history, MaxTokens: mdl.MaxTokens,
		Thinking: cmp.Or(r.rec.Hints.Thinking, row.Thinking), Once: true}
	if m.Tools != nil {
		turn.Rounds = m.Tools.Rounds(r.rec)
		turn.Options = func() *model.Options {
			r.within()
			return m.Tools.Asks(r.rec)
		}
	}
	asked := Asked{Run: r.rec, Model: mdl.Ref, Thinking: turn.Thinking, Reasoning: cmp.Or(r.rec.Hints.Reasoning, row.Reasoning),
		Messages: row.Messages}
	if mdl.Tools && m.Tools != nil {
		scope, tools := m.Tools.For(r.rec, mdl.Ref)
		turn.Tools, turn.Exact = tools.Specs(), tools.Exact()
		asked.Scope, asked.Tools = &scope, tools.All()
		var inside context.Context
		inside, r.nest = m.nest(ctx, r)
		defer r.nest.close()
		turn.RunTool = func(ctx context.Context, call model.ToolCall) model.ToolResult {
			return tools.Run(stopwatch.Of(ctx).Within(inside), scope, call, func(text string) { m.toolProgress(r, call, text) })
		}
	}
	turn.Steer = steering{m, l, r}
	turn.System, turn.Stable = m.Prompt.Prompt(asked)
	end.window, end.sent = mdl.ContextWindow, estimate(turn)
	err = m.talk(ctx, l, r, turn, end)
	if model.ClassOf(err) != model.ClassContext || mdl.BuiltIn || l.segment(r) != "" {
		return *end, err
	}
	if turn.Messages, err = m.shorter(ctx, r, mdl, err); err != nil {
		return *end, err
	}
	return *end, m.talk(ctx, l, r, turn, end)
}

// talk lets the agent answer, and makes each of its steps durable.
func (m *Manager) talk(ctx context.Context, l *lane, r *run, turn agent.Turn, end *ending) error {
	for ev, err := range agent.Run(ctx, turn) {
		if err != nil {
			return err
		}
		if err := m.step(l, r, end, ev); err != nil {
			return err
		}
	}
	return nil
}

// fitting is the conversation for a run, summarized first when it comes near
// the model's window. A summary that cannot be made only costs the oldest turns
// their place.
func (m *Manager) fitting(ctx context.Context, r *run, mdl Model) ([]model.Message, error) {
	history, bytes, err := m.conversation(r, mdl, mdl.ContextWindow)
	if err != nil || mdl.BuiltIn || bytes < room(mdl.ContextWindow)*compactAt/100 {
		return history, err
	}
	row, err := m.rowOf(r.rec.SessionKey)
	if err != nil {
		return nil, err
	}
	m.chatStatus(r, "compacting")
	if _, err := m.compact(ctx, row, mdl, ""); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !errors.Is(err, ErrNothingToCompact) {
			m.Logger.Warn("the conversation could not be summarized; its oldest part is left out", "session", row.Key, "err", err)
		}
		return history, nil
	}
	m.because(&r.rec, protocol.WhyCompacted, "the conversation came near the model's window and was summarized")
	history, _, err = m.conversation(r, mdl, mdl.ContextWindow)
	return history, err
}

// follower is who follows the run, nil for runs of the gateway's own clients.
func (m *Manager) follower(r *run) Follower {
	to, _ := r.rec.Towards()
	if list := m.Follow.(followers); to != "" && len(list) > 0 {
		return list
	}
	return nil
}

// choiceOf says why this model.
func choiceOf(r *run, sel failover.Selection, mdl Model) string {
	switch {
	case r.rec.ownModel() != "":
		return "because this message asked for it"
	case sel.Source == failover.SourceUser, sel.Source == failover.SourceLegacy:
		return "because it was chosen for this session"
	case sel.Source == failover.SourceAuto && mdl.Ref == sel.Ref:
		return "in the place of " + sel.Origin.String() + ": " + sel.Reason.Words()
	case mdl.BuiltIn:
		return "because no model is connected; it is the built-in guide"
	}
	if mdl.Found != "" {
		return "as the default model, " + mdl.Found
	}
	return "as the default model"
}

// step makes one event of the agent durable, shows it, and lets the agent go on.
func (m *Manager) step(l *lane, r *run, end *ending, ev agent.Event) error {
	if ev.Kind == agent.Thinking {
		m.think(r, ev.Delta)
		return nil
	}
	m.tellThought(r)
	switch ev.Kind {
	case agent.Text:
		m.Publish.Delta(Delta{RunID: r.rec.ID, SessionKey: r.rec.SessionKey, AgentID: AgentOf(r.rec.SessionKey), Text: l.say(r, ev.Delta),
			At: m.Now()})
		r.tell.Lock()
		r.seq++
		r.tell.Unlock()
		if f := m.follower(r); f != nil {
			f.Say(r.id, ev.Delta)
		}
		m.checkpoint(l, r)
		failpoint.Hit("midStream")
	case agent.Intent:
		if err := m.writeIntent(l, r, end, ev); err != nil {
			return err
		}
		failpoint.Hit("afterToolIntent")
	case agent.ToolStart:
		if f := m.follower(r); f != nil {
			f.Tool(r.id, ev.Call.Name, m.shownArgs(ev.Call.Arguments))
		}
		m.chatStatus(r, "running_tool")
		m.agentEvent(r, "tool", map[string]any{"phase": "start", "name": ev.Call.Name, "toolCallId": ev.Call.ID,
			"args": m.shownArgs(ev.Call.Arguments)})
	case agent.ToolEnd:
		failpoint.Hit("beforeToolResult")
		m.because(&r.rec, protocol.WhyTool, "%s took %d ms", ev.Call.Name, ev.Took.Milliseconds())
		if err := m.writeResult(r, ev); err != nil {
			return err
		}
	case agent.Done:
		r.nest.close()
		end.state, end.stop, end.usage = RunAnswered, string(ev.Stop), ev.Usage
		end.fill(ev)
		end.message = m.assistantMessage(r, ev.Message, *end)
		if ev.Stop == model.StopRefusal && strings.TrimSpace(end.message.Text()) == "" { // a blank would say nothing to nobody
			end.message = nil
			return &model.Error{Class: model.ClassRefusal, Ref: end.ref}
		}
		if isSilent(end.message.Text()) {
			end.message = nil
			m.because(&r.rec, protocol.WhySilent, "the model chose to say nothing")
		}
	}
	return nil
}

// writeIntent records that the model asked for tools, before any of them starts.
func (m *Manager) writeIntent(l *lane, r *run, end *ending, ev agent.Event) error {
	end.usage = ev.Usage
	end.fill(ev)
	msg := m.assistantMessage(r, ev.Message, ending{ref: end.ref, builtIn: end.builtIn, stop: string(model.StopTool)})
	if err := m.append(r, msg); err != nil {
		return err
	}
	// The words so far stand in the transcript now; the live text goes on
	// behind them.
	l.endSegment(r)
	m.Publish.Message(m.sessionMessage(r, msg))
	if f := m.follower(r); f != nil {
		f.Intend(r.id, ev.Message, ev.Usage)
	}
	return nil
}

func (m *Manager) writeResult(r *run, ev agent.Event) error {
	msg := &protocol.Message{
		Role: protocol.MessageToolResult, Content: protocol.TextBlocks(ev.Result.Text), Timestamp: m.nowMs(),
		ToolCallID: ev.Call.ID, ToolName: ev.Call.Name, IsError: ev.Result.IsError, Details: ev.Result.Details,
		DurationMs: ev.Took.Milliseconds(), Meta: m.nextMeta(r),
	}
	if err := m.append(r, msg); err != nil {
		return err
	}
	m.tellCalled(r.id, Called{ID: ev.Call.ID, Name: ev.Call.Name, At: m.Now(), Took: ev.Took, Failed: ev.Result.IsError})
	m.agentEvent(r, "tool", map[string]any{
		"phase": "result", "name": ev.Call.Name, "toolCallId": ev.Call.ID, "isError": ev.Result.IsError,
		"result":     map[string]any{"content": protocol.TextBlocks(ev.Result.Text), "details": ev.Result.Details},
		"durationMs": ev.Took.Milliseconds(),
	})
	m.Publish.Message(m.sessionMessage(r, msg))
	return nil
}

// toolProgress shows what there is of a tool's result while it runs.
func (m *Manager) toolProgress(r *run, call model.ToolCall, text string) {
	m.agentEvent(r, "tool", map[string]any{
		"phase": "update", "name": call.Name, "toolCallId": call.ID,
		"partialResult": map[string]any{"content": protocol.TextBlocks(text)},
	})
}

// append writes an entry of the run's turn. What a tool did is written also
// when the run is being stopped.
func (m *Manager) append(r *run, msg *protocol.Message) error {
	err := m.DB.Update(context.WithoutCancel(r.ctx), store.Write{Must: true, Do: func(tx *store.Tx) error {
		if err := m.book(tx, r); err != nil {
			return err
		}
		row, ok, err := m.t.sessions.Get(tx, []byte(r.rec.SessionKey))
		if err != nil || !ok || row.SessionID != r.rec.SessionID {
			return err // the session was cleared meanwhile; the run is being stopped
		}
		row.Messages++
		row.UpdatedAt = m.nowMs()
		if err := m.t.putRow(tx, row); err != nil {
			return err
		}
		if err := m.t.partials.Delete(tx, []byte(r.id)); err != nil {
			return err // its words stand in the transcript now
		}
		return m.t.putEntry(tx, r.rec.SessionID, *msg)
	}})
	if err == nil {
		r.calls = nil
	}
	return err
}

// nextMeta takes the next place of the run's turn.
func (m *Manager) nextMeta(r *run) *protocol.MessageMeta {
	r.place.Lock()
	defer r.place.Unlock()
	r.step++
	return &protocol.MessageMeta{ID: m.NewID(), Seq: int64(seqOf(r.turn, r.step)), RunID: r.id}
}

// claim marks the run as ours, unless the accept did. A run that an earlier
// boot claimed counts another attempt.
func (m *Manager) claim(ctx context.Context, r *run) error {
	defer failpoint.Hit("afterClaim")
	if r.rec.State == RunClaimed && r.rec.Epoch == m.Epoch {
		return nil
	}
	rec := r.rec
	rec.State, rec.Epoch, rec.StartedAt = RunClaimed, m.Epoch, m.nowMs()
	rec.Attempt++
	err := m.DB.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error {
		return m.t.runs.Put(tx, []byte(rec.ID), rec)
	}})
	if err == nil {
		r.rec = rec
	}
	return err
}

// checkpoint stores the text so far when enough of it is new. It never waits:
// at most one checkpoint of a run is under way.
func (m *Manager) checkpoint(l *lane, r *run) {
	text := l.segment(r)
	now := m.Now()
	if r.checkedAt.IsZero() {
		r.checkedAt = now
	}
	if grown := len(text) - r.checked; grown >= 0 && grown < checkpointBytes && now.Sub(r.checkedAt) < checkpointEvery {
		return
	}
	select {
	case <-r.checkpoint:
	default:
		return
	}
	r.checked, r.checkedAt = len(text), now
	free := func() { r.checkpoint <- struct{}{} }
	id := r.rec.ID
	err := m.DB.Post(r.ctx, store.Write{Must: true, Then: free, Do: func(tx *store.Tx) error {
		rec, ok, err := m.t.runs.Get(tx, []byte(id))
		if err != nil || !ok || rec.State.Ended() {
			return err
		}
		return m.t.partials.Put(tx, []byte(id), partial{Text: text})
	}})
	if err != nil {
		free()
	}
}

// keepPartial leaves a run for the next start, with all it has said.
func (m *Manager) keepPartial(l *lane, r *run) {
	text := l.segment(r)
	if text == "" && len(r.calls) == 0 {
		return
	}
	err := m.DB.Update(context.WithoutCancel(r.ctx), store.Write{Must: true, Do: func(tx *store.Tx) error {
		if err := m.book(tx, r); err != nil || text == "" {
			return err
		}
		return m.t.partials.Put(tx, []byte(r.rec.ID), partial{Text: text})
	}})
	if err != nil {
		m.Logger.Error("the text of a running answer could not be kept", "run", r.rec.ID, "err", err)
	}
}
