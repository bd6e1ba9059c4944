package client

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
	"github.com/hearth-assistant/hearth/gateway/channel/mattermost"
)

// post is a message as the server writes it.
type post struct {
	ID        string         `json:"id"`
	UserID    string         `json:"user_id"`
	ChannelID string         `json:"channel_id"`
	RootID    string         `json:"root_id"`
	Message   string         `json:"message"`
	Type      string         `json:"type"`
	CreateAt  int64          `json:"create_at"` // milliseconds, as all times
	UpdateAt  int64          `json:"update_at"`
	EditAt    int64          `json:"edit_at"`
	DeleteAt  int64          `json:"delete_at"`
	Props     map[string]any `json:"props"`
	FileIDs   []string       `json:"file_ids"`
	Metadata  struct {
		Files []fileInfo `json:"files"`
	} `json:"metadata"`
}

type fileInfo struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	MIME string `json:"mime_type"`
	Size int64  `json:"size"`
}

// itself is how near its last change an edit of the words is: other changes, as being
// pinned, leave the time of the edit where it was.
const itself = 2 * time.Second

// came puts a post into the line, if it is somebody's and for us.
func (c *Client) came(ctx context.Context, p post, edited bool) error {
	id := p.ID
	if edited {
		if p.EditAt == 0 || time.Duration(p.UpdateAt-p.EditAt)*time.Millisecond > itself {
			return nil
		}
		id = fmt.Sprintf("%s/%d", p.ID, p.EditAt)
	}
	if c.queue.Seen(id) {
		return nil
	}
	in, ok, err := c.inbound(ctx, p)
	if err != nil || !ok {
		return err
	}
	in.Edited = edited
	return c.queue.Add(intake.Item{ID: id, Mark: p.CreateAt, In: in, Taken: func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.status.LastTake = c.now()
	}})
}

// inbound makes a message of a post; ok is false when it is none for us.
func (c *Client) inbound(ctx context.Context, p post) (in channel.Inbound, ok bool, err error) {
	self, err := c.me(ctx)
	if err != nil {
		return in, false, err
	}
	if p.UserID == self.ID || !p.said() ||
		!mattermost.IsID(p.ID) || !mattermost.IsID(p.UserID) || !mattermost.IsID(p.ChannelID) {
		return in, false, nil
	}
	who, err := c.person(ctx, p.UserID)
	if err != nil {
		return in, false, err
	}
	where, err := c.place(ctx, p.ChannelID)
	if err != nil {
		return in, false, err
	}
	in = channel.Inbound{
		Channel: mattermost.ID, Account: c.account, Chat: channel.Group, Conversation: p.ChannelID, Label: cmp.Or(where.Label, where.Name),
		Thread: p.RootID, SenderID: p.UserID, SenderName: who.shown(), SenderHandle: who.Name, SenderIsBot: who.IsBot || fromProgram(p),
		MessageID: p.ID, Text: p.Message, At: time.UnixMilli(p.CreateAt),
	}
	in.Room, in.Space = where.room()
	if where.Type == "D" {
		in.Chat, in.Conversation, in.Label = channel.Direct, mattermost.PersonSign+p.UserID, who.shown()
		c.known.direct(p.UserID, p.ChannelID)
	}
	in.Command, in.Mentioned = addressed(p.Message, self.Name)
	if p.RootID != "" {
		root, err := c.root(ctx, p.RootID)
		if err != nil {
			return in, false, err
		}
		in.ReplyToText = root.Message
		in.Mentioned = in.Mentioned || root.UserID == self.ID
	}
	if in.Media, err = c.files(ctx, p); err != nil {
		return in, false, err
	}
	return in, in.Text != "" || len(in.Media) > 0, nil
}

// said reports whether a post is somebody's words, and still there. The server's own have
// a type, as those of plugins; so has "/me".
func (p post) said() bool {
	return p.DeleteAt == 0 && slices.Contains([]string{"", "me", "slack_attachment"}, p.Type)
}

// fromProgram reports whether a post says that no person wrote it.
func fromProgram(p post) bool {
	for _, key := range []string{"from_bot", "from_webhook", "from_plugin", "from_oauth_app"} {
		if v, set := p.Props[key]; set && v != "false" && v != false {
			return true
		}
	}
	return false
}

// files are those of a post.
func (c *Client) files(ctx context.Context, p post) (out []channel.Media, err error) {
	infos := p.Metadata.Files
	if len(infos) == 0 && len(p.FileIDs) > 0 {
		if err := c.ask(ctx, http.MethodGet, "/posts/"+p.ID+"/files/info", nil, &infos); err != nil && !gone(err) {
			return nil, err
		}
	}
	for _, f := range infos {
		if mattermost.IsID(f.ID) {
			out = append(out, channel.Media{MIME: f.MIME, Name: f.Name, Size: f.Size, URL: f.ID})
		}
	}
	return out, nil
}

// addressed finds our name in a text, as the server does: an @ that follows no letter,
// and behind the name nothing that a name could go on with. At the beginning it calls
// us, and what follows is for us.
func addressed(text, name string) (command string, mentioned bool) {
	folded, own := strings.ToLower(text), "@"+strings.ToLower(name)
	if len(folded) != len(text) {
		folded = text // a letter whose small form is longer: nobody's name here has one
	}
	for at := 0; ; {
		i := strings.Index(folded[at:], own)
		if i < 0 {
			return "", false
		}
		begin, end := at+i, at+i+len(own)
		at = end
		if before, _ := utf8.DecodeLastRuneInString(folded[:begin]); begin > 0 && (unicode.IsLetter(before) || unicode.IsNumber(before)) {
			continue
		}
		rest := folded[end:]
		after := strings.TrimLeft(rest, ".-:_")
		if r, _ := utf8.DecodeRuneInString(after); after != "" && (unicode.IsLetter(r) || unicode.IsNumber(r)) && rest[0] != ':' {
			continue // the name of somebody else goes on
		}
		switch {
		case strings.TrimSpace(text[:begin]) == "":
			return strings.TrimSpace(strings.TrimLeft(text[end:], ":, ")), true
		case strings.TrimSpace(text[end:]) == "":
			return strings.TrimSpace(text[:begin]), true
		}
		return "", true
	}
}

// history is a page of a channel, the newest first.
type history struct {
	Order []string        `json:"order"`
	Posts map[string]post `json:"posts"`
}

// Bounds of what is read from the history of one channel.
const (
	pageSize  = 200
	mostPages = 50
)

// overlap is how far before the newest post that was taken history is read: posts of
// different channels are not taken in the order of their times.
const overlap = time.Minute

// catchUp reads what was posted behind the newest post that was taken, in all channels.
func (c *Client) catchUp(ctx context.Context) error {
	var all []place
	if err := c.ask(ctx, http.MethodGet, "/users/me/channels", nil, &all); err != nil {
		return err
	}
	var newest int64
	for _, p := range all {
		newest = max(newest, p.LastPostAt)
	}
	since, begun := c.queue.Since(overlap.Milliseconds())
	if !begun { // the first time ever: what was said before is not for us
		return c.queue.Begin(ctx, max(newest, 1))
	}
	var missed []post
	for _, p := range all {
		if p.LastPostAt <= since || p.DeleteAt != 0 || !mattermost.IsID(p.ID) {
			continue
		}
		c.known.place(p)
		more, err := c.since(ctx, p.ID, since)
		if err != nil {
			return err
		}
		missed = append(missed, more...)
	}
	slices.SortStableFunc(missed, func(a, b post) int { return cmp.Compare(a.CreateAt, b.CreateAt) })
	for _, p := range missed {
		if err := c.came(ctx, p, false); err != nil {
			return err
		}
	}
	return nil
}

// since is what was posted in a channel behind a time.
func (c *Client) since(ctx context.Context, id string, mark int64) (out []post, err error) {
	for page := range mostPages {
		var h history
		path := fmt.Sprintf("/channels/%s/posts?page=%d&per_page=%d", id, page, pageSize)
		if err := c.ask(ctx, http.MethodGet, path, nil, &h); err != nil {
			if gone(err) { // we were removed meanwhile
				return out, nil
			}
			return nil, err
		}
		for _, id := range h.Order {
			p, ok := h.Posts[id]
			if ok && p.CreateAt <= mark {
				return out, nil
			}
			if ok {
				out = append(out, p)
			}
		}
		if len(h.Order) < pageSize {
			return out, nil
		}
	}
	c.log.Warn("more was posted than is read from the history", "channel", id, "posts", len(out))
	return out, nil
}
