package gateway

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/outbound/reply"
	"github.com/hearth-assistant/hearth/gateway/outbound/stream"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/random"
)

// live shows answers on messaging networks while they are made. What it shows
// is not durable; the answer itself is delivered by the outbox.
type live struct {
	g   *Gateway
	ctx context.Context // of everything that it shows

	mu   sync.Mutex
	runs map[string]*liveRun
}

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

func (v *live) Begin(run session.Run) {
	r, ok := channel.ParseRoute(run.Route)
	ch := v.g.channels.Find(r.Channel, r.Account)
	if !ok || ch == nil || !v.g.maySend(run.SessionKey, r) {
		return
	}
	ctx, stop := context.WithCancel(v.ctx)
	lr := &liveRun{stop: stop, done: make(chan struct{})}
	to := r.Target(run.ReplyTo)
	if v.g.channels.Account(r.Channel, r.Account).ReplyToMode == string(outbound.ReplyOff) {
		to.ReplyTo = ""
	}
	how := v.g.streaming(r.Channel, r.Account, session.AgentOf(run.SessionKey))
	lv := v.g.levelsOf(run)
	lv.toolLines(&how)
	turn := func(ctx context.Context) bool { return v.g.deliverer.Turn(ctx, r.Channel, to) }
	if how.blocks {
		lr.blocks = v.newBlocks(ctx, lr, run, r, how)
	} else if _, can := ch.(channel.Editor); can && how.mode != stream.Off {
		lr.preview = stream.NewPreview(ctx, stream.PreviewOptions{
			Mode: how.mode, Channel: ch, To: to, HideTools: how.hideTools, HideCommands: how.hideCommands, Logger: v.g.log,
			Limits: v.g.channels.Limits(ch), Steps: how.steps, Turn: turn,
			SelectedQuote: run.QuoteSelected && to.ReplyTo != "", // an edit would lose the quote
		})
	}
	if _, can := ch.(channel.Editor); can && lv.reasoning == "stream" {
		lr.thoughts = stream.NewPreview(ctx, stream.PreviewOptions{
			Mode: stream.Partial, Channel: ch, To: to, Limits: v.g.channels.Limits(ch), Turn: turn, Logger: v.g.log,
		})
	}
	go func() {
		defer close(lr.done)
		keepTyping(ctx, ch, to)
	}()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.runs[run.ID] = lr
}

func keepTyping(ctx context.Context, ch channel.Channel, to channel.Target) {
	t, ok := ch.(channel.Typer)
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
func (v *live) newBlocks(ctx context.Context, lr *liveRun, run session.Run, r channel.Route, how streaming) *stream.Blocks {
	n := 0
	opts := how.block
	opts.Rand = random.Float
	opts.Emit = func(ctx context.Context, p reply.Payload) error {
		if p = lr.turn.Block(p); p.Empty() {
			return nil
		}
		n++
		said := p
		p = v.g.attach(run, r, p)
		d := outbound.Delivery{
			Reply: replyOfBlock(n, v.g.channels.Account(r.Channel, r.Account).ReplyToMode),
			ID:    blockID(run.ID, n), Channel: r.Channel, To: r.Target(run.ReplyTo), Session: run.SessionKey, RunID: run.ID, Text: p.Text, Media: p.Media,
		}
		err := v.g.store.Update(ctx, store.Write{Must: true, Then: v.g.deliverer.Wake, Do: func(tx *store.Tx) error { return v.g.deliverer.Put(tx, d) }})
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

func (v *live) get(runID string) *liveRun {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.runs[runID]
}

// Think shows reasoning where the session asks for it.
func (v *live) Think(runID, words string) {
	lr := v.get(runID)
	if lr == nil || lr.thoughts == nil {
		return
	}
	if !lr.thought {
		lr.thought = true
		lr.thoughts.Text("*Thinking…*\n\n")
	}
	lr.thoughts.Text(words)
}

func (v *live) Say(runID, words string) {
	switch lr := v.get(runID); {
	case lr == nil:
	case lr.blocks != nil:
		lr.blocks.Write(words)
	case lr.preview != nil:
		lr.preview.Text(words)
	}
}

// Intend is shown tool by tool.
func (v *live) Intend(string, model.Message, model.Usage) {}

func (v *live) Tool(runID, name string, args []byte) {
	switch lr := v.get(runID); {
	case lr == nil:
	case lr.blocks != nil:
		lr.blocks.TextEnd()
	case lr.preview != nil:
		lr.preview.Tool(name, "", commandOf(args))
	}
}

// End stops showing and leaves what the delivery needs to know.
func (v *live) End(ctx context.Context, run session.Run, msg *protocol.Message, failed bool) {
	lr := v.get(run.ID)
	if lr == nil {
		return
	}
	if lr.blocks != nil {
		lr.blocks.MessageEnd()
		if err := lr.blocks.Close(); err != nil {
			v.g.log.Warn("some blocks of an answer were not sent as it was written; the end of it sends them", "run", run.ID, "err", err)
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
		if err := lr.thoughts.Discard(ctx); err != nil {
			v.g.log.Warn("the reasoning that was shown could not be taken away", "run", run.ID, "err", err)
		}
	}
	lr.stop()
	<-lr.done
}

// Done forgets a run.
func (v *live) Done(runID string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.runs, runID)
}
