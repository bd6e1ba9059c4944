package telemetry

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// mostSeries is how many different sets of attributes one metric may have; what
// comes beyond is counted together.
const mostSeries = 200

// meter is one metric: a histogram, or a counter where it has no bounds.
type meter struct {
	name, about, unit string
	bounds            []float64
	series            map[string]*series
}

type series struct {
	attributes []attribute
	count      int64
	sum        float64
	buckets    []int64s
}

// meters counts since the start.
type meters struct {
	mu    sync.Mutex
	since time.Time
	all   map[string]*meter
}

var (
	// seconds are what GenAI's conventions ask for, tokens too.
	seconds = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokens  = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

func newMeters(now time.Time) *meters {
	m := &meters{since: now, all: map[string]*meter{}}
	for _, x := range []meter{
		{name: "hearth.turn.duration", about: "from the acceptance of a message to the end of its answer", unit: "s", bounds: seconds},
		{name: "hearth.queue.duration", about: "how long messages waited before they were answered", unit: "s", bounds: seconds},
		{name: "gen_ai.client.operation.duration", about: "calls of models", unit: "s", bounds: seconds},
		{name: "gen_ai.client.token.usage", about: "tokens of calls of models", unit: "{token}", bounds: tokens},
		{name: "hearth.tool.duration", about: "calls of tools, without the time of people who were asked", unit: "s", bounds: seconds},
		{name: "hearth.deliveries", about: "messages to networks, by how it went", unit: "{message}"},
		{name: "hearth.telemetry.dropped", about: "spans that could not be sent", unit: "{span}"},
	} {
		x.series = map[string]*series{}
		m.all[x.name] = &x
	}
	return m
}

// add counts a value; of a counter it is how many.
func (m *meters) add(name string, value float64, attributes ...attribute) {
	m.mu.Lock()
	defer m.mu.Unlock()
	x := m.all[name]
	var key strings.Builder
	for _, a := range attributes {
		if a.Value.String != nil {
			key.WriteString(a.Key + "\x00" + *a.Value.String + "\x00")
		}
	}
	s := x.series[key.String()]
	if s == nil {
		if len(x.series) >= mostSeries {
			attributes = []attribute{truth("otel.metric.overflow", true)}
			s = x.series["overflow"]
		}
		if s == nil {
			s = &series{attributes: attributes, buckets: make([]int64s, len(x.bounds)+1)}
			k := key.String()
			if len(x.series) >= mostSeries {
				k = "overflow"
			}
			x.series[k] = s
		}
	}
	s.sum += value
	if x.bounds == nil {
		s.count += int64(value)
		return
	}
	s.count++
	at, _ := slices.BinarySearch(x.bounds, value) // a bound belongs to the bucket below it
	s.buckets[at]++
}

// collect is what was counted until now.
func (m *meters) collect(now time.Time) (out []metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(m.all)) {
		x := m.all[name]
		var points []point
		for _, key := range slices.Sorted(maps.Keys(x.series)) {
			s := x.series[key]
			p := point{Attributes: s.attributes, Start: nanos(m.since), Time: nanos(now)}
			if x.bounds == nil {
				p.AsInt = new(int64s(s.count))
			} else {
				p.Count, p.Sum, p.Buckets, p.Bounds = new(int64s(s.count)), new(s.sum), slices.Clone(s.buckets), x.bounds
			}
			points = append(points, p)
		}
		switch {
		case points == nil:
		case x.bounds == nil:
			out = append(out, metric{Name: name, Description: x.about, Unit: x.unit, Sum: &sum{cumulative, true, points}})
		default:
			out = append(out, metric{Name: name, Description: x.about, Unit: x.unit, Histogram: &histogram{cumulative, points}})
		}
	}
	return out
}
