// Package telemetry is the feature that sends traces and metrics to a collector of
// OpenTelemetry, by OTLP over HTTP as JSON, off until its person names one. A turn is
// one trace: its acceptance, its wait, each call of a model and of a tool, and each
// delivery. Nothing in it is anybody's words, name or conversation. Why it does so by
// hand stands in docs/decisions/025.
package telemetry

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// Sessions tell what becomes of turns. *session.Manager is one.
type Sessions interface{ Subscribe(s session.Subscriber) }

// Deliveries tell what becomes of messages. *outbound.Deliverer is one.
type Deliveries interface {
	Follow(heard func(outbound.Delivery))
}

// Secrets are those that settings refer to. *lookup.Secrets is one.
type Secrets interface {
	Value(ctx context.Context, field string, v secret.Setting) (secret.Secret, error)
}

// Options are the parts that the feature needs; all of them.
type Options struct {
	Sessions   Sessions
	Deliveries Deliveries
	Settings   *config.File
	Secrets    Secrets
	Pause      *pause.Switch
	Version    string
	Now        func() time.Time
	Log        *slog.Logger
}

const (
	// batch is how many spans one request has at most, queue how many wait.
	batch, queue = 512, 4096
	// lastTime is how long is spent to send what is left at the end.
	lastTime = 2 * time.Second
)

type feature struct {
	Options
	salt   string
	counts *meters
	kick   chan struct{} // a batch is full

	mu      sync.Mutex
	spans   []span
	dropped int // of spans, that were not told of yet
	open    map[string]time.Time
	trouble string // why the last request did not work
}

// New makes the feature.
func New(o Options) host.Feature {
	f := assemble(o)
	o.Sessions.Subscribe(session.Subscriber{Watches: f})
	o.Deliveries.Follow(f.Delivered)
	return host.Feature{Run: f.run, Checks: f.checks}
}

func assemble(o Options) *feature {
	return &feature{Options: o, salt: rand.Text(), counts: newMeters(o.Now()), kick: make(chan struct{}, 1), open: map[string]time.Time{}}
}

func (f *feature) settings() Settings { return Section.Of(f.Settings.Snapshot().Config) }

// wanted reports whether anything is measured at all.
func (f *feature) wanted() bool { return f.settings().on() }

func (f *feature) count(name string, value float64, attributes ...attribute) {
	f.counts.add(name, value, attributes...)
}

// put keeps spans until they are sent. When nobody takes them, the oldest are given up.
func (f *feature) put(spans ...span) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spans = append(f.spans, spans...)
	if over := len(f.spans) - queue; over > 0 {
		f.spans = append([]span(nil), f.spans[over:]...)
		f.dropped += over
	}
	if len(f.spans) >= batch {
		select {
		case f.kick <- struct{}{}:
		default:
		}
	}
}

// run sends what was measured, now and then, and at the end.
func (f *feature) run(ctx context.Context) error {
	var wait time.Duration // beyond the usual, after a failure
	for {
		timer := time.NewTimer(f.settings().flush() + wait)
		kick := f.kick
		if wait > 0 {
			kick = nil
		}
		select {
		case <-ctx.Done():
			timer.Stop()
			last, stop := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
			defer stop()
			f.flush(last)
			return nil
		case <-timer.C:
		case <-kick:
			timer.Stop()
		}
		wait = f.flush(ctx)
	}
}

// checks tell `hearth doctor` when nobody takes what is sent.
func (f *feature) checks(context.Context, protocol.DoctorParams) []protocol.HealthCheck {
	s := f.settings()
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case s.Enabled && s.Endpoint == "":
		return []protocol.HealthCheck{{Area: "telemetry", State: protocol.CheckWarn,
			What:   "traces and metrics are on, and it is not said where they go",
			Advice: "hearth config set diagnostics.otel.endpoint http://127.0.0.1:4318"}}
	case s.on() && f.trouble != "":
		return []protocol.HealthCheck{{Area: "telemetry", State: protocol.CheckWarn, What: "traces and metrics do not arrive: " + f.trouble,
			Advice: fmt.Sprintf("see that a collector listens at %s; diagnostics.otel.enabled false ends it", s.Endpoint)}}
	}
	return nil
}
