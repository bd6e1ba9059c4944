//go:build goolm

package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"maunium.net/go/mautrix"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// failure is what an error of a request means. sending: the request changes something,
// so that a lost answer leaves open whether it did.
func failure(err error, sending bool) error {
	if err == nil || errors.Is(err, channel.ErrAuth) || errors.Is(err, channel.ErrRefused) || errors.Is(err, channel.ErrUncertain) {
		return err
	}
	var h mautrix.HTTPError
	if !errors.As(err, &h) {
		return err
	}
	if h.RespError != nil {
		return answered(h.RespError, sending)
	}
	if h.Response != nil {
		words := fmt.Errorf("the server answered %d", h.Response.StatusCode)
		switch code := h.Response.StatusCode; {
		case code == http.StatusTooManyRequests:
			return &channel.RateLimit{After: time.Second}
		case sending && (code == http.StatusBadGateway || code == http.StatusGatewayTimeout || code < 300):
			return fmt.Errorf("%w: %w", channel.ErrUncertain, words)
		case code >= 400 && code < 500:
			return fmt.Errorf("%w: %w", channel.ErrRefused, words)
		}
		return words
	}
	cause := h.WrappedError
	if cause == nil {
		cause = errors.New(h.Message)
	}
	var dial *net.OpError
	var dns *net.DNSError
	if !sending || errors.As(cause, &dns) || errors.As(cause, &dial) && dial.Op == "dial" {
		return fmt.Errorf("ask the server: %w", cause)
	}
	return fmt.Errorf("%w: the server did not answer: %w", channel.ErrUncertain, cause)
}

// Codes of errors that speak of the login.
var loginCodes = []string{"M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_USER_DEACTIVATED", "M_USER_LOCKED", "M_USER_SUSPENDED"}

// answered is what the words of a server mean.
func answered(e *mautrix.RespError, sending bool) error {
	words := line(e.Err, 300)
	switch {
	case e.ErrCode == "M_LIMIT_EXCEEDED":
		after := 2 * time.Second
		if ms, ok := e.ExtraData["retry_after_ms"].(float64); ok && ms >= 0 && ms < 1e9 {
			after = time.Duration(ms) * time.Millisecond
		}
		return &channel.RateLimit{After: after}
	case slices.Contains(loginCodes, e.ErrCode):
		return fmt.Errorf("%w: the server says %s (%s)", channel.ErrAuth, e.ErrCode, words)
	case sending && (e.StatusCode == http.StatusBadGateway || e.StatusCode == http.StatusGatewayTimeout):
		return fmt.Errorf("%w: the server says %s (%s)", channel.ErrUncertain, e.ErrCode, words)
	case e.StatusCode >= 500:
		return fmt.Errorf("the server says %s (%s)", e.ErrCode, words)
	}
	return fmt.Errorf("%w: the server says %s (%s)", channel.ErrRefused, e.ErrCode, words)
}

// uncertain: a request whose context ended may have been done.
func uncertain(ctx context.Context, err error) error {
	err = failure(err, true)
	if err != nil && ctx.Err() != nil && !errors.Is(err, channel.ErrUncertain) {
		return fmt.Errorf("%w: %w", channel.ErrUncertain, err)
	}
	return err
}
