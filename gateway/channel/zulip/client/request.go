package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

const (
	askTime    = 30 * time.Second
	fileTime   = 5 * time.Minute
	maxAnswer  = 16 << 20 // a page of messages of the longest kind is below
	apiVersion = "/api/v1"
	program    = "Hearth" // servers show it as that which a message was sent with
)

// request is one to the server's API. Its parameters are in the address of a GET, and
// else in the body, unless that is given.
type request struct {
	method, path string
	params       url.Values
	body         io.Reader
	size         int64
	kind         string // of the body
	once         bool   // it must not be done twice
	within       time.Duration
}

// ask makes a request that can be made again without harm.
func (c *Client) ask(ctx context.Context, method, path string, params url.Values, result any) error {
	return c.do(ctx, request{method: method, path: path, params: params, within: askTime}, result)
}

// prepared is a request with our credential.
func (c *Client) prepared(ctx context.Context, q request) (*http.Request, error) {
	address := c.base + apiVersion + q.path
	switch {
	case q.method == http.MethodGet && len(q.params) > 0:
		address += "?" + q.params.Encode()
	case q.method != http.MethodGet && q.body == nil:
		form := q.params.Encode()
		q.body, q.size, q.kind = strings.NewReader(form), int64(len(form)), "application/x-www-form-urlencoded"
	}
	req, err := http.NewRequestWithContext(ctx, q.method, address, q.body)
	if err != nil {
		return nil, fmt.Errorf("write a request: %w", err)
	}
	req.SetBasicAuth(c.email, c.key())
	req.Header.Set("User-Agent", program)
	if q.body != nil {
		req.ContentLength = q.size
		req.Header.Set("Content-Type", q.kind)
	}
	return req, nil
}

func (c *Client) do(ctx context.Context, q request, result any) error {
	ctx, cancel := context.WithTimeout(ctx, q.within)
	defer cancel()
	req, err := c.prepared(ctx, q)
	if err != nil {
		return err
	}
	what := q.method + " " + q.path
	a, err := webcall.Do(ctx, c.http, req, maxAnswer)
	switch {
	case err != nil && q.once:
		return webcall.Once(err, "Zulip", what)
	case err != nil:
		return webcall.Again(err, "Zulip", what)
	case a.Status < 200 || a.Status > 299:
		return judge(a, what, q.once)
	case result == nil:
		return nil
	}
	return a.Read(result, "Zulip", what, q.once)
}

// apiError is the server's no. It unwraps to the error of package channel that says
// what to do about it.
type apiError struct {
	what, code, words string
	status            int
	meaning           error // nil: passing
}

func (e *apiError) Error() string {
	said := fmt.Sprintf("Zulip answered %s with %d %s", e.what, e.status, e.words)
	if e.meaning != nil {
		said = e.meaning.Error() + ": " + said
	}
	return said + e.advice()
}

func (e *apiError) Unwrap() error { return e.meaning }

// advice says what a person can do.
func (e *apiError) advice() string {
	switch {
	case errors.Is(e.meaning, channel.ErrAuth):
		return ". The API key or the e-mail address is wrong, or the bot was deactivated: look at the bot's card in Zulip's settings, and set " +
			"channels.zulip.email and channels.zulip.apiKey"
	case e.status >= 300 && e.status < 400:
		return ". Set channels.zulip.site to the address that the server redirects to"
	case e.status == http.StatusForbidden:
		return ". The bot may not do this: it has to be a generic bot, and subscribed to the channel"
	}
	return ""
}

// judge says what an answer means that is not what was asked for.
func judge(a webcall.Answer, what string, once bool) error {
	var said struct {
		Code    string   `json:"code"`
		Message string   `json:"msg"`
		After   *float64 `json:"retry-after"`
		Result  string   `json:"result"`
	}
	parsed := json.Unmarshal(a.Body, &said) == nil && said.Result != ""
	e := &apiError{what: what, status: a.Status, code: said.Code, words: webcall.Words(said.Message, http.StatusText(a.Status))}
	switch s := a.Status; {
	case s == http.StatusTooManyRequests && said.After != nil:
		return &channel.RateLimit{After: webcall.Seconds(*said.After)}
	case s == http.StatusTooManyRequests:
		return &channel.RateLimit{After: webcall.RetryAfter(a.Header, "Retry-After")}
	case s == http.StatusUnauthorized, said.Code == "USER_DEACTIVATED", said.Code == "REALM_DEACTIVATED":
		e.meaning = channel.ErrAuth
	case once && !parsed && (s == http.StatusBadGateway || s == http.StatusGatewayTimeout):
		e.meaning = channel.ErrUncertain // a proxy says it: the server behind may still be at it
	case s < 500 && s != http.StatusRequestTimeout:
		e.meaning = channel.ErrRefused
	}
	return e
}

// isNo reports whether the server will not do what was asked for, ever.
func isNo(err error) bool { return errors.Is(err, channel.ErrRefused) }

// queueGone reports whether the server has forgotten our queue of events.
func queueGone(err error) bool {
	var e *apiError
	return errors.As(err, &e) && e.code == "BAD_EVENT_QUEUE_ID"
}

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{channel.ErrRefused}, args...)...)
}
