// Package stream says an answer while it is written: as block replies, which
// are ordinary messages (Blocks), or as one preview message that is edited
// (Preview). It owns when and how much is said; how text is cut is chunk's
// business, what of it is said is reply's, and that it arrives is outbound's.
package stream

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/outbound/chunk"
	"github.com/hearth-assistant/hearth/gateway/outbound/reply"
	"github.com/hearth-assistant/hearth/internal/random"
)

// BreakAt is agents.defaults.blockStreamingBreak.
type BreakAt string

// When blocks are sent.
const (
	TextEnd    BreakAt = "text_end"    // as soon as there is one; the rest at each end of a text
	MessageEnd BreakAt = "message_end" // all at the end of the message
)

// BlockOptions of one turn. Emit is required.
type BlockOptions struct {
	Chunk    chunk.Options
	Limit    int     // textChunkLimit of the channel, 0: none
	Break    BreakAt // "" is TextEnd
	Coalesce Coalesce
	Delay    HumanDelay
	Rand     func() float64 // [0, 1)
	// Emit takes a block. Blocks come one after the other, from one goroutine.
	Emit func(context.Context, reply.Payload) error
}

// Blocks turns the text of one turn into block replies. Its methods do not
// wait for blocks to be sent, except Close.
type Blocks struct {
	o    BlockOptions
	mu   sync.Mutex
	todo []event
	wake chan struct{}
	done chan struct{}
	err  error // set before done is closed

	// What follows belongs to the goroutine.
	filter reply.Stream
	chunks *chunk.Chunker
	whole  strings.Builder // MessageEnd: the message so far
	begins []int           // MessageEnd: where its texts begin
	media  []reply.Payload // MessageEnd: what it named
	merge  coalescer
	queue  []reply.Payload
	nextAt time.Time
}

type event struct {
	kind eventKind
	text string
}

type eventKind int

const (
	evText eventKind = iota
	evTextEnd
	evMessageEnd
	evFlush
	evClose
)

// NewBlocks starts the blocks of a turn. Close ends them; so does ctx, without
// sending what is left.
func NewBlocks(ctx context.Context, o BlockOptions) *Blocks {
	o.Chunk = o.Chunk.Clamp(o.Limit)
	if o.Rand == nil {
		o.Rand = random.Float // only paces messages
	}
	b := &Blocks{
		o: o, wake: make(chan struct{}, 1), done: make(chan struct{}), chunks: chunk.New(o.Chunk),
		merge: coalescer{o: o.Coalesce.clamp(o.Limit), joiner: o.Chunk.Prefer.Joiner()},
	}
	go b.run(ctx)
	return b
}

// Write takes more of the current text.
func (b *Blocks) Write(delta string) { b.post(event{evText, delta}) }

// TextEnd says that a text of the message is complete: a tool call may follow.
func (b *Blocks) TextEnd() { b.post(event{kind: evTextEnd}) }

// MessageEnd says that the model's message is complete.
func (b *Blocks) MessageEnd() { b.post(event{kind: evMessageEnd}) }

// Flush sends what was merged so far without waiting for a gap, for example
// before a tool runs for long.
func (b *Blocks) Flush() { b.post(event{kind: evFlush}) }

// Close sends all that is left and returns when Emit has taken it.
func (b *Blocks) Close() error {
	b.post(event{kind: evClose})
	<-b.done
	return b.err
}

func (b *Blocks) post(e event) {
	b.mu.Lock()
	b.todo = append(b.todo, e)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *Blocks) run(ctx context.Context) {
	defer close(b.done)
	closing := false
	for {
		b.mu.Lock()
		todo := b.todo
		b.todo = nil
		b.mu.Unlock()
		for _, e := range todo {
			closing = closing || e.kind == evClose
			b.handle(e)
		}
		wait, armed := b.pump(ctx, closing)
		if b.err != nil || closing && len(b.queue) == 0 {
			return
		}
		if !b.sleep(ctx, wait, armed) {
			b.err = ctx.Err()
			return
		}
	}
}

// sleep waits for a call or, when armed, for the time; false when ctx ended.
func (b *Blocks) sleep(ctx context.Context, wait time.Duration, armed bool) bool {
	var fire <-chan time.Time
	if armed {
		t := time.NewTimer(wait)
		defer t.Stop()
		fire = t.C
	}
	select {
	case <-b.wake:
	case <-fire:
	case <-ctx.Done():
		return false
	}
	return true
}

func (b *Blocks) handle(e event) {
	switch e.kind {
	case evText:
		b.take(b.filter.Feed(e.text))
	case evTextEnd:
		b.endText()
	case evMessageEnd:
		b.endMessage()
	case evFlush:
		b.out(b.merge.flush())
	case evClose:
		b.endMessage()
		b.out(b.merge.flush())
	}
}

// take gets what the filter let through.
func (b *Blocks) take(p reply.Payload) {
	if b.o.Break == MessageEnd {
		b.whole.WriteString(p.Text)
	} else {
		b.push(b.chunks.Feed(p.Text))
	}
	if len(p.Media) > 0 { // in their place: after the text before them
		media := reply.Payload{Media: p.Media}
		if b.o.Break == MessageEnd {
			b.media = append(b.media, media)
			return
		}
		b.push(b.chunks.Flush())
		b.out(b.merge.flush())
		b.queue = append(b.queue, media)
	}
}

func (b *Blocks) endText() {
	b.take(b.filter.Flush())
	if b.o.Break != MessageEnd {
		b.push(b.chunks.Flush())
	} else if b.whole.Len() > 0 {
		b.whole.WriteString(b.o.Chunk.Prefer.Joiner())
		b.begins = append(b.begins, b.whole.Len())
	}
}

func (b *Blocks) endMessage() {
	b.endText()
	if b.o.Break != MessageEnd {
		return
	}
	text, at := b.whole.String(), 0
	b.whole.Reset()
	for _, c := range chunk.Split(text, chunk.Limits{Chars: b.o.Chunk.Max}) {
		b.out(merged{c.Text(), splitAt(c.Body, at, b.begins)})
		at += len(c.Body)
	}
	b.begins = nil
	b.queue = append(b.queue, b.media...)
	b.media = nil
}

// splitAt cuts body, which begins at at, where texts begin.
func splitAt(body string, at int, begins []int) (out []string) {
	from := 0
	for _, n := range begins {
		if n -= at; n > from && n < len(body) {
			out = append(out, body[from:n])
			from = n
		}
	}
	return append(out, body[from:])
}

func (b *Blocks) push(chunks []chunk.Chunk) {
	for _, c := range chunks {
		for _, m := range b.merge.push(c, time.Now()) {
			b.out(m)
		}
	}
}

func (b *Blocks) out(m merged) {
	if text := chunk.Trim(m.text); text != "" {
		b.queue = append(b.queue, reply.Payload{Text: text, Source: m.source})
	}
}

// pump sends what is due and tells how long to wait for the next thing.
func (b *Blocks) pump(ctx context.Context, closing bool) (wait time.Duration, armed bool) {
	now := time.Now()
	if due, ok := b.merge.due(); ok && !due.After(now) {
		b.out(b.merge.flush())
	}
	for len(b.queue) > 0 {
		if b.queue[0].Empty() {
			b.queue = b.queue[1:]
			continue
		}
		if wait := time.Until(b.nextAt); wait > 0 {
			return wait, true
		}
		if b.err = b.o.Emit(ctx, b.queue[0]); b.err != nil {
			return 0, false
		}
		b.queue = b.queue[1:]
		b.nextAt = time.Now().Add(b.o.Delay.next(b.o.Rand))
	}
	if due, ok := b.merge.due(); ok && !closing {
		return time.Until(due), true
	}
	return 0, false
}
