package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// Link is a connection that is made again when it is lost. Its first
// connection is made at once or not at all; a lost one is tried again until
// the caller's ctx ends or Patience runs out.
type Link struct {
	// Dial makes a connection; it reads afresh where the gateway is.
	Dial func(context.Context) (*Client, error)
	// Patience is how long one attempt to come back may take, default 60 s.
	Patience time.Duration
	// OnLost is told once for each loss, before trying again. Optional.
	OnLost func(error)
	// Wait pauses between attempts; tests replace it.
	Wait func(context.Context, time.Duration) error

	mu     sync.Mutex // guards the following, and lets one caller redial at a time
	cur    *Client
	closed bool
}

// Client returns the live connection, or makes one.
func (l *Link) Client(ctx context.Context) (*Client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, ErrClosed
	}
	if l.cur == nil {
		c, err := l.Dial(ctx)
		l.cur = c
		return c, err
	}
	why := l.cur.Err()
	if why == nil {
		return l.cur, nil
	}
	if !errors.Is(why, ErrLost) && !errors.Is(why, ErrSlow) {
		return nil, why
	}
	if l.OnLost != nil {
		l.OnLost(why)
	}
	_ = l.cur.Close() // its goroutines end before the next one starts
	c, err := l.redial(ctx)
	if err != nil {
		return nil, err
	}
	l.cur = c
	return c, nil
}

// longestPause is between attempts to come back: who waits for the network
// again is there within a second.
const longestPause = 750 * time.Millisecond

func (l *Link) redial(ctx context.Context) (*Client, error) {
	patience := l.Patience
	if patience == 0 {
		patience = time.Minute
	}
	wait := l.Wait
	if wait == nil {
		wait = sleep.For
	}
	for waited, delay := time.Duration(0), 50*time.Millisecond; ; delay = min(2*delay, longestPause) {
		c, err := l.Dial(ctx)
		if err == nil || !mayReturn(err) {
			return c, err
		}
		if waited >= patience {
			return nil, fmt.Errorf("the gateway did not come back within %s: %w", patience, err)
		}
		if err := wait(ctx, delay); err != nil {
			return nil, err
		}
		waited += delay
	}
}

// mayReturn tells a gateway that restarts from one that refuses this client.
func mayReturn(err error) bool {
	var refusal *protocol.Error
	if errors.As(err, &refusal) {
		return refusal.Retryable
	}
	return errors.Is(err, ErrLost) || errors.Is(err, ErrUnreachable) || errors.Is(err, statedir.ErrNotRunning)
}

// Call is Client.Call, repeated on a new connection when the old one was lost.
// Use it only for methods that may run twice or that carry an idempotency key.
func (l *Link) Call(ctx context.Context, method string, params, result any) error {
	for {
		c, err := l.Client(ctx)
		if err != nil {
			return err
		}
		err = c.Call(ctx, method, params, result)
		if !errors.Is(err, ErrLost) {
			return err
		}
	}
}

// Send submits a person's message exactly once, however often the connection
// is lost: every attempt carries the same idempotency key, which is made here
// when p has none. The result's RunID is that key.
func (l *Link) Send(ctx context.Context, p protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	if p.IdempotencyKey == "" {
		p.IdempotencyKey = rand.Text()
	}
	var r protocol.ChatSendResult
	if err := l.Call(ctx, protocol.MethodChatSend, p, &r); err != nil {
		return r, fmt.Errorf("send the message: %w", err)
	}
	return r, nil
}

// Close ends the connection for good.
func (l *Link) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.cur == nil {
		return nil
	}
	return l.cur.Close()
}
