// Package metrics is the feature that shows programs such as Prometheus how Hearth is:
// the address /metrics, in Prometheus' text format, off until its person switches it
// on, and for programs with a token for it alone. It counts nothing itself: each
// answer is made of what the parts say at that moment. It names no conversation, no
// person and no text.
package metrics

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	prom "github.com/VictoriaMetrics/metrics"

	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pairing/admission"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/spend"
	"github.com/hearth-assistant/hearth/gateway/spend/budget"
)

// Path is where programs ask.
const Path = "/metrics"

// Status tells how Hearth is now. *status.Status is one.
type Status interface {
	Tell(ctx context.Context) (protocol.Status, error)
}

// Options are the parts that are told of, and the door that programs come through;
// all of them.
type Options struct {
	Status   Status
	Door     *admission.Door
	Settings *config.File
	Budget   *budget.Budget
	Networks *hub.Hub
	Clock    *clock.Clock
}

type feature struct{ Options }

// New makes the feature.
func New(o Options) host.Feature {
	return host.Feature{Mounts: map[string]http.Handler{Path: feature{o}}}
}

// ServeHTTP implements http.Handler.
func (f feature) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case !Section.Of(f.Settings.Snapshot().Config).Enabled:
		http.Error(w, "Metrics are off; `hearth config set diagnostics.prometheus.enabled true` turns them on.", http.StatusNotFound)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "Metrics are read with GET.", http.StatusMethodNotAllowed)
		return
	}
	visit, err := f.Door.Admit(r, pairing.ClientMetrics)
	if err != nil {
		refuse(w, err)
		return
	}
	defer visit.Release()
	set, err := f.look(r.Context())
	if err != nil {
		http.Error(w, "The metrics could not be read: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	set.WritePrometheus(w)
	prom.WriteProcessMetrics(w)
}

// refuse says why nobody is let in, and what to do.
func refuse(w http.ResponseWriter, err error) {
	known, ok := admission.Refused(err)
	if !ok {
		known = &admission.Refusal{Status: http.StatusInternalServerError, Text: "this did not work; `hearth logs` says why"}
	}
	known.Mark(w.Header())
	http.Error(w, known.Text, known.Status)
}

// look asks the parts.
func (f feature) look(ctx context.Context) (*prom.Set, error) {
	set := prom.NewSet()
	gauge := func(v float64, name string, labels ...string) { set.GetOrCreateGauge(named(name, labels), nil).Set(v) }
	st, err := f.Status.Tell(ctx)
	if err != nil {
		return nil, err
	}
	now := st.Hearth
	gauge(1, "hearth_build_info", "version", now.Version)
	gauge(float64(now.UptimeMs)/1000, "hearth_uptime_seconds")
	gauge(float64(st.Sessions.Count), "hearth_sessions")
	gauge(float64(now.ActiveRuns), "hearth_runs", "state", "active")
	gauge(float64(now.QueuedRuns), "hearth_runs", "state", "queued")
	gauge(float64(now.Clients), "hearth_clients")
	gauge(float64(now.Undelivered), "hearth_deliveries_waiting")
	gauge(float64(now.PendingApprovals), "hearth_approvals_waiting")
	gauge(float64(now.StoreBytes), "hearth_store_bytes")
	gauge(float64(len(now.Problems)), "hearth_problems")
	gauge(one(st.Pause.Level != string(pause.Off)), "hearth_paused")
	for _, a := range f.Networks.Status() {
		gauge(one(a.Connected), "hearth_channel_connected", "channel", a.Network, "account", a.AccountID)
		if a.LastInboundAt > 0 {
			gauge(float64(a.LastInboundAt)/1000, "hearth_channel_last_message_timestamp_seconds", "channel", a.Network, "account", a.AccountID)
		}
	}
	return set, f.spent(gauge)
}

// spent tells what models cost today; the day is the one of the allowance.
func (f feature) spent(gauge func(v float64, name string, labels ...string)) error {
	today := f.Clock.Now().In(f.Clock.Zone()).Format(time.DateOnly)
	rows, err := f.Budget.Rows(spend.Query{From: today, To: today})
	if err != nil {
		return fmt.Errorf("read what models cost: %w", err)
	}
	for _, g := range spend.By(rows, func(r spend.Row) string { return r.Model.String() }) {
		gauge(float64(g.Calls), "hearth_model_calls_today", "model", g.Name)
		gauge(float64(g.Failed), "hearth_model_calls_failed_today", "model", g.Name)
		gauge(float64(g.Input), "hearth_model_tokens_today", "model", g.Name, "kind", "input")
		gauge(float64(g.Output), "hearth_model_tokens_today", "model", g.Name, "kind", "output")
		gauge(g.Cost().Units(), "hearth_model_cost_today", "model", g.Name)
	}
	return nil
}

// named is the name of a metric with its labels, each a name and a value.
func named(name string, labels []string) string {
	if len(labels) == 0 {
		return name
	}
	var pairs []string
	for l := range slices.Chunk(labels, 2) {
		pairs = append(pairs, l[0]+"="+strconv.Quote(l[1]))
	}
	return name + "{" + strings.Join(pairs, ",") + "}"
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
