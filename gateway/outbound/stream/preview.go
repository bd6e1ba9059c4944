package stream

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/outbound/chunk"
	"github.com/hearth-assistant/hearth/gateway/outbound/reply"
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
	Turn   func(ctx context.Context) bool
	Logger *slog.Logger
}

// active says whether there is a preview in this turn.
func (o PreviewOptions) active() bool {
	if o.Channel == nil || o.BlockReplies || o.SelectedQuote {
		return false
	}
	_, ok := channel.AsEditor(o.Channel)
	return ok && (o.Mode == Partial || o.Mode == Block || o.Mode == Progress)
}

// Preview is one message that shows an answer while it is written. Nothing of
// it is durable: the answer itself is delivered by the Deliverer. Its methods
// do not wait for the network, except End and Discard.
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
// show. End or Discard must be called, unless ctx ends.
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

// Discard stops the preview and removes its message.
func (p *Preview) Discard(ctx context.Context) error {
	id, _ := p.End(FinalOther)
	d, ok := channel.AsDeleter(p.o.Channel)
	if id == "" || !ok {
		return nil
	}
	return d.Delete(ctx, p.o.To, id)
}

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
		var r channel.Receipt
		if r, err = p.o.Channel.Send(req, channel.Message{To: p.o.To, Text: text}); err == nil {
			p.id, p.since = r.MessageID, time.Now()
		}
	} else if e, can := channel.AsEditor(p.o.Channel); can { // active made sure of it
		p.edits++
		err = e.Edit(req, p.o.To, p.id, text)
	}
	if p.shown = ""; err == nil {
		p.shown = text
		p.faster()
		return 0
	}
	return p.failed(err)
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
	case errors.Is(err, channel.ErrAuth), errors.Is(err, channel.ErrRefused), p.id == "":
		// A preview that was refused an edit is gone or frozen; the delivery
		// still tries to remove it. One whose sending is unclear is left alone.
		p.lost = true
		return 0
	}
	return 2 * p.pace
}

// board is what a preview shows, as the turn goes on.
type board struct {
	mu     sync.Mutex
	o      PreviewOptions
	filter reply.Stream
	steps  *chunk.Chunker
	answer strings.Builder
	lines  []string
	writes bool // Progress: the answer is being written
}

// writing is what Progress shows of an answer.
const writing = "• writing the answer…"

// maxLines of tool progress are kept.
const maxLines = 5

func (b *board) init(o PreviewOptions) {
	b.o = o
	b.steps = chunk.New(o.Steps.Clamp(o.Limits.Chars))
}

func (b *board) text(delta string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.filter.Feed(delta).Text
	if b.o.Mode == Block {
		var step strings.Builder
		for _, c := range b.steps.Feed(text) {
			step.WriteString(c.Body)
		}
		text = step.String()
	}
	if text == "" || !b.o.active() {
		return false
	}
	if b.o.Mode == Progress {
		fresh := !b.writes
		b.writes = true
		return fresh
	}
	b.lines = nil
	if full := b.o.Limits.Chars; full > 0 && b.answer.Len() > 8*full {
		return false // only the first message's worth is shown
	}
	b.answer.WriteString(text)
	return true
}

func (b *board) tool(name, detail, command string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.o.active() {
		return false
	}
	if name != "" {
		b.writes = false
	}
	if b.o.HideTools {
		return false
	}
	if command != "" {
		detail = "running a command"
		if !b.o.HideCommands {
			detail = command
		}
	}
	b.lines = append(b.lines, toolLine(name, detail))
	if len(b.lines) > maxLines {
		b.lines = b.lines[1:]
	}
	return true
}

// toolLine is one short line that cannot format what is around it.
func toolLine(name, detail string) string {
	detail = strings.Join(strings.Fields(detail), " ")
	if r := []rune(detail); len(r) > 120 {
		detail = string(r[:119]) + "…"
	}
	detail = strings.ReplaceAll(detail, "`", "'")
	switch {
	case name == "":
		return "• " + detail
	case detail == "":
		return "• " + name
	}
	return "• " + name + ": `" + detail + "`"
}

// render is the message as it should read now.
func (b *board) render() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := chunk.Trim(b.answer.String())
	if len(b.lines) > 0 {
		if text != "" {
			text += "\n\n"
		}
		text += strings.Join(b.lines, "\n")
	}
	if b.writes {
		text = strings.TrimPrefix(text+"\n"+writing, "\n")
	}
	chunks := chunk.Split(text, b.o.Limits)
	if len(chunks) == 0 {
		return ""
	}
	return chunk.Trim(chunks[0].Text())
}
