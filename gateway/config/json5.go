package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of the file. They are far above any real settings file and keep a
// hostile one from costing memory or stack.
const (
	maxFileBytes = 4 << 20
	maxDepth     = 64
	maxValues    = 100_000
)

const bom = "\ufeff"

type kind uint8

const (
	kindNull kind = iota + 1
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

func (k kind) String() string {
	switch k {
	case kindNull:
		return "null"
	case kindBool:
		return "true or false"
	case kindNumber:
		return "a number"
	case kindString:
		return "a text"
	case kindArray:
		return "a list [ ]"
	default:
		return "an object { }"
	}
}

// node is one value and where its text lies in the file. The text between
// nodes (comments, spaces, commas) stays in document.src; edits splice there.
type node struct {
	kind       kind
	start, end int
	text       string // string: the value; number and bool: the JSON spelling
	items      []item // array and object
}

// item is one member of an object or one element of an array.
type item struct {
	key              string
	keyStart, keyEnd int // for elements: equal to value.start
	value            *node
	comma            int // offset of the comma behind it, -1 when there is none
}

type span struct{ start, end int }

// document is a parsed file.
type document struct {
	src      string
	root     *node
	comments []span
}

// SyntaxError says where a file stops being JSON5. Line and Column count from
// 1; columns count characters.
type SyntaxError struct {
	Line, Column int
	Path         string
	Reason       string
}

func (e *SyntaxError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
	}
	return fmt.Sprintf("line %d, column %d (%s): %s", e.Line, e.Column, e.Path, e.Reason)
}

type parser struct {
	src      string
	pos      int
	depth    int
	values   int
	path     Path
	comments []span

	doubles bool // keys that stand twice in an object are taken together
}

// parse reads one JSON5 value. It accepts what json5.org describes, except
// Infinity and NaN, and refuses duplicate keys.
func parse(src string) (*document, error) { return (&parser{src: src}).document() }

func (p *parser) document() (*document, error) {
	src := p.src
	if err := p.checkBytes(); err != nil {
		return nil, err
	}
	p.pos = len(src) - len(strings.TrimPrefix(src, bom))
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.pos == len(src) {
		return nil, p.fail(p.pos, "there are no settings in it; the smallest valid content is {}")
	}
	root, err := p.value()
	if err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.pos < len(src) {
		return nil, p.fail(p.pos, "nothing may follow the closing bracket, found %s", p.here())
	}
	return &document{src: src, root: root, comments: p.comments}, nil
}

// parseObject is parse for a file: the root must be an object.
func parseObject(src string) (*document, error) {
	return (&parser{src: src}).object()
}

// parseDoubles is parseObject for a text whose objects name keys twice. Their
// objects are merged, of other values the last one counts. It is only read: an
// edit would not know which of the two is meant.
func parseDoubles(src string) (*document, error) {
	return (&parser{src: src, doubles: true}).object()
}

func (p *parser) object() (*document, error) {
	doc, err := p.document()
	if err != nil {
		return nil, err
	}
	if doc.root.kind != kindObject {
		return nil, p.fail(doc.root.start, "the whole file must be one object { }, found %s", doc.root.kind)
	}
	return doc, nil
}

func (p *parser) checkBytes() error {
	if len(p.src) > maxFileBytes {
		return &SyntaxError{Line: 1, Column: 1, Reason: fmt.Sprintf("the text is larger than %d MiB", maxFileBytes>>20)}
	}
	if strings.HasPrefix(p.src, "\xff\xfe") || strings.HasPrefix(p.src, "\xfe\xff") {
		return &SyntaxError{Line: 1, Column: 1, Reason: "the file is saved as UTF-16; save it as UTF-8"}
	}
	if !utf8.ValidString(p.src) {
		for i, r := range p.src {
			if r == utf8.RuneError && !strings.HasPrefix(p.src[i:], "\ufffd") {
				return p.fail(i, "this byte is not UTF-8; save the file as UTF-8")
			}
		}
	}
	if i := strings.IndexByte(p.src, 0); i >= 0 {
		return p.fail(i, "a zero byte is not allowed; the file may be damaged")
	}
	return nil
}

// fail makes the error for an offset. It must never quote a word of the file:
// with a missing quotation mark that word can be somebody's key.
func (p *parser) fail(at int, format string, args ...any) *SyntaxError {
	line, col := position(p.src, at)
	return &SyntaxError{Line: line, Column: col, Path: p.path.shown(), Reason: fmt.Sprintf(format, args...)}
}

// here names what stands at the read position, one character at most.
func (p *parser) here() string {
	if p.pos >= len(p.src) {
		return "the end of the file"
	}
	r, _ := utf8.DecodeRuneInString(p.src[p.pos:])
	switch {
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		return "a word"
	case unicode.IsPrint(r):
		return string(r)
	}
	return fmt.Sprintf("the character U+%04X", r)
}

// position turns an offset into line and column, as editors count them.
func position(src string, at int) (line, col int) {
	at = min(at, len(src))
	start := 0
	if strings.HasPrefix(src[:at], bom) {
		start = len(bom)
	}
	line = 1
	for i := start; i < at; i++ {
		if src[i] == '\n' || src[i] == '\r' && !strings.HasPrefix(src[i+1:], "\n") {
			line++
			start = i + 1
		}
	}
	return line, utf8.RuneCountInString(src[start:at]) + 1
}

// space skips white space and comments.
func (p *parser) space() error {
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\v' || c == '\f':
			p.pos++
		case c == '/':
			if err := p.comment(); err != nil {
				return err
			}
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(p.src[p.pos:])
			if r != '\ufeff' && r != '\u2028' && r != '\u2029' && !unicode.Is(unicode.Zs, r) {
				return nil
			}
			p.pos += n
		default:
			return nil
		}
	}
	return nil
}

func (p *parser) comment() error {
	start, rest := p.pos, p.src[p.pos:]
	switch {
	case strings.HasPrefix(rest, "//"):
		n := strings.IndexAny(rest, "\n\r\u2028\u2029")
		if n < 0 {
			n = len(rest)
		}
		p.pos += n
	case strings.HasPrefix(rest, "/*"):
		n := strings.Index(rest[2:], "*/")
		if n < 0 {
			return p.fail(start, "this comment is never closed; end it with */")
		}
		p.pos += n + 4
	default:
		return p.fail(start, "a lone / is not allowed; comments start with // or /*")
	}
	p.comments = append(p.comments, span{start, p.pos})
	return nil
}

func (p *parser) value() (*node, error) {
	if p.values++; p.values > maxValues {
		return nil, p.fail(p.pos, "more than %d values; this is not a settings file", maxValues)
	}
	if p.pos >= len(p.src) {
		return nil, p.fail(p.pos, "the file ends where a value was expected")
	}
	switch c := p.src[p.pos]; {
	case c == '{' || c == '[':
		return p.container(c)
	case c == '"' || c == '\'':
		start := p.pos
		s, err := p.str()
		if err != nil {
			return nil, err
		}
		return &node{kind: kindString, start: start, end: p.pos, text: s}, nil
	case c == '+' || c == '-' || c == '.' || c >= '0' && c <= '9':
		return p.number()
	}
	return p.word()
}

// container reads { } and [ ]: they differ only in the key.
func (p *parser) container(open byte) (*node, error) {
	n := &node{kind: kindObject, start: p.pos}
	closing := byte('}')
	if open == '[' {
		n.kind, closing = kindArray, ']'
	}
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(p.pos, "brackets are nested deeper than %d", maxDepth)
	}
	p.pos++
	seen := keySet{}
	for {
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.pos >= len(p.src) {
			return nil, p.unclosed(n, open)
		}
		if p.src[p.pos] == closing {
			p.pos++
			p.depth--
			n.end = p.pos
			return n, nil
		}
		if k := len(n.items); k > 0 && n.items[k-1].comma < 0 {
			return nil, p.fail(p.pos, "expected a comma or %c, found %s; a comma may be missing before it", closing, p.here())
		}
		it, err := p.item(n, &seen)
		if err != nil {
			return nil, err
		}
		n.add(it, p.doubles)
	}
}

// add appends a member, or with doubles joins it to the one of the same name.
func (n *node) add(it item, doubles bool) {
	at := -1
	if doubles && n.kind == kindObject {
		at = slices.IndexFunc(n.items, func(o item) bool { return o.key == it.key })
	}
	switch {
	case at < 0:
		n.items = append(n.items, it)
	case n.items[at].value.kind == kindObject && it.value.kind == kindObject:
		for _, inner := range it.value.items {
			n.items[at].value.add(inner, true)
		}
		n.items[len(n.items)-1].comma = it.comma
	default:
		n.items[at] = it
		n.items[len(n.items)-1].comma = it.comma
	}
}

func (p *parser) unclosed(n *node, open byte) error {
	line, col := position(p.src, n.start)
	return p.fail(p.pos, "the file ends before the %c of line %d, column %d is closed", open, line, col)
}

// item reads one member or element and the comma behind it.
func (p *parser) item(n *node, seen *keySet) (item, error) {
	it := item{keyStart: p.pos, keyEnd: p.pos, comma: -1}
	if n.kind == kindObject {
		key, err := p.key()
		if err != nil {
			return it, err
		}
		it.key, it.keyEnd = key, p.pos
		p.path = append(p.path, Key(key))
		if err := p.colon(n, it, seen); err != nil {
			return it, err
		}
	} else {
		p.path = append(p.path, Index(len(n.items)))
	}
	v, err := p.value()
	if err != nil {
		return it, err
	}
	it.value = v
	p.path = p.path[:len(p.path)-1]
	if err := p.space(); err != nil {
		return it, err
	}
	if p.pos < len(p.src) && p.src[p.pos] == ',' {
		it.comma = p.pos
		p.pos++
	}
	return it, nil
}

// colon checks a key that was just read and steps to its value.
func (p *parser) colon(n *node, it item, seen *keySet) error {
	if it.key == "__proto__" {
		return p.fail(it.keyStart, "the key __proto__ is not allowed")
	}
	if prev, dup := seen.add(it.key, len(n.items)); dup && !p.doubles {
		line, col := position(p.src, n.items[prev].keyStart)
		return p.fail(it.keyStart, "this key is already set at line %d, column %d; remove one of the two", line, col)
	}
	if err := p.space(); err != nil {
		return err
	}
	if p.pos >= len(p.src) || p.src[p.pos] != ':' {
		p.path = p.path[:len(p.path)-1] // the "key" may be a secret behind a forgotten name
		return p.fail(p.pos, "expected a colon after the key, found %s", p.here())
	}
	p.pos++
	return p.space()
}

// keySet finds duplicate keys; it needs a map only for large objects.
type keySet struct {
	few  []string
	many map[string]int
}

func (s *keySet) add(key string, i int) (first int, dup bool) {
	if s.many == nil && len(s.few) < 16 {
		for j, k := range s.few {
			if k == key {
				return j, true
			}
		}
		s.few = append(s.few, key)
		return 0, false
	}
	if s.many == nil {
		s.many = make(map[string]int, 64)
		for j, k := range s.few {
			s.many[k] = j
		}
	}
	if j, ok := s.many[key]; ok {
		return j, true
	}
	s.many[key] = i
	return 0, false
}
