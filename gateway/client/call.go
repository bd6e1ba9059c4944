package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Call asks for one method. A refusal by the gateway is a *protocol.Error;
// when the connection ends first, the error is its reason (ErrLost, ErrClosed,
// ErrSlow). result may be nil.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	call, err := c.begin(ctx, method, params)
	if err != nil {
		return err
	}
	defer call.forget()
	return call.next(ctx, result)
}

// CallTwice asks for a method that answers twice, agent: first gets the
// acceptance, final the outcome. A gateway that answers once fills both.
func (c *Client) CallTwice(ctx context.Context, method string, params, first, final any) error {
	call, err := c.begin(ctx, method, params)
	if err != nil {
		return err
	}
	defer call.forget()
	var raw json.RawMessage
	if err := call.next(ctx, &raw); err != nil {
		return err
	}
	var s struct {
		Status string `json:"status"`
	}
	if err := decode(method, raw, &s); err != nil {
		return err
	}
	if err := decode(method, raw, first); err != nil {
		return err
	}
	if s.Status != "accepted" {
		return decode(method, raw, final)
	}
	return call.next(ctx, final)
}

// call is one request in flight.
type call struct {
	c       *Client
	id      string
	method  string
	answers chan protocol.Response
}

func (c *Client) begin(ctx context.Context, method string, params any) (*call, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &call{c: c, id: strconv.FormatInt(c.nextID.Add(1), 10), method: method, answers: make(chan protocol.Response, 2)}
	b, err := request(p.id, method, params)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return nil, c.err
	}
	c.pending[p.id] = p.answers
	c.mu.Unlock()

	// Not with ctx: a write that is cut half-way ends the whole connection.
	wctx, cancel := context.WithTimeout(c.life, writeTimeout)
	defer cancel()
	if err := c.conn.Write(wctx, websocket.MessageText, b); err != nil {
		p.forget()
		c.lost(err)
		return nil, c.Err()
	}
	return p, nil
}

// next waits for one answer.
func (p *call) next(ctx context.Context, result any) error {
	select {
	case r, ok := <-p.answers:
		if !ok {
			return p.c.Err()
		}
		if !r.OK {
			return refusal(r.Error)
		}
		return decode(p.method, r.Payload, result)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *call) forget() {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	delete(p.c.pending, p.id)
}

// answer hands a response to its call; one that nobody waits for is dropped.
func (c *Client) answer(r protocol.Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch, ok := c.pending[r.ID]
	if !ok {
		return
	}
	select {
	case ch <- r:
	default: // a third answer to one request: not of this protocol
	}
}

// lost ends the connection after a failed read or write.
func (c *Client) lost(err error) {
	var ce websocket.CloseError
	switch {
	case errors.As(err, &ce) && ce.Reason != "":
		err = fmt.Errorf("%w: %s", ErrLost, ce.Reason)
	case errors.Is(err, websocket.ErrMessageTooBig):
		err = fmt.Errorf("%w: it sent a message larger than %d MiB", ErrLost, protocol.MaxPayload>>20)
	case errors.Is(err, ErrLost):
	default:
		err = fmt.Errorf("%w: %w", ErrLost, err)
	}
	c.fail(err)
}
