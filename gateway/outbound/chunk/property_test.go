package chunk

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// pieces is what the texts of the property tests are made of: all that has a
// meaning for cutting, and scripts that are hard to cut.
func pieces() []string {
	return []string{
		"a", "word", " ", "  ", "\t", "\n", "\n\n", "\r\n", ".", ". ", "! ", "? ", "1. ", "- ", "。", "漢字かな", "שלום", "مرحبا\u064b", "é",
		"e\u0301", "👨‍👩‍👧‍👦", "🇩🇪", "👍🏽", "\u200d", "क्षि", "각", "각", "\ufe0f", "`", "``", "```", "```go\n", "\n```\n", "\n" +
			"```go title=\"x y\"\n", "~~~~\n", "\n~~~\n", "\n    ```py\n",
		"\n    ```\n", "func main() {}\n", "* ", "_", "\"", ")", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"the quick brown fox jumps over the lazy dog", "``` a ` b", "x```", strings.Repeat("`", 40), "\xff", "\x80",
	}
}

func anyText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces()), 0, 120).Draw(t, "text"), "")
}

// split cuts s into deltas at byte positions, inside runes too.
func split(t *rapid.T, s string) (out []string) {
	for len(s) > 0 {
		n := rapid.IntRange(1, min(len(s), 40)).Draw(t, "delta")
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

func stream(o Options, deltas []string) (out []Chunk) {
	k := New(o)
	for _, d := range deltas {
		out = append(out, k.Feed(d)...)
	}
	return append(out, k.Flush()...)
}

// leftOpen is a reading of fences of its own: the marker of the fence that is
// open at the end of text.
func leftOpen(text string, limit int) string {
	open := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimLeft(line, " \t")
		if len(line) > limit || len(line)-len(bare) > maxIndent || bare == "" {
			continue
		}
		rest := strings.TrimLeft(bare, bare[:1])
		mark := bare[:len(bare)-len(rest)]
		if len(mark) < 3 || mark[0] != '`' && mark[0] != '~' {
			continue
		}
		switch {
		case open == "" && !(mark[0] == '`' && strings.Contains(rest, "`")):
			open = mark
		case open != "" && mark[0] == open[0] && len(mark) >= len(open) && strings.Trim(rest, " \t") == "":
			open = ""
		}
	}
	return open
}

// check verifies what holds for the chunks of any text.
func check(text string, limit int, unit channel.Unit, chunks []Chunk) error {
	var joined strings.Builder
	for i, c := range chunks {
		joined.WriteString(c.Body)
		if n := unit.Len(c.Text()); n > limit {
			return fmt.Errorf("chunk %d has %d %s, more than %d: %q", i, n, unit, limit, c.Text())
		}
		if c.Body == "" {
			return fmt.Errorf("chunk %d is empty", i)
		}
		if open := leftOpen(c.Text(), min(maxFenceLine, limit/4)); open != "" {
			return fmt.Errorf("chunk %d leaves %s open: %q", i, open, c.Text())
		}
		if c.Continues != (i > 0) {
			return fmt.Errorf("chunk %d: Continues is %v", i, c.Continues)
		}
	}
	if joined.String() != text {
		return fmt.Errorf("joined: %q\nwant:   %q", joined.String(), text)
	}
	return clusters(text, limit, unit, chunks)
}

// clusters finds cuts inside grapheme clusters that would have fitted.
func clusters(text string, limit int, unit channel.Unit, chunks []Chunk) error {
	bounds := map[int]bool{}
	g := uniseg.NewGraphemes(text)
	huge := 0
	for g.Next() {
		from, to := g.Positions()
		bounds[from] = true
		huge = max(huge, unit.Len(text[from:to]))
	}
	if huge > limit/8 {
		return nil
	}
	at := 0
	for i, c := range chunks[:max(0, len(chunks)-1)] {
		at += len(c.Body)
		if !bounds[at] {
			return fmt.Errorf("the cut after chunk %d is inside a cluster: %q | %q", i, c.Body, chunks[i+1].Body)
		}
	}
	return nil
}

func options(t *rapid.T) Options {
	limit := rapid.IntRange(16, 400).Draw(t, "max")
	return Options{
		Max: limit, Min: rapid.IntRange(1, limit).Draw(t, "min"),
		Prefer: rapid.SampledFrom([]Break{Paragraph, Newline, Sentence}).Draw(t, "prefer"),
	}
}

// For any text and any split of it into deltas, the joined chunks are the
// text, each is within the limits, no fence is left open, no cluster is cut,
// and the chunks are those of the text in one piece.
func TestAnyTextAnySplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, o := anyText(t), options(t)
		got := stream(o, split(t, text))
		if err := check(text, o.Max, channel.Characters, got); err != nil {
			t.Fatal(err)
		}
		whole := stream(o, []string{text})
		if len(whole) != len(got) {
			t.Fatalf("the split matters: %d chunks, in one piece %d\n%+v\n%+v", len(got), len(whole), got, whole)
		}
		for i := range whole {
			if whole[i] != got[i] {
				t.Fatalf("the split matters: chunk %d is %+v, in one piece %+v", i, got[i], whole[i])
			}
		}
		for i, c := range got[:max(0, len(got)-1)] {
			if n := utf8.RuneCountInString(c.Text()); n < 1 {
				t.Fatalf("chunk %d is empty", i)
			}
		}
	})
}

// The same for whole texts, in both modes, in every unit and with a limit of
// lines.
func TestAnyTextWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText(t)
		l := Limits{
			Chars: rapid.IntRange(16, 400).Draw(t, "chars"),
			Lines: rapid.SampledFrom([]int{0, 0, 1, 3, 17}).Draw(t, "lines"),
			Mode:  rapid.SampledFrom([]SplitMode{Length, ByNewlines, ""}).Draw(t, "mode"),
			Unit:  rapid.SampledFrom([]channel.Unit{"", channel.UTF16, channel.Bytes}).Draw(t, "unit"),
		}
		if err := check(text, l.Chars, l.Unit, Split(text, l)); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzChunker(f *testing.F) {
	for i, s := range pieces() {
		f.Add(s+"some text. And more\n\n"+s+s, uint8(i), uint16(20+i*7))
	}
	f.Add("```go\n"+strings.Repeat("x := 1\n", 40)+"```\nend", uint8(3), uint16(64))
	f.Fuzz(func(t *testing.T, text string, step uint8, limit uint16) {
		o := Options{Max: 16 + int(limit)%2000, Min: 1 + int(step), Prefer: []Break{Paragraph, Newline, Sentence}[int(step)%3]}.Clamp(0)
		var deltas []string
		for rest := text; rest != ""; {
			n := min(len(rest), 1+int(step)%17)
			deltas, rest = append(deltas, rest[:n]), rest[n:]
		}
		got := stream(o, deltas)
		if err := check(text, o.Max, channel.Characters, got); err != nil {
			t.Fatal(err)
		}
		if one := stream(o, []string{text}); fmt.Sprint(one) != fmt.Sprint(got) {
			t.Fatalf("the split matters:\n%+v\n%+v", got, one)
		}
		l := Limits{Chars: o.Max, Unit: []channel.Unit{"", channel.UTF16, channel.Bytes}[int(step)%3], Lines: int(step) % 20}
		if err := check(text, o.Max, l.Unit, Split(text, l)); err != nil {
			t.Fatal(err)
		}
	})
}
