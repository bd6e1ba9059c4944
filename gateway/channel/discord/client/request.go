package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

const (
	askTime   = 30 * time.Second
	fileTime  = 5 * time.Minute
	maxAnswer = 8 << 20 // 100 messages of the longest kind are below
	userAgent = "DiscordBot (https://github.com/hearth-assistant/hearth, 1)"
)

// call is a request to the API. Its limits are those of route in the channel or
// person that major names.
type call struct {
	method, path string
	route, major string
	once         bool // it must not be done twice
	secret       bool // its path holds a credential
	within       time.Duration
}

// ask makes a request. body is sent as JSON, or as the form that it is; nil: none.
func (c *Client) ask(ctx context.Context, q call, body, result any) error {
	var from io.Reader
	kind, size := "application/json", int64(0)
	switch b := body.(type) {
	case nil:
	case *form:
		from, kind, size = b.reader(), b.kind, b.size()
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			return fmt.Errorf("write a request: %w", err)
		}
		from, size = bytes.NewReader(raw), int64(len(raw))
	}
	if q.within == 0 {
		q.within = askTime
	}
	if wait := c.limits.wait(q); wait > 0 {
		return &channel.RateLimit{After: wait}
	}
	ctx, cancel := context.WithTimeout(ctx, q.within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, q.method, c.base+q.path, from)
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("Authorization", "Bot "+c.token())
	req.Header.Set("User-Agent", userAgent)
	if from != nil {
		req.ContentLength = size
		req.Header.Set("Content-Type", kind)
	}
	return c.answered(ctx, q, req, result)
}

// answered sends a request and says what its answer means.
func (c *Client) answered(ctx context.Context, q call, req *http.Request, result any) error {
	what := q.method + " " + q.path
	if q.secret {
		what = q.method + " " + q.route
	}
	a, err := webcall.Do(ctx, c.http, req, maxAnswer)
	switch {
	case err != nil && q.once:
		return webcall.Once(err, "Discord", what)
	case err != nil:
		return webcall.Again(err, "Discord", what)
	}
	c.limits.heard(q, a)
	switch {
	case a.Status < 200 || a.Status > 299:
		return c.judge(a, what, q)
	case result == nil:
		return nil
	}
	return a.Read(result, "Discord", what, q.once)
}

// apiError is Discord's no. It unwraps to the error of package channel that says what
// to do about it.
type apiError struct {
	what, words  string
	status, code int
	meaning      error // nil: passing
}

func (e *apiError) Error() string {
	said := fmt.Sprintf("Discord answered %s with %d %s", e.what, e.status, e.words)
	if e.code != 0 {
		said += fmt.Sprintf(" (code %d)", e.code)
	}
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
		return ". The token is wrong or was reset: make a new one at https://discord.com/developers/applications, Bot, Reset Token, and set " +
			"channels.discord.token"
	case e.code == 50001, e.code == 10003:
		return ". The bot does not see this channel: give its role View Channel there, or invite it again"
	case e.code == 50013:
		return ". The bot's role lacks a permission in this channel: it needs View Channel, Send Messages, Send Messages in Threads, " +
			"Attach Files, Add Reactions and Read Message History"
	case e.code == 160002:
		return ". To answer a message the bot's role needs Read Message History in this channel"
	case e.code == 50007:
		return ". This person takes no direct messages from the bot: they must share a server with it and allow messages of its members"
	case e.code == 50083:
		return ". The thread is archived"
	case e.code == 40005:
		return ". The file is larger than this server allows"
	}
	return ""
}

// judge says what an answer means that is not what was asked for.
func (c *Client) judge(a webcall.Answer, what string, q call) error {
	var said struct {
		Code    int     `json:"code"`
		Message string  `json:"message"`
		After   float64 `json:"retry_after"`
	}
	parsed := json.Unmarshal(a.Body, &said) == nil
	words := strings.TrimPrefix(said.Message, strconv.Itoa(a.Status)+": ") // "401: Unauthorized"
	e := &apiError{what: what, status: a.Status, code: said.Code, words: webcall.Words(words, http.StatusText(a.Status))}
	switch s := a.Status; {
	case s == http.StatusTooManyRequests && said.After > 0:
		return &channel.RateLimit{After: webcall.Seconds(said.After)}
	case s == http.StatusTooManyRequests:
		return &channel.RateLimit{After: webcall.RetryAfter(a.Header, "Retry-After", "X-Ratelimit-Reset-After")}
	case s == http.StatusUnauthorized:
		e.meaning = channel.ErrAuth
	case q.once && !parsed && (s == http.StatusBadGateway || s == http.StatusGatewayTimeout):
		e.meaning = channel.ErrUncertain // the door says it: who is behind may still be at it
	case s < 500 && s != http.StatusRequestTimeout:
		e.meaning = channel.ErrRefused
	}
	return e
}

// refusedWith reports whether an error is Discord's no with one of these codes; without
// any, whether it is a no for ever.
func refusedWith(err error, codes ...int) bool {
	var e *apiError
	if !errors.As(err, &e) {
		return false
	}
	for _, code := range codes {
		if e.code == code {
			return true
		}
	}
	return len(codes) == 0 && errors.Is(err, channel.ErrRefused)
}

// limits are what Discord told of how much may still be asked: of a route in a channel,
// and of all. They are obeyed before a request is refused, because whoever is refused
// too often is locked out.
type limits struct {
	now func() time.Time

	mu     sync.Mutex
	bucket map[string]string // of a route
	left   map[string]allowance
	all    time.Time // nothing may be asked before
}

type allowance struct {
	left  int
	until time.Time
}

const mostBuckets = 10_000

func newLimits(now func() time.Time) *limits {
	return &limits{now: now, bucket: map[string]string{}, left: map[string]allowance{}}
}

// key is the bucket of a call. The mutex is held.
func (l *limits) key(q call) string {
	route := q.method + " " + q.route
	if b := l.bucket[route]; b != "" {
		return b + " " + q.major
	}
	return route + " " + q.major
}

// wait is how long a call must wait, 0: it may be made, and is counted.
func (l *limits) wait(q call) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if now.Before(l.all) {
		return l.all.Sub(now)
	}
	key := l.key(q)
	a, known := l.left[key]
	switch {
	case !known || !now.Before(a.until):
		return 0
	case a.left > 0:
		a.left--
		l.left[key] = a
		return 0
	}
	return a.until.Sub(now)
}

// heard takes what an answer says of limits.
func (l *limits) heard(q call, a webcall.Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	ofAll := a.Header.Get("X-Ratelimit-Global") == "true" || a.Header.Get("X-Ratelimit-Scope") == "global"
	if a.Status == http.StatusTooManyRequests && ofAll {
		l.all = now.Add(webcall.RetryAfter(a.Header, "Retry-After"))
		return
	}
	left, err := strconv.Atoi(strings.TrimSpace(a.Header.Get("X-Ratelimit-Remaining")))
	if err != nil || a.Header.Get("X-Ratelimit-Reset-After") == "" {
		return
	}
	if b := a.Header.Get("X-Ratelimit-Bucket"); b != "" && len(b) < 200 && len(l.bucket) < mostBuckets {
		l.bucket[q.method+" "+q.route] = b
	}
	key, until := l.key(q), now.Add(webcall.RetryAfter(a.Header, "X-Ratelimit-Reset-After"))
	if old, known := l.left[key]; known && now.Before(old.until) {
		left = min(left, old.left) // others are on their way
	}
	if len(l.left) >= mostBuckets {
		clear(l.left)
	}
	l.left[key] = allowance{left: max(left, 0), until: until}
}
