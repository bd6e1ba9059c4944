package mailbox

import (
	"bytes"
	"io"
	stdmail "net/mail"
	"strings"

	"github.com/emersion/go-message"
	"github.com/emersion/go-message/mail"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"github.com/hearth-assistant/hearth/gateway/watch"
)

// maxParts is how many parts of a message are looked at.
const maxParts = 20

// Words are what a message says, as far as it was fetched: its first part of plain
// text, else the words of its HTML.
func Words(raw []byte) string {
	r, err := mail.CreateReader(bytes.NewReader(raw))
	if r == nil || err != nil && !message.IsUnknownCharset(err) {
		return ""
	}
	defer r.Close()
	fallback := ""
	for range maxParts {
		p, err := r.NextPart()
		if p == nil || err != nil && !message.IsUnknownCharset(err) {
			break
		}
		h, ok := p.Header.(*mail.InlineHeader)
		if !ok {
			continue
		}
		kind, params, err := h.ContentType()
		if err != nil {
			continue
		}
		body, _ := io.ReadAll(io.LimitReader(p.Body, bodyBytes)) // what there is of a message that was cut
		if name := params["charset"]; name != "" && !strings.EqualFold(name, "utf-8") && message.CharsetReader == nil {
			if cr, err := charset.NewReaderLabel(name, bytes.NewReader(body)); err == nil {
				if text, err := io.ReadAll(io.LimitReader(cr, 2*bodyBytes)); err == nil {
					body = text
				}
			}
		}
		switch kind {
		case "text/plain", "":
			return cut(string(body))
		case "text/html":
			if fallback == "" {
				fallback = cut(ofHTML(body))
			}
		}
	}
	return fallback
}

// sender is the address that a message is from, "" where it is from several, or
// where a server may have read something else from what stands there.
func sender(raw []byte) string {
	m, err := stdmail.ReadMessage(bytes.NewReader(raw))
	if err != nil || len(m.Header["From"]) != 1 {
		return ""
	}
	list, err := stdmail.ParseAddressList(m.Header["From"][0])
	if err != nil || len(list) != 1 {
		return ""
	}
	return strings.ToLower(list[0].Address)
}

func cut(s string) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > watch.MaxText {
		return strings.ToValidUTF8(s[:watch.MaxText], "")
	}
	return s
}

// ofHTML are the words of HTML.
func ofHTML(body []byte) string {
	var b strings.Builder
	hidden := 0
	for z := html.NewTokenizer(bytes.NewReader(body)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(b.String()), " ")
		case html.StartTagToken:
			if name, _ := z.TagName(); string(name) == "style" || string(name) == "script" {
				hidden++
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); hidden > 0 && (string(name) == "style" || string(name) == "script") {
				hidden--
			}
		case html.TextToken:
			if hidden == 0 {
				b.Write(z.Text())
				b.WriteByte(' ')
			}
		}
	}
}
