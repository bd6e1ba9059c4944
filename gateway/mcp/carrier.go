package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// bearer is where requests to a service get the token of a login from. When a
// person has to log in again, the connection is over.
func (s *server) bearer(t *transport) func(ctx context.Context, refused string) (string, error) {
	if s.o.Bearer == nil || !s.set.OAuth {
		return func(context.Context, string) (string, error) { return "", nil }
	}
	return func(ctx context.Context, refused string) (string, error) {
		token, err := s.o.Bearer(ctx, s.set, refused)
		if errors.Is(err, ErrLogin) {
			err = fmt.Errorf("%w: the service does not take the login any more. Log in again with `hearth mcp login %s`", errRefused, s.set.ID)
			t.cut(err)
		}
		return token, err
	}
}

// carrier sends the owner's headers and the token of a login with every request,
// meters streams and bounds the other answers.
type carrier struct {
	base    http.RoundTripper
	headers map[string]string
	bearer  func(ctx context.Context, refused string) (string, error)
	meter   *meter
}

// RoundTrip implements http.RoundTripper.
func (c *carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := c.bearer(r.Context(), "")
	if err != nil {
		return nil, err
	}
	resp, err := c.send(r, r.Body, token)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusUnauthorized && token != "" {
		if resp, err = c.again(r, resp, token); err != nil {
			return nil, err
		}
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = &events{metered: metered{resp.Body, c.meter}}
	} else {
		resp.Body = &bounded{resp.Body, maxMessage, c.meter.large}
	}
	return resp, nil
}

func (c *carrier) send(r *http.Request, body io.ReadCloser, token string) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Body = body
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return c.base.RoundTrip(r)
}

// again sends a request once more that was refused, and so not carried out, with
// a new token. Without one the refusal stands.
func (c *carrier) again(r *http.Request, refused *http.Response, token string) (*http.Response, error) {
	var body io.ReadCloser
	if r.Body != nil && r.Body != http.NoBody {
		if r.GetBody == nil {
			return refused, nil
		}
		b, err := r.GetBody()
		if err != nil {
			return refused, nil
		}
		body = b
	}
	next, err := c.bearer(r.Context(), token)
	if err != nil || next == "" || next == token {
		if body != nil {
			_ = body.Close()
		}
		if err != nil {
			_ = refused.Body.Close()
			return nil, err
		}
		return refused, nil
	}
	_, _ = io.CopyN(io.Discard, refused.Body, 16<<10)
	_ = refused.Body.Close()
	return c.send(r, body, next)
}

// bounded fails a body that is too long, rather than cutting it.
type bounded struct {
	io.ReadCloser
	left int
	over func()
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		b.over()
		return 0, errLarge
	}
	return n, err
}
