package cron

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBatch(t *testing.T) {
	for name, c := range map[string]struct {
		match string
		most  int
		in    []string
		want  string
	}{
		"lines in pieces":        {"", 100, []string{"a", "b\nc\r\n", "\n", "d"}, "ab\nc\nd"},
		"only some":              {"^bad", 100, []string{"good\nbad 1\nworse\nbad 2\n"}, "bad 1\nbad 2"},
		"too many":               {"", 10, []string{"12345\n", "6789012345\n", "x\n"}, "12345\n678\n[truncated]"},
		"a cut line has no end":  {"end$", 100, []string{strings.Repeat("x", maxLine) + "end\n"}, ""},
		"the end, beyond a cut":  {"end$", 100, []string{strings.Repeat("x", maxLine) + " more\n", "the end\n"}, "the end"},
		"bytes that are no text": {"", 100, []string{"a\xffb\n"}, "a\uFFFDb"},
	} {
		b := &batch{most: c.most}
		if c.match != "" {
			b.match = regexp.MustCompile(c.match)
		}
		for _, in := range c.in {
			b.feed([]byte(in))
		}
		b.end()
		if got := b.words(); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
		if b.given(); b.waits() {
			t.Errorf("%s: something is left", name)
		}
	}
}

// Whatever a program prints, what is kept is text and within its bounds.
func FuzzBatch(f *testing.F) {
	f.Add([]byte("a\nb\r\n\xff"), 3, true)
	f.Fuzz(func(t *testing.T, in []byte, cut int, gap bool) {
		b := &batch{most: leastBatchSize}
		cut = min(max(cut, 0), len(in))
		b.feed(in[:cut])
		if gap {
			b.gap()
		}
		b.feed(in[cut:])
		b.end()
		if s := b.words(); !utf8.ValidString(s) || len(b.text) > leastBatchSize || len(b.part) > maxLine {
			t.Errorf("%d bytes: %q", len(b.text), s)
		}
	})
}
