package chunk

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func textsOf(chunks []Chunk) (out []string) {
	for _, c := range chunks {
		out = append(out, c.Text())
	}
	return out
}

// Chunking algorithm: the bounds, the break preference and the
// fences, one row each.
func TestChunkerRules(t *testing.T) {
	const lorem = "Lorem ipsum dolor sit amet."
	for name, tc := range map[string]struct {
		o    Options
		in   string
		want []string
	}{
		"low bound": {Options{Min: 20, Max: 60}, "one\n\ntwo\n\nthree four five six\n\nseven", []string{"one\n\ntwo\n\n" +
			"three four five six\n\n", "seven"}},
		"paragraph before newline": {Options{Min: 5, Max: 40}, "first line\nsecond\n\nthird", []string{"first line\nsecond\n\n", "third"}},
		"newline preferred": {Options{Min: 5, Max: 40, Prefer: Newline}, "first line\nsecond\n\nthird",
			[]string{"first line\n", "second\n", "\nthird"}},
		"sentence preferred": {Options{Min: 5, Max: 40, Prefer: Sentence}, "One two. \"Three four!\" Five",
			[]string{"One two. ", "\"Three four!\" ", "Five"}},
		"numbers end no sentence": {Options{Min: 1, Max: 40, Prefer: Sentence}, "1. first\n2. second", []string{"1. first\n2. second"}},
		"high bound, newline": {Options{Min: 5, Max: 20}, "first line\nsecond line and some",
			[]string{"first line\n", "second line and some"}},
		"high bound, sentence":   {Options{Min: 5, Max: 20}, "One two. Three four five", []string{"One two. ", "Three four five"}},
		"high bound, whitespace": {Options{Min: 5, Max: 20}, "words without any end whatever", []string{"words without any ", "end whatever"}},
		"hard break": {Options{Min: 5, Max: 16}, strings.Repeat("x", 40), []string{strings.Repeat("x", 16), strings.Repeat("x", 16),
			"xxxxxxxx"}},
		"no break inside a fence": {Options{Min: 5, Max: 60}, "intro\n\n```go\na\n\nb\n\nc\n```\n\nend", []string{"intro\n\n", "```go\na\n\n" +
			"b\n\nc\n```\n\n", "end"}},
		"a fence moves on whole": {Options{Min: 30, Max: 40}, lorem + "\n```go\nx := 1\ny := 2\n```\n", []string{lorem + "\n", "```go\n" +
			"x := 1\ny := 2\n```\n"}},
		"forced: closed, reopened": {Options{Min: 5, Max: 40}, "```go\nline one\nline two\nline three\nline four\n```\nend", []string{
			"```go\nline one\nline two\nline three\n```", "```go\nline four\n```\nend"}},
		"marker length and indent": {Options{Min: 5, Max: 60}, "  ~~~~ py\n  aaaaaaaaaaaaaaaaaaaa\n  ~~~\n  bbbbbbbbbbbbbbbbbbbb\n  ~~~~\n",
			[]string{
				"  ~~~~ py\n  aaaaaaaaaaaaaaaaaaaa\n  ~~~\n  ~~~~", "  ~~~~ py\n  bbbbbbbbbbbbbbbbbbbb\n  ~~~~\n"}},
		"an unclosed fence is closed": {Options{Min: 5, Max: 60}, "```\ncode", []string{"```\ncode\n```"}},
		"a family is not torn":        {Options{Min: 5, Max: 16}, "abcdefghijk👨‍👩‍👧‍👦b", []string{"abcdefghijk", "👨‍👩‍👧‍👦b"}},
		"nothing":                     {Options{}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, textsOf(stream(tc.o, []string{tc.in}))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Blocks come while the text arrives, not only at its end.
func TestChunkerEmitsAsTheBufferGrows(t *testing.T) {
	k := New(Options{Min: 10, Max: 100})
	if got := k.Feed("short\n\n"); got != nil {
		t.Errorf("below the low bound: %q", textsOf(got))
	}
	if diff := cmp.Diff([]string{"short\n\nlong enough\n\n"}, textsOf(k.Feed("long enough\n\nand"))); diff != "" {
		t.Error(diff)
	}
	if k.Pending() != 3 {
		t.Errorf("%d characters wait, want 3", k.Pending())
	}
	if diff := cmp.Diff([]string{"and"}, textsOf(k.Flush())); diff != "" {
		t.Error(diff)
	}
}

// maxChars is clamped to textChunkLimit.
func TestClampToTextChunkLimit(t *testing.T) {
	for _, tc := range []struct {
		o     Options
		limit int
		want  Options
	}{
		{Options{}, 0, Options{DefaultMin, DefaultMax, Paragraph}},
		{Options{Min: 500, Max: 5000}, 4000, Options{500, 4000, Paragraph}},
		{Options{Min: 5000, Max: 6000, Prefer: Newline}, 300, Options{300, 300, Newline}},
	} {
		if diff := cmp.Diff(tc.want, tc.o.Clamp(tc.limit)); diff != "" {
			t.Error(diff)
		}
	}
}

// chunkMode and maxLinesPerMessage.
func TestSplit(t *testing.T) {
	for name, tc := range map[string]struct {
		l    Limits
		in   string
		want []string
	}{
		"fits":                 {Limits{Chars: 100}, "a\n\nb\n\nc", []string{"a\n\nb\n\nc"}},
		"length fills":         {Limits{Chars: 16}, "aaaa\n\nbbbb\n\ncccc\n\ndd", []string{"aaaa\n\nbbbb\n\n", "cccc\n\ndd"}},
		"newline: paragraphs":  {Limits{Chars: 100, Mode: ByNewlines}, "a\nb\n\nc\n\n\nd", []string{"a\nb\n\n", "c\n\n", "\nd"}},
		"newline, then length": {Limits{Chars: 16, Mode: ByNewlines}, "a\n\nbbbb bbbb bbbb bbbb", []string{"a\n\n", "bbbb bbbb bbbb ", "bbbb"}},
		"lines":                {Limits{Lines: 3}, "1\n2\n3\n4\n5\n6\n7\n", []string{"1\n2\n3\n", "4\n5\n6\n", "7\n"}},
		"lines in a fence":     {Limits{Lines: 5}, "```\n1\n2\n3\n4\n5\n```\n", []string{"```\n1\n2\n3\n```", "```\n4\n5\n```\n"}},
		"no limits":            {Limits{}, strings.Repeat("word ", 10000), []string{strings.Repeat("word ", 10000)}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, textsOf(Split(tc.in, tc.l))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Ten megabytes without a break, and other texts that invite quadratic work,
// take about the same time for each byte whatever their length.
func TestSec_A_DOS_13_HostileTextsAreLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for name, text := range texts() {
		text = text[:len(text)/10]
		n := 0
		for _, c := range stream(Options{}, []string{text}) {
			n += len(c.Body)
		}
		for _, c := range Split(text, Limits{Chars: 4096, Lines: 17}) {
			n -= len(c.Body)
		}
		if n != 0 {
			t.Errorf("%s: %d bytes differ", name, n)
		}
	}
	if utf8.RuneCountInString(Split(strings.Repeat("x", 10<<20), Limits{Chars: 4096})[0].Body) != 4096 {
		t.Error("the first chunk is not full")
	}
}

// A line that only looks like a fence as long as its end is not known does not
// move the cut.
func TestCutWaitsForWhatFollows(t *testing.T) {
	text := "intro words that are here\n``` a ` b c d e f g h i j k l m n o p"
	o := Options{Min: 30, Max: 40}
	want := []string{"intro words that are here\n``` a ` b c d ", "e f g h i j k l m n o p"}
	for name, deltas := range map[string][]string{"whole": {text}, "bytes": strings.Split(text, "")} {
		if diff := cmp.Diff(want, textsOf(stream(o, deltas))); diff != "" {
			t.Error(name + ": " + diff)
		}
	}
}
