package push

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"github.com/hearth-assistant/hearth/gateway/egress"
)

const (
	// subscriber is how push services reach who runs the program that sends: Apple's
	// refuses what has none.
	subscriber  = "https://github.com/hearth-assistant/hearth"
	maxResponse = 4 << 10 // of a push service, which has nothing to say
	maxWait     = time.Hour
)

// result is what became of one try.
type result struct {
	status int
	err    error         // nil: the service took it
	again  bool          // another try may help
	after  time.Duration // not before that, if the service said so
}

// words tell a person, without the address, which is a key.
func (r result) words() string {
	if r.err == nil {
		return ""
	}
	return r.err.Error()
}

// send tries once to tell a device.
func (p *Push) send(ctx context.Context, s subscription, n notice) result {
	if !p.holds(s.DeviceID) { // it was removed while this waited
		return p.gone(ctx, s, 0, "the device may not be told any more")
	}
	k, err := p.keys.get(ctx)
	if err != nil {
		return result{err: err, again: true}
	}
	if k.public != s.Public {
		return p.gone(ctx, s, 0, "the browser knows another key of this gateway; open Hearth there once")
	}
	content, err := p.payloadFor(ctx, effective(s.Wants), n)
	if err != nil {
		return result{err: err, again: true}
	}
	body, err := json.Marshal(content)
	if err != nil {
		return result{err: err}
	}
	resp, err := webpush.SendNotificationWithContext(ctx, body, &webpush.Subscription{
		Endpoint: s.Endpoint, Keys: webpush.Keys{P256dh: s.Keys.P256dh, Auth: s.Keys.Auth},
	}, &webpush.Options{
		HTTPClient: poster{ctx, p.o.Web}, Subscriber: subscriber, VAPIDPublicKey: k.public, VAPIDPrivateKey: k.private,
		TTL: int(max(n.until.Sub(p.o.Now()), 0) / time.Second), Urgency: urgency(n), Topic: topic(k, n),
	})
	if err != nil {
		var forbidden *egress.ForbiddenError
		return result{err: fmt.Errorf("the push service could not be reached: %w", err), again: !errors.As(err, &forbidden)}
	}
	defer resp.Body.Close()
	return p.answer(ctx, s, resp)
}

// answer reads what a push service said.
func (p *Push) answer(ctx context.Context, s subscription, resp *http.Response) result {
	r := result{status: resp.StatusCode}
	switch code := resp.StatusCode; {
	case code >= 200 && code < 300:
		return r
	case code == http.StatusNotFound || code == http.StatusGone:
		return p.gone(ctx, s, code, "the browser gave its subscription up")
	case code == http.StatusTooManyRequests || code >= 500:
		r.err, r.again, r.after = fmt.Errorf("the push service answered %d and wants a pause", code), true, retryAfter(resp.Header, p.o.Now())
	default:
		r.err = fmt.Errorf("the push service refused it (%d)", code)
	}
	return r
}

// gone takes a subscription away that leads nowhere.
func (p *Push) gone(ctx context.Context, s subscription, status int, why string) result {
	if err := p.subs.forget(ctx, func(o subscription) bool { return o.ID == s.ID }); err != nil {
		p.o.Log.ErrorContext(ctx, "a subscription could not be forgotten", "err", err)
	}
	p.o.Log.InfoContext(ctx, "a subscription for notifications ended", "device", s.DeviceID, "why", why)
	return result{status: status, err: errors.New(why)}
}

// urgency: what waits for a person now wakes a phone, the rest may wait until it is
// awake.
func urgency(n notice) webpush.Urgency {
	if n.kind == kindAnswer {
		return webpush.UrgencyNormal
	}
	return webpush.UrgencyHigh
}

// topic names what a notice is about for the push service, which keeps the last one
// of a topic; to it and everybody else it is a number.
func topic(k pair, n notice) string {
	mac := hmac.New(sha256.New, []byte(k.private))
	mac.Write([]byte("topic\x00" + n.subject()))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:18])
}

// retryAfter reads how long a service wants to be left alone.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := h.Get("Retry-After")
	if s, err := strconv.Atoi(v); err == nil {
		return min(max(time.Duration(s)*time.Second, 0), maxWait)
	}
	if t, err := http.ParseTime(v); err == nil {
		return min(max(t.Sub(now), 0), maxWait)
	}
	return 0
}

// poster has the guarded client send what the library made.
type poster struct {
	ctx context.Context //nolint:containedctx // of the one request that it is made for
	web Web
}

// Do implements webpush.HTTPClient.
func (p poster) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	page, err := p.web.Fetch(p.ctx, egress.Request{
		Method: r.Method, URL: r.URL.String(), Header: r.Header, Body: body, MaxBytes: maxResponse,
	})
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: page.Status, Header: page.Header, Body: io.NopCloser(bytes.NewReader(page.Body))}, nil
}
