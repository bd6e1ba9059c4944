package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/emoji"
	"github.com/hearth-assistant/hearth/gateway/channel/mattermost"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
	"github.com/hearth-assistant/hearth/internal/text"
)

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{channel.ErrRefused}, args...)...)
}

// newPost is a message that is sent.
type newPost struct {
	ChannelID string   `json:"channel_id"`
	Message   string   `json:"message"`
	RootID    string   `json:"root_id,omitempty"`
	FileIDs   []string `json:"file_ids,omitempty"`
	// PendingID makes the server take a message once for half a minute.
	PendingID string `json:"pending_post_id,omitempty"`
}

// Send posts a message, with a file at most.
func (c *Client) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return channel.Receipt{}, err
	}
	if m.To.Thread != "" && !mattermost.IsID(m.To.Thread) {
		return channel.Receipt{}, refused("%q is no thread", text.Ellipsis(m.To.Thread, 40))
	}
	at, err := c.channelOf(ctx, m.To.Conversation)
	if err != nil {
		return channel.Receipt{}, err
	}
	p := newPost{ChannelID: at, Message: defused(m.Text), RootID: m.To.Thread}
	for _, f := range m.Media {
		id, err := c.upload(ctx, at, f)
		if err != nil {
			return channel.Receipt{}, err
		}
		p.FileIDs = append(p.FileIDs, id)
	}
	if p.Message == "" && len(p.FileIDs) == 0 {
		return channel.Receipt{}, refused("there is nothing to send")
	}
	if m.Key != "" {
		self, err := c.me(ctx)
		if err != nil {
			return channel.Receipt{}, err
		}
		sum := sha256.Sum256([]byte(c.account + "\x00" + m.Key))
		p.PendingID = self.ID + ":" + hex.EncodeToString(sum[:12])
	}
	var made post
	if err := c.once(ctx, http.MethodPost, "/posts", p, &made); err != nil {
		return channel.Receipt{}, err
	}
	if made.ID == "" {
		return channel.Receipt{}, fmt.Errorf("%w: Mattermost's answer names no post", channel.ErrUncertain)
	}
	return channel.Receipt{MessageID: made.ID}, nil
}

// upload brings a file to the server, where nobody sees it before its post.
func (c *Client) upload(ctx context.Context, at string, m channel.Media) (id string, err error) {
	if c.openFile == nil {
		return "", refused("no file may leave here")
	}
	f, err := c.openFile(m.URL)
	if err != nil {
		return "", fmt.Errorf("open the file that is to be sent: %w", err)
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("open the file that is to be sent: %w", err)
	}
	if most := c.Limits().Files; st.Size() > most {
		return "", refused("the file has %d bytes, and at most %d are sent", st.Size(), most)
	}
	name := m.Name
	if name == "" {
		name = "file"
	}
	var made struct {
		Files []fileInfo `json:"file_infos"`
	}
	q := request{
		method: http.MethodPost, path: "/files?channel_id=" + at + "&filename=" + url.QueryEscape(name), body: f, size: st.Size(),
		kind: "application/octet-stream", within: fileTime,
	}
	if st.Size() == 0 {
		return "", refused("the file is empty")
	}
	if err := c.do(ctx, q, &made); err != nil {
		return "", err
	}
	if len(made.Files) != 1 || made.Files[0].ID == "" {
		return "", errors.New("Mattermost's answer names no file")
	}
	return made.Files[0].ID, nil
}

// Fetch brings a file of a message.
func (c *Client) Fetch(ctx context.Context, m channel.Media) (io.ReadCloser, error) {
	if !mattermost.IsID(m.URL) {
		return nil, refused("%q is no file", text.Ellipsis(m.URL, 40))
	}
	req, err := c.prepared(ctx, request{method: http.MethodGet, path: "/files/" + m.URL})
	if err != nil {
		return nil, err
	}
	return webcall.Download{Network: "Mattermost", Within: fileTime, Most: c.maxFile, Judge: func(a webcall.Answer) error {
		return c.judge(a, "a file", false)
	}}.Open(ctx, c.http, req)
}

func postPath(id string) (string, error) {
	if !mattermost.IsID(id) {
		return "", refused("%q is no post", text.Ellipsis(id, 40))
	}
	return "/posts/" + id, nil
}

// Edit gives a post another text.
func (c *Client) Edit(ctx context.Context, _ channel.Target, messageID, words string) error {
	path, err := postPath(messageID)
	if err != nil {
		return err
	}
	return c.ask(ctx, http.MethodPut, path+"/patch", map[string]string{"message": defused(words)}, nil)
}

// Delete removes a post.
func (c *Client) Delete(ctx context.Context, _ channel.Target, messageID string) error {
	path, err := postPath(messageID)
	if err != nil {
		return err
	}
	return c.ask(ctx, http.MethodDelete, path, nil, nil)
}

// Typing shows “is typing” in a channel or thread.
func (c *Client) Typing(ctx context.Context, to channel.Target) error {
	at, err := c.channelOf(ctx, to.Conversation)
	if err != nil {
		return err
	}
	return c.ask(ctx, http.MethodPost, "/users/me/typing", map[string]string{"channel_id": at, "parent_id": to.Thread}, nil)
}

type reaction struct {
	UserID string `json:"user_id"`
	PostID string `json:"post_id"`
	Name   string `json:"emoji_name"`
}

// React puts an emoji on a post, instead of those that we put there before.
func (c *Client) React(ctx context.Context, _ channel.Target, messageID, sign string) error {
	path, err := postPath(messageID)
	if err != nil {
		return err
	}
	name := emoji.Name(sign)
	if sign != "" && name == "" {
		return refused("Mattermost has no name for %q", text.Ellipsis(sign, 40))
	}
	self, err := c.me(ctx)
	if err != nil {
		return err
	}
	var there []reaction
	if err := c.ask(ctx, http.MethodGet, path+"/reactions", nil, &there); err != nil {
		return err
	}
	for _, r := range there {
		if r.UserID != self.ID {
			continue
		}
		if r.Name == name {
			name = ""
			continue
		}
		if err := c.ask(ctx, http.MethodDelete, "/users/me"+path+"/reactions/"+url.PathEscape(r.Name), nil, nil); err != nil {
			return err
		}
	}
	if name == "" {
		return nil
	}
	return c.ask(ctx, http.MethodPost, "/reactions", reaction{UserID: self.ID, PostID: messageID, Name: name}, nil)
}
