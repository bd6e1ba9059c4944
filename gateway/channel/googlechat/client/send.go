package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/googlechat"
	"github.com/hearth-assistant/hearth/gateway/channel/markup"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
	"github.com/hearth-assistant/hearth/gateway/uuid"
	"github.com/hearth-assistant/hearth/internal/text"
)

const (
	askTime   = 30 * time.Second
	fileTime  = 5 * time.Minute
	maxAnswer = 4 << 20
	mostBytes = 32_000 // of a message, all in all
	network   = "Google Chat"
)

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{channel.ErrRefused}, args...)...)
}

// spaceOf is the name of a conversation's space.
func spaceOf(conversation string) (string, error) {
	name, direct := strings.CutPrefix(conversation, googlechat.PersonSign)
	if direct {
		name = "spaces/" + name
	}
	if _, ok := under("spaces/", name); !ok {
		return "", refused("%q is no conversation", text.Ellipsis(conversation, 40))
	}
	return name, nil
}

// shown is a text in Google's own dialect. It calls nobody: behind the sign that begins
// the name of a person stands one without width.
func shown(markdown string) (string, error) {
	s := strings.ReplaceAll(markup.Mrkdwn(markdown), "&lt;users/", "&lt;\u200busers/")
	s = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
	switch {
	case strings.TrimSpace(s) == "":
		return "", refused("there is nothing to send")
	case len(s) > mostBytes:
		return "", refused("the message has %d bytes, and at most %d are sent", len(s), mostBytes)
	}
	return s, nil
}

// Send posts a message, or writes it into the one that was shown meanwhile. One that is
// sent again is the same one for Google, by its key.
func (c *Client) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return channel.Receipt{}, err
	}
	spaceName, err := spaceOf(m.To.Conversation)
	if err != nil {
		return channel.Receipt{}, err
	}
	if len(m.Media) > 0 {
		return channel.Receipt{}, refused("Google lets apps upload no files")
	}
	words, err := shown(m.Text)
	if err != nil {
		return channel.Receipt{}, err
	}
	key := placeKey(m.To.Conversation, m.To.Thread)
	c.mu.Lock()
	p := c.pending[key]
	delete(c.pending, key)
	c.mu.Unlock()
	if p != nil && p.message != "" {
		err := c.patch(ctx, p.message, words)
		if err == nil {
			return channel.Receipt{MessageID: p.message}, nil
		}
		if !isNo(err) { // the next try writes into the same message
			c.mu.Lock()
			c.pending[key] = p
			c.mu.Unlock()
			return channel.Receipt{}, err
		}
	}
	return c.create(ctx, spaceName, m.To.Thread, words, c.requestID(m.Key))
}

// requestID makes of a message's key what Google takes once.
func (c *Client) requestID(key string) string {
	if key == "" {
		return uuid.New()
	}
	b := sha256.Sum256([]byte(c.account + "\x00" + key))
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

func (c *Client) create(ctx context.Context, spaceName, thread, words, id string) (channel.Receipt, error) {
	body := map[string]any{"text": words}
	q := url.Values{"requestId": {id}}
	if thread != "" {
		if !googlechat.IsName(thread) {
			return channel.Receipt{}, refused("%q is no thread", text.Ellipsis(thread, 40))
		}
		body["thread"] = map[string]string{"name": spaceName + "/threads/" + thread}
		q.Set("messageReplyOption", "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD")
	}
	var made struct {
		Name string `json:"name"`
	}
	if err := c.ask(ctx, http.MethodPost, "/v1/"+spaceName+"/messages?"+q.Encode(), body, &made); err != nil {
		return channel.Receipt{}, err
	}
	if _, err := messagePath(made.Name); err != nil {
		return channel.Receipt{}, fmt.Errorf("%w: Google's answer names no message", channel.ErrUncertain)
	}
	return channel.Receipt{MessageID: made.Name}, nil
}

func messagePath(name string) (string, error) {
	spaceName, id, ok := strings.Cut(name, "/messages/")
	if _, isSpace := under("spaces/", spaceName); !ok || !isSpace || !googlechat.IsName(id) {
		return "", refused("%q is no message", text.Ellipsis(name, 40))
	}
	return "/v1/" + name, nil
}

func (c *Client) patch(ctx context.Context, name, words string) error {
	path, err := messagePath(name)
	if err != nil {
		return err
	}
	return c.ask(ctx, http.MethodPatch, path+"?updateMask=text", map[string]any{"text": words}, nil)
}

// Edit gives a message another text.
func (c *Client) Edit(ctx context.Context, _ channel.Target, messageID, words string) error {
	words, err := shown(words)
	if err != nil {
		return err
	}
	return c.patch(ctx, messageID, words)
}

// Delete removes a message.
func (c *Client) Delete(ctx context.Context, _ channel.Target, messageID string) error {
	path, err := messagePath(messageID)
	if err != nil {
		return err
	}
	return c.ask(ctx, http.MethodDelete, path, nil, nil)
}

const (
	meanwhile = "…"
	staleTime = 2 * time.Minute
)

// Typing shows a message where somebody waits for an answer, which is written into it.
func (c *Client) Typing(ctx context.Context, to channel.Target) error {
	spaceName, err := spaceOf(to.Conversation)
	if err != nil {
		return err
	}
	key := placeKey(to.Conversation, to.Thread)
	c.mu.Lock()
	p := c.pending[key]
	if p == nil || p.making || p.message != "" {
		if p != nil {
			p.until = c.Now().Add(staleTime)
		}
		c.mu.Unlock()
		return nil
	}
	p.making = true
	c.mu.Unlock()
	r, err := c.create(ctx, spaceName, to.Thread, meanwhile, uuid.New())
	c.mu.Lock()
	p.making = false
	waited := c.pending[key] == p
	if err == nil && waited {
		p.message, p.until = r.MessageID, c.Now().Add(staleTime)
	}
	c.mu.Unlock()
	if err == nil && !waited { // the answer was faster
		err = c.Delete(ctx, to, r.MessageID)
	}
	if err == nil {
		c.sweep(ctx)
	}
	return err
}

// sweep takes away what was shown for answers that did not come.
func (c *Client) sweep(ctx context.Context) {
	var stale []string
	now := c.Now()
	c.mu.Lock()
	for key, p := range c.pending {
		if p.message != "" && now.After(p.until) {
			stale = append(stale, p.message)
			delete(c.pending, key)
		}
	}
	c.mu.Unlock()
	for _, name := range stale {
		if err := c.Delete(ctx, channel.Target{}, name); err != nil {
			c.Logger.Info("a message without an answer could not be taken away", "err", err)
		}
	}
}

// Fetch brings a file of a message.
func (c *Client) Fetch(ctx context.Context, m channel.Media) (io.ReadCloser, error) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=/+"
	if m.URL == "" || len(m.URL) > 2000 || strings.Trim(m.URL, letters) != "" || strings.Contains(m.URL, "//") {
		return nil, refused("%q is no file", text.Ellipsis(m.URL, 40))
	}
	token, err := c.bearerToken(ctx)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodGet, c.api+"/v1/media/"+m.URL+"?alt=media", http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return webcall.Download{Network: network, Within: fileTime, Most: c.maxFile, Judge: func(a webcall.Answer) error {
		return judge(a, "a file")
	}}.Open(ctx, c.http, req)
}

// exchange gives a signed claim for a token.
func (c *Client) exchange(ctx context.Context, signed string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {signed}}.Encode()
	req, err := http.NewRequest(http.MethodPost, c.tokens+"/token", strings.NewReader(form))
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	a, err := webcall.Do(ctx, c.http, req, maxAnswer)
	if err != nil {
		return webcall.Again(err, network, "a token")
	}
	if a.Status == http.StatusOK && json.Unmarshal(a.Body, into) == nil {
		return nil
	}
	var said struct {
		Error string `json:"error"`
		Words string `json:"error_description"`
	}
	_ = json.Unmarshal(a.Body, &said) // an answer may be anything
	why := webcall.Words(said.Error+" "+said.Words, "no reason")
	words := fmt.Sprintf("Google gives no token for the service account (%d %s)", a.Status, why)
	if a.Status == http.StatusBadRequest || a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden {
		return fmt.Errorf("%w: %s. Its key was withdrawn, or this computer's clock is wrong: download a new JSON key from Google",
			channel.ErrAuth, words)
	}
	return errors.New(words)
}

// ask makes a request, once more with a new token when the old one is not accepted.
// All of them can be made again without harm.
func (c *Client) ask(ctx context.Context, method, path string, body, result any) error {
	err := c.askOnce(ctx, method, path, body, result)
	if errors.Is(err, errToken) {
		c.forget()
		err = c.askOnce(ctx, method, path, body, result)
	}
	return err
}

// errToken: the token is not accepted; another may be.
var errToken = fmt.Errorf("%w: Google does not accept the app's token. Look at the service account in the Google Cloud Console",
	channel.ErrAuth)

func (c *Client) askOnce(ctx context.Context, method, path string, body, result any) error {
	token, err := c.bearerToken(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var content io.Reader = http.NoBody
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return refused("it cannot be written as JSON: %v", err)
		}
		content = bytes.NewReader(b)
	}
	req, err := http.NewRequest(method, c.api+path, content)
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("User-Agent", "Hearth")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	what, _, _ := strings.Cut(method+" "+path, "?")
	a, err := webcall.Do(ctx, c.http, req, maxAnswer)
	switch {
	case err != nil:
		return webcall.Again(err, network, what)
	case a.Status < 200 || a.Status > 299:
		return judge(a, what)
	case result == nil:
		return nil
	}
	return a.Read(result, "Google", what, false)
}

// judge says what an answer means that is not what was asked for.
func judge(a webcall.Answer, what string) error {
	var said struct {
		Error struct {
			Message string `json:"message"`
			Status  string `json:"status"`
		} `json:"error"`
	}
	_ = json.Unmarshal(a.Body, &said) // an answer may be anything
	words := fmt.Sprintf("Google answered %s with %d %s", what, a.Status, webcall.Words(said.Error.Message, http.StatusText(a.Status)))
	switch s := a.Status; {
	case s == http.StatusTooManyRequests:
		return &channel.RateLimit{After: webcall.RetryAfter(a.Header, "Retry-After")}
	case s == http.StatusUnauthorized:
		return errToken
	case s < 500 && s != http.StatusRequestTimeout:
		return refused("%s", words)
	}
	return errors.New(words)
}

func isNo(err error) bool { return errors.Is(err, channel.ErrRefused) }
