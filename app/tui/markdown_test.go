package tui

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/app/terminal"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/internal/seed"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

const sample = "# Heading with *emphasis*\n\n" +
	"A paragraph with **bold**, `code`, ~~gone~~, a [link](https://example.com/x), https://bare.example and <https://auto.example>.\n" +
	"A soft break,  \nand a hard one. Größe 漢字 🏠 &amp; \\*not emphasis\\*.\n\n" +
	"1. one\n2. two\n   - nested with a line that is long enough to be wrapped twice at this width, we hope\n" +
	"   - [x] done\n   - [ ] open\n\n" +
	"   a second paragraph\n3. three\n\n" +
	"> quoted **text**\n>\n> > deeper\n\n```go\nfunc main() {\n" +
	"\tprintln(\"a line of code that is so long that it has to go on below, without losing anything\")\n}\n```\n\n    indented code\n\n" +
	"| name | value |\n|---|---:|\n| **alpha** | 1 |\n| beta | 22 |\n\n" +
	"| a column that is quite wide | another one that is wide too | and a third |\n|---|---|---|\n| x | y | z |\n\n<b>raw</b> html\n\n" +
	"<div>\nblock\n</div>\n\n![picture](https://example.com/p.png)\n\n---\n\nend"

func draw(src string, w int, colour bool) []string {
	th := newTheme(map[bool]string{true: "auto", false: "none"}[colour])
	return newMarkdown(&th).lines(terminal.Clean(src), w)
}

func TestMarkdownGolden(t *testing.T) {
	golden(t, "markdown-60.txt", strings.Join(draw(sample, 60, false), "\n")+"\n")
	golden(t, "markdown-60-colour.txt", strings.Join(draw(sample, 60, true), "\n")+"\n")
	golden(t, "markdown-24.txt", ansi.Strip(strings.Join(draw(sample, 24, false), "\n"))+"\n")
}

func TestNoColourWithoutColour(t *testing.T) {
	for _, l := range draw(sample, 60, false) {
		for _, code := range []string{"\x1b[3", "\x1b[4m\x1b[3", ";3", "\x1b[9"} {
			if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(l, "\x1b[3m", ""), "\x1b[9m", ""), code+"1") ||
				strings.Contains(l, "\x1b[36m") || strings.Contains(l, "\x1b[34m") {
				t.Fatalf("colour in %q", l)
			}
		}
	}
}

// Whatever a model writes, lines stay within the width and hold no sequence
// but our own looks.
func checkLines(t *testing.T, src string, w int) {
	t.Helper()
	for _, l := range draw(src, w, true) {
		if strings.ContainsAny(l, "\n\r\t") {
			t.Fatalf("a line of %q holds a line end or tab: %q", src, l)
		}
		if n := width(l); n > w && w >= 20 {
			t.Fatalf("a line of %q takes %d of %d cells: %q", src, n, w, l)
		}
		for i, part := range strings.Split(l, "\x1b") {
			if i == 0 {
				continue
			}
			end := strings.IndexByte(part, 'm')
			if end < 1 || part[0] != '[' || strings.Trim(part[1:end], "0123456789;") != "" {
				t.Fatalf("%q lets %q through", src, l)
			}
		}
		if plain := ansi.Strip(l); terminal.Clean(plain) != plain {
			t.Fatalf("%q shows %q", src, plain)
		}
	}
}

func TestSec_A_TTY_02_Markdown(t *testing.T) {
	for _, src := range []string{
		"\x1b[2Jgone", "a &#27;[2J b &#x1b;]0;title&#7;", "[bank](http://evil.example/\x1b]8;;x)", "```\x1b[31m\nx\x1b[2J\n```",
		"`&#27;[2J`", "| \x1b[1m |\n|---|\n| &#27;c |", "<b\x1b[31m>", "&#x202e;evil", "![\x1b](\x1b)", "1. \u202e\n", "\u009b2J", "# &#155;2J",
	} {
		checkLines(t, src, 40)
	}
	if s := strings.Join(draw("[https://bank.example](https://evil.example)", 80, false), ""); !strings.Contains(s, "https://evil.example") {
		t.Errorf("a link hides where it goes: %q", s)
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add(sample, 40)
	f.Add("- a\n\n  - b\n\n\t- c\n1) x", 21)
	f.Add("> > > > > > > > > > > > > > > > > > deep", 20)
	f.Fuzz(func(t *testing.T, src string, w int) {
		if len(src) > 4096 {
			t.Skip()
		}
		checkLines(t, src, 1+max(0, w)%120)
	})
}

// A stream ends up as the text drawn at once, and never redraws what is
// settled: only the look of the last block may change.
func TestStreamEndsAsTheWhole(t *testing.T) {
	th := newTheme("none")
	md := newMarkdown(&th)
	text := scripted.Markdown(6000)
	want := md.lines(text, 70)
	rng := seed.Fixed(t, 1)
	for range 20 {
		s := stream{md: md}
		settled := 0
		for at := 0; at < len(text); {
			at = min(len(text), at+1+rng.IntN(200))
			src := strings.ToValidUTF8(text[:at], "")
			s.set(src, 70)
			if n := len(s.lines); n < settled {
				t.Fatalf("settled lines went from %d to %d", settled, n)
			} else {
				settled = n
			}
			s.draw()
		}
		if s.done == 0 {
			t.Fatal("nothing was settled")
		}
		if d := cmp.Diff(want, s.draw()); d != "" {
			t.Fatalf("(-whole +streamed):\n%s", d)
		}
	}
}

func TestStreamStartsOverWhenTheTextDiffers(t *testing.T) {
	th := newTheme("none")
	s := stream{md: newMarkdown(&th)}
	s.set("one\n\ntwo\n\nthree", 40)
	s.set("other", 40)
	if d := cmp.Diff([]string{"other"}, s.draw()); d != "" {
		t.Error(d)
	}
	s.set("other\n\nwords\n\n", 20)
	if d := cmp.Diff([]string{"other", "", "words"}, s.draw()); d != "" {
		t.Error(d)
	}
}

func BenchmarkStream(b *testing.B) {
	th := newTheme("auto")
	md := newMarkdown(&th)
	text := scripted.Markdown(200 << 10)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s := stream{md: md}
		for at := 0; at < len(text); at += 400 {
			s.set(text[:at], 100)
			s.draw()
		}
	}
}
