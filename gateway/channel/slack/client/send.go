package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/emoji"
	"github.com/hearth-assistant/hearth/gateway/channel/markup"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Send writes a message, with a file at most. The receipt of a file is the file's id:
// Slack makes its message later.
func (c *Client) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return channel.Receipt{}, err
	}
	at, err := c.place(ctx, m.To)
	if err != nil {
		return channel.Receipt{}, err
	}
	words := markup.Mrkdwn(m.Text)
	shown, err := blocks(words, m.Choices)
	if err != nil {
		return channel.Receipt{}, err
	}
	if len(m.Media) > 0 {
		id, err := c.share(ctx, at, m.To.Thread, words, m.Media)
		return channel.Receipt{MessageID: id}, err
	}
	if strings.TrimSpace(words) == "" {
		return channel.Receipt{}, refused("there is nothing to send")
	}
	if m.Draft {
		if id, began, err := c.start(ctx, at, m); began || err != nil {
			return channel.Receipt{MessageID: id}, err
		}
	}
	// Nobody is called by a name in the text, and no link is unfolded.
	args := url.Values{"channel": {at}, "text": {words}, "link_names": {"false"}, "parse": {"none"}, "unfurl_links": {"false"},
		"unfurl_media": {"false"}}
	if m.To.Thread != "" {
		args.Set("thread_ts", m.To.Thread)
	}
	if shown != "" {
		args.Set("blocks", shown)
	}
	var made struct {
		TS string `json:"ts"`
	}
	if _, err := c.ask(ctx, call{method: "chat.postMessage", once: true}, args, &made); err != nil {
		return channel.Receipt{}, err
	}
	if made.TS == "" {
		return channel.Receipt{}, fmt.Errorf("%w: Slack's answer names no message", channel.ErrUncertain)
	}
	return channel.Receipt{MessageID: made.TS}, nil
}

// share brings files to Slack, where nobody sees them, and shows them then.
func (c *Client) share(ctx context.Context, at, thread, words string, all []channel.Media) (string, error) {
	type entry struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	var entries []entry
	for _, m := range all {
		name := m.Name
		if name == "" {
			name = "file"
		}
		id, err := c.upload(ctx, name, m)
		if err != nil {
			return "", err
		}
		entries = append(entries, entry{id, name})
	}
	list, err := json.Marshal(entries)
	if err != nil {
		return "", err
	}
	args := url.Values{"files": {string(list)}, "channel_id": {at}}
	if words != "" {
		args.Set("initial_comment", words)
	}
	if thread != "" {
		args.Set("thread_ts", thread)
	}
	_, err = c.ask(ctx, call{method: "files.completeUploadExternal", once: true}, args, nil)
	return entries[0].ID, err
}

// upload brings one file.
func (c *Client) upload(ctx context.Context, name string, m channel.Media) (id string, err error) {
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
	if most := c.Limits().Files; st.Size() > most || st.Size() == 0 {
		return "", refused("the file has %d bytes: 1 to %d are sent", st.Size(), most)
	}
	var at struct {
		URL string `json:"upload_url"`
		ID  string `json:"file_id"`
	}
	args := url.Values{"filename": {name}, "length": {strconv.FormatInt(st.Size(), 10)}}
	if _, err := c.ask(ctx, call{method: "files.getUploadURLExternal"}, args, &at); err != nil {
		return "", err
	}
	if !c.ours(at.URL) || at.ID == "" {
		return "", errors.New("Slack named no place for the file")
	}
	return at.ID, c.put(ctx, at.URL, f, st)
}

// put uploads to an address that Slack named.
func (c *Client) put(ctx context.Context, to string, f fs.File, st fs.FileInfo) error {
	ctx, cancel := context.WithTimeout(ctx, fileTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, io.LimitReader(f, st.Size()))
	if err != nil {
		return errors.New("Slack named no place for the file")
	}
	req.ContentLength = st.Size()
	req.Header.Set("Content-Type", "application/octet-stream")
	a, err := webcall.Do(ctx, c.http, req, 1<<20)
	switch {
	case err != nil:
		return webcall.Again(err, "Slack", "the upload of a file")
	case a.Status == http.StatusTooManyRequests:
		return &channel.RateLimit{After: webcall.RetryAfter(a.Header, "Retry-After")}
	case a.Status != http.StatusOK:
		return fmt.Errorf("Slack answered the upload of a file with %d", a.Status)
	}
	return nil
}

// ours reports whether an address is one of Slack's for files.
func (c *Client) ours(address string) bool {
	u, err := url.Parse(address)
	return err == nil && slices.Contains(c.hosts, u.Host) && (u.Scheme == "https" || strings.HasPrefix(c.root, "http://"))
}

// Fetch brings a file of a message.
func (c *Client) Fetch(ctx context.Context, m channel.Media) (io.ReadCloser, error) {
	if !c.ours(m.URL) {
		return nil, refused("%q is no file of Slack", text.Ellipsis(m.URL, 60))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.URL, nil)
	if err != nil {
		return nil, fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.bot())
	return webcall.Download{Network: "Slack", Within: fileTime, Most: c.maxFile, Judge: func(a webcall.Answer) error {
		if a.Status >= 500 || a.Status == http.StatusTooManyRequests {
			return fmt.Errorf("Slack answered with %d for a file", a.Status)
		}
		return refused("Slack does not give the file (%d %s): the token may lack the scope files:read", a.Status, http.StatusText(a.Status))
	}, IsFile: func(h http.Header) bool { // whoever may not read files is shown a page to log in
		return !strings.HasPrefix(h.Get("Content-Type"), "text/html") || strings.Contains(m.MIME, "html")
	}}.Open(ctx, c.http, req)
}

// about are the arguments of a method about a message.
func (c *Client) about(ctx context.Context, to channel.Target, messageID, key string) (url.Values, error) {
	if micros(messageID) == 0 {
		return nil, refused("%q is no message", text.Ellipsis(messageID, 40))
	}
	at, err := c.place(ctx, to)
	return url.Values{"channel": {at}, key: {messageID}}, err
}

// Edit gives a message another text.
func (c *Client) Edit(ctx context.Context, to channel.Target, messageID, words string) error {
	return c.change(ctx, to, messageID, words, false)
}

// Delete removes a message.
func (c *Client) Delete(ctx context.Context, to channel.Target, messageID string) error {
	args, err := c.about(ctx, to, messageID, "ts")
	if err != nil {
		return err
	}
	if at := args.Get("channel"); get(c.streams, c.streams.open, at+"/"+messageID) != nil {
		if err := c.end(ctx, at, messageID); err != nil {
			return err
		}
	}
	_, err = c.ask(ctx, call{method: "chat.delete"}, args, nil)
	return err
}

// React puts an emoji on a message, instead of those that we put there before.
func (c *Client) React(ctx context.Context, to channel.Target, messageID, sign string) error {
	name := emoji.Name(sign)
	if sign != "" && name == "" {
		return refused("Slack has no name for %q", text.Ellipsis(sign, 40))
	}
	args, err := c.about(ctx, to, messageID, "timestamp")
	if err != nil {
		return err
	}
	self, err := c.me(ctx)
	if err != nil {
		return err
	}
	var r struct {
		Message struct {
			Reactions []struct {
				Name  string   `json:"name"`
				Users []string `json:"users"`
			} `json:"reactions"`
		} `json:"message"`
	}
	if _, err := c.ask(ctx, call{method: "reactions.get"}, args, &r); err != nil {
		return err
	}
	for _, old := range r.Message.Reactions {
		switch {
		case !slices.Contains(old.Users, self.User):
		case old.Name == name:
			name = ""
		default:
			args.Set("name", old.Name)
			if _, err := c.ask(ctx, call{method: "reactions.remove"}, args, nil); ignore(err, "no_reaction") != nil {
				return err
			}
		}
	}
	if name == "" {
		return nil
	}
	args.Set("name", name)
	_, err = c.ask(ctx, call{method: "reactions.add"}, args, nil)
	return ignore(err, "already_reacted")
}
