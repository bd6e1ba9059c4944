package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/outbound/chunk"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// Mode is channels.<channel>.streaming.mode.
type Mode string

// What a preview shows.
const (
	Off      Mode = "off"
	Partial  Mode = "partial"  // the latest text
	Block    Mode = "block"    // the text in steps
	Progress Mode = "progress" // what is being done; the answer comes as a new message
)

// PreviewOptions of one turn. Channel and To are required.
type PreviewOptions struct {
	Mode    Mode
	Channel channel.Channel
	To      channel.Target
	Limits  chunk.Limits  // zero: the channel's own
	Every   time.Duration // between edits, 0: 1 s
	// HideTools leaves tool lines out (streaming.preview.toolProgress: false),
	// HideCommands their text (commandText: "status").
	HideTools    bool
	HideCommands bool
	Steps        chunk.Options // draftChunk, for Block
	// BlockReplies and SelectedQuote skip the preview for the turn: the answer
	// is streamed by blocks, or replies to a quote that an edit would lose.
	BlockReplies  bool
	SelectedQuote bool
	// Turn waits until what was put for this chat before has been sent, so that a
	// preview overtakes nothing; false: ctx ended first. nil does not wait.
	Turn func(ctx context.Context) bool
	// Record keeps what is known of the message over a crash; nil: nothing is kept.
	Record Record
	// Before is the message of an earlier start of Hearth that showed this answer;
	// it is gone on with.
	Before Before
	Logger *slog.Logger
}

// Record keeps what is known of a preview's message.
type Record interface {
	// Showing is durable when it returns; only then the message is sent with text.
	Showing(ctx context.Context, text string) error
	Shown(ctx context.Context, messageID string) // it was sent
	NotShown(ctx context.Context)                // it was surely not sent
}

// Before is a message that shows an answer already.
type Before struct {
	MessageID string // "": there is none
	Since     time.Time
}

// active says whether there is a preview in this turn.
func (o PreviewOptions) active() bool {
	if o.Channel == nil || o.BlockReplies || o.SelectedQuote {
		return false
	}
	_, ok := channel.AsEditor(o.Channel)
	return ok && (o.Mode == Partial || o.Mode == Block || o.Mode == Progress)
}

// Preview is one message that shows an answer while it is written. What it shows is
// not durable: the answer itself is delivered by the Deliverer, and a Record knows
// the message. Its methods do not wait for the network, except End and Wait.
type Preview struct {
	o     PreviewOptions
	stop  context.CancelFunc
	wake  chan struct{}
	done  chan struct{}
	board board

	// What follows belongs to the goroutine until done is closed.
	id    string
	shown string
	since time.Time // when it was sent
	edits int
	lost  bool          // no more edits: it is gone, or nobody knows whether it exists
	pace  time.Duration // between edits: Every, and longer after the network asked to wait
	good  int           // edits that were taken since the pace changed
}

// NewPreview starts a preview; nothing is sent before there is something to
// show. End must be called, unless ctx ends.
func NewPreview(ctx context.Context, o PreviewOptions) *Preview {
	if o.Every <= 0 {
		o.Every = time.Second
	}
	if o.Channel != nil {
		o.Every = max(o.Every, o.Channel.Limits().EditPace)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Limits.Chars == 0 && o.Channel != nil {
		o.Limits = chunk.LimitsOf(o.Channel.Limits())
	}
	p := &Preview{o: o, wake: make(chan struct{}, 1), done: make(chan struct{}), stop: func() {}, pace: o.Every}
	p.board.init(o)
	if !o.active() {
		close(p.done)
		return p
	}
	if p.id, p.since = o.Before.MessageID, o.Before.Since; p.id != "" {
		p.edits = max(o.Channel.Limits().Edits-1, 0) // nobody counted them: one is left for the answer
	}
	ctx, p.stop = context.WithCancel(ctx)
	go p.run(ctx)
	return p
}

// Text shows more of the answer.
func (p *Preview) Text(delta string) { p.changed(p.board.text(delta)) }

// Tool shows that a tool starts. command is its command line, if it has one.
func (p *Preview) Tool(name, detail, command string) { p.changed(p.board.tool(name, detail, command)) }

// Note shows a line that is not part of the answer ("checking the files…").
func (p *Preview) Note(line string) { p.changed(p.board.tool("", line, "")) }

func (p *Preview) changed(yes bool) {
	if !yes {
		return
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Final is what a turn ends with.
type Final string

// The ends of a turn, as far as a preview cares.
const (
	FinalText  Final = "text"  // may take the preview's place
	FinalMedia Final = "media" // media, no text: normal delivery
	FinalError Final = "error"
	FinalOther Final = "other" // answers another message than the preview does
)

// End stops the preview without sending what was pending, and returns what
// the final delivery needs: the preview's message, "" when there is none, and
// whether the delivery takes its place or removes it afterwards.
func (p *Preview) End(f Final) (messageID string, edit bool) {
	p.stop()
	<-p.done
	if p.id == "" {
		return "", false
	}
	return p.id, f == FinalText && p.o.Mode != Progress && p.editable(1)
}

// editable reports whether the network lets the message be edited so many times
// more.
func (p *Preview) editable(more int) bool {
	l := p.o.Channel.Limits()
	return (l.Edits == 0 || p.edits+more <= l.Edits) && (l.EditWindow == 0 || time.Since(p.since) < l.EditWindow)
}

// Shown is what the preview's message is known to read, after End; "" when
// nobody knows.
func (p *Preview) Shown() string { return p.shown }

// Wait returns when nothing is sent any more: after End, or when ctx has ended.
func (p *Preview) Wait() { <-p.done }

func (p *Preview) run(ctx context.Context) {
	defer close(p.done)
	var next time.Time
	for !p.lost {
		select {
		case <-p.wake:
		case <-ctx.Done():
			return
		}
		if sleep.For(ctx, time.Until(next)) != nil {
			return
		}
		if p.id == "" && p.o.Turn != nil && !p.o.Turn(ctx) {
			return
		}
		wait := p.show(ctx)
		next = time.Now().Add(max(wait, p.pace))
		if wait > 0 { // it did not work: again, with what is there then
			p.changed(true)
		}
	}
}

// requestTimeout bounds one request of a preview, and so how long End waits.
const requestTimeout = 10 * time.Second

// show makes the message read what the board says, and tells how long to wait
// before trying again.
func (p *Preview) show(ctx context.Context) (wait time.Duration) {
	text := p.board.render()
	if text == "" || text == p.shown || p.id != "" && !p.editable(2) { // the last edit is the answer's
		return 0
	}
	// A request that is under way comes to its end, so that the message's id is
	// known when the answer is.
	req, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	var err error
	if p.id == "" {
		err = p.send(ctx, req, text)
	} else if e, can := channel.AsEditor(p.o.Channel); can { // active made sure of it
		p.edits++
		err = e.Edit(req, p.o.To, p.id, text)
		failpoint.Hit("afterPreviewEdit")
	}
	if p.shown = ""; err == nil {
		p.shown = text
		p.faster()
		return 0
	}
	return p.failed(err)
}

// errNotSent: the answer is there, or what is known of a preview cannot be kept; it
// is not begun.
var errNotSent = errors.New("it was not sent")

// send sends the message, between two words about it that outlive a crash.
func (p *Preview) send(ctx, req context.Context, text string) error {
	rec := p.o.Record
	if rec != nil {
		if err := rec.Showing(req, text); err != nil {
			return fmt.Errorf("%w: %w", errNotSent, err)
		}
		failpoint.Hit("beforePreview")
		if ctx.Err() != nil { // nothing is shown of an answer that is there
			rec.NotShown(req)
			return errNotSent
		}
	}
	since := time.Now()
	r, err := p.o.Channel.Send(req, channel.Message{To: p.o.To, Text: text, Draft: true})
	failpoint.Hit("afterPreview")
	switch {
	case err == nil:
		p.id, p.since = r.MessageID, since
		if rec != nil {
			rec.Shown(req, r.MessageID)
		}
		failpoint.Hit("afterPreviewReceipt")
	case rec != nil && !unclear(err):
		rec.NotShown(req)
	}
	return err
}

// unclear: the message may have arrived.
func unclear(err error) bool {
	return errors.Is(err, channel.ErrUncertain) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// The pace doubles each time the network asks to wait, up to slowest, and halves
// again after enough edits that were taken.
const (
	slowest = 8 * time.Second
	enough  = 10
)

func (p *Preview) slower() {
	p.pace, p.good = max(min(2*p.pace, slowest), p.o.Every), 0
}

func (p *Preview) faster() {
	if p.good++; p.good >= enough {
		p.pace, p.good = max(p.pace/2, p.o.Every), 0
	}
}

func (p *Preview) failed(err error) time.Duration {
	p.o.Logger.Debug("a preview was not shown", "channel", p.o.Channel.ID(), "err", err)
	var limit *channel.RateLimit
	switch {
	case errors.As(err, &limit):
		p.slower()
		return max(limit.After, p.pace)
	case errors.Is(err, channel.ErrAuth), errors.Is(err, channel.ErrRefused), errors.Is(err, errNotSent), p.id == "" && unclear(err):
		// A preview that was refused an edit is gone or frozen; the delivery
		// still tries to remove it. One whose sending is unclear is left alone:
		// who was told of it (Record) shows it to a person.
		p.lost = true
		return 0
	}
	return 2 * p.pace
}
