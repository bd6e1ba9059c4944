package stream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/outbound/chunk"
	"github.com/hearth-assistant/hearth/gateway/outbound/reply"
)

// script is what a turn does; a duration lets time go by.
type script []any

// play runs a turn on a clock of its own and tells what was sent when, in
// milliseconds from its start.
func play(t *testing.T, o BlockOptions, s script) (out []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		o.Emit = func(_ context.Context, p reply.Payload) error {
			line := fmt.Sprintf("%d %s", time.Since(start).Milliseconds(), p.Text)
			for _, m := range p.Media {
				line += "<" + m.URL + ">"
			}
			out = append(out, line)
			return nil
		}
		b := NewBlocks(t.Context(), o)
		for _, step := range s {
			switch v := step.(type) {
			case string:
				b.Write(v)
			case time.Duration:
				pass(v)
			case func(*Blocks):
				v(b)
			}
			synctest.Wait()
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return out
}

func pass(d time.Duration) { <-time.After(d) }

func textEnd(b *Blocks)    { b.TextEnd() }
func messageEnd(b *Blocks) { b.MessageEnd() }
func flush(b *Blocks)      { b.Flush() }

// Blocks, and pieces that are joined, one row each.
func TestBlocks(t *testing.T) {
	small := chunk.Options{Min: 5, Max: 30}
	idle := Coalesce{Idle: time.Second, Max: 100}
	for name, tc := range map[string]struct {
		o    BlockOptions
		s    script
		want []string
	}{
		"text_end: blocks as the buffer grows": {BlockOptions{Chunk: small}, script{"first par\n\nsec", time.Second, "ond par\n\n", time.Second,
			"third"},
			[]string{"0 first par", "1000 second par", "2000 third"}},
		"text_end: flush at each end of a text": {BlockOptions{Chunk: small}, script{"abc", textEnd, time.Second, "def", textEnd},
			[]string{"0 abc", "1000 def"}},
		"message_end: waits": {BlockOptions{Chunk: small, Break: MessageEnd}, script{"first par\n\nsecond par", time.Second, textEnd, time.Second,
			messageEnd},
			[]string{"2000 first par\n\nsecond par"}},
		"message_end: several when it is long": {BlockOptions{Chunk: small, Break: MessageEnd}, script{"first paragraph\n\nsecond paragraph\n\n" +
			"third", messageEnd},
			[]string{"0 first paragraph", "0 second paragraph\n\nthird"}},
		"maxChars is clamped to the channel": {BlockOptions{Limit: 16}, script{strings.Repeat("x", 40)},
			[]string{"0 xxxxxxxxxxxxxxxx", "0 xxxxxxxxxxxxxxxx", "0 xxxxxxxx"}},
		"coalesce: merged until there is a gap": {BlockOptions{Chunk: small, Coalesce: idle}, script{"first par\n\n", 500 * time.Millisecond,
			"second par\n\n", 3 * time.Second, "third"},
			[]string{"1500 first par\n\nsecond par", "3500 third"}},
		"coalesce: maxChars": {BlockOptions{Chunk: small, Coalesce: Coalesce{Idle: time.Second, Max: 25}}, script{"first par\n\nsecond par\n\n" +
			"third par\n\n"},
			[]string{"0 first par\n\nsecond par", "0 third par"}},
		"coalesce: minChars holds small pieces": {BlockOptions{Chunk: small, Coalesce: Coalesce{Idle: time.Second, Min: 15, Max: 100}},
			script{"first par\n\n", time.Hour, "second par\n\n", 2 * time.Second, "end"},
			[]string{"3601000 first par\n\nsecond par", "3602000 end"}},
		"coalesce: joiner of paragraphs": {BlockOptions{Chunk: small, Coalesce: idle}, script{"abc", textEnd, "def", textEnd},
			[]string{"0 abc\n\ndef"}},
		"coalesce: joiner of newlines": {BlockOptions{Chunk: chunk.Options{Min: 5, Max: 30, Prefer: chunk.Newline}, Coalesce: idle},
			script{"abc", textEnd, "def"}, []string{"0 abc\ndef"}},
		"coalesce: joiner of sentences": {BlockOptions{Chunk: chunk.Options{Min: 5, Max: 30, Prefer: chunk.Sentence}, Coalesce: idle},
			script{"Abc.", textEnd, "Def."}, []string{"0 Abc. Def."}},
		"coalesce: a fence is whole again": {BlockOptions{Chunk: chunk.Options{Min: 5, Max: 40}, Coalesce: idle}, script{"```go\nline one\n" +
			"line two\nline three\nline four\n```\nend"},
			[]string{"0 ```go\nline one\nline two\nline three\nline four\n```\nend"}},
		"flush before a tool": {BlockOptions{Chunk: small, Coalesce: idle}, script{"before", textEnd, flush, time.Second, "after"},
			[]string{"0 before", "1000 after"}},
		"humanDelay off": {BlockOptions{Chunk: small}, script{"one one\n\ntwo two\n\n"}, []string{"0 one one", "0 two two"}},
		"humanDelay natural: between blocks, after the first": {BlockOptions{Chunk: small, Delay: HumanDelay{Mode: DelayNatural},
			Rand: func() float64 { return 0.5 }},
			script{"one one\n\ntwo two\n\nthree three\n\n"}, []string{"0 one one", "1650 two two", "3300 three three"}},
		"humanDelay custom": {BlockOptions{Chunk: small, Delay: HumanDelay{Mode: DelayCustom, Min: 100 * time.Millisecond,
			Max: 300 * time.Millisecond}, Rand: func() float64 { return 1 }},
			script{"one one\n\ntwo two\n\n"}, []string{"0 one one", "300 two two"}},
		"humanDelay counts from the last block": {
			BlockOptions{Chunk: small, Delay: HumanDelay{Mode: DelayCustom, Min: time.Second, Max: time.Second}},
			script{"one one\n\n", 5 * time.Second, "two two\n\n"}, []string{"0 one one", "5000 two two"}},
		"silent":               {BlockOptions{Chunk: chunk.Options{Min: 1, Max: 30}}, script{"NO", "_REP", "LY", textEnd}, nil},
		"not silent after all": {BlockOptions{Chunk: small}, script{"NO", " problem"}, []string{"0 NO problem"}},
		"media in their place": {BlockOptions{Chunk: small, Coalesce: idle}, script{"look\nMED", "IA:a.png\n", "nice"},
			[]string{"0 look", "0 <a.png>", "0 nice"}},
		"media, message_end": {BlockOptions{Chunk: small, Break: MessageEnd}, script{"look\nMEDIA:a.png\nnice"},
			[]string{"0 look\nnice", "0 <a.png>"}},
		"nothing": {BlockOptions{}, script{"", textEnd, "\n\n", textEnd}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, play(t, tc.o, tc.s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The pause of natural is between 800 and 2500 ms, wherever the dice fall.
func TestHumanDelayRange(t *testing.T) {
	for _, tc := range []struct {
		h      HumanDelay
		lo, hi time.Duration
	}{
		{HumanDelay{}, 0, 0}, {HumanDelay{Mode: DelayOff, Min: 5, Max: 9}, 0, 0},
		{HumanDelay{Mode: DelayNatural}, 800 * time.Millisecond, 2500 * time.Millisecond},
		{HumanDelay{Mode: DelayCustom, Min: 10, Max: 20}, 10, 20}, {HumanDelay{Mode: DelayCustom, Min: 20, Max: 10}, 20, 20},
	} {
		lo, hi := tc.h.next(func() float64 { return 0 }), tc.h.next(func() float64 { return 1 })
		if lo != tc.lo || hi != tc.hi {
			t.Errorf("%+v: %v to %v", tc.h, lo, hi)
		}
	}
}

// blockStreamingDefault and the overrides of channel and account.
func TestOn(t *testing.T) {
	yes, no := true, false
	for _, tc := range []struct {
		def              bool
		channel, account *bool
		explicit, want   bool
	}{
		{false, nil, nil, false, false}, {true, nil, nil, false, true}, {true, nil, nil, true, false},
		{false, &yes, nil, true, true}, {true, &no, nil, false, false}, {false, &no, &yes, true, true}, {true, &yes, &no, false, false},
	} {
		if got := On(tc.def, tc.channel, tc.account, tc.explicit); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

// A block that cannot be taken ends the turn's blocks with the reason, and so
// does the end of the turn's context.
func TestBlocksEndWithAReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("full")
		b := NewBlocks(t.Context(), BlockOptions{Emit: func(context.Context, reply.Payload) error { return full }})
		b.Write("x")
		if err := b.Close(); !errors.Is(err, full) {
			t.Errorf("Close: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		b = NewBlocks(ctx, BlockOptions{Chunk: chunk.Options{Min: 1, Max: 20}, Delay: HumanDelay{Mode: DelayNatural},
			Emit: func(context.Context, reply.Payload) error { return nil }})
		b.Write("a\n\nb\n\nc")
		synctest.Wait()
		cancel()
		synctest.Wait()
		if err := b.Close(); !errors.Is(err, context.Canceled) {
			t.Errorf("Close: %v", err)
		}
	})
}
