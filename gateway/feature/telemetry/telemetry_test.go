package telemetry_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
)

// A collector takes what is sent to it as OTLP's own does: what has another shape is
// refused.
type collector struct {
	*httptest.Server
	t testing.TB

	mu      sync.Mutex
	spans   []span
	metrics map[string]metric
	bodies  []string
	headers []http.Header
	answer  int           // of the next requests, 0: 200
	refused chan struct{} // closed with the first spans that were
	asked   int
	told    bool
}

type value struct {
	StringValue *string `json:"stringValue"`
	IntValue    *string `json:"intValue"` // 64 bits are text in OTLP's JSON
	BoolValue   *bool   `json:"boolValue"`
}

type attributes []struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

func (a attributes) text(key string) string {
	for _, x := range a {
		if x.Key == key && x.Value.StringValue != nil {
			return *x.Value.StringValue
		}
	}
	return ""
}

type span struct {
	TraceID           string     `json:"traceId"`
	SpanID            string     `json:"spanId"`
	ParentSpanID      string     `json:"parentSpanId"`
	Name              string     `json:"name"`
	Kind              int        `json:"kind"`
	StartTimeUnixNano string     `json:"startTimeUnixNano"`
	EndTimeUnixNano   string     `json:"endTimeUnixNano"`
	Attributes        attributes `json:"attributes"`
	Status            *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"status"`
}

type point struct {
	Attributes        attributes `json:"attributes"`
	StartTimeUnixNano string     `json:"startTimeUnixNano"`
	TimeUnixNano      string     `json:"timeUnixNano"`
	Count             string     `json:"count"`
	Sum               float64    `json:"sum"`
	BucketCounts      []string   `json:"bucketCounts"`
	ExplicitBounds    []float64  `json:"explicitBounds"`
	AsInt             *string    `json:"asInt"`
}

type points struct {
	AggregationTemporality int     `json:"aggregationTemporality"`
	IsMonotonic            *bool   `json:"isMonotonic"`
	DataPoints             []point `json:"dataPoints"`
}

type metric struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Unit        string  `json:"unit"`
	Histogram   *points `json:"histogram"`
	Sum         *points `json:"sum"`
}

func collect(t testing.TB) *collector {
	c := &collector{t: t, metrics: map[string]metric{}, refused: make(chan struct{})}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

var (
	traceID = regexp.MustCompile(`^[0-9a-f]{32}$`)
	spanID  = regexp.MustCompile(`^[0-9a-f]{16}$`)
	nano    = regexp.MustCompile(`^1[0-9]{18}$`)
)

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Error(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	c.headers = append(c.headers, r.Header.Clone())
	if c.answer != 0 {
		if strings.Contains(string(body), `"turn"`) && !c.told {
			c.told = true
			close(c.refused)
		}
		w.WriteHeader(c.answer)
		return
	}
	c.bodies = append(c.bodies, string(body))
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
		c.t.Errorf("%s with %q", r.Method, r.Header.Get("Content-Type"))
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields() // a name that OTLP does not have, or a kind of value that is not read here
	switch r.URL.Path {
	case "/v1/traces":
		c.traces(d)
	case "/v1/metrics":
		c.measures(d)
	default:
		c.t.Errorf("nobody asks for %s", r.URL.Path)
	}
}

func (c *collector) traces(d *json.Decoder) {
	var all struct {
		ResourceSpans []struct {
			Resource struct {
				Attributes attributes `json:"attributes"`
			} `json:"resource"`
			ScopeSpans []struct {
				Scope struct{ Name, Version string } `json:"scope"`
				Spans []span                         `json:"spans"`
			} `json:"scopeSpans"`
		} `json:"resourceSpans"`
	}
	if err := d.Decode(&all); err != nil {
		c.t.Error(err)
		return
	}
	for _, r := range all.ResourceSpans {
		if r.Resource.Attributes.text("service.name") != "hearth" {
			c.t.Errorf("it comes from %v", r.Resource.Attributes)
		}
		for _, s := range r.ScopeSpans {
			c.spans = append(c.spans, s.Spans...)
		}
	}
	for _, s := range c.spans {
		if !traceID.MatchString(s.TraceID) || !spanID.MatchString(s.SpanID) || s.ParentSpanID != "" && !spanID.MatchString(s.ParentSpanID) ||
			!nano.MatchString(s.StartTimeUnixNano) || !nano.MatchString(s.EndTimeUnixNano) || s.StartTimeUnixNano > s.EndTimeUnixNano ||
			s.Kind < 1 || s.Kind > 5 || s.Name == "" {
			c.t.Errorf("no span: %+v", s)
		}
	}
}

func (c *collector) measures(d *json.Decoder) {
	var all struct {
		ResourceMetrics []struct {
			Resource struct {
				Attributes attributes `json:"attributes"`
			} `json:"resource"`
			ScopeMetrics []struct {
				Scope   struct{ Name, Version string } `json:"scope"`
				Metrics []metric                       `json:"metrics"`
			} `json:"scopeMetrics"`
		} `json:"resourceMetrics"`
	}
	if err := d.Decode(&all); err != nil {
		c.t.Error(err)
		return
	}
	for _, r := range all.ResourceMetrics {
		for _, s := range r.ScopeMetrics {
			for _, m := range s.Metrics {
				if (m.Histogram == nil) == (m.Sum == nil) || m.Unit == "" {
					c.t.Errorf("no metric: %+v", m)
				}
				if h := m.Histogram; h != nil {
					for _, p := range h.DataPoints {
						if h.AggregationTemporality != 2 || len(p.BucketCounts) != len(p.ExplicitBounds)+1 || !slices.IsSorted(p.ExplicitBounds) {
							c.t.Errorf("no histogram: %+v", m)
						}
					}
				}
				c.metrics[m.Name] = m
			}
		}
	}
}

func (c *collector) took() (spans []span, metrics map[string]metric, bodies string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans), c.metrics, strings.Join(c.bodies, "\n")
}

func named(spans []span, name string) (out []span) {
	for _, s := range spans {
		if s.Name == name {
			out = append(out, s)
		}
	}
	return out
}

func settings(at string, with map[string]any) map[string]any {
	otel := map[string]any{"enabled": true, "endpoint": at}
	for k, v := range with {
		otel[k] = v
	}
	return map[string]any{"diagnostics": map[string]any{"otel": otel}}
}

// A turn is one trace: what happened in it hangs below it, in its time.
func TestATurnIsOneTrace(t *testing.T) {
	c := collect(t)
	r := gatewaytest.New(t, "chat/tool-read")
	p := r.Connect()
	p.Patch(settings(c.URL, nil))
	p.Say("main", "m1", "read the file")
	p.Say("main", "m2", "read it again")
	r.Shutdown() // it sends what is left
	spans, measured, _ := c.took()
	turns := named(spans, "turn")
	if len(turns) != 2 || turns[0].TraceID == turns[1].TraceID {
		t.Fatalf("two turns are %d traces: %+v", len(turns), spans)
	}
	root := turns[0]
	var below []string
	for _, s := range spans {
		if s.TraceID != root.TraceID || s.SpanID == root.SpanID {
			continue
		}
		if s.ParentSpanID != root.SpanID {
			t.Errorf("%s hangs below %q", s.Name, s.ParentSpanID)
		}
		below = append(below, s.Name)
	}
	slices.Sort(below)
	want := []string{"accept", "chat tool-read", "chat tool-read", "execute_tool read", "queue"}
	if !slices.Equal(below, want) {
		t.Errorf("below a turn are %q, want %q", below, want)
	}
	if root.ParentSpanID != "" || root.Kind != 2 || root.Attributes.text("hearth.run.state") != "answered" {
		t.Errorf("the turn: %+v", root)
	}
	call := named(spans, "chat tool-read")[0]
	if call.Kind != 3 || call.Attributes.text("gen_ai.request.model") != "tool-read" || call.Attributes.text("gen_ai.provider.name") != "chat" {
		t.Errorf("a call of a model: %+v", call)
	}
	for name, count := range map[string]string{"hearth.turn.duration": "2", "hearth.tool.duration": "2", "gen_ai.client.operation.duration": "4"} {
		m, found := measured[name]
		if !found || m.Histogram.DataPoints[0].Count != count {
			t.Errorf("%s is %+v, want %s", name, m, count)
		}
	}
}

// What people say, what they are called, and keys are in nothing that is sent.
func TestSec_A_PRIV_TelemetryHasNobodysWords(t *testing.T) {
	c := collect(t)
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Patch(settings(c.URL, map[string]any{"headers": map[string]any{"Authorization": "Bearer the-collectors-key"}}))
	p.Say("agent:main:the-conversation-of-ada", "run-named-by-a-client", "a word that nobody else may read")
	r.Shutdown()
	spans, _, bodies := c.took()
	if len(named(spans, "turn")) != 1 {
		t.Fatalf("nothing was sent: %s", bodies)
	}
	for _, secret := range []string{"nobody else", "ada", "run-named", "the-collectors-key", "agent:main"} {
		if strings.Contains(bodies, secret) {
			t.Errorf("%q is in what was sent:\n%s", secret, bodies)
		}
	}
	if got := c.headers[0].Get("Authorization"); got != "Bearer the-collectors-key" {
		t.Errorf("the header of the settings is %q", got)
	}
}

// Off, it sends nothing, and so it does while Hearth keeps to itself.
func TestNothingIsSent(t *testing.T) {
	for name, set := range map[string]func(*collector, *gatewaytest.Peer){
		"off": func(*collector, *gatewaytest.Peer) {},
		"no place": func(_ *collector, p *gatewaytest.Peer) {
			p.Patch(map[string]any{"diagnostics": map[string]any{"otel": map[string]any{"enabled": true}}})
		},
		"paused": func(c *collector, p *gatewaytest.Peer) {
			p.Patch(settings(c.URL, nil))
			p.Do("hearth.pause.set", map[string]any{"level": "network"}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := collect(t)
			r := gatewaytest.New(t, "chat/echo")
			p := r.Connect()
			set(c, p)
			p.Say("main", "m1", "hello")
			r.Shutdown()
			if c.asked != 0 {
				t.Errorf("it was asked %d times", c.asked)
			}
		})
	}
}

// A key is not sent unencrypted over the internet.
func TestSec_A_NET_TelemetryOverTheInternetIsEncrypted(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	why := p.Refused("config.patch", map[string]any{"raw": `{"diagnostics":{"otel":{"endpoint":"http://collector.example.org:4318"}}}`})
	if why == "" {
		t.Error("it is taken")
	}
}

// A collector that is not there for a while gets later what it missed.
func TestFault_F_NET_ACollectorThatIsBackGetsWhatItMissed(t *testing.T) {
	c := collect(t)
	c.answer = http.StatusServiceUnavailable
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Patch(settings(c.URL, map[string]any{"flushIntervalMs": 1000}))
	p.Say("main", "m1", "hello")
	<-c.refused
	c.mu.Lock()
	c.answer = 0
	c.mu.Unlock()
	r.Shutdown()
	if spans, _, _ := c.took(); len(named(spans, "turn")) != 1 {
		t.Errorf("it got %+v", spans)
	}
}
