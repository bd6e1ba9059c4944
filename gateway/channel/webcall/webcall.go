// Package webcall sends requests to the web service of a messaging network and tells
// a request that nobody read from one that may have been done without an answer. It
// owns the connections and their limits; what an answer means is the network's
// client's business.
package webcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Client returns one for a service that a person named. It follows no redirects: a
// credential goes to no other address. It speaks HTTP/1.1, and drops idle connections
// early, before the other side does so while a message is written into them.
func Client() *http.Client {
	t := egress.Operator()
	t.ForceAttemptHTTP2, t.Protocols = false, new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.IdleConnTimeout, t.MaxIdleConnsPerHost, t.ResponseHeaderTimeout = 20*time.Second, 4, 2*time.Minute
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Answer is what a service said.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Failure is a request without an answer. Sent: the service may have read all of it.
type Failure struct {
	Sent  bool
	cause error
}

func (f *Failure) Error() string { return egress.Plain(f.cause).Error() }
func (f *Failure) Unwrap() error { return f.cause }

// Do sends a request and reads its answer, of which most bytes are taken. An error is
// a *Failure.
func Do(ctx context.Context, c *http.Client, req *http.Request, most int64) (Answer, error) {
	resp, err := Open(ctx, c, req)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	a := Answer{Status: resp.StatusCode, Header: resp.Header}
	a.Body, err = io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err == nil && int64(len(a.Body)) > most {
		err = errors.New("the answer is too long")
	}
	if err != nil && resp.StatusCode < 300 {
		return a, &Failure{Sent: true, cause: bare(err)}
	}
	return a, nil
}

// Open sends a request whose answer the caller reads and closes.
func Open(ctx context.Context, c *http.Client, req *http.Request) (*http.Response, error) {
	var begun atomic.Bool
	req = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { begun.Store(true) }, // from here on all of it may have been read
	}))
	resp, err := c.Do(req)
	if err != nil {
		return nil, &Failure{Sent: begun.Load(), cause: bare(err)}
	}
	return resp, nil
}

// bare is an error without the address that net/http writes into it.
func bare(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err
	}
	return err
}

// Once is the error of a request that must not be done twice: uncertain when it may
// have been done.
func Once(err error, network, what string) error {
	var f *Failure
	if errors.As(err, &f) && f.Sent {
		return fmt.Errorf("%w: the connection to %s broke after %s was sent (%w)", channel.ErrUncertain, network, what, err)
	}
	return Again(err, network, what)
}

// Again is the error of a request that can be done again without harm.
func Again(err error, network, what string) error {
	return fmt.Errorf("%s could not be reached for %s: %w", network, what, err)
}

// Read reads an answer's JSON into result. What cannot be read may have been done: if
// it must not be done twice, the error is uncertain.
func (a Answer) Read(result any, network, what string, once bool) error {
	if json.Unmarshal(a.Body, result) == nil {
		return nil
	}
	err := fmt.Errorf("%s's answer to %s could not be read", network, what)
	if once {
		err = fmt.Errorf("%w: %w", channel.ErrUncertain, err)
	}
	return err
}

// RetryAfter reads how long a service asks to wait from the first of the headers that
// says it, in seconds with or without a fraction; a second when none does.
func RetryAfter(h http.Header, names ...string) time.Duration {
	for _, name := range names {
		if s, err := strconv.ParseFloat(strings.TrimSpace(h.Get(name)), 64); err == nil && s >= 0 {
			return Seconds(s)
		}
	}
	return time.Second
}

// Seconds is a length of time that a service named, within a day.
func Seconds(s float64) time.Duration {
	const day = 24 * 60 * 60
	if !(s > 0) {
		return time.Millisecond
	}
	return time.Duration(min(s, day) * float64(time.Second))
}

// Words makes one short line of what a server said, without a full stop at its end:
// it stands in a sentence of ours.
func Words(s, fallback string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = text.Line(s)
	if !strings.HasSuffix(s, "..") {
		s = strings.TrimSuffix(s, ".")
	}
	if s == "" {
		return fallback
	}
	return text.Ellipsis(s, 300)
}
