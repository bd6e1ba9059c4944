package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/egress"
)

const (
	callTimeout   = 30 * time.Second
	uploadTimeout = 5 * time.Minute
	maxAnswer     = 16 << 20 // a page of 100 updates is far below
)

// client calls methods of the Bot API and says what its failures mean.
type client struct {
	http  *http.Client
	base  string
	token func() string // a closure, so that printing a client does not print it
}

func newClient(h *http.Client, base, token string) *client {
	if h == nil {
		h = &http.Client{Transport: transport()}
	}
	own := *h
	// The token is in the path: it goes to the one configured host only.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{http: &own, base: strings.TrimRight(base, "/"), token: func() string { return token }}
}

// transport speaks HTTP/1.1: a cancelled poll then closes its own connection,
// so a dead one is never used again. Idle connections are dropped early, before
// the other side does so while we write a message into them: nobody could tell
// whether that message arrived.
func transport() http.RoundTripper {
	t := egress.Operator()
	t.ForceAttemptHTTP2, t.Protocols = false, new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.IdleConnTimeout, t.MaxIdleConnsPerHost, t.ResponseHeaderTimeout = 20*time.Second, 4, 2*time.Minute
	return t
}

// apiError is an answer of Telegram that is not what we asked for. It unwraps
// to the channel error that says what to do about it.
type apiError struct {
	method      string
	status      int
	description string
	migrateTo   int64
	meaning     error // nil: passing
}

func (e *apiError) Error() string {
	if e.meaning == nil {
		return fmt.Sprintf("Telegram could not do %s (%d %s)", e.method, e.status, e.description)
	}
	return fmt.Sprintf("%v: Telegram answered %s with %d %s%s", e.meaning, e.method, e.status, e.description, advice(e))
}

func (e *apiError) Unwrap() error { return e.meaning }

// describes reports whether Telegram's words hold one of these.
func (e *apiError) describes(words ...string) bool {
	d := strings.ToLower(e.description)
	for _, w := range words {
		if strings.Contains(d, w) {
			return true
		}
	}
	return false
}

// refusal finds an answer with one of these words.
func refusal(err error, words ...string) bool {
	var e *apiError
	return errors.As(err, &e) && e.status == http.StatusBadRequest && e.describes(words...)
}

// advice says what a person can do.
func advice(e *apiError) string {
	switch {
	case errors.Is(e.meaning, channel.ErrAuth):
		return "; the bot token is wrong or was revoked: get it from @BotFather (/token) and set channels.telegram.botToken"
	case e.describes("bot was blocked by the user"):
		return "; the person has blocked the bot and must unblock it in Telegram"
	case e.describes("can't initiate conversation"):
		return "; the person must write to the bot first"
	case e.describes("bot was kicked", "not a member"):
		return "; add the bot to the group again"
	case e.describes("user is deactivated"):
		return "; this Telegram account no longer exists"
	case e.describes("chat not found"):
		return "; the chat's id is wrong, or the person never wrote to this bot"
	case e.describes("not enough rights", "have no rights", "chat_write_forbidden"):
		return "; give the bot the right to write in this chat"
	case e.describes("business_peer_usage_missing", "business_peer_invalid"):
		return "; Telegram lets a bot write in somebody's name only within 24 hours after the other person wrote"
	case e.describes("business connection not found", "bot_access_forbidden"):
		return "; the person with Telegram Business does not let this bot answer for them (any more)"
	case e.describes("thread not found", "topic_closed", "topic_deleted"):
		return "; the topic was closed or deleted"
	}
	return ""
}

// body is what a request carries.
type body struct {
	contentType string
	r           io.Reader
	size        int64
}

func jsonBody(v any) (body, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return body{}, err
	}
	return body{contentType: "application/json", r: bytes.NewReader(b), size: int64(len(b))}, nil
}

// call does a method that can be repeated without harm: its failures are
// passing or final, never uncertain.
func (c *client) call(ctx context.Context, method string, params, result any) error {
	return repeatable(c.once(ctx, callTimeout, method, params, result))
}

// repeatable makes a passing failure of an uncertain one.
func repeatable(err error) error {
	if errors.Is(err, channel.ErrUncertain) {
		return errors.New(strings.TrimPrefix(err.Error(), channel.ErrUncertain.Error()+": "))
	}
	return err
}

// once does a method that must not be done twice.
func (c *client) once(ctx context.Context, limit time.Duration, method string, params, result any) error {
	b, err := jsonBody(params)
	if err != nil {
		return fmt.Errorf("write the request %s: %w", method, err)
	}
	return c.do(ctx, limit, method, b, result)
}

func (c *client) do(ctx context.Context, limit time.Duration, method string, b body, result any) error {
	ctx, cancel := awake.WithTimeout(ctx, limit)
	defer cancel()
	var begun atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// From here on Telegram may have read all of it.
		WroteHeaders: func() { begun.Store(true) },
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/bot"+c.token()+"/"+method, b.r)
	if err != nil {
		return fmt.Errorf("write the request %s: %s", method, c.redact(err.Error()))
	}
	req.ContentLength = b.size
	req.Header.Set("Content-Type", b.contentType)
	resp, err := c.http.Do(req)
	if err != nil {
		return c.broken(method, err, begun.Load())
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(raw) > maxAnswer {
		err = errors.New("the answer is too long")
	}
	if err != nil && resp.StatusCode == http.StatusOK {
		return c.broken(method, err, true)
	}
	return c.judge(method, resp, raw, result)
}

// broken is a failure of the way to Telegram. The text of the cause is taken
// apart because net/http puts the whole address, token included, into it.
func (c *client) broken(method string, err error, sent bool) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	cause := c.redact(egress.Plain(err).Error())
	if sent {
		return fmt.Errorf("%w: the connection to Telegram broke after %s was sent (%s)", channel.ErrUncertain, method, cause)
	}
	return fmt.Errorf("Telegram could not be reached for %s: %s", method, cause)
}

type answer struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Code        int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int64 `json:"retry_after"`
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

func (c *client) judge(method string, resp *http.Response, raw []byte, result any) error {
	var a answer
	parsed := json.Unmarshal(raw, &a) == nil
	if resp.StatusCode == http.StatusOK && parsed && a.OK {
		if result == nil {
			return nil
		}
		if err := json.Unmarshal(a.Result, result); err != nil {
			return fmt.Errorf("%w: Telegram's answer to %s could not be read", channel.ErrUncertain, method)
		}
		return nil
	}
	if resp.StatusCode == http.StatusOK && !parsed {
		return fmt.Errorf("%w: Telegram's answer to %s could not be read (%s)", channel.ErrUncertain, method, mediaType(resp))
	}
	e := &apiError{method: method, status: resp.StatusCode, migrateTo: a.Parameters.MigrateTo}
	if a.Code != 0 {
		e.status = a.Code
	}
	e.description = c.plain(a.Description, http.StatusText(e.status))
	switch s := e.status; {
	case s == http.StatusTooManyRequests:
		return &channel.RateLimit{After: retryAfter(a.Parameters.RetryAfter, resp)}
	case s == http.StatusUnauthorized, s == http.StatusNotFound && parsed:
		e.meaning = channel.ErrAuth // Telegram says 404 to a token that never existed
	case s == http.StatusGatewayTimeout:
		e.meaning = channel.ErrUncertain // somebody behind the door may still be at it
	case s == http.StatusBadRequest, s == http.StatusForbidden, s == http.StatusRequestEntityTooLarge:
		e.meaning = channel.ErrRefused
	}
	return e
}

func retryAfter(seconds int64, resp *http.Response) time.Duration {
	if seconds <= 0 {
		seconds, _ = strconv.ParseInt(resp.Header.Get("Retry-After"), 10, 64)
	}
	return time.Duration(min(max(seconds, 1), 24*60*60)) * time.Second
}

func mediaType(resp *http.Response) string {
	t, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return "no content type"
	}
	return t
}

// plain makes one short line of what a server said.
func (c *client) plain(s, fallback string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.TrimSpace(c.redact(s))
	if s == "" {
		return fallback
	}
	if r := []rune(s); len(r) > 200 {
		s = string(r[:200]) + "…"
	}
	return s
}
