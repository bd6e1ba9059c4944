// Package link reads hearth:// links. They come from anywhere: a page, a
// message, another program. So a link can only offer: it shows a part of the
// page, offers words for a message that a person may take over and send, or
// offers a code that pairs this computer. What else stands in it is ignored; in
// particular it chooses no chat, no model and no gateway, and sends nothing.
package link

import (
	"cmp"
	"errors"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Scheme is what the system hands to us.
const Scheme = "hearth"

// Link is what a link offers; one of the three is set.
type Link struct {
	Place string // of the page, as its address has it
	Text  string // words for a message
	Code  string // that pairs
}

const (
	maxLink = 16 << 10
	maxText = 4000 // characters; more is not looked through before it is sent
	maxCode = 4096
)

// Is reports whether an argument is meant as a link.
func Is(arg string) bool {
	head, _, ok := strings.Cut(arg, ":")
	return ok && strings.EqualFold(head, Scheme)
}

// Parse reads a link. Its errors are sentences for people.
func Parse(s string) (Link, error) {
	if len(s) > maxLink {
		return Link{}, errors.New("the link is longer than a link to Hearth can be")
	}
	u, err := url.Parse(s)
	if err != nil || !strings.EqualFold(u.Scheme, Scheme) || u.User != nil || u.Port() != "" {
		return Link{}, errors.New("this is not a link to Hearth")
	}
	host, rest := strings.ToLower(u.Host), strings.Trim(u.Path, "/")
	if host == "" { // hearth:chat?text=…
		host, rest, _ = strings.Cut(strings.Trim(cmp.Or(u.Opaque, rest), "/"), "/")
	}
	switch host {
	case "", "open":
		return Link{Place: "chat"}, nil
	case "chat", "ask":
		return words(u)
	case "settings":
		if rest != "" && !pane(rest) {
			return Link{}, errors.New("the link leads to a part of the settings that there is not")
		}
		return Link{Place: strings.TrimSuffix("settings/"+rest, "/")}, nil
	case "undelivered":
		return Link{Place: host}, nil
	case "pair":
		return pair(u, rest)
	}
	return Link{}, errors.New("the link asks for something that links cannot ask of Hearth")
}

func words(u *url.URL) (Link, error) {
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Link{}, errors.New("the link is damaged")
	}
	text := q.Get("text")
	if text == "" {
		return Link{Place: "chat"}, nil
	}
	if !utf8.ValidString(text) {
		return Link{}, errors.New("the link holds text that cannot be read")
	}
	if text = strings.TrimSpace(strings.Map(visible, text)); text == "" {
		return Link{Place: "chat"}, nil
	}
	if utf8.RuneCountInString(text) > maxText {
		return Link{}, errors.New("the link holds more text than anybody would read before sending it")
	}
	return Link{Text: text}, nil
}

func pair(u *url.URL, rest string) (Link, error) {
	code := rest
	if code == "" {
		code = u.Query().Get("code")
	}
	if code == "" || len(code) > maxCode || !codeShape(code) {
		return Link{}, errors.New("the link has no code that pairs")
	}
	return Link{Code: code}, nil
}

// codeShape: letters and digits of base64, never a flag or a path.
func codeShape(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '=')
	}) && s[0] != '-'
}

func pane(s string) bool {
	return len(s) <= 20 && !strings.ContainsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
}

// visible leaves out what cannot be seen: what a person reads is what they
// send.
func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r),
		r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r >= 0xfe00 && r < 0xfe0f, r >= 0xe0100 && r <= 0xe01ef:
		return -1
	}
	return r
}

// At is the place of the page that shows what a link offers.
func (l Link) At() string {
	if l.Text != "" {
		return "offer/" + url.PathEscape(l.Text)
	}
	return l.Place
}
