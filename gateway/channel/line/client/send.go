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
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/line"
	"github.com/hearth-assistant/hearth/gateway/channel/markup"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
	"github.com/hearth-assistant/hearth/gateway/uuid"
	"github.com/hearth-assistant/hearth/internal/text"
)

const (
	askTime   = 30 * time.Second
	fileTime  = 5 * time.Minute
	maxAnswer = 1 << 20
	network   = "LINE"
)

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{channel.ErrRefused}, args...)...)
}

func coordinates(m message) string {
	if m.Latitude == nil || m.Longitude == nil {
		return ""
	}
	return fmt.Sprintf("(%s, %s)", strconv.FormatFloat(*m.Latitude, 'f', -1, 64), strconv.FormatFloat(*m.Longitude, 'f', -1, 64))
}

// Send sends a message: as a reply while the token for that is good, which costs
// nothing, and else as one that LINE counts. One that LINE counts can be sent again
// without harm, because LINE takes its key once.
func (c *Client) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return channel.Receipt{}, err
	}
	switch {
	case !line.IsID(m.To.Conversation):
		return channel.Receipt{}, refused("%q is nobody on LINE", text.Ellipsis(m.To.Conversation, 40))
	case len(m.Media) > 0:
		return channel.Receipt{}, refused("LINE takes files by a public address alone, so none are sent")
	}
	words := strings.TrimSpace(markup.Plain(m.Text))
	if words == "" {
		return channel.Receipt{}, refused("there is nothing to send")
	}
	if n := channel.UTF16.Len(words); n > line.Limits.Text {
		return channel.Receipt{}, refused("the message has %d UTF-16 units, and at most %d are sent", n, line.Limits.Text)
	}
	said := map[string]any{"type": "text", "text": words}
	c.mu.Lock()
	if quote := c.quotes[m.To.ReplyTo]; quote != "" {
		said["quoteToken"] = quote
	}
	reply := c.replies[m.To.Conversation]
	delete(c.replies, m.To.Conversation) // it is good for one answer, whatever becomes of that
	c.mu.Unlock()
	if reply.token != "" && c.Now().Before(reply.until) {
		r, err := c.reply(ctx, reply.token, said)
		if err == nil || !isNo(err) {
			return r, err
		}
		c.Logger.Info("a reply was not taken; the answer is sent as a message that LINE counts", "err", err)
	}
	return c.push(ctx, m, said)
}

// sent is LINE's receipt.
type sent struct {
	Messages []struct {
		ID         string `json:"id"`
		QuoteToken string `json:"quoteToken"`
	} `json:"sentMessages"`
}

func (c *Client) receipt(s sent) (channel.Receipt, error) {
	if len(s.Messages) == 0 || s.Messages[0].ID == "" {
		return channel.Receipt{}, fmt.Errorf("%w: LINE's answer names no message", channel.ErrUncertain)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if q := s.Messages[0].QuoteToken; q != "" && len(c.quotes) < mostKnown {
		c.quotes[s.Messages[0].ID] = q
	}
	return channel.Receipt{MessageID: s.Messages[0].ID}, nil
}

func (c *Client) reply(ctx context.Context, token string, said map[string]any) (channel.Receipt, error) {
	var s sent
	q := request{method: http.MethodPost, path: "/v2/bot/message/reply", once: true,
		body: map[string]any{"replyToken": token, "messages": []any{said}}}
	if err := c.do(ctx, q, &s); err != nil {
		return channel.Receipt{}, err
	}
	return c.receipt(s)
}

func (c *Client) push(ctx context.Context, m channel.Message, said map[string]any) (channel.Receipt, error) {
	var s sent
	q := request{method: http.MethodPost, path: "/v2/bot/message/push", retry: c.retryKey(m.Key),
		body: map[string]any{"to": m.To.Conversation, "messages": []any{said}}}
	err := c.do(ctx, q, &s)
	var no *apiError
	if errors.As(err, &no) && no.status == http.StatusConflict && no.accepted != "" { // it was taken before
		if len(no.sent.Messages) > 0 {
			return c.receipt(no.sent)
		}
		return channel.Receipt{MessageID: "request-" + no.accepted}, nil
	}
	if err != nil {
		return channel.Receipt{}, err
	}
	return c.receipt(s)
}

// retryKey makes of a message's key what LINE takes once for a day: a UUID.
func (c *Client) retryKey(key string) string {
	if key == "" {
		return uuid.New()
	}
	b := sha256.Sum256([]byte(c.account + "\x00" + key))
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// Typing shows the loading animation, which LINE has for one person alone.
func (c *Client) Typing(ctx context.Context, to channel.Target) error {
	if !strings.HasPrefix(to.Conversation, "U") || !line.IsID(to.Conversation) {
		return nil
	}
	return c.ask(ctx, http.MethodPost, "/v2/bot/chat/loading/start",
		map[string]any{"chatId": to.Conversation, "loadingSeconds": int(line.Limits.Typing.Seconds())}, nil)
}

// Fetch brings the content of a message.
func (c *Client) Fetch(ctx context.Context, m channel.Media) (io.ReadCloser, error) {
	if !isNumber(m.URL) {
		return nil, refused("%q is no file", text.Ellipsis(m.URL, 40))
	}
	req, err := http.NewRequest(http.MethodGet, c.data+"/v2/bot/message/"+m.URL+"/content", http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token())
	return webcall.Download{Network: network, Within: fileTime, Most: c.maxFile, Judge: func(a webcall.Answer) error {
		if a.Status == http.StatusAccepted {
			return &channel.RateLimit{After: 3 * time.Second} // LINE still makes it ready
		}
		return judge(a, "a file", false)
	}}.Open(ctx, c.http, req)
}

// request is one to the API.
type request struct {
	method, path, retry string
	body                any
	once                bool // it must not be done twice
}

func (c *Client) ask(ctx context.Context, method, path string, body, result any) error {
	return c.do(ctx, request{method: method, path: path, body: body}, result)
}

func (c *Client) do(ctx context.Context, q request, result any) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var body io.Reader = http.NoBody
	if q.body != nil {
		b, err := json.Marshal(q.body)
		if err != nil {
			return refused("it cannot be written as JSON: %v", err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequest(q.method, c.api+q.path, body)
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token())
	req.Header.Set("User-Agent", "Hearth")
	if q.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if q.retry != "" {
		req.Header.Set("X-Line-Retry-Key", q.retry)
	}
	what := strings.TrimPrefix(q.path, "/v2/bot")
	a, err := webcall.Do(ctx, c.http, req, maxAnswer)
	switch {
	case err != nil && q.once:
		return webcall.Once(err, network, what)
	case err != nil:
		return webcall.Again(err, network, what)
	case a.Status < 200 || a.Status > 299:
		return judge(a, what, q.once)
	case result == nil:
		return nil
	}
	return a.Read(result, network, what, q.once)
}

// apiError is LINE's no. It unwraps to the error of package channel that says what to
// do about it.
type apiError struct {
	words    string
	status   int
	accepted string // the request that did this before
	sent     sent
	meaning  error // nil: passing
}

func (e *apiError) Error() string {
	if e.meaning != nil {
		return e.meaning.Error() + ": " + e.words
	}
	return e.words
}

func (e *apiError) Unwrap() error { return e.meaning }

// judge says what an answer means that is not what was asked for.
func judge(a webcall.Answer, what string, once bool) error {
	var said struct {
		Message string `json:"message"`
		Details []struct {
			Message  string `json:"message"`
			Property string `json:"property"`
		} `json:"details"`
		sent
	}
	parsed := json.Unmarshal(a.Body, &said) == nil && said.Message != ""
	words := webcall.Words(said.Message, http.StatusText(a.Status))
	if len(said.Details) > 0 {
		words += webcall.Words(" ("+said.Details[0].Property+": "+said.Details[0].Message+")", "")
	}
	e := &apiError{status: a.Status, accepted: webcall.Words(a.Header.Get("X-Line-Accepted-Request-Id"), ""), sent: said.sent,
		words: fmt.Sprintf("LINE answered %s with %d %s", what, a.Status, words)}
	switch s := a.Status; {
	case s == http.StatusTooManyRequests && strings.Contains(said.Message, "monthly limit"):
		e.meaning = channel.ErrRefused
		e.words += ". The messages that LINE allows this account in a month are used up. Answers within a minute still go; for others a larger " +
			"plan is needed (LINE Official Account Manager)"
	case s == http.StatusTooManyRequests:
		return &channel.RateLimit{After: webcall.RetryAfter(a.Header, "Retry-After")}
	case s == http.StatusUnauthorized:
		e.meaning = channel.ErrAuth
		e.words += ". The channel access token is wrong or was withdrawn: issue another one in the LINE Developers Console, and set " +
			"channels.line.channelAccessToken"
	case once && !parsed && (s == http.StatusBadGateway || s == http.StatusGatewayTimeout):
		e.meaning = channel.ErrUncertain
	case s < 500 && s != http.StatusRequestTimeout:
		e.meaning = channel.ErrRefused
	}
	return e
}

func isNo(err error) bool { return errors.Is(err, channel.ErrRefused) }
