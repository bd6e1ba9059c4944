package cli

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/discovery"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// How long the network is asked for a gateway that is not where it was, and how
// many addresses it may name.
const (
	searchTime = 2 * time.Second
	maxTried   = 16
)

// search looks for a paired gateway on the local network.
type search struct {
	sweep func(context.Context, time.Duration, func(discovery.Gateway)) map[string]discovery.Gateway
	dial  func(context.Context, string) (*client.Client, error)
}

// findAgain looks for a gateway by its id and connects to the one that has one
// of the keys.
func findAgain(ctx context.Context, id string, pins []string, o client.Options) (*client.Client, string, error) {
	s := search{discovery.Sweep, func(ctx context.Context, url string) (*client.Client, error) {
		c, _, err := client.DialPinned(ctx, []string{url}, pins, nil, o)
		return c, err
	}}
	return s.run(ctx, id)
}

// errNotFound: nobody on the network says to be that gateway.
var errNotFound = errors.New("it is not found on this network")

// run asks everybody who says to be the gateway for proof, while it goes on
// listening: anybody can say so, and say it first. When one has another key and
// none has the right one, the error is an *identity.MismatchError.
func (s search) run(ctx context.Context, id string) (c *client.Client, url string, err error) {
	looking, found := context.WithCancel(ctx)
	urls := make(chan string, maxTried)
	var sweep sync.WaitGroup
	defer sweep.Wait()
	defer found()
	sweep.Go(func() {
		defer close(urls)
		heard := map[string]bool{}
		s.sweep(looking, searchTime, func(g discovery.Gateway) {
			if g.Text["id"] != id {
				return
			}
			for _, addr := range foundOf(g).Addresses {
				if !heard[addr] && len(heard) < maxTried {
					heard[addr] = true
					urls <- "wss://" + addr
				}
			}
		})
	})
	last := errNotFound
	for u := range urls {
		c, err := s.dial(ctx, u)
		var refusal *protocol.Error
		if err == nil || errors.As(err, &refusal) || ctx.Err() != nil {
			return c, u, err
		}
		var stranger *identity.MismatchError
		if !errors.As(last, &stranger) {
			last = err
		}
	}
	return nil, "", last
}
