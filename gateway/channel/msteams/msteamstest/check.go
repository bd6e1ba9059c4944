package msteamstest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// mostMessage is how large a message is, in bytes of its JSON without pictures.
const mostMessage = 28 << 10

// mostPicture is how large one in a message is.
const mostPicture = 1 << 20

type posted struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Format      string `json:"textFormat"`
	Attachments []struct {
		Type    string          `json:"contentType"`
		URL     string          `json:"contentUrl"`
		Name    string          `json:"name"`
		Content json.RawMessage `json:"content"`
	} `json:"attachments"`
}

// read judges a message as Microsoft does: status and why are set when it is refused.
func read(raw []byte) (m Message, status int, why string) {
	var p posted
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil || !utf8.Valid(raw) {
		return m, 400, "BadSyntax: the activity cannot be read"
	}
	size := len(raw)
	for _, a := range p.Attachments {
		if strings.HasPrefix(a.URL, "data:") {
			size -= len(a.URL)
		}
	}
	switch {
	case size > mostMessage:
		return m, http.StatusRequestEntityTooLarge, "Message size too large."
	case p.Type != "message":
		return m, 400, "Unknown activity type"
	case strings.TrimSpace(p.Text) == "" && len(p.Attachments) == 0:
		return m, 400, "Activity resulted into multiple skype activities, or none"
	}
	switch p.Format {
	case "xml":
		if m.Text, why = shown(p.Text); why != "" {
			return m, 400, why
		}
	case "plain":
		m.Text = p.Text
	default:
		return m, 400, "Unknown text format"
	}
	for _, a := range p.Attachments {
		switch {
		case a.Type == "application/vnd.microsoft.card.adaptive":
			if m.Buttons, why = card(a.Content); why != "" {
				return m, 400, why
			}
		case strings.HasPrefix(a.Type, "image/"):
			data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(a.URL, "data:"+a.Type+";base64,"))
			kinds := []string{"image/png", "image/jpeg", "image/gif"}
			if err != nil || len(data) > mostPicture || !slices.Contains(kinds, a.Type) || http.DetectContentType(data) != a.Type {
				return m, 400, "The picture is none that is shown"
			}
			m.Pictures = append(m.Pictures, Picture{a.Name, a.Type, data})
		case a.Type == consentType:
			if why = m.ask(a.Name, a.Content); why != "" {
				return m, 400, why
			}
		case a.Type == fileInfoType:
			if why = m.show(a.Name, a.URL, a.Content); why != "" {
				return m, 400, why
			}
		default:
			return m, 400, "Unknown attachment type"
		}
	}
	return m, 0, ""
}

// shown is what people see of XML, whose tags are those that Teams knows.
func shown(text string) (out string, why string) {
	var b strings.Builder
	d := xml.NewDecoder(strings.NewReader("<message>" + text + "</message>"))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return strings.TrimSpace(b.String()), ""
		}
		if err != nil {
			return "", "The text is no XML: " + err.Error()
		}
		switch t := token.(type) {
		case xml.CharData:
			b.Write(t)
		case xml.StartElement:
			if !slices.Contains([]string{"message", "p", "br", "b", "i", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a"}, t.Name.Local) {
				return "", "The tag " + t.Name.Local + " is not known"
			}
			if t.Name.Local == "br" {
				b.WriteString("\n")
			}
		case xml.EndElement:
			if slices.Contains([]string{"p", "li", "pre"}, t.Name.Local) {
				b.WriteString("\n")
			}
		default:
			return "", "The text has more than tags"
		}
	}
}

type action struct {
	Type     string          `json:"type"`
	Title    string          `json:"title"`
	Verb     string          `json:"verb"`
	Style    string          `json:"style"`
	Data     json.RawMessage `json:"data"`
	Fallback *action         `json:"fallback"`
}

// shows reports whether Teams shows an action.
func (a action) shows() bool {
	known := a.Type == "Action.Submit" && a.Verb == "" || a.Type == "Action.Execute" && a.Verb != ""
	return known && a.Title != "" && slices.Contains([]string{"", "default", "positive", "destructive"}, a.Style) &&
		(a.Fallback == nil || a.Fallback.shows())
}

// card reads an Adaptive Card of buttons.
func card(raw json.RawMessage) (out []Button, why string) {
	var c struct {
		Schema  string `json:"$schema"`
		Type    string `json:"type"`
		Version string `json:"version"`
		Body    []struct {
			Type    string   `json:"type"`
			Actions []action `json:"actions"`
		} `json:"body"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if d.Decode(&c) != nil || c.Type != "AdaptiveCard" || !slices.Contains([]string{"1.0", "1.2", "1.3", "1.4", "1.5"}, c.Version) {
		return nil, "The card is none of a version that Teams shows"
	}
	for _, set := range c.Body {
		if set.Type != "ActionSet" || len(set.Actions) == 0 || len(set.Actions) > 6 {
			return nil, "A set of actions has one to six"
		}
		for _, a := range set.Actions {
			if !a.shows() || a.Type == "Action.Execute" && c.Version < "1.4" {
				return nil, "The action is not known"
			}
			out = append(out, Button{a.Title, a.Style, a.Verb, a.Data})
		}
	}
	return out, ""
}
