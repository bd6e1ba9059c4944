package stream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hearth-assistant/hearth/gateway/outbound/chunk"
	"github.com/hearth-assistant/hearth/gateway/outbound/reply"
)

func noSpace(s string) string { return strings.Join(strings.Fields(s), "") }

// said plays the texts of a turn, of which tool calls part one from the next,
// and returns what the blocks said of the model's text, what people saw, and
// what is left for the end. After full blocks no more can be taken.
func said(ctx context.Context, o BlockOptions, texts []string, step, full int) (source, seen string, left reply.Payload) {
	var turn reply.Turn
	n := 0
	o.Emit = func(_ context.Context, p reply.Payload) error {
		if p = turn.Block(p); p.Empty() {
			return nil
		}
		if n++; n > full {
			return errors.New("the store is full")
		}
		source += strings.Join(p.Source, "")
		seen += p.Text + "\n"
		turn.Said(p)
		return nil
	}
	b := NewBlocks(ctx, o)
	for i, text := range texts {
		if i > 0 {
			b.TextEnd()
		}
		for len(text) > 0 {
			k := min(len(text), step)
			b.Write(text[:k])
			text = text[k:]
		}
	}
	b.MessageEnd()
	_ = b.Close()
	return source, seen, turn.Left(reply.Read(texts[len(texts)-1]))
}

// Exact duplicates are suppressed, also where the cut of a code
// block had to close and open its fence.
func TestForcedFenceIsSaidOnce(t *testing.T) {
	var b strings.Builder
	b.WriteString("Here:\n\n```py\n")
	for i := range 70 {
		fmt.Fprintf(&b, "value_%03d = compute_something(%d)  # comment\n", i, i)
	}
	b.WriteString("```\n\nThat is all.")
	_, seen, left := said(t.Context(), BlockOptions{}, []string{b.String()}, 7, 1000)
	if !left.Empty() {
		t.Errorf("the end says %d bytes again", len(left.Text))
	}
	for i := range 70 {
		if line := fmt.Sprintf("value_%03d", i); strings.Count(seen, line) != 1 {
			t.Errorf("%s is said %d times", line, strings.Count(seen, line))
		}
	}
}

func markdown(t *rapid.T, name string) string {
	parts := []string{
		"word", " ", ". ", "\n", "\n\n", "a longer sentence with some words. ", "```go\n", "\n```\n", "x := f(1)\n", "~~~\n", "`code`",
		"- item\n", "漢字", "👍🏽", "é",
		strings.Repeat("y", 50), "\nMEDIA:a.png\n", "NO_REPLY", "\xff", "    indented\n",
	}
	return "T" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 60).Draw(t, name), "")
}

// Whatever the text, the sizes and the ways of cutting and merging: what the
// blocks said and the end together are the answer, once. Blocks that could not
// be taken are said at the end.
func TestAnswerIsSaidOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		texts := []string{markdown(rt, "answer")}
		if rapid.Bool().Draw(rt, "tool call before") {
			texts = []string{markdown(rt, "before"), texts[0]}
		}
		limit := rapid.IntRange(16, 500).Draw(rt, "max")
		o := BlockOptions{
			Chunk: chunk.Options{
				Max: limit, Min: rapid.IntRange(1, limit).Draw(rt, "min"),
				Prefer: rapid.SampledFrom([]chunk.Break{chunk.Paragraph, chunk.Newline, chunk.Sentence}).Draw(rt, "prefer"),
			},
			Break:    rapid.SampledFrom([]BreakAt{TextEnd, MessageEnd}).Draw(rt, "break"),
			Coalesce: Coalesce{Max: rapid.IntRange(20, 900).Draw(rt, "merge")},
		}
		if rapid.Bool().Draw(rt, "coalesce") {
			o.Coalesce.Idle = time.Second
		}
		full := rapid.SampledFrom([]int{1000, 1000, 0, 1, 2, 3}).Draw(rt, "full")
		step := rapid.IntRange(1, 60).Draw(rt, "step")
		var source string
		var left reply.Payload
		synctest.Test(t, func(t *testing.T) { source, _, left = said(t.Context(), o, texts, step, full) })
		last := noSpace(reply.Read(texts[len(texts)-1]).Text)
		all := noSpace(source) + noSpace(left.Text)
		switch {
		case full == 1000 && left.Text != "":
			rt.Fatalf("all was said, and the end says %q again", left.Text)
		case !strings.HasSuffix(all, last):
			rt.Fatalf("blocks %q and end %q are not %q", source, left.Text, last)
		}
		before := strings.TrimSuffix(all, last)
		if len(texts) == 1 && before != "" || len(texts) == 2 && !strings.HasPrefix(noSpace(reply.Read(texts[0]).Text), before) {
			rt.Fatalf("%q is said as well; blocks %q, end %q", before, source, left.Text)
		}
	})
}
