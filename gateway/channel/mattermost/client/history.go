package client

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/mattermost"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Bounds of what is read back and searched.
const (
	mostRead    = 100 // posts that are asked for at once
	searchPages = 5
)

// Read brings what was posted in a channel or thread.
func (c *Client) Read(ctx context.Context, to channel.Target, before string, limit int) ([]channel.Past, error) {
	at, err := c.channelOf(ctx, to.Conversation)
	if err != nil {
		return nil, err
	}
	for _, id := range []string{before, to.Thread} {
		if id != "" && !mattermost.IsID(id) {
			return nil, refused("%q is no post", text.Ellipsis(id, 40))
		}
	}
	if to.Thread != "" {
		return c.readThread(ctx, to.Thread, before, limit)
	}
	var found []post
	for before := before; len(found) < limit; {
		path := fmt.Sprintf("/channels/%s/posts?per_page=%d", at, mostRead)
		if before != "" {
			path += "&before=" + before
		}
		var h history
		if err := c.ask(ctx, http.MethodGet, path, nil, &h); err != nil {
			return nil, err
		}
		for _, id := range h.Order { // the newest first
			if p, ok := h.Posts[id]; ok && p.said() && len(found) < limit {
				found = append(found, p)
			}
		}
		if len(h.Order) < mostRead {
			break
		}
		before = h.Order[len(h.Order)-1]
	}
	slices.Reverse(found)
	return c.past(ctx, found)
}

func (c *Client) readThread(ctx context.Context, root, before string, limit int) ([]channel.Past, error) {
	var h history
	if err := c.ask(ctx, http.MethodGet, "/posts/"+root+"/thread", nil, &h); err != nil {
		return nil, err
	}
	var found []post
	for _, p := range h.Posts {
		if p.said() {
			found = append(found, p)
		}
	}
	inOrder(found)
	if i := slices.IndexFunc(found, func(p post) bool { return p.ID == before }); i >= 0 {
		found = found[:i]
	}
	return c.past(ctx, found[max(len(found)-limit, 0):])
}

// Search lets the server look for words, and takes what it finds in that channel.
func (c *Client) Search(ctx context.Context, to channel.Target, words string, limit int) ([]channel.Past, error) {
	at, err := c.channelOf(ctx, to.Conversation)
	if err != nil {
		return nil, err
	}
	var found []post
	for page := 0; page < searchPages && len(found) < limit; page++ {
		var h history
		ask := map[string]any{"terms": plainWords(words), "is_or_search": false, "time_zone_offset": 0, "page": page, "per_page": mostRead}
		if err := c.ask(ctx, http.MethodPost, "/posts/search", ask, &h); err != nil {
			return nil, err
		}
		for _, id := range h.Order {
			p, ok := h.Posts[id]
			if ok && p.said() && p.ChannelID == at && (to.Thread == "" || p.RootID == to.Thread || p.ID == to.Thread) {
				found = append(found, p)
			}
		}
		if len(h.Order) < mostRead {
			break
		}
	}
	inOrder(found)
	return c.past(ctx, found[max(len(found)-limit, 0):])
}

// plainWords are words that the server takes as such: without the signs that would make
// them something else to it, "from:ada" or "-sea".
func plainWords(words string) string {
	return strings.Join(strings.FieldsFunc(words, func(r rune) bool { return strings.ContainsRune(" \t\n:\"*#@-", r) }), " ")
}

func inOrder(posts []post) {
	slices.SortFunc(posts, func(a, b post) int { return int(a.CreateAt - b.CreateAt) })
}

func (c *Client) past(ctx context.Context, posts []post) (out []channel.Past, err error) {
	for _, p := range posts {
		who, err := c.person(ctx, p.UserID)
		if err != nil {
			return nil, err
		}
		words := p.Message
		for _, f := range p.Metadata.Files {
			words = strings.TrimSpace(words + "\n[file: " + f.Name + "]")
		}
		out = append(out, channel.Past{MessageID: p.ID, SenderID: p.UserID, SenderName: who.shown(), Text: words,
			At: time.UnixMilli(p.CreateAt)})
	}
	return out, nil
}

// Pin keeps a post in the list of its channel's pinned ones, or lets it go.
func (c *Client) Pin(ctx context.Context, _ channel.Target, messageID string, on bool) error {
	path, err := postPath(messageID)
	if err != nil {
		return err
	}
	what := "/unpin"
	if on {
		what = "/pin"
	}
	return c.ask(ctx, http.MethodPost, path+what, nil, nil)
}
