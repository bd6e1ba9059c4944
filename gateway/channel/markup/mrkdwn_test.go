package markup_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/markup"
)

func TestMrkdwn(t *testing.T) {
	for in, want := range map[string]string{
		"**bold** and *it* ~~no~~ `a<b`":                        "*bold* and _it_ ~no~ `a&lt;b`",
		"# Title\n\ntext & more":                                "*Title*\n\ntext &amp; more",
		"[site](https://example.com/?a=1&b=2)":                  "<https://example.com/?a=1&amp;b=2|site>",
		"[x](javascript:alert(1))":                              "x (javascript:alert(1))",
		"<!here> <@U12345678> @here":                            "&lt;!here&gt; &lt;@U12345678&gt; @here",
		"[<!channel>](https://example.com)":                     "<https://example.com|&lt;!channel&gt;>",
		"[a](https://example.com/|!here)":                       "a (https://example.com/|!here)",
		"```go\nif a < b && c {\n}\n```":                        "```\nif a &lt; b &amp;&amp; c {\n}\n```",
		"- a\n- b\n  - c":                                       "• a\n• b\n    • c",
		"2. x\n3. y":                                            "2. x\n3. y",
		"> q\n> r":                                              "> q\n> r",
		"| a | b |\n|---|---|\n| 1 | <2> |":                     "a | b\n1 | &lt;2&gt;",
		"unclosed **bold and `code":                             "unclosed **bold and `code",
		"**<https://example.com>** ![alt](https://e.com/x.png)": "*<https://example.com>* <https://e.com/x.png|alt>",
	} {
		if got := markup.Mrkdwn(in); got != want {
			t.Errorf("%q became\n%q, want\n%q", in, got, want)
		}
	}
}

// FuzzMrkdwn: whatever a model writes, nothing in angle brackets is anything but a link.
func FuzzMrkdwn(f *testing.F) {
	for _, s := range []string{"<!here>", "[<!x>](https://a|<!here>)", "<https://a|b>",
		"&lt;!here&gt;", "`<!here>`", "![<@U1>](mailto:a@b)"} {
		f.Add(s)
	}
	link := regexp.MustCompile(`<(https?|mailto):[^<>|]*(\|[^<>|]*)?>`)
	f.Fuzz(func(t *testing.T, s string) {
		out := link.ReplaceAllString(markup.Mrkdwn(s), "")
		for line := range strings.SplitSeq(out, "\n") {
			if strings.Contains(line, "<") {
				t.Errorf("%q became %q", s, out)
			}
		}
	})
}
