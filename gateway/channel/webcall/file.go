package webcall

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Download is how a network gives a file.
type Download struct {
	Network string                 // as errors name it
	Within  time.Duration          // for all of it
	Most    int64                  // bytes; 0: any
	Judge   func(a Answer) error   // says what an answer means that is not the file; 64 KB of its body are there
	IsFile  func(http.Header) bool // looks at the head of an answer with status 200; nil: each is the file
}

// Open sends the request for a file. The transfer ends with what it returns being
// closed, with ctx, and with the time that it has.
func (d Download) Open(ctx context.Context, c *http.Client, req *http.Request) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, d.Within)
	resp, err := Open(ctx, c, req)
	if err != nil {
		cancel()
		return nil, Again(err, d.Network, "a file")
	}
	if resp.StatusCode != http.StatusOK || d.IsFile != nil && !d.IsFile(resp.Header) {
		defer cancel()
		defer func() { _ = resp.Body.Close() }()
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		return nil, d.Judge(Answer{Status: resp.StatusCode, Header: resp.Header, Body: body})
	}
	body, err := file(resp, d.Most)
	if err != nil {
		cancel()
		return nil, err
	}
	return &transfer{ReadCloser: body, end: cancel}, nil
}

// transfer is a file on its way.
type transfer struct {
	io.ReadCloser
	end context.CancelFunc
}

// Close ends it.
func (t *transfer) Close() error {
	defer t.end()
	return t.ReadCloser.Close()
}

// file is the body of an answer that is a file of at most most bytes; 0: any. A
// longer one is refused, at once where the service says how long it is and else when
// it has more: half a file is never taken for a whole one.
func file(resp *http.Response, most int64) (io.ReadCloser, error) {
	if most <= 0 {
		return resp.Body, nil
	}
	if resp.ContentLength > most {
		_ = resp.Body.Close()
		return nil, tooLarge(most)
	}
	return &bounded{ReadCloser: resp.Body, left: most, most: most}, nil
}

func tooLarge(most int64) error {
	return fmt.Errorf("%w: the file has more than the %d bytes that are allowed", channel.ErrRefused, most)
}

// bounded ends a file that is longer than it may be with an error.
type bounded struct {
	io.ReadCloser
	left, most int64
}

func (f *bounded) Read(p []byte) (int, error) {
	if f.left < 0 {
		return 0, tooLarge(f.most)
	}
	if int64(len(p)) > f.left+1 {
		p = p[:f.left+1]
	}
	n, err := f.ReadCloser.Read(p)
	if f.left -= int64(n); f.left < 0 {
		return n - 1, tooLarge(f.most)
	}
	return n, err
}
