package telegram

import (
	"strings"
	"unicode/utf8"
)

// rendered is one message as Telegram takes it.
type rendered struct {
	html  string
	plain string // what is visible, for when Telegram does not like the HTML
}

// units is the length as Telegram counts it.
func (r rendered) units() int { return utf16Len(r.plain) }

// render turns Markdown into the HTML subset that Telegram knows. It takes any
// text, also one that was cut in the middle: a mark without its partner stays
// as it is, an open fence ends with the text. What is visible is never longer
// than the Markdown was, so a text that fits before fits after.
func render(markdown string) rendered {
	b := &builder{open: map[string]int{}}
	lines := strings.Split(strings.ReplaceAll(clean(markdown), "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); {
		i = b.block(lines, i)
	}
	return b.done()
}

// clean drops what Telegram refuses or hides text with.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r':
			return r
		case r < 0x20, r == 0x7f:
			return -1
		}
		return r
	}, s)
}

// builder writes the HTML and the visible text side by side.
type builder struct {
	html, plain strings.Builder
	blocks      int
	open        map[string]int // tags that began and did not end
}

func (b *builder) text(s string) {
	b.plain.WriteString(s)
	escape(&b.html, s)
}

func (b *builder) tag(s string) { b.html.WriteString(s) }

// begin and end write a tag that marks may ask for again inside itself, as in
// a bold word of a heading; Telegram wants it once.
func (b *builder) begin(name string) {
	if b.open[name]++; b.open[name] == 1 {
		b.tag("<" + name + ">")
	}
}

func (b *builder) end(name string) {
	if b.open[name]--; b.open[name] == 0 {
		b.tag("</" + name + ">")
	}
}

// newline begins every block but the first.
func (b *builder) newline() {
	if b.blocks > 0 {
		b.text("\n")
	}
	b.blocks++
}

func (b *builder) done() rendered { return rendered{html: b.html.String(), plain: b.plain.String()} }

// escape also covers quotation marks, so that it serves attributes too.
func escape(b *strings.Builder, s string) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '"':
			b.WriteString("&quot;")
		default:
			b.WriteByte(s[i])
		}
	}
}

// block writes the block that begins at line i and returns where the next one
// begins.
func (b *builder) block(lines []string, i int) int {
	line := lines[i]
	if f, ok := openFence(line); ok {
		return b.fence(lines, i, f)
	}
	if strings.HasPrefix(strings.TrimLeft(line, " "), ">") {
		return b.quote(lines, i)
	}
	if isTable(lines, i) {
		return b.table(lines, i)
	}
	if single, ok := oneLine(line); ok {
		b.newline()
		single(b)
		return i + 1
	}
	// A paragraph: marks may stand on different lines of it.
	end := i + 1
	for end < len(lines) && lines[end] != "" && !startsBlock(lines, end) {
		end++
	}
	b.newline()
	b.inline(strings.Join(lines[i:end], "\n"))
	return end
}

func startsBlock(lines []string, i int) bool {
	if _, ok := openFence(lines[i]); ok {
		return true
	}
	if _, ok := oneLine(lines[i]); ok {
		return true
	}
	return strings.HasPrefix(strings.TrimLeft(lines[i], " "), ">") || isTable(lines, i)
}

// oneLine knows the blocks that are one line: headings, rules, list entries.
func oneLine(line string) (write func(*builder), ok bool) {
	trimmed := strings.TrimLeft(line, " \t")
	indent := line[:len(line)-len(trimmed)]
	if n := len(trimmed) - len(strings.TrimLeft(trimmed, "#")); n >= 1 && n <= 6 && strings.HasPrefix(trimmed[n:], " ") {
		title := strings.TrimSpace(strings.TrimRight(strings.TrimSpace(trimmed[n:]), "#"))
		return func(b *builder) {
			if title != "" {
				b.begin("b")
				b.inline(title)
				b.end("b")
			}
		}, true
	}
	if isRule(trimmed) {
		return func(b *builder) { b.text("———") }, true
	}
	if len(trimmed) >= 2 && strings.ContainsRune("-*+", rune(trimmed[0])) && trimmed[1] == ' ' {
		mark, rest := "• ", trimmed[2:]
		switch {
		case strings.HasPrefix(rest, "[ ] "):
			mark, rest = "☐ ", rest[4:]
		case strings.HasPrefix(rest, "[x] "), strings.HasPrefix(rest, "[X] "):
			mark, rest = "☑ ", rest[4:]
		}
		return func(b *builder) { b.text(indent + mark); b.inline(rest) }, true
	}
	if n := digits(trimmed); n > 0 && n <= 9 && len(trimmed) > n+1 && (trimmed[n] == '.' || trimmed[n] == ')') && trimmed[n+1] == ' ' {
		return func(b *builder) { b.text(indent + trimmed[:n+2]); b.inline(trimmed[n+2:]) }, true
	}
	return nil, false
}

func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

func isRule(s string) bool {
	s = strings.ReplaceAll(strings.TrimRight(s, " \t"), " ", "")
	return len(s) >= 3 && (strings.Trim(s, "-") == "" || strings.Trim(s, "*") == "" || strings.Trim(s, "_") == "")
}

// fenceMark opens and closes a block of code.
type fenceMark struct {
	char     byte
	length   int
	indent   string
	language string
}

func openFence(line string) (f fenceMark, ok bool) {
	trimmed := strings.TrimLeft(line, " \t")
	f.indent = line[:len(line)-len(trimmed)]
	if !strings.HasPrefix(trimmed, "```") && !strings.HasPrefix(trimmed, "~~~") {
		return f, false
	}
	f.char = trimmed[0]
	f.length = len(trimmed) - len(strings.TrimLeft(trimmed, string(f.char)))
	info := strings.TrimSpace(trimmed[f.length:])
	if f.char == '`' && strings.Contains(info, "`") {
		return f, false // code inside a line
	}
	f.language, _, _ = strings.Cut(info, " ")
	return f, true
}

func (f fenceMark) closedBy(line string) bool {
	s := strings.TrimSpace(line)
	return len(s) >= f.length && strings.Trim(s, string(f.char)) == ""
}

func (b *builder) fence(lines []string, i int, f fenceMark) int {
	end := i + 1
	for end < len(lines) && !f.closedBy(lines[end]) {
		end++
	}
	code := make([]string, 0, end-i)
	for _, l := range lines[i+1 : end] {
		code = append(code, strings.TrimPrefix(l, f.indent))
	}
	if text := strings.Join(code, "\n"); strings.TrimSpace(text) != "" {
		b.newline()
		b.pre(text, f.language)
	}
	return min(end+1, len(lines))
}

func (b *builder) pre(text, language string) {
	b.tag("<pre>")
	if language = languageName(language); language != "" {
		b.tag(`<code class="language-` + language + `">`)
	}
	b.text(text)
	if language != "" {
		b.tag("</code>")
	}
	b.tag("</pre>")
}

// languageName keeps what can stand in a class name.
func languageName(s string) string {
	if len(s) > 32 || strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+-#._", r)
	}) {
		return ""
	}
	return strings.ToLower(s)
}

// quote: Telegram knows one level, so deeper ones are flattened.
func (b *builder) quote(lines []string, i int) int {
	var inside []string
	for ; i < len(lines); i++ {
		l := strings.TrimLeft(lines[i], " ")
		if !strings.HasPrefix(l, ">") {
			break
		}
		for strings.HasPrefix(l, ">") {
			l = strings.TrimPrefix(strings.TrimPrefix(l, ">"), " ")
		}
		inside = append(inside, l)
	}
	text := strings.Join(inside, "\n")
	if strings.TrimSpace(text) == "" {
		return i
	}
	b.newline()
	b.tag("<blockquote>")
	b.inline(text)
	b.tag("</blockquote>")
	return i
}

// isTable: a row and, below it, the line that makes it a table.
func isTable(lines []string, i int) bool {
	if !strings.Contains(lines[i], "|") || i+1 >= len(lines) || !strings.Contains(lines[i+1], "|") {
		return false
	}
	rule := strings.TrimSpace(lines[i+1])
	return strings.Contains(rule, "-") && strings.Trim(rule, "|-: ") == ""
}

// table: Telegram has none; columns stay readable in a fixed-width font.
func (b *builder) table(lines []string, i int) int {
	start := i
	for i < len(lines) && strings.Contains(lines[i], "|") {
		i++
	}
	b.newline()
	b.pre(strings.Join(lines[start:i], "\n"), "")
	return i
}

func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}

// halve cuts a text near its middle, at the best place there is: an empty line,
// the end of a line, a space, or else between two characters.
func halve(s string) (string, string) {
	mid := len(s) / 2
	for mid > 0 && !utf8.RuneStart(s[mid]) {
		mid--
	}
	for _, sep := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(s[:mid], sep); i > mid/2 {
			return s[:i], s[i+len(sep):]
		}
	}
	cut := mid
	for n := 0; cut < len(s) && n < 40; n++ {
		if !joins(s[:cut], s[cut:]) {
			return s[:cut], s[cut:]
		}
		_, size := utf8.DecodeRuneInString(s[cut:])
		cut += size
	}
	return s[:mid], s[mid:] // one endless character: there is no good place
}

// joins reports whether a cut here would take a drawn character apart.
func joins(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	const joiner = 0x200D
	return last == joiner || next == joiner ||
		next >= 0xFE00 && next <= 0xFE0F || // how to draw it
		next >= 0x1F3FB && next <= 0x1F3FF || // skin
		next >= 0x0300 && next <= 0x036F || // accents
		next >= 0x1F1E6 && next <= 0x1F1FF || // flags are pairs
		next >= 0xE0020 && next <= 0xE007F
}
