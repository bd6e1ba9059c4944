package telemetry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"time"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/pause"
)

const (
	sendTime  = 10 * time.Second
	mostSaid  = 64 << 10 // bytes of an answer
	firstWait = 5 * time.Second
	mostWait  = 5 * time.Minute
)

// errAgain: it is worth it to try the same again.
type errAgain struct {
	error
	wait time.Duration // as the collector asks for, 0: it does not
}

// flush sends what there is, and returns how long to wait beyond the usual.
func (f *feature) flush(ctx context.Context) (wait time.Duration) {
	s := f.settings()
	if !s.on() {
		f.forget()
		return 0
	}
	if st := f.Pause.Get(); st.Level == pause.Network || st.Level == pause.Everything {
		return 0 // nothing leaves; it waits, as far as there is room
	}
	to, err := f.collector(ctx, s)
	for sent := false; err == nil && !sent; {
		sent, err = f.someSpans(ctx, to, s)
	}
	if err == nil && s.Metrics {
		err = to.post(ctx, "/v1/metrics", metrics{[]resourceMetrics{{f.resource(s), []scopeMetrics{{f.scope(), f.counts.collect(f.Now())}}}}})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.trouble = ""
		return 0
	}
	if f.trouble == "" {
		f.Log.Warn("traces and metrics could not be sent", "to", s.Endpoint, "err", err)
	}
	f.trouble = err.Error()
	var again errAgain
	if errors.As(err, &again) {
		return min(max(again.wait, firstWait), mostWait)
	}
	return firstWait
}

// someSpans sends one batch; done: there are no more. What cannot be sent now waits,
// what is refused is given up.
func (f *feature) someSpans(ctx context.Context, to collector, s Settings) (done bool, err error) {
	f.mu.Lock()
	n := min(len(f.spans), batch)
	some := f.spans[:n:n]
	f.spans = f.spans[n:]
	lost := f.dropped
	f.dropped = 0
	f.mu.Unlock()
	if lost > 0 {
		f.count("hearth.telemetry.dropped", float64(lost))
	}
	if n == 0 || !s.Traces {
		return n == 0, nil
	}
	err = to.post(ctx, "/v1/traces", traces{[]resourceSpans{{f.resource(s), []scopeSpans{{f.scope(), some}}}}})
	var again errAgain
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case errors.As(err, &again) && len(f.spans)+n <= queue:
		f.spans = append(some, f.spans...)
	case err != nil:
		f.dropped += n
	}
	return n < batch, err
}

// forget drops what was measured before it was switched off.
func (f *feature) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spans, f.dropped, f.trouble = nil, 0, ""
	clear(f.open)
}

func (f *feature) resource(s Settings) resource {
	return resource{[]attribute{text("service.name", cmp.Or(s.ServiceName, "hearth")), text("service.version", f.Version),
		text("telemetry.sdk.language", "go"), text("os.type", runtime.GOOS), text("host.arch", runtime.GOARCH)}}
}

func (f *feature) scope() scope { return scope{"hearth", f.Version} }

// collector is where it goes. It reaches that origin and no other.
type collector struct {
	base   string
	header http.Header
	client *egress.Client
}

func (f *feature) collector(ctx context.Context, s Settings) (collector, error) {
	u, err := url.Parse(s.Endpoint)
	if err != nil {
		return collector{}, err
	}
	c := collector{base: s.Endpoint, header: http.Header{"Content-Type": {"application/json"}}}
	if c.client, err = egress.Only(u.Scheme + "://" + u.Host); err != nil {
		return collector{}, err
	}
	for name, v := range s.Headers {
		found, err := f.Secrets.Value(ctx, "diagnostics.otel.headers."+name, v)
		if err != nil {
			return collector{}, fmt.Errorf("the header %s: %w", name, err)
		}
		c.header.Set(name, found.Reveal())
	}
	return c, nil
}

// post sends one request. What the collector says is shown to nobody: it may repeat
// a header.
func (c collector) post(ctx context.Context, path string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, sendTime)
	defer stop()
	page, err := c.client.Fetch(ctx, egress.Request{
		Method: http.MethodPost, URL: c.base + path, Header: c.header, Body: data, MaxBytes: mostSaid})
	var forbidden *egress.ForbiddenError
	switch {
	case errors.As(err, &forbidden):
		return err
	case err != nil:
		return errAgain{error: err}
	case page.Status/100 == 2:
		return nil
	}
	err = fmt.Errorf("the collector answered %s with %d", path, page.Status)
	switch page.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		s, _ := strconv.Atoi(page.Header.Get("Retry-After")) // a date is read as none
		return errAgain{err, time.Duration(max(0, min(s, 3600))) * time.Second}
	}
	return err
}
