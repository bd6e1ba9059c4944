// Package endpointtest is how the networks of tests call the gateway: one request after
// the other, each again until it was taken where the network does that. It knows no
// network.
package endpointtest

import (
	"context"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// Caller calls a channel.
type Caller struct {
	// Again: what was not taken is sent again, as it is made anew.
	again  bool
	life   context.Context
	end    context.CancelFunc
	posted chan posted
	done   chan struct{}

	mu    sync.Mutex
	to    channel.Channel
	taken map[string]bool
	tries map[string]int
}

type posted struct {
	id   string
	make func() channel.Call
}

// New makes a caller that ends with ctx; again: it sends again what was not taken.
func New(ctx context.Context, again bool) *Caller {
	c := &Caller{again: again, posted: make(chan posted, 1000), done: make(chan struct{}), taken: map[string]bool{}, tries: map[string]int{}}
	c.life, c.end = context.WithCancel(ctx)
	go c.work()
	return c
}

// Close ends it.
func (c *Caller) Close() {
	c.end()
	<-c.done
}

// Calls implements conformance.CallingNetwork.
func (c *Caller) Calls(ch channel.Channel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = ch
}

// Once makes one call and waits for its answer.
func (c *Caller) Once(call channel.Call) (channel.CallAnswer, error) {
	c.mu.Lock()
	to := c.to
	c.mu.Unlock()
	called, ok := channel.AsCalled(to)
	if !ok {
		return channel.CallAnswer{Status: 404}, nil
	}
	ctx, cancel := context.WithTimeout(c.life, 20*time.Second)
	defer cancel()
	return called.Call(ctx, call)
}

// Post sends a message of an id when those before it were sent.
func (c *Caller) Post(id string, make func() channel.Call) { c.posted <- posted{id, make} }

// Taken reports whether a message was answered well.
func (c *Caller) Taken(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.taken[id]
}

// Tries is how often a message was sent.
func (c *Caller) Tries(id string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tries[id]
}

func (c *Caller) work() {
	defer close(c.done)
	for {
		var p posted
		select {
		case p = <-c.posted:
		case <-c.life.Done():
			return
		}
		for c.send(p) && c.again {
			if sleep.For(c.life, 5*time.Millisecond) != nil {
				return
			}
		}
	}
}

// send reports whether a message has to be sent again.
func (c *Caller) send(p posted) bool {
	a, err := c.Once(p.make())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tries[p.id]++
	if err == nil && a.Status >= 200 && a.Status < 300 {
		c.taken[p.id] = true
		return false
	}
	return err != nil || a.Status >= 500 || a.Status == 404 || a.Status == 429
}
