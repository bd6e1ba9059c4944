package msteamstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// Files in a chat with one person, as
// https://learn.microsoft.com/en-us/microsoftteams/platform/bots/how-to/bots-filesv4 says.
const (
	consentType  = "application/vnd.microsoft.teams.card.file.consent"
	fileInfoType = "application/vnd.microsoft.teams.card.file.info"
)

// Ask is a question whether a person wants a file.
type Ask struct {
	Name            string
	Size            int64
	Accept, Decline json.RawMessage // come back with the answer
}

// Shown is a card of a file.
type Shown struct {
	Name, URL, ID, Kind string
}

// ask reads a question.
func (m *Message) ask(name string, content json.RawMessage) (why string) {
	var c struct {
		Description string          `json:"description"`
		Size        int64           `json:"sizeInBytes"`
		Accept      json.RawMessage `json:"acceptContext"`
		Decline     json.RawMessage `json:"declineContext"`
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if d.Decode(&c) != nil || name == "" || c.Size <= 0 {
		return "The card asks for no file"
	}
	m.Asks = append(m.Asks, Ask{name, c.Size, c.Accept, c.Decline})
	return ""
}

// show reads a card of a file.
func (m *Message) show(name, address string, content json.RawMessage) (why string) {
	var c struct {
		ID   string `json:"uniqueId"`
		Kind string `json:"fileType"`
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	u, err := url.Parse(address)
	if d.Decode(&c) != nil || err != nil || u.Scheme != "https" || name == "" || !guid().MatchString(c.ID) {
		return "The card shows no file"
	}
	m.Shown = append(m.Shown, Shown{name, address, c.ID, c.Kind})
	return ""
}

func guid() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
}

// Consent is what Teams tells of the answer of a person to a question, said as the given
// one: accept or decline. It makes the address for the bytes.
func (s *Server) Consent(said Said, m Message, action string) Said {
	ask := m.Asks[0]
	value := map[string]any{"type": "fileUpload", "action": action, "context": ask.Decline}
	if action == "accept" {
		id := s.Upload("/personal/ada/Documents/Microsoft Teams Chat Files/"+ask.Name, ask.Size)
		value["context"] = ask.Accept
		value["uploadInfo"] = map[string]any{
			"contentUrl": "https://contoso.sharepoint.com/personal/ada/Documents/Microsoft%20Teams%20Chat%20Files/" + url.PathEscape(ask.Name),
			"name":       ask.Name, "uploadUrl": "https://contoso.sharepoint.com" + uploadsAt + id,
			"uniqueId": newID(len(ask.Name)), "fileType": strings.TrimPrefix(path.Ext(ask.Name), "."),
		}
	}
	said.Type, said.Conversation = "invoke", m.Conversation
	said.Extra = map[string]any{"name": "fileConsent/invoke", "replyToId": m.ID, "value": value}
	return said
}

func newID(n int) string { return fmt.Sprintf("1150D938-8870-4044-9F2C-%012X", n) }
