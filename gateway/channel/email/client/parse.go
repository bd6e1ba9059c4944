package client

import (
	"bytes"
	"errors"
	"io"
	"mime"
	stdmail "net/mail"
	"strings"
	"time"
	"unicode"

	"github.com/emersion/go-message"
	"golang.org/x/net/html/charset"

	"github.com/hearth-assistant/hearth/gateway/channel/email"
)

// letter is what a message says.
type letter struct {
	id, from, name, subject string
	to                      []string // To and Cc
	references              []string // the messages that it answers, the last one last
	date                    time.Time
	automatic               string // why no person wrote it; "": one did
	text, quoted            string
	files                   []file
}

// file came with a message.
type file struct {
	name, mime string
	data       []byte
}

// Bounds of what is read of a message.
const (
	mostDepth      = 8   // parts in parts
	mostParts      = 100 // of all
	mostFiles      = 20
	mostText       = 1 << 20
	mostQuoted     = 4000
	mostSubject    = 250
	mostID         = 250
	mostReferences = 8
	mostAddresses  = 200
	headerBytes    = 256 << 10
)

// once are headers that make two messages of one where they stand twice: servers
// sign one, and people are shown the other.
var once = []string{
	"From", "Sender", "To", "Cc", "Subject", "Date", "Message-Id", "In-Reply-To", "References", "Content-Type", "MIME-Version",
}

var (
	errTwice    = errors.New("a header stands in it twice")
	errNoSender = errors.New("it is not from one address")
)

// parse reads a message. What it cannot read of the body is left out.
func parse(raw []byte) (*letter, error) {
	e, err := message.ReadWithOptions(bytes.NewReader(raw), &message.ReadOptions{MaxHeaderBytes: headerBytes})
	if e == nil {
		return nil, err
	}
	for _, key := range once {
		if e.Header.FieldsByKey(key).Len() > 1 {
			return nil, errTwice
		}
	}
	l := &letter{}
	words := &mime.WordDecoder{CharsetReader: charset.NewReaderLabel}
	people := stdmail.AddressParser{WordDecoder: words}
	from, err := people.ParseList(e.Header.Get("From"))
	if err != nil || len(from) != 1 || !email.IsAddress(strings.ToLower(from[0].Address)) {
		return nil, errNoSender
	}
	l.from, l.name = strings.ToLower(from[0].Address), line(from[0].Name, 100)
	for _, key := range []string{"To", "Cc"} {
		list, err := people.ParseList(e.Header.Get(key))
		for i := 0; err == nil && i < min(len(list), mostAddresses); i++ {
			l.to = append(l.to, strings.ToLower(list[i].Address))
		}
	}
	subject, err := words.DecodeHeader(e.Header.Get("Subject"))
	if err != nil {
		subject = e.Header.Get("Subject")
	}
	l.subject = line(subject, mostSubject)
	l.date, _ = stdmail.ParseDate(e.Header.Get("Date"))
	if ids := messageIDs(e.Header.Get("Message-Id")); len(ids) == 1 {
		l.id = ids[0]
	}
	l.references = append(messageIDs(e.Header.Get("References")), messageIDs(e.Header.Get("In-Reply-To"))...)
	l.automatic = automatic(e.Header, l.from)
	r := &reading{}
	r.part(e, 0)
	l.text, l.quoted = apart(r.text())
	l.files = r.files
	return l, nil
}

// thread is what the References of an answer are.
func (l *letter) thread() []string {
	out := l.references
	if l.id != "" {
		out = append(out, l.id)
	}
	return out[max(0, len(out)-mostReferences):]
}

// line is a header as one line of at most most bytes.
func line(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return cut(strings.Join(strings.Fields(s), " "), most)
}

// cut shortens a text to most bytes.
func cut(s string, most int) string {
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	return s
}

// messageIDs are those in a header, without their brackets; the last of many.
func messageIDs(header string) (out []string) {
	for f := range strings.FieldsSeq(strings.ReplaceAll(header, "><", "> <")) {
		id, begins := strings.CutPrefix(f, "<")
		id, ends := strings.CutSuffix(id, ">")
		if begins && ends && isID(id) {
			out = append(out, id)
		}
	}
	return out[max(0, len(out)-mostReferences):]
}

// isID reports whether a text can stand in a header as a message's id.
func isID(s string) bool {
	return s != "" && len(s) <= mostID && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '<' || r == '>' })
}

// automatic says why a message comes from a program. Two programs that answer each
// other would never end.
func automatic(h message.Header, from string) string {
	if v := h.Get("Auto-Submitted"); v != "" && !strings.EqualFold(strings.TrimSpace(v), "no") {
		return "a program sent it"
	}
	switch strings.ToLower(strings.TrimSpace(h.Get("Precedence"))) {
	case "bulk", "list", "junk", "auto_reply":
		return "it went to many"
	}
	for _, key := range []string{"List-Id", "List-Unsubscribe", "X-Autoreply", "X-Autorespond", "Feedback-Id"} {
		if h.Has(key) {
			return "it went to many, or a program sent it"
		}
	}
	kind, _, _ := h.ContentType()
	if kind == "multipart/report" || strings.TrimSpace(h.Get("Return-Path")) == "<>" {
		return "a mail server reports something"
	}
	switch local, _, _ := strings.Cut(from, "@"); local {
	case "mailer-daemon", "postmaster", "noreply", "no-reply", "donotreply", "do-not-reply":
		return "nobody reads what is sent to its sender"
	}
	return ""
}

// reading gathers the parts of a message.
type reading struct {
	parts   int
	plain   strings.Builder
	html    string
	files   []file
	decoded int // bytes of all parts: encodings make them smaller, never larger
}

func (r *reading) part(e *message.Entity, depth int) {
	if r.parts++; r.parts > mostParts || depth > mostDepth {
		return
	}
	if parts := e.MultipartReader(); parts != nil {
		for r.parts < mostParts {
			p, err := parts.NextPart()
			if p == nil || err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) {
				return
			}
			r.part(p, depth+1)
		}
		return
	}
	kind, params, err := e.Header.ContentType()
	if err != nil || kind == "" {
		kind = "text/plain"
	}
	disposition, more, _ := e.Header.ContentDisposition()
	name := more["filename"]
	if name == "" {
		name = params["name"]
	}
	body, _ := io.ReadAll(io.LimitReader(e.Body, int64(email.MaxMessage-r.decoded))) // what there is of a broken one
	r.decoded += len(body)
	switch {
	case disposition != "attachment" && name == "" && kind == "text/plain":
		if r.plain.Len() < mostText {
			r.plain.WriteString(cut(decoded(body, params["charset"]), mostText-r.plain.Len()) + "\n")
		}
	case disposition != "attachment" && name == "" && kind == "text/html":
		if r.html == "" {
			r.html = cut(decoded(body, params["charset"]), mostText)
		}
	case len(r.files) < mostFiles && len(body) > 0:
		words := &mime.WordDecoder{CharsetReader: charset.NewReaderLabel}
		if plain, err := words.DecodeHeader(name); err == nil {
			name = plain
		}
		r.files = append(r.files, file{name: line(name, 200), mime: line(strings.ToLower(kind), 100), data: body})
	}
}

// text is what the message says: its plain text, else the words of its HTML.
func (r *reading) text() string {
	if s := strings.TrimSpace(r.plain.String()); s != "" || r.html == "" {
		return s
	}
	return cut(ofHTML(r.html), mostText)
}

// decoded is a text in UTF-8 without control characters.
func decoded(body []byte, name string) string {
	if name != "" && !strings.EqualFold(name, "utf-8") && message.CharsetReader == nil {
		if cr, err := charset.NewReaderLabel(name, bytes.NewReader(body)); err == nil {
			if text, err := io.ReadAll(io.LimitReader(cr, 2*mostText)); err == nil {
				body = text
			}
		}
	}
	text := strings.ReplaceAll(strings.ToValidUTF8(string(body), "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}
