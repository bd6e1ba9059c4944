// Package reconnect makes the connection of an account to its network again after it
// has ended. It owns how long the network is left alone in between, and which ends are
// for good; what a connection is, and what people are told, is the client's business.
package reconnect

import (
	"context"
	"errors"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/internal/random"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

// Loop is how an account connects. Of its functions only Received may be nil.
type Loop struct {
	// Least is how long the network is left alone after a connection that failed, twice
	// as long each time, Most at the most, and Least again after one that lived for
	// Lived. Up to half of it is left out by chance.
	Least, Most, Lived time.Duration
	// AtOnce is how connections end that the network ends in good order: after one that
	// lived, the next is made without a wait. nil: none is.
	AtOnce error
	// Received reports whether the connection that has just ended received. Then only
	// those beyond MayEnd in a row count as failures. nil: every end is one.
	Received func() bool
	MayEnd   int
	Now      func() time.Time
	// Connect is one connection, until it ends. Its error says why.
	Connect func(context.Context) error
	// Waiting is told why a connection ended, and when the next is made.
	Waiting func(err error, wait time.Duration)
}

// Run connects until ctx ends, which is no error, or until a connection ends with
// channel.ErrAuth or one of final. It waits longer where a channel.RateLimit says so.
func (l Loop) Run(ctx context.Context, final ...error) error {
	for failed, short := -1, 0; ; {
		began := l.Now()
		err := l.Connect(ctx)
		if ctx.Err() != nil {
			return nil
		}
		for _, end := range append(final, channel.ErrAuth) {
			if errors.Is(err, end) {
				return err
			}
		}
		switch {
		case l.Now().Sub(began) > l.Lived:
			failed, short = 0, 0
			if l.AtOnce != nil && errors.Is(err, l.AtOnce) {
				continue
			}
		case l.Received != nil && l.Received():
			failed, short = 0, short+1
		default:
			failed++
		}
		wait := l.pause(failed + max(short-l.MayEnd, 0))
		var limit *channel.RateLimit
		if errors.As(err, &limit) {
			wait = max(wait, limit.After)
		}
		l.Waiting(err, wait)
		if sleep.For(ctx, wait) != nil {
			return nil
		}
	}
}

// pause is how long to wait after so many failures, in part by chance, so that a
// network that starts again is not met by all at once.
func (l Loop) pause(failures int) time.Duration {
	rest := l.Least
	for ; failures > 0 && rest < l.Most; failures-- {
		rest *= 2
	}
	rest = min(rest, l.Most)
	return rest/2 + time.Duration(random.Float()*float64(rest/2))
}
