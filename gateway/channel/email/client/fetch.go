package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/email"
)

// Fetch implements channel.Fetcher: it reads the message once more.
func (c *Client) Fetch(ctx context.Context, m channel.Media) (io.ReadCloser, error) {
	gone := fmt.Errorf("%w: the message is no longer in %s", channel.ErrRefused, c.folder)
	parts := strings.Split(m.URL, "/")
	if len(parts) != 3 {
		return nil, gone
	}
	validity, ok1 := number(parts[0])
	uid, ok2 := number(parts[1])
	n, ok3 := number(parts[2])
	if !ok1 || !ok2 || !ok3 {
		return nil, gone
	}
	b, err := c.open(ctx, true)
	if err != nil {
		return nil, err
	}
	defer b.end()
	if b.validity != validity {
		return nil, gone
	}
	raw, _, err := b.fetch(uid)
	if err != nil {
		return nil, err
	}
	if len(raw) == 0 || len(raw) > email.MaxMessage {
		return nil, gone
	}
	l, err := parse(raw)
	if err != nil || int(n) >= len(l.files) {
		return nil, gone
	}
	f := l.files[n]
	if c.maxFile > 0 && int64(len(f.data)) > c.maxFile {
		return nil, fmt.Errorf("%w: %s has %d bytes, and %d are allowed", channel.ErrRefused, f.name, len(f.data), c.maxFile)
	}
	return io.NopCloser(bytes.NewReader(f.data)), nil
}
