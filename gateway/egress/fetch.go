package egress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"github.com/hearth-assistant/hearth/gateway/awake"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Times of a fetch. All of them hold for failures as well as for pages.
const (
	firstByteTime = 15 * time.Second
	idleTime      = 10 * time.Second
	totalTime     = 45 * time.Second
)

// DefaultMaxBytes is how much of a page is read, unpacked.
const DefaultMaxBytes = 5 << 20

// Client fetches pages.
type Client struct {
	http  *http.Client
	parse func(raw string) (*url.URL, error) // decides which addresses
}

// Request asks for one page.
type Request struct {
	Method   string // "" = GET
	URL      string
	Header   http.Header
	Body     []byte
	MaxBytes int64 // 0 = DefaultMaxBytes
}

// Page is what came back, whatever its status.
type Page struct {
	URL       *url.URL // after redirects
	Status    int
	Header    http.Header
	Body      []byte // at most MaxBytes
	Truncated bool   // there was more
}

// errIdle is the cause of a fetch that was ended because nothing came.
var errIdle = errors.New("the server stopped sending")

// Fetch gets a page. Errors are a *ForbiddenError, ErrUnreachable, or words
// about a page that did not come to an end; none of them holds the query.
func (c *Client) Fetch(ctx context.Context, req Request) (Page, error) {
	u, err := c.parse(req.URL)
	if err != nil {
		return Page{}, err
	}
	ctx, stop := awake.WithTimeout(ctx, totalTime)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	method := req.Method
	if method == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(req.Body))
	if err != nil {
		return Page{}, fmt.Errorf("ask for the page: %w", err)
	}
	for k, v := range req.Header {
		r.Header[k] = v
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return Page{}, plain(ctx, u, err)
	}
	defer resp.Body.Close()
	limit := req.MaxBytes
	if limit <= 0 {
		limit = DefaultMaxBytes
	}
	idle := awake.AfterFunc(idleTime, func() { cancel(errIdle) })
	defer idle.Stop()
	body, err := io.ReadAll(io.LimitReader(&fed{resp.Body, idle}, limit+1))
	page := Page{URL: resp.Request.URL, Status: resp.StatusCode, Header: resp.Header, Body: body}
	if int64(len(body)) > limit {
		page.Body, page.Truncated = body[:limit], true
		return page, nil
	}
	if err != nil && len(body) == 0 {
		return page, plain(ctx, u, err)
	}
	page.Truncated = err != nil
	return page, nil
}

// fed pushes the idle timer along with every read that brought something.
type fed struct {
	r     io.Reader
	timer *awake.Timer
}

func (f *fed) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if n > 0 {
		f.timer.Reset(idleTime)
	}
	return n, err
}

// plain takes from a failure what a page could learn from it, and the address
// with its query.
func plain(ctx context.Context, u *url.URL, err error) error {
	var forbidden *ForbiddenError
	switch {
	case errors.As(err, &forbidden):
		return forbidden
	case errors.Is(context.Cause(ctx), errIdle), errors.Is(err, errIdle):
		return fmt.Errorf("%s stopped sending in the middle of the page", u.Hostname())
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s took longer than %s", u.Hostname(), totalTime)
	}
	return fmt.Errorf("%s: %w", u.Hostname(), ErrUnreachable)
}
