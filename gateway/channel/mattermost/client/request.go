package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

const (
	askTime    = 30 * time.Second
	fileTime   = 5 * time.Minute
	maxAnswer  = 16 << 20 // 200 posts of the longest kind are below
	apiVersion = "/api/v4"
)

// request is one to the server's API.
type request struct {
	method, path string
	body         io.Reader
	size         int64
	kind         string // of the body
	once         bool   // it must not be done twice
	within       time.Duration
}

// ask makes a request that can be made again without harm. body is sent as JSON;
// nil: none.
func (c *Client) ask(ctx context.Context, method, path string, body, result any) error {
	return c.send(ctx, method, path, body, result, false)
}

// once makes a request that must not be made twice.
func (c *Client) once(ctx context.Context, method, path string, body, result any) error {
	return c.send(ctx, method, path, body, result, true)
}

func (c *Client) send(ctx context.Context, method, path string, body, result any, once bool) error {
	q := request{method: method, path: path, kind: "application/json", once: once, within: askTime}
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("write a request: %w", err)
		}
		q.body, q.size = bytes.NewReader(b), int64(len(b))
	}
	return c.do(ctx, q, result)
}

// prepared is a request with our credential.
func (c *Client) prepared(ctx context.Context, q request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, q.method, c.base+apiVersion+q.path, q.body)
	if err != nil {
		return nil, fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token())
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
		return webcall.Once(err, "Mattermost", what)
	case err != nil:
		return webcall.Again(err, "Mattermost", what)
	case a.Status < 200 || a.Status > 299:
		return c.judge(a, what, q.once)
	case result == nil:
		return nil
	}
	return a.Read(result, "Mattermost", what, q.once)
}

// apiError is the server's no. It unwraps to the error of package channel that says
// what to do about it.
type apiError struct {
	what, id, words string
	status          int
	meaning         error // nil: passing
}

func (e *apiError) Error() string {
	said := fmt.Sprintf("Mattermost answered %s with %d %s", e.what, e.status, e.words)
	if e.meaning != nil {
		said = e.meaning.Error() + ": " + said
	}
	return said + e.advice()
}

func (e *apiError) Unwrap() error { return e.meaning }

// advice says what a person can do.
func (e *apiError) advice() string {
	switch {
	case e.status == http.StatusUnauthorized:
		return ". The access token is wrong or was revoked, or the bot is disabled: make a new token below Integrations, Bot Accounts, and " +
			"set channels.mattermost.botToken"
	case e.status == http.StatusForbidden:
		return ". The bot may not do this: add it to the team and to the channel, and see that its role has the permission"
	case e.id == "api.post.create_post.can_not_post_to_deleted.error":
		return ". The channel is archived"
	case e.status >= 300 && e.status < 400:
		return ". Set channels.mattermost.baseUrl to the address that the server redirects to"
	case e.status == http.StatusNotImplemented:
		return ". The server's administrator has switched this off"
	}
	return ""
}

// judge says what an answer means that is not what was asked for.
func (c *Client) judge(a webcall.Answer, what string, once bool) error {
	var said struct {
		ID      string `json:"id"`
		Message string `json:"message"`
	}
	parsed := json.Unmarshal(a.Body, &said) == nil && said.ID != ""
	e := &apiError{what: what, status: a.Status, id: said.ID, words: webcall.Words(said.Message, http.StatusText(a.Status))}
	switch s := a.Status; {
	case s == http.StatusTooManyRequests:
		return &channel.RateLimit{After: webcall.RetryAfter(a.Header, "Retry-After", "X-Ratelimit-Reset")}
	case s == http.StatusUnauthorized:
		e.meaning = channel.ErrAuth
	case once && !parsed && (s == http.StatusBadGateway || s == http.StatusGatewayTimeout):
		e.meaning = channel.ErrUncertain // a proxy says it: the server behind may still be at it
	case s < 500 && s != http.StatusRequestTimeout || s == http.StatusNotImplemented:
		e.meaning = channel.ErrRefused
	}
	return e
}

// gone reports whether the server says that something is not there.
func gone(err error) bool {
	var e *apiError
	return errors.As(err, &e) && (e.status == http.StatusNotFound || e.status == http.StatusForbidden)
}
