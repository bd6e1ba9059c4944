package telemetry

import (
	"strconv"
	"time"
)

// The shapes of OTLP as JSON (opentelemetry-proto, "JSON Protobuf Encoding"), as far
// as they are sent: ids in hexadecimal, numbers of 64 bits as text, kinds as numbers.

type attribute struct {
	Key   string   `json:"key"`
	Value anyValue `json:"value"`
}

// anyValue has one of its parts.
type anyValue struct {
	String *string `json:"stringValue,omitempty"`
	Int    *int64s `json:"intValue,omitempty"`
	Bool   *bool   `json:"boolValue,omitempty"`
}

// int64s is a number of 64 bits, which JSON has as text.
type int64s int64

func (n int64s) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(n), 10), nil }

func (n *int64s) UnmarshalText(b []byte) error {
	v, err := strconv.ParseInt(string(b), 10, 64)
	*n = int64s(v)
	return err
}

func text(key, value string) attribute   { return attribute{key, anyValue{String: &value}} }
func number(key string, n int) attribute { return attribute{key, anyValue{Int: new(int64s(n))}} }
func truth(key string, v bool) attribute { return attribute{key, anyValue{Bool: &v}} }
func nanos(t time.Time) int64s           { return int64s(t.UnixNano()) }
func millis(ms int64) int64s             { return nanos(time.UnixMilli(ms)) }

// Kinds and states of spans.
const (
	kindInternal = 1
	kindServer   = 2
	kindClient   = 3
	kindProducer = 4
	statusError  = 2
	cumulative   = 2
)

type span struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      int64s      `json:"startTimeUnixNano"`
	End        int64s      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes,omitempty"`
	Status     *status     `json:"status,omitempty"`
}

type status struct {
	Code    int    `json:"code"`
	Message string `json:"message,omitempty"`
}

type resource struct {
	Attributes []attribute `json:"attributes"`
}

type scope struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type traces struct {
	ResourceSpans []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource   resource     `json:"resource"`
	ScopeSpans []scopeSpans `json:"scopeSpans"`
}

type scopeSpans struct {
	Scope scope  `json:"scope"`
	Spans []span `json:"spans"`
}

type metrics struct {
	ResourceMetrics []resourceMetrics `json:"resourceMetrics"`
}

type resourceMetrics struct {
	Resource     resource       `json:"resource"`
	ScopeMetrics []scopeMetrics `json:"scopeMetrics"`
}

type scopeMetrics struct {
	Scope   scope    `json:"scope"`
	Metrics []metric `json:"metrics"`
}

type metric struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Unit        string     `json:"unit"`
	Histogram   *histogram `json:"histogram,omitempty"`
	Sum         *sum       `json:"sum,omitempty"`
}

type histogram struct {
	Temporality int     `json:"aggregationTemporality"`
	Points      []point `json:"dataPoints"`
}

type sum struct {
	Temporality int     `json:"aggregationTemporality"`
	Monotonic   bool    `json:"isMonotonic"`
	Points      []point `json:"dataPoints"`
}

// point is of a histogram or of a sum, which has AsInt and no buckets.
type point struct {
	Attributes []attribute `json:"attributes,omitempty"`
	Start      int64s      `json:"startTimeUnixNano"`
	Time       int64s      `json:"timeUnixNano"`
	Count      *int64s     `json:"count,omitempty"`
	Sum        *float64    `json:"sum,omitempty"`
	Buckets    []int64s    `json:"bucketCounts,omitempty"`
	Bounds     []float64   `json:"explicitBounds,omitempty"`
	AsInt      *int64s     `json:"asInt,omitempty"`
}
