package markup

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestHTML(t *testing.T) {
	for in, want := range map[string]string{
		"one":                              "<p>one</p>",
		"a\nb\n\nc":                        "<p>a<br/>b</p><p>c</p>",
		"**bold** _it_ `co\"de` ~~no~~":    "<p><b>bold</b> <i>it</i> <code>co&#34;de</code> <s>no</s></p>",
		"# h\n\n- a\n- b\n  1. c":          "<p><b>h</b></p><ul><li>a</li><li>b<ol><li>c</li></ol></li></ul>",
		"3. x\n4. y":                       `<ol start="3"><li>x</li><li>y</li></ol>`,
		"> q\n> r":                         "<blockquote><p>q<br/>r</p></blockquote>",
		"```go\nif a < b {\n\tc()\n}\n```": "<pre>if a &lt; b {<br/>\tc()<br/>}</pre>",
		"[l](https://e.com/?a=1&b=\"2)":    `<p><a href="https://e.com/?a=1&amp;b=&#34;2">l</a></p>`,
		"<https://e.com> <a@e.com>":        `<p><a href="https://e.com">https://e.com</a> <a href="mailto:a@e.com">a@e.com</a></p>`,
		"[x](javascript:alert(1))":         "<p>x (javascript:alert(1))</p>",
		"[](https://e.com)":                `<p><a href="https://e.com">https://e.com</a></p>`,
		"<at>Eve</at> <script>":            "<p>&lt;at&gt;Eve&lt;/at&gt; &lt;script&gt;</p>",
		"<b>x</b>\n<i>":                    "<p>&lt;b&gt;x&lt;/b&gt;<br/>&lt;i&gt;</p>",
		"| a | b |\n|---|---|\n| 1 | 2 |":  "<p>a | b<br/>1 | 2</p>",
		"---":                              "<p>———</p>",
		"x\x00\x1b[31my":                   "<p>x[31my</p>",
	} {
		if got := HTML(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// FuzzHTML: whatever is said, what comes out is well-formed and has no tags but ours.
func FuzzHTML(f *testing.F) {
	for _, s := range []string{
		"- a\n\n  > b\n\n      c", "[a][b]\n\n[b]: c", "<at id=\"0\">x</at>", "***a** b*", "![x](y \"z\")",
		"\x00<\uFFFE", "a|b\n-|-\n1|2",
	} {
		f.Add(s)
	}
	allowed := map[string]bool{"x": true, "p": true, "br": true, "b": true, "i": true, "s": true, "code": true, "pre": true,
		"blockquote": true, "ul": true, "ol": true, "li": true, "a": true}
	f.Fuzz(func(t *testing.T, s string) {
		d := xml.NewDecoder(strings.NewReader("<x>" + HTML(s) + "</x>"))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatalf("%q became %q: %v", s, HTML(s), err)
			}
			if e, ok := token.(xml.StartElement); ok {
				if !allowed[e.Name.Local] {
					t.Fatalf("%q has the tag %s", s, e.Name.Local)
				}
				for _, a := range e.Attr {
					at := strings.ToLower(a.Value)
					if a.Name.Local == "href" && !strings.HasPrefix(at, "http") && !strings.HasPrefix(at, "mailto:") {
						t.Fatalf("%q links to %q", s, a.Value)
					}
				}
			}
		}
	})
}
