package client

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/endpoint"
	"github.com/hearth-assistant/hearth/gateway/channel/line"
)

// Call takes what LINE sends. It believes nothing before the signature is right.
func (c *Client) Call(ctx context.Context, in channel.Call) (channel.CallAnswer, error) {
	if in.Method != http.MethodPost {
		return endpoint.Say(http.StatusMethodNotAllowed), nil
	}
	if !c.proven(in) {
		return endpoint.Say(http.StatusUnauthorized), nil
	}
	var all struct {
		Events []json.RawMessage `json:"events"`
	}
	if json.Unmarshal(in.Body, &all) != nil {
		return endpoint.Say(http.StatusBadRequest), nil
	}
	var events []event
	for _, raw := range all.Events {
		var ev event
		if json.Unmarshal(raw, &ev) != nil {
			continue
		}
		if c.old(ev) {
			c.Logger.Warn("LINE's call has an event of long ago that is not said to come again: it was played again, or the clock is wrong")
			return endpoint.Say(http.StatusUnauthorized), nil
		}
		events = append(events, ev)
	}
	for _, ev := range events {
		m, ok := c.message(ctx, ev)
		if !ok {
			continue
		}
		if err := c.Take(ctx, m.Conversation+" "+m.MessageID, m); err != nil {
			return c.Later(err), nil
		}
	}
	return endpoint.Say(http.StatusOK), nil
}

// proven: LINE signs the body with the channel's secret.
func (c *Client) proven(in channel.Call) bool {
	given, ok := endpoint.One(in.Header, "X-Line-Signature")
	if !ok {
		return false
	}
	mac, err := base64.StdEncoding.Strict().DecodeString(given)
	h := hmac.New(sha256.New, []byte(c.secret()))
	h.Write(in.Body)
	return err == nil && hmac.Equal(mac, h.Sum(nil))
}

// longAgo is how old an event can be that LINE sends for the first time.
const longAgo = 15 * time.Minute

func (c *Client) old(ev event) bool {
	return !ev.Delivery.Again && c.Now().Sub(time.UnixMilli(ev.Timestamp)) > longAgo
}

// event is what LINE tells of.
type event struct {
	Type       string `json:"type"`
	Mode       string `json:"mode"`
	Timestamp  int64  `json:"timestamp"`
	ReplyToken string `json:"replyToken"`
	Source     struct {
		Type  string `json:"type"`
		User  string `json:"userId"`
		Group string `json:"groupId"`
		Room  string `json:"roomId"`
	} `json:"source"`
	Delivery struct {
		Again bool `json:"isRedelivery"`
	} `json:"deliveryContext"`
	Message message `json:"message"`
}

type message struct {
	ID         string   `json:"id"`
	Type       string   `json:"type"`
	Text       string   `json:"text"`
	QuoteToken string   `json:"quoteToken"`
	FileName   string   `json:"fileName"`
	FileSize   int64    `json:"fileSize"`
	Title      string   `json:"title"`
	Address    string   `json:"address"`
	Latitude   *float64 `json:"latitude"`
	Longitude  *float64 `json:"longitude"`
	Keywords   []string `json:"keywords"`
	Provider   struct {
		Type string `json:"type"`
	} `json:"contentProvider"`
	Mention struct {
		All []mention `json:"mentionees"`
	} `json:"mention"`
	ImageSet struct {
		ID string `json:"id"`
	} `json:"imageSet"`
}

// mention is a part of a text, counted in UTF-16.
type mention struct {
	Index  int    `json:"index"`
	Length int    `json:"length"`
	Kind   string `json:"type"`
	IsSelf bool   `json:"isSelf"`
}

// message is what somebody said; ok is false for everything else.
func (c *Client) message(ctx context.Context, ev event) (in channel.Inbound, ok bool) {
	m, s := ev.Message, ev.Source
	if ev.Type != "message" || ev.Mode == "standby" || !isNumber(m.ID) || !line.IsID(s.User) {
		return in, false
	}
	in = channel.Inbound{
		Channel: line.ID, Account: c.account, Chat: channel.Direct, Conversation: s.User, SenderID: s.User, MessageID: m.ID, Text: m.Text,
		At: time.UnixMilli(ev.Timestamp), Album: m.ImageSet.ID,
	}
	profile := "/v2/bot/profile/" + s.User
	switch {
	case s.Type == "group" && line.IsID(s.Group):
		in.Chat, in.Conversation, profile = channel.Group, s.Group, "/v2/bot/group/"+s.Group+"/member/"+s.User
		in.Label = c.name(ctx, "/v2/bot/group/"+s.Group+"/summary", "groupName")
	case s.Type == "room" && line.IsID(s.Room):
		in.Chat, in.Conversation, profile = channel.Group, s.Room, "/v2/bot/room/"+s.Room+"/member/"+s.User
	case s.Type != "user":
		return in, false
	}
	if !c.fill(&in, m) {
		return in, false
	}
	in.SenderName = c.name(ctx, profile, "displayName")
	c.remember(in, ev)
	return in, true
}

// fill writes what a message is about.
func (c *Client) fill(in *channel.Inbound, m message) bool {
	switch m.Type {
	case "text":
		in.Command, in.Mentioned = called(m)
	case "image":
		in.Media = []channel.Media{{MIME: "image/jpeg", Name: m.ID + ".jpg", URL: m.ID}}
	case "video":
		in.Media = []channel.Media{{MIME: "video/mp4", Name: m.ID + ".mp4", URL: m.ID}}
	case "audio":
		in.Media = []channel.Media{{MIME: "audio/mp4", Name: m.ID + ".m4a", URL: m.ID, Voice: true}}
	case "file":
		in.Media = []channel.Media{{Name: m.FileName, Size: m.FileSize, URL: m.ID}}
	case "location":
		in.Text = strings.TrimSpace("[place] " + m.Title + " " + m.Address + " " + coordinates(m))
	case "sticker":
		in.Text = strings.TrimSpace("[sticker] " + strings.Join(m.Keywords[:min(len(m.Keywords), 3)], ", "))
	default:
		return false
	}
	if len(in.Media) > 0 && m.Provider.Type == "external" { // it is not with LINE
		in.Media, in.Text = nil, "["+m.Type+" from elsewhere]"
	}
	return in.Text != "" || len(in.Media) > 0
}

// called reports whether a text calls us, and what is left of it without that at its
// beginning or end.
func called(m message) (command string, mentioned bool) {
	units := utf16.Encode([]rune(m.Text))
	at := slices.IndexFunc(m.Mention.All, func(p mention) bool { return p.Kind == "user" && p.IsSelf })
	if at < 0 {
		return "", false
	}
	p := m.Mention.All[at]
	if p.Index < 0 || p.Length < 0 || p.Index > len(units) || p.Length > len(units)-p.Index {
		return "", true
	}
	before := strings.TrimSpace(string(utf16.Decode(units[:p.Index])))
	after := strings.TrimSpace(string(utf16.Decode(units[p.Index+p.Length:])))
	switch {
	case before == "":
		return after, true
	case after == "":
		return before, true
	}
	return "", true
}

// replyToken is good for one answer, for a minute.
type replyToken struct {
	token string
	until time.Time
}

// replyTime is how long a token for replies is used: a little less than it is good for.
const replyTime = 50 * time.Second

// remember keeps what an answer needs.
func (c *Client) remember(in channel.Inbound, ev event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.replies) >= mostKnown {
		clear(c.replies)
	}
	if len(c.quotes) >= mostKnown {
		clear(c.quotes)
	}
	if ev.ReplyToken != "" && !ev.Delivery.Again {
		c.replies[in.Conversation] = replyToken{ev.ReplyToken, time.UnixMilli(ev.Timestamp).Add(replyTime)}
	}
	if ev.Message.QuoteToken != "" {
		c.quotes[in.MessageID] = ev.Message.QuoteToken
	}
}

func isNumber(s string) bool { return s != "" && len(s) <= 24 && strings.Trim(s, "0123456789") == "" }
