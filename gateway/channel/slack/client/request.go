package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

const (
	askTime   = 30 * time.Second
	fileTime  = 5 * time.Minute
	maxAnswer = 16 << 20
)

// call is a method of the API.
type call struct {
	method string
	once   bool // it must not be done twice
	app    bool // with the app's token
}

// ask calls a method. All methods take their arguments as a form.
func (c *Client) ask(ctx context.Context, q call, args url.Values, result any) (http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.root+"/"+q.method, strings.NewReader(args.Encode()))
	if err != nil {
		return nil, fmt.Errorf("write a request: %w", err)
	}
	token := c.bot
	if q.app {
		token = c.app
	}
	req.Header.Set("Authorization", "Bearer "+token())
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	a, err := webcall.Do(ctx, c.http, req, maxAnswer)
	switch {
	case err != nil && q.once:
		return nil, webcall.Once(err, "Slack", q.method)
	case err != nil:
		return nil, webcall.Again(err, "Slack", q.method)
	}
	return a.Header, judge(a, q, result)
}

// patiently asks, and waits where Slack asks to.
func (c *Client) patiently(ctx context.Context, method string, args url.Values, result any) error {
	for {
		_, err := c.ask(ctx, call{method: method}, args, result)
		var limit *channel.RateLimit
		if !errors.As(err, &limit) {
			return err
		}
		if err := sleep.For(ctx, limit.After); err != nil {
			return err
		}
	}
}

// apiError is Slack's no. It unwraps to the error of package channel that says what to
// do about it.
type apiError struct {
	method, said, needed string
	status               int
	meaning              error // nil: passing
}

func (e *apiError) Error() string {
	words := fmt.Sprintf("Slack answered %s with %s", e.method, e.said)
	if e.status != http.StatusOK {
		words = fmt.Sprintf("%s (%d)", words, e.status)
	}
	if e.meaning != nil {
		words = e.meaning.Error() + ": " + words
	}
	return words + e.advice()
}

func (e *apiError) Unwrap() error { return e.meaning }

// advice says what a person can do.
func (e *apiError) advice() string {
	switch e.said {
	case "missing_scope":
		return ". The token lacks the scope " + e.needed + ": add it at https://api.slack.com/apps, your app, and install the app again"
	case "not_in_channel", "channel_not_found":
		return ". The bot is not in this channel: write /invite and its name there"
	case "is_archived":
		return ". The channel is archived"
	case "restricted_action", "restricted_action_read_only_channel", "restricted_action_thread_only_channel":
		return ". Those who look after the workspace do not let it write there"
	case "cannot_dm_bot", "user_disabled", "user_not_found":
		return ". Nobody has this id any more, or it is another bot's"
	case "not_allowed_token_type":
		return ". The tokens stand in each other's place: botToken begins with xoxb-, appToken with xapp-"
	}
	if errors.Is(e.meaning, channel.ErrAuth) {
		return ". The token is wrong or was revoked: see https://api.slack.com/apps, your app, and set channels.slack.botToken and " +
			"channels.slack.appToken"
	}
	return ""
}

// judge says what an answer means.
func judge(a webcall.Answer, q call, result any) error {
	var said struct {
		OK     bool   `json:"ok"`
		Error  string `json:"error"`
		Needed string `json:"needed"`
	}
	if a.Status == http.StatusTooManyRequests {
		return &channel.RateLimit{After: webcall.RetryAfter(a.Header, "Retry-After")}
	}
	parsed := json.Unmarshal(a.Body, &said) == nil
	e := &apiError{method: q.method, status: a.Status, needed: webcall.Words(said.Needed, "that it asks for")}
	if a.Status != http.StatusOK || !parsed {
		e.said = webcall.Words(said.Error, "no word")
		switch {
		case q.once && (a.Status == http.StatusBadGateway || a.Status == http.StatusGatewayTimeout || a.Status == http.StatusOK):
			e.meaning = channel.ErrUncertain
		case a.Status >= 300 && a.Status < 500 && a.Status != http.StatusRequestTimeout:
			e.meaning = channel.ErrRefused
		}
		return e
	}
	if said.OK {
		if result == nil {
			return nil
		}
		return a.Read(result, "Slack", q.method, q.once)
	}
	e.said = webcall.Words(said.Error, "no")
	switch e.said {
	case "ratelimited", "rate_limited":
		return &channel.RateLimit{After: webcall.RetryAfter(a.Header, "Retry-After")}
	case "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type":
		e.meaning = channel.ErrAuth
	case "internal_error", "fatal_error": // by Slack's words a part of it may have been done
		if q.once {
			e.meaning = channel.ErrUncertain
		}
	case "service_unavailable", "request_timeout", "team_added_to_org", "accesslimited":
	default:
		e.meaning = channel.ErrRefused
	}
	return e
}

// saidOf reports whether an error is one of these words of Slack.
func saidOf(err error, words ...string) bool {
	var e *apiError
	return errors.As(err, &e) && slices.Contains(words, e.said)
}
