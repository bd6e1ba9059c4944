package answers

import (
	"context"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/outbound/reply"
	"github.com/hearth-assistant/hearth/gateway/outbound/stream"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/internal/random"
)

// liveRun is one answer under way. The run's goroutine owns it, but for what
// ended leaves for the delivery.
type liveRun struct {
	preview *stream.Preview
	// thoughts shows the reasoning with /reasoning stream; it is taken away at
	// the end
	thoughts *stream.Preview
	thought  bool // something of it was shown
	blocks   *stream.Blocks
	turn     reply.Turn
	stop     context.CancelFunc
	done     chan struct{} // typing has stopped

	// what the delivery needs
	previewID string
	edit      bool
	shown     string // by the preview
}

// Begin shows that an answer is being made, where its message came from.
func (n *Networks) Begin(run session.Run) {
	route, replyTo := run.Towards()
	r, ok := channel.ParseRoute(route)
	ch := n.Channels.Find(r.Channel, r.Account)
	if !ok || ch == nil || !asked(run) || !n.MaySend(run.SessionKey, r) {
		return
	}
	ctx, stop := context.WithCancel(n.Work.Context())
	lr := &liveRun{stop: stop, done: make(chan struct{})}
	to := r.Target(replyTo)
	if n.Channels.Account(r.Channel, r.Account).ReplyToMode == string(outbound.ReplyOff) {
		to.ReplyTo = ""
	}
	how := n.streaming(r.Channel, r.Account, session.AgentOf(run.SessionKey))
	lv := n.levelsOf(run)
	lv.toolLines(&how)
	turn := func(ctx context.Context) bool { return n.Deliverer.Turn(ctx, r.Channel, to) }
	if how.blocks {
		lr.blocks = n.newBlocks(ctx, lr, run, r, how)
	} else if _, can := channel.AsEditor(ch); can && how.mode != stream.Off {
		lr.preview = stream.NewPreview(ctx, stream.PreviewOptions{
			Mode: how.mode, Channel: ch, To: to, HideTools: how.hideTools, HideCommands: how.hideCommands, Logger: n.Logger,
			Limits: n.Channels.Limits(ch), Steps: how.steps, Turn: turn,
			SelectedQuote: run.QuoteSelected && to.ReplyTo != "", // an edit would lose the quote
			Record:        n.recordOf(run, r, to, run.ID, how.mode != stream.Progress), Before: n.before(run.ID),
		})
		n.Work.Go(func(context.Context) { lr.preview.Wait() })
	}
	if _, removes := channel.AsDeleter(ch); removes && lv.reasoning == "stream" {
		lr.thoughts = stream.NewPreview(ctx, stream.PreviewOptions{
			Mode: stream.Partial, Channel: ch, To: to, Limits: n.Channels.Limits(ch), Turn: turn, Logger: n.Logger,
			Record: n.recordOf(run, r, to, thoughtsKey(run.ID), false), Before: n.before(thoughtsKey(run.ID)),
		})
		n.Work.Go(func(context.Context) { lr.thoughts.Wait() })
	}
	go func() {
		defer close(lr.done)
		keepTyping(ctx, ch, to)
	}()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.runs[run.ID] = lr
}

func keepTyping(ctx context.Context, ch channel.Channel, to channel.Target) {
	t, ok := channel.AsTyper(ch)
	shown := ch.Limits().Typing
	if !ok || shown <= 0 {
		return
	}
	for {
		_ = t.Typing(ctx, to) // only a courtesy
		select {
		case <-time.After(shown * 4 / 5):
		case <-ctx.Done():
			return
		}
	}
}

// newBlocks says an answer in ordinary messages as it is written.
func (n *Networks) newBlocks(ctx context.Context, lr *liveRun, run session.Run, r channel.Route, how streaming) *stream.Blocks {
	blocks := 0
	_, replyTo := run.Towards()
	opts := how.block
	opts.Rand = random.Float
	opts.Emit = func(ctx context.Context, p reply.Payload) error {
		if p = lr.turn.Block(p); p.Empty() {
			return nil
		}
		blocks++
		said := p
		p = n.attach(run, r, p)
		d := outbound.Delivery{
			Reply: replyOfBlock(blocks, n.Channels.Account(r.Channel, r.Account).ReplyToMode),
			ID:    blockID(run.ID, blocks), Channel: r.Channel, To: r.Target(replyTo), Session: run.SessionKey, RunID: run.ID, Text: p.Text,
			Media: p.Media,
		}
		err := n.Deliver(ctx, d)
		if err == nil {
			lr.turn.Said(said)
		}
		return err
	}
	return stream.NewBlocks(ctx, opts)
}

// replyOfBlock makes the blocks of an answer reply like its messages would.
func replyOfBlock(n int, mode string) outbound.ReplyMode {
	if n > 1 && outbound.ReplyMode(mode) != outbound.ReplyAll {
		return outbound.ReplyOff
	}
	return outbound.ReplyMode(mode)
}

func blockID(runID string, n int) string { return fmt.Sprintf("%s:block:%d", runID, n) }

func (n *Networks) get(runID string) *liveRun {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.runs[runID]
}

// Think shows reasoning where the session asks for it.
func (n *Networks) Think(runID, words string) {
	lr := n.get(runID)
	if lr == nil || lr.thoughts == nil {
		return
	}
	if !lr.thought {
		lr.thought = true
		lr.thoughts.Text("*Thinking…*\n\n")
	}
	lr.thoughts.Text(words)
}

// Say shows more of an answer.
func (n *Networks) Say(runID, words string) {
	switch lr := n.get(runID); {
	case lr == nil:
	case lr.blocks != nil:
		lr.blocks.Write(words)
	case lr.preview != nil:
		lr.preview.Text(words)
	}
}

// Intend is shown tool by tool.
func (n *Networks) Intend(string, model.Message, model.Usage) {}

// Tool shows that a tool starts.
func (n *Networks) Tool(runID, name string, args []byte) {
	switch lr := n.get(runID); {
	case lr == nil:
	case lr.blocks != nil:
		lr.blocks.TextEnd()
	case lr.preview != nil:
		lr.preview.Tool(name, "", commandOf(args))
	}
}

// End stops showing and leaves what the delivery needs to know.
func (n *Networks) End(_ context.Context, run session.Run, msg *protocol.Message, failed bool) {
	lr := n.get(run.ID)
	if lr == nil {
		return
	}
	if lr.blocks != nil {
		lr.blocks.MessageEnd()
		if err := lr.blocks.Close(); err != nil {
			n.Logger.Warn("some blocks of an answer were not sent as it was written; the end of it sends them", "run", run.ID, "err", err)
		}
	}
	if lr.preview != nil {
		kind := stream.FinalText
		if failed {
			kind = stream.FinalError
		}
		lr.previewID, lr.edit = lr.preview.End(kind)
		lr.shown = lr.preview.Shown()
	}
	if lr.thoughts != nil {
		lr.thoughts.End(stream.FinalOther) // it is removed beside the answer
	}
	lr.stop()
	<-lr.done
}

// Done forgets a run.
func (n *Networks) Done(runID string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.runs, runID)
}
