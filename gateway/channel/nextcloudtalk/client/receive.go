package client

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/endpoint"
	"github.com/hearth-assistant/hearth/gateway/channel/nextcloudtalk"
)

// Headers of what the server sends.
const (
	headRandom    = "X-Nextcloud-Talk-Random"
	headSignature = "X-Nextcloud-Talk-Signature"
)

// Call takes what the server sends. It believes nothing before the signature is right.
func (c *Client) Call(ctx context.Context, in channel.Call) (channel.CallAnswer, error) {
	if in.Method != http.MethodPost {
		return endpoint.Say(http.StatusMethodNotAllowed), nil
	}
	if !c.proven(in) {
		return endpoint.Say(http.StatusUnauthorized), nil
	}
	var ev event
	if json.Unmarshal(in.Body, &ev) != nil {
		return endpoint.Say(http.StatusBadRequest), nil
	}
	m, ok := c.message(ctx, ev)
	if !ok {
		return endpoint.Say(http.StatusOK), nil // nothing that anybody said
	}
	if err := c.Take(ctx, m.Conversation+" "+m.MessageID, m); err != nil {
		return c.Later(err), nil
	}
	return endpoint.Say(http.StatusOK), nil
}

// leastRandom is how much chance the server signs with.
const leastRandom = 32

// proven: the server signs what it sends together with chance of its own.
func (c *Client) proven(in channel.Call) bool {
	random, okRandom := endpoint.One(in.Header, headRandom)
	given, okGiven := endpoint.One(in.Header, headSignature)
	if !okRandom || !okGiven || len(random) < leastRandom || len(random) > 256 {
		return false
	}
	mac, err := hex.DecodeString(given)
	return err == nil && hmac.Equal(mac, signature(c.secret(), random, in.Body))
}

// signature is how both sides sign: chance, and what is said.
func signature(secret, random string, what []byte) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(random))
	h.Write(what)
	return h.Sum(nil)
}

// event is what the server tells of, in the words of ActivityStreams.
type event struct {
	Type  string `json:"type"`
	Actor struct {
		Type string `json:"type"`
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"actor"`
	Object object `json:"object"`
	Target struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"target"`
}

type object struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Content   string `json:"content"` // JSON of its own, written as text
	InReplyTo *struct {
		Object struct {
			Content string `json:"content"`
		} `json:"object"`
	} `json:"inReplyTo"`
}

// content is a text with what its {placeholders} stand for.
type content struct {
	Message    string `json:"message"`
	Parameters params `json:"parameters"`
}

type param struct {
	Type string `json:"type"`
	Name string `json:"name"`
	Link string `json:"link"`
}

// params are by name; a server without any writes a list.
type params map[string]param

// UnmarshalJSON takes the empty list for none.
func (p *params) UnmarshalJSON(b []byte) error {
	var m map[string]param
	if err := json.Unmarshal(b, &m); err != nil {
		*p = nil
		return nil //nolint:nilerr // whatever else stands there says nothing
	}
	*p = m
	return nil
}

// mostParams are looked at.
const mostParams = 500

var placeholder = regexp.MustCompile(`\{[a-z0-9-]+\}`)

// text is what people see: names stand for mentions, links for files.
func (m content) text() string {
	if len(m.Parameters) > mostParams {
		return m.Message
	}
	return placeholder.ReplaceAllStringFunc(m.Message, func(s string) string {
		p, ok := m.Parameters[s[1:len(s)-1]]
		switch {
		case !ok:
			return s
		case strings.HasPrefix(s, "{mention-"):
			return "@" + p.Name
		case p.Type == "file" && p.Link != "":
			return p.Name + " (" + p.Link + ")"
		}
		return p.Name
	})
}

// message is what somebody said; ok is false for everything else.
func (c *Client) message(ctx context.Context, ev event) (in channel.Inbound, ok bool) {
	token := ev.Target.ID
	if ev.Type != "Create" || ev.Object.Type != "Note" || ev.Object.Name != "message" || !nextcloudtalk.IsToken(token) ||
		!isNumber(ev.Object.ID) || ev.Actor.ID == "" {
		return in, false
	}
	var said content
	if json.Unmarshal([]byte(ev.Object.Content), &said) != nil || said.Message == "" {
		return in, false
	}
	conversation, kind := c.place(ctx, token)
	// bots/…, and whoever the server calls an application.
	bot := ev.Actor.Type == "Application" || strings.HasPrefix(ev.Actor.ID, "bots/")
	in = channel.Inbound{
		Channel: nextcloudtalk.ID, Account: c.account, Chat: kind, Conversation: conversation, Label: ev.Target.Name, SenderID: ev.Actor.ID,
		SenderName: ev.Actor.Name, SenderIsBot: bot, MessageID: ev.Object.ID, Text: said.text(), At: c.Now(),
	}
	if person, found := strings.CutPrefix(ev.Actor.ID, "users/"); found {
		in.SenderID, in.SenderHandle = person, person // as allowFrom names them
	}
	if rest, called := c.named(in.Text); called {
		in.Command, in.Mentioned = rest, true
	}
	if ev.Object.InReplyTo != nil {
		var first content
		if json.Unmarshal([]byte(ev.Object.InReplyTo.Object.Content), &first) == nil {
			in.ReplyToText = first.text()
		}
	}
	return in, true
}

// named reports whether a text calls us by our name with an @ before it, and what is
// left of it when it begins or ends so.
func (c *Client) named(s string) (rest string, called bool) {
	call := "@" + strings.ToLower(c.name)
	low := strings.ToLower(s)
	if len(low) != len(s) { // letters whose small form is longer: their places differ
		return s, strings.Contains(low, call)
	}
	for from := 0; ; {
		i := strings.Index(low[from:], call)
		if i < 0 {
			return s, called
		}
		i += from
		end := i + len(call)
		from = end
		if next, _ := utf8.DecodeRuneInString(s[end:]); end < len(s) && (unicode.IsLetter(next) || unicode.IsNumber(next)) {
			continue // somebody whose name begins like ours
		}
		called = true
		if strings.TrimSpace(s[:i]) == "" {
			return strings.TrimSpace(strings.TrimLeft(s[end:], ",: ")), true
		}
		if strings.TrimSpace(s[end:]) == "" {
			return strings.TrimSpace(s[:i]), true
		}
	}
}

func isNumber(s string) bool { return s != "" && len(s) <= 20 && strings.Trim(s, "0123456789") == "" }
