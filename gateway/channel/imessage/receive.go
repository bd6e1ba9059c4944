package imessage

import (
	"cmp"
	"encoding/json"
	"errors"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

// message is what imsg tells of one.
type message struct {
	ID           int64    `json:"id"`
	ChatID       int64    `json:"chat_id"`
	GUID         string   `json:"guid"`
	Sender       string   `json:"sender"`
	SenderName   string   `json:"sender_name"`
	FromMe       bool     `json:"is_from_me"`
	Text         string   `json:"text"`
	At           string   `json:"created_at"`
	ReplyTo      string   `json:"reply_to_guid"`
	Caller       string   `json:"destination_caller_id"`
	ChatName     string   `json:"chat_name"`
	Participants []string `json:"participants"`
	Group        bool     `json:"is_group"`
	Reaction     bool     `json:"is_reaction"`
	Files        []file   `json:"attachments"`
}

type file struct {
	Name    string `json:"transfer_name"`
	MIME    string `json:"mime_type"`
	Size    int64  `json:"total_bytes"`
	Path    string `json:"original_path"`
	Missing bool   `json:"missing"`
	Sticker bool   `json:"is_sticker"`
}

// Bounds of what a message says.
const (
	mostFiles   = 32
	longestText = 64 << 10
	mostKnown   = 1000
)

// told takes what imsg says without being asked.
func (c *Client) told(method string, params json.RawMessage) error {
	var p struct {
		Message json.RawMessage `json:"message"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(params, &p) != nil {
		return nil
	}
	switch method {
	case "message":
		var m message
		if json.Unmarshal(p.Message, &m) != nil {
			c.log.Warn("a message of imsg could not be read", "account", c.account)
			return nil
		}
		in, ok := c.inbound(m)
		if !ok || c.queue.Seen(m.GUID) {
			return nil
		}
		return c.queue.Add(intake.Item{ID: m.GUID, Mark: markOf(m.ID), In: in, Taken: c.took})
	case "error":
		return errors.New("imsg stopped watching: " + webcall.Words(p.Error.Message, "it does not say why"))
	}
	return nil
}

func (c *Client) took() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.LastTake = c.now()
}

// inbound makes a message for the gateway; ok is false when it is none for us: our own,
// also those that we wrote to ourselves, and taps on messages.
func (c *Client) inbound(m message) (in channel.Inbound, ok bool) {
	text := strings.TrimSpace(strings.ReplaceAll(m.Text, "\ufffc", "")) // stands where a file is
	if len(text) > longestText {
		text = strings.ToValidUTF8(text[:longestText], "")
	}
	sender := handle(m.Sender)
	ours := m.FromMe || sender != "" && sender == handle(m.Caller)
	if m.GUID == "" || len(m.GUID) > 200 || m.ID <= 0 {
		return in, false
	}
	was := c.remember(m.GUID, said{text, ours}, m.ReplyTo)
	if ours || sender == "" || m.Reaction {
		return in, false
	}
	at, err := time.Parse(time.RFC3339, m.At)
	if err != nil {
		at = c.now()
	}
	in = channel.Inbound{
		Channel: ID, Account: c.account, Chat: channel.Direct, Conversation: sender, SenderID: sender,
		SenderName: cmp.Or(m.SenderName, sender), MessageID: m.GUID, Text: text, ReplyToText: was.text, At: at,
	}
	in.Label = in.SenderName
	// A conversation of several is a group whatever the database calls it: an answer to
	// all of them is not for one.
	if m.Group || len(m.Participants) > 1 {
		if m.ChatID <= 0 {
			return in, false
		}
		in.Chat, in.Conversation = channel.Group, groupSign+strconv.FormatInt(m.ChatID, 10)
		in.Label = cmp.Or(m.ChatName, in.Conversation)
		in.Command, in.Mentioned = addressed(text, cmp.Or(c.texts[keyCalled], "hearth"))
		in.Mentioned = in.Mentioned || was.ours
	}
	if c.texts[keyFiles] == "true" {
		in.Media = media(m.Files)
	}
	return in, in.Text != "" || len(in.Media) > 0
}

// media are the files of a message. A recording is called so by Messages.
func media(files []file) (out []channel.Media) {
	for i, f := range files {
		if f.Path == "" || f.Missing || f.Sticker || i == mostFiles {
			continue
		}
		name := cmp.Or(f.Name, path.Base(f.Path))
		mime := f.MIME
		if mime == "" && strings.HasSuffix(strings.ToLower(name), ".caf") {
			mime = "audio/x-caf"
		}
		out = append(out, channel.Media{MIME: mime, Name: name, Size: max(f.Size, 0), URL: f.Path,
			Voice: strings.HasPrefix(name, "Audio Message.")})
	}
	return out
}

// remember keeps what a message says, and returns the one that it answers.
func (c *Client) remember(guid string, s said, answers string) said {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.known[guid]; !ok {
		c.order = append(c.order, guid)
		if len(c.order) > mostKnown {
			delete(c.known, c.order[0])
			c.order = c.order[1:]
		}
	}
	c.known[guid] = s
	if _, after, ok := strings.Cut(answers, "/"); ok { // "p:0/…": a part of a message
		answers = after
	}
	return c.known[answers]
}

// handle is how somebody is called: a number or an address, "" for what is neither.
func handle(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	strange := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	if s == "" || len(s) > 200 || isGroup(s) || strings.ContainsFunc(s, strange) {
		return ""
	}
	return s
}

// addressed reports whether a text calls us by name; command is what stands behind or
// before it then.
func addressed(text, name string) (command string, mentioned bool) {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		mentioned = mentioned || strings.EqualFold(w, name)
	}
	if !mentioned {
		return "", false
	}
	rest := strings.TrimPrefix(strings.TrimSpace(text), "@")
	if len(rest) >= len(name) && strings.EqualFold(rest[:len(name)], name) {
		return strings.TrimSpace(strings.TrimLeft(rest[len(name):], ":,! ")), true
	}
	return "", true
}
