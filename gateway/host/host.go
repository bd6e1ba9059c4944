package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// Pauses before the background work of a feature is started again: the first
// one, doubled with each failure in a row, up to the longest. Work that ran for
// the longest pause begins anew with the first.
const (
	FirstPause   = time.Second
	LongestPause = 5 * time.Minute
)

// ErrOff is wrapped in what a constructor returns when a feature cannot do
// anything here and that is no failure (no such system, nothing to do): it is
// left out silently.
var ErrOff = errors.New("this feature has nothing to do here")

// Options of a Host.
type Options struct {
	Enabled func(name string) bool // nil: every feature is
	Logger  *slog.Logger           // nil: nowhere
}

// Host holds the features that were made. Its methods may be called from several
// goroutines.
type Host struct {
	log     *slog.Logger
	enabled func(name string) bool
	parts   []*part
	off     bool // a feature is switched off, or has nothing to do here
	// failed are features whose constructor failed, which Problems reports.
	failed []protocol.Problem
}

// part is a feature at work.
type part struct {
	name string
	Feature
	broken atomic.Pointer[error] // why its background work stands still now
}

// New returns a host without features, for what has to know it before they are made.
func New(o Options) *Host {
	h := &Host{log: o.Logger, enabled: o.Enabled}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	return h
}

// Add makes the features of a list, in its order; it is called once, before any
// other method. It does not fail: a feature that cannot be made is reported by
// Problems.
func (h *Host) Add(ctx context.Context, list []Entry) {
	for _, e := range list {
		if h.enabled != nil && !h.enabled(e.Name) {
			h.off = true
			continue
		}
		var f Feature
		err := h.guarded(ctx, e.Name, func() (err error) {
			f, err = e.New()
			return err
		})
		switch {
		case errors.Is(err, ErrOff):
			h.off = true
		case err != nil:
			h.log.ErrorContext(ctx, "a feature could not be started", "feature", e.Name, "err", err)
			h.failed = append(h.failed, protocol.Problem{Code: "FEATURE", Message: fmt.Sprintf("The feature “%[1]s” could not be started, "+
				"everything else runs: %[2]v. Restart Hearth; to do without it, run `hearth config set features.%[1]s false`.", e.Name, err)})
		default:
			h.parts = append(h.parts, &part{name: e.Name, Feature: f})
		}
	}
}

// guarded calls fn; a panic is its failure, and its stack goes to the log.
func (h *Host) guarded(ctx context.Context, name string, fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			h.log.ErrorContext(ctx, "a feature panicked", "feature", name, "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("internal error: %v", v)
		}
	}()
	return fn()
}

// Complete reports whether every feature of the list was made.
func (h *Host) Complete() bool { return !h.off && len(h.failed) == 0 }

// Methods are those of all features, in the order of the list.
func (h *Host) Methods() (out []method.Method) {
	for _, p := range h.parts {
		out = append(out, p.Methods...)
	}
	return out
}

// Tools are those of all features, in the order of the list.
func (h *Host) Tools() (out []tool.Tool) {
	for _, p := range h.parts {
		out = append(out, p.Tools...)
	}
	return out
}

// Commands are those of all features, in the order of the list.
func (h *Host) Commands() (out []command.Command) {
	for _, p := range h.parts {
		out = append(out, p.Commands...)
	}
	return out
}

// Mounts are those of all features, by path.
func (h *Host) Mounts() map[string]http.Handler {
	out := make(map[string]http.Handler)
	for _, p := range h.parts {
		maps.Copy(out, p.Mounts)
	}
	return out
}

// Checks is what all features tell `hearth doctor`.
func (h *Host) Checks(ctx context.Context, params protocol.DoctorParams) (out []protocol.HealthCheck) {
	for _, p := range h.parts {
		if p.Checks != nil {
			out = append(out, p.Checks(ctx, params)...)
		}
	}
	return out
}

// Problems is what a person should know about now: of the features, and about
// those that could not be started or stand still.
func (h *Host) Problems() (out []protocol.Problem) {
	out = append(out, h.failed...)
	for _, p := range h.parts {
		if p.Problems != nil {
			out = append(out, p.Problems()...)
		}
		if err := p.broken.Load(); err != nil {
			out = append(out, protocol.Problem{Code: "FEATURE", Message: fmt.Sprintf(
				"The feature “%s” stopped and is tried again in a while: %v. `hearth logs` has more.", p.name, *err)})
		}
	}
	return out
}

// Run does the background work of all features until ctx ends and all of it has
// returned.
func (h *Host) Run(ctx context.Context) { h.RunOnly(ctx) }

// RunOnly is Run for some features; without names for all.
func (h *Host) RunOnly(ctx context.Context, names ...string) {
	var work sync.WaitGroup
	for _, p := range h.parts {
		if p.Run != nil && (len(names) == 0 || slices.Contains(names, p.name)) {
			work.Go(func() { h.supervise(ctx, p) })
		}
	}
	work.Wait()
}

// supervise runs the work of one feature, again when it fails.
func (h *Host) supervise(ctx context.Context, p *part) {
	for pause := FirstPause; ; {
		began := time.Now()
		err := h.guarded(ctx, p.name, func() error { return p.Feature.Run(ctx) })
		if err == nil || ctx.Err() != nil {
			return
		}
		if time.Since(began) > LongestPause {
			pause = FirstPause
		}
		p.broken.Store(&err)
		h.log.ErrorContext(ctx, "the background work of a feature stopped", "feature", p.name, "err", err, "again", pause)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		p.broken.Store(nil)
		pause = min(2*pause, LongestPause)
	}
}

// Close closes the features, the last one first; the errors of all are joined.
func (h *Host) Close(ctx context.Context) error {
	var errs []error
	for i := len(h.parts) - 1; i >= 0; i-- {
		p := h.parts[i]
		if p.Feature.Close == nil {
			continue
		}
		if err := p.Feature.Close(ctx); err != nil {
			errs = append(errs, fmt.Errorf("close the feature %s: %w", p.name, err))
		}
	}
	return errors.Join(errs...)
}
