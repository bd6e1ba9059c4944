package client

import (
	"context"
	"net"
	"time"

	"github.com/hearth-assistant/hearth/gateway/egress"
)

// helloTime is how long a server may take for its first byte of TLS: one that does not
// speak it waits for lines, and hangs up much later.
const helloTime = 8 * time.Second

// dial connects to the server, and notes whether it says anything.
func (c *Client) dial(ctx context.Context, _, address string) (net.Conn, error) {
	conn, err := egress.DialNamed(ctx, address)
	if err != nil {
		c.silent.Store(false)
		return nil, err
	}
	c.silent.Store(true)
	if c.conn.UseTLS {
		time.AfterFunc(helloTime, func() {
			if c.silent.Load() {
				_ = conn.Close()
			}
		})
	}
	return heard{conn, c}, nil
}

// heard is a connection that notes the first byte.
type heard struct {
	net.Conn
	c *Client
}

func (h heard) Read(b []byte) (int, error) {
	n, err := h.Conn.Read(b)
	if n > 0 {
		h.c.silent.Store(false)
	}
	return n, err
}
