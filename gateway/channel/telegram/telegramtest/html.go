package telegramtest

import (
	"regexp"
	"strings"
)

// Entity is a formatted part of a text; Offset and Length are UTF-16 units.
type Entity struct {
	Type           string
	Offset, Length int
	URL, Language  string
}

var (
	tagShape  = regexp.MustCompile(`^<(/?)([a-zA-Z][a-zA-Z0-9-]*)((?:\s+[a-zA-Z-]+="[^"]*")*)\s*>`)
	attrShape = regexp.MustCompile(`([a-zA-Z-]+)="([^"]*)"`)
)

// tags maps what Telegram supports to the entity that it makes.
var tags = map[string]string{
	"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
	"s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "tg-spoiler": "spoiler",
	"a": "text_link", "code": "code", "pre": "pre", "blockquote": "blockquote",
}

// ParseHTML reads a text as Telegram does, with its complaints. It is stricter
// in two ways that show mistakes of ours: an unescaped & or > is refused, and
// so is a tag inside itself.
func ParseHTML(s string) (string, []Entity, error) {
	p := &parser{}
	for i := 0; i < len(s); {
		n, err := p.step(s, i)
		if err != nil {
			return "", nil, err
		}
		i += n
	}
	if n := len(p.stack); n > 0 {
		return "", nil, bad("can't parse entities: Can't find end tag corresponding to start tag %s", p.stack[n-1].name)
	}
	return p.text.String(), p.out, nil
}

type parser struct {
	text  strings.Builder
	out   []Entity
	stack []openTag
}

type openTag struct {
	name string
	e    Entity
}

// step reads what begins at i and says how long it is.
func (p *parser) step(s string, i int) (int, error) {
	switch s[i] {
	case '<':
		m := tagShape.FindStringSubmatch(s[i:])
		if m == nil {
			return 0, bad("can't parse entities: Unsupported start tag at byte offset %d", i)
		}
		name := strings.ToLower(m[2])
		if tags[name] == "" {
			return 0, bad("can't parse entities: Unsupported start tag \"%s\" at byte offset %d", name, i)
		}
		if m[1] != "" {
			return len(m[0]), p.end(name, i)
		}
		return len(m[0]), p.begin(name, m[3], i)
	case '>', '&':
		end := strings.IndexByte(s[i:], ';')
		if s[i] == '>' || end < 0 {
			return 0, bad("can't parse entities: unescaped %c at byte offset %d", s[i], i)
		}
		v, err := unescape(s[i : i+end+1])
		p.text.WriteString(v)
		return end + 1, err
	}
	p.text.WriteByte(s[i])
	return 1, nil
}

func (p *parser) begin(name, attributes string, at int) error {
	for _, o := range p.stack {
		if o.name == name && name != "code" || o.name == "pre" && name != "code" || o.name == "code" {
			return bad("can't parse entities: \"%s\" can't be inside \"%s\" at byte offset %d", name, o.name, at)
		}
	}
	e := Entity{Type: tags[name], Offset: units(p.text.String())}
	for _, a := range attrShape.FindAllStringSubmatch(attributes, -1) {
		v, err := unescape(a[2])
		switch {
		case err != nil:
			return err
		case name == "a" && a[1] == "href":
			e.URL = v
		case name == "code" && a[1] == "class" && strings.HasPrefix(v, "language-"):
			e.Language = strings.TrimPrefix(v, "language-")
		default:
			return bad("can't parse entities: unexpected attribute %s", a[1])
		}
	}
	p.stack = append(p.stack, openTag{name, e})
	return nil
}

func (p *parser) end(name string, at int) error {
	n := len(p.stack) - 1
	if n < 0 {
		return bad("can't parse entities: Unexpected end tag at byte offset %d", at)
	}
	top := p.stack[n]
	if top.name != name {
		return bad("can't parse entities: Unmatched end tag at byte offset %d, expected \"</%s>\", found \"</%s>\"", at, top.name, name)
	}
	p.stack = p.stack[:n]
	top.e.Length = units(p.text.String()) - top.e.Offset
	switch {
	case name == "code" && n > 0 && p.stack[n-1].name == "pre":
		p.stack[n-1].e.Language = top.e.Language
	case top.e.Length > 0:
		p.out = append(p.out, top.e)
	}
	return nil
}

func unescape(s string) (string, error) {
	out := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", "\"", "&amp;", "\x00").Replace(s)
	if strings.Contains(out, "&") {
		return "", bad("can't parse entities: unescaped &")
	}
	return strings.ReplaceAll(out, "\x00", "&"), nil
}

func units(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}
