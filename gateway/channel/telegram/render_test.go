package telegram

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
)

func TestRender(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "a & b < c > d \"e\"", "a &amp; b &lt; c &gt; d &quot;e&quot;"},
		{"bold and italic", "**a** __b__ *c* _d_ ***e***", "<b>a</b> <b>b</b> <i>c</i> <i>d</i> <i><b>e</b></i>"},
		{"nested", "**a *b* c**", "<b>a <i>b</i> c</b>"},
		{"crossed", "**a *b** c*", "<b>a *b</b> c*"},
		{"open", "**a", "**a"},
		{"over lines", "**a\nb**", "<b>a\nb</b>"},
		{"strike and spoiler", "~~a~~ ||b|| ~c~ a|b", "<s>a</s> <tg-spoiler>b</tg-spoiler> ~c~ a|b"},
		{"words", "snake_case_name 2*3*4 * x *", "snake_case_name 2<i>3</i>4 * x *"},
		{"code", "`a <b> **c**` ``x`y`` `open", "<code>a &lt;b&gt; **c**</code> <code>x`y</code> `open"},
		{"fence", "a\n```go\nx := \"<\" // **\n```\nb", "a\n<pre><code class=\"language-go\">x := &quot;&lt;&quot; // **</code></pre>\nb"},
		{"fence with odd info", "```a\"b><\nx\n```", "<pre>x</pre>"},
		{"fence open", "```\nx\ny", "<pre>x\ny</pre>"},
		{"fence in a list", "- a\n  ```sh\n  ls\n  ```\n- b", "• a\n<pre><code class=\"language-sh\">ls</code></pre>\n• b"},
		{"longer fence", "````\n```\n````", "<pre>```</pre>"},
		{"tildes", "~~~\nx\n~~~", "<pre>x</pre>"},
		{"heading", "# A **b** *c*\ntext\n####### no\n#tag", "<b>A b <i>c</i></b>\ntext\n####### no\n#tag"},
		{"lists", "- a\n* b\n+ c\n  - d\n1. e\n2) f\n- [ ] g\n- [x] h", "• a\n• b\n• c\n  • d\n1. e\n2) f\n☐ g\n☑ h"},
		{"rule", "a\n\n---\nb", "a\n\n———\nb"},
		{"quote", "> a **b**\n>> c\n\nd", "<blockquote>a <b>b</b>\nc</blockquote>\n\nd"},
		{"link", "[a *b*](https://x.y/?q=1&r=\"2\" \"title\")", "<a href=\"https://x.y/?q=1&amp;r=&quot;2&quot;\">a <i>b</i></a>"},
		{"link with brackets", "[a [b] c](https://x.y/(z))", "<a href=\"https://x.y/(z)\">a [b] c</a>"},
		{"other schemes", "[a](javascript:alert(1)) [b](tg://user?id=1) [c](/d) [e](https://u:p@h/)",
			"a (javascript:alert(1)) b (tg://user?id=1) c (/d) e (https://u:p@h/)"},
		{"image", "![alt](https://x.y/i.png) ![](https://x.y/j.png)", "<a href=\"https://x.y/i.png\">alt</a> <a " +
			"href=\"https://x.y/j.png\">https://x.y/j.png</a>"},
		{"angle link", "<https://x.y> <b>", "<a href=\"https://x.y\">https://x.y</a> &lt;b&gt;"},
		{"no link", "[a] (b) [c]( [d](", "[a] (b) [c]( [d]("},
		{"escapes", `\*a\* \_ \[x](y) \\`, "*a* _ [x](y) \\"},
		{"entities", "a&nbsp;b &lt;i&gt; &amp; &amp;lt; &unknown;", "a\u00a0b &lt;i&gt; &amp; &amp;lt; &amp;unknown;"},
		{"table", "|a|b|\n|---|:-:|\n|1|2|\nend", "<pre>|a|b|\n|---|:-:|\n|1|2|</pre>\nend"},
		{"html stays text", "<script>alert(1)</script> <b>x</b>", "&lt;script&gt;alert(1)&lt;/script&gt; &lt;b&gt;x&lt;/b&gt;"},
		{"control characters", "a\x00b\x1b[31mc\td\r\ne", "ab[31mc\td\ne"},
		{"runs", "**** ___ ~~~~ ||||", "**** ___ ~~~~ ||||"},
		{"bold code", "**`a`**", "<b><code>a</code></b>"},
		{"emoji", "**👩‍👩‍👧**", "<b>👩‍👩‍👧</b>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := render(tt.in)
			if diff := cmp.Diff(tt.want, got.html); diff != "" {
				t.Error(diff)
			}
			checkRendered(t, tt.in, got)
		})
	}
}

// checkRendered is true for any text: Telegram can read it, sees what we count,
// and it is not longer than the Markdown.
func checkRendered(t *testing.T, in string, r rendered) {
	t.Helper()
	text, entities, err := telegramtest.ParseHTML(r.html)
	if err != nil {
		t.Fatalf("Telegram refuses %q, made of %q: %v", r.html, in, err)
	}
	if text != r.plain {
		t.Errorf("visible %q, counted %q", text, r.plain)
	}
	if r.units() > utf16Len(in) {
		t.Errorf("%q grew to %q", in, r.plain)
	}
	for _, e := range entities {
		if e.URL != "" && !strings.HasPrefix(e.URL, "https://") && !strings.HasPrefix(strings.ToLower(e.URL), "http") {
			t.Errorf("a link to %q", e.URL)
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, s := range []string{"**a *b** c*", "```go\n<\n", "[a](b)", "> - # x\n|a|\n|-|", "***a**_*", "![`](https://x)", "\\", "&amp;lt;",
		"`` ` ``", "~~a||b~~c||", "[[[](((", "<https://a>", "- \n1. \n# \n>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := render(s)
		checkRendered(t, s, r)
		a, b := halve(s)
		if len(s) > 1 && strings.TrimSpace(s) != "" && len(a) == len(s) {
			t.Errorf("%q was not cut", s)
		}
		_ = b
	})
}

// hostileMarks are what makes careless renderers slow when it is repeated.
func hostileMarks() []string {
	return []string{"*a", "**a", "_", "`", "[", "[(", "![", "](", "<", "<https://", "> ", "|", "||a", "~~a", "a**_", "[a](", "&amp;", "\\",
		"- ", "```", "*a_b~~c||", "|\n", "# ", "**a *"}
}

// Ten times the longest message that is ever rendered; see BenchmarkRenderHostile
// for how long it takes.
func TestSec_A_DOS_RenderHostileTexts(t *testing.T) {
	for _, s := range hostileMarks() {
		in := strings.Repeat(s, 40_000/len(s))
		checkRendered(t, in, render(in))
	}
}

func BenchmarkRenderHostile(b *testing.B) {
	for _, s := range hostileMarks() {
		for _, n := range []int{6_000, 48_000} {
			in := strings.Repeat(s, n/len(s))
			b.Run(fmt.Sprintf("%q/%d", s, n), func(b *testing.B) {
				b.SetBytes(int64(len(in)))
				for b.Loop() {
					render(in)
				}
			})
		}
	}
}

func BenchmarkRender(b *testing.B) {
	text := strings.Repeat("Some **bold** text with `code`, a [link](https://example.org/x) and _more_.\n- item\n", 48)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		render(text)
	}
}
