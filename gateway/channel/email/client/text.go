package client

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// ofHTML are the words of HTML, with the line ends that people see.
func ofHTML(page string) string {
	var b strings.Builder
	hidden := 0
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		if kind == html.TextToken {
			if hidden == 0 {
				words(&b, string(z.Text()))
			}
			continue
		}
		name, _ := z.TagName()
		switch tag := atom.Lookup(name); tag {
		case atom.Style, atom.Script, atom.Title, atom.Template:
			switch {
			case kind == html.StartTagToken:
				hidden++
			case kind == html.EndTagToken && hidden > 0:
				hidden--
			}
		case atom.Br, atom.P, atom.Div, atom.Li, atom.Tr, atom.H1, atom.H2, atom.H3, atom.H4, atom.Ul, atom.Ol, atom.Table,
			atom.Blockquote, atom.Pre:
			if tag == atom.Br || !strings.HasSuffix(b.String(), "\n") {
				b.WriteByte('\n')
			}
		case atom.Td, atom.Th:
			b.WriteByte(' ')
		}
	}
	lines := strings.Split(b.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// words writes a text of HTML, in which any white space is one space.
func words(b *strings.Builder, html string) {
	text := strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, htmlUnescape(html))), " ")
	if text == "" {
		if html != "" && b.Len() > 0 {
			b.WriteByte(' ')
		}
		return
	}
	if strings.TrimLeft(html, " \t\r\n") != html {
		b.WriteByte(' ')
	}
	b.WriteString(text)
	if strings.TrimRight(html, " \t\r\n") != html {
		b.WriteByte(' ')
	}
}

func htmlUnescape(s string) string { return html.UnescapeString(s) }

// introduces is the line before a quotation, as mail programs write it.
var introduces = regexp.MustCompile(`(?i)^(on .*wrote|am .*schrieb.*|le .*a écrit|el .*escribió|il .*ha scritto|op .*schreef.*|.*写道)\s*[::]$`)

// original is the line before a message that is quoted without marks.
var original = regexp.MustCompile(`(?i)^-{2,} ?(original message|ursprüngliche nachricht|message d'origine|forwarded message)? ?-{2,}$`)

// apart separates what was typed from the message that is quoted behind it. A
// quotation with answers between its lines is left where it is.
func apart(text string) (typed, quoted string) {
	lines := strings.Split(text, "\n")
	end := len(lines)
	for i, l := range lines {
		l = strings.TrimSpace(l)
		if l == "--" && i > 0 { // a signature
			end = i
			break
		}
		if i > 0 && original.MatchString(l) {
			return strings.TrimSpace(strings.Join(lines[:i], "\n")), unmarked(lines[i+1:])
		}
	}
	begin := end
	for begin > 0 && (strings.HasPrefix(lines[begin-1], ">") || strings.TrimSpace(lines[begin-1]) == "") {
		begin--
	}
	marked := unmarked(lines[begin:end])
	if begin == 0 || marked == "" {
		return strings.TrimSpace(strings.Join(lines[:end], "\n")), ""
	}
	// The line that introduces the quotation is often broken in two.
	for n := 1; n <= 2 && n <= begin; n++ {
		if introduces.MatchString(strings.TrimSpace(strings.Join(lines[begin-n:begin], " "))) {
			begin -= n
			break
		}
	}
	typed = strings.TrimSpace(strings.Join(lines[:begin], "\n"))
	if typed == "" {
		return strings.TrimSpace(text), ""
	}
	return typed, marked
}

// unmarked is a quotation without its marks.
func unmarked(lines []string) string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimPrefix(strings.TrimPrefix(l, ">"), " ")
	}
	return cut(strings.TrimSpace(strings.Join(out, "\n")), mostQuoted)
}
