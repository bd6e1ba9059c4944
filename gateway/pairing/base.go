package pairing

import (
	"crypto/rand"
	"io"
	"log/slog"
	"time"
)

// base is what every authority of this package stands on.
type base struct {
	now      func() time.Time
	random   io.Reader
	log      *slog.Logger
	throttle *throttle
}

// newBase fills in what was left out.
func newBase(now func() time.Time, random io.Reader, log *slog.Logger) base {
	if now == nil {
		now = time.Now
	}
	if random == nil {
		random = rand.Reader
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return base{now: now, random: random, log: log, throttle: newThrottle(now)}
}
