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
// so are blocks inside themselves.
func ParseHTML(s string) (string, []Entity, error) {
	var text strings.Builder
	var out []Entity
	type open struct {
		name string
		e    Entity
	}
	var stack []open
	for i := 0; i < len(s); {
		switch s[i] {
		case '<':
			m := tagShape.FindStringSubmatch(s[i:])
			if m == nil {
				return "", nil, bad("can't parse entities: Unsupported start tag at byte offset %d", i)
			}
			name := strings.ToLower(m[2])
			kind, ok := tags[name]
			if !ok {
				return "", nil, bad("can't parse entities: Unsupported start tag \"%s\" at byte offset %d", name, i)
			}
			if m[1] == "" {
				for _, o := range stack {
					if o.name == name && name != "code" || o.name == "pre" && name != "code" || o.name == "code" {
						return "", nil, bad("can't parse entities: \"%s\" can't be inside \"%s\" at byte offset %d", name, o.name, i)
					}
				}
				e := Entity{Type: kind, Offset: units(text.String())}
				for _, a := range attrShape.FindAllStringSubmatch(m[3], -1) {
					v, err := unescape(a[2])
					switch {
					case err != nil:
						return "", nil, err
					case name == "a" && a[1] == "href":
						e.URL = v
					case name == "code" && a[1] == "class" && strings.HasPrefix(v, "language-"):
						e.Language = strings.TrimPrefix(v, "language-")
					default:
						return "", nil, bad("can't parse entities: unexpected attribute %s", a[1])
					}
				}
				stack = append(stack, open{name, e})
			} else {
				if len(stack) == 0 {
					return "", nil, bad("can't parse entities: Unexpected end tag at byte offset %d", i)
				}
				top := stack[len(stack)-1]
				if top.name != name {
					return "", nil, bad("can't parse entities: Unmatched end tag at byte offset %d, expected \"</%s>\", found \"</%s>\"", i, top.name, name)
				}
				stack = stack[:len(stack)-1]
				top.e.Length = units(text.String()) - top.e.Offset
				inPre := len(stack) > 0 && stack[len(stack)-1].name == "pre"
				switch {
				case name == "code" && inPre:
					stack[len(stack)-1].e.Language = top.e.Language
				case top.e.Length > 0:
					out = append(out, top.e)
				}
			}
			i += len(m[0])
		case '>', '&':
			end := strings.IndexByte(s[i:], ';')
			if s[i] == '>' || end < 0 {
				return "", nil, bad("can't parse entities: unescaped %c at byte offset %d", s[i], i)
			}
			v, err := unescape(s[i : i+end+1])
			if err != nil {
				return "", nil, err
			}
			text.WriteString(v)
			i += end + 1
		default:
			text.WriteByte(s[i])
			i++
		}
	}
	if len(stack) > 0 {
		return "", nil, bad("can't parse entities: Can't find end tag corresponding to start tag %s", stack[len(stack)-1].name)
	}
	return text.String(), out, nil
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
