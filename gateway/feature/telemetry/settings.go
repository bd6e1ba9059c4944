package telemetry

import (
	"errors"
	"net/url"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/egress"
)

// Settings say whether and where traces and metrics are sent.
type Settings struct {
	Enabled     bool
	Endpoint    string
	Headers     map[string]config.Secret
	ServiceName string
	Traces      bool
	Metrics     bool
	FlushMs     int
}

func (s Settings) on() bool             { return s.Enabled && s.Endpoint != "" }
func (s Settings) flush() time.Duration { return time.Duration(s.FlushMs) * time.Millisecond }

// endpoint takes an address of the web. What has words of nobody in it still has a
// key in its headers, which goes over the internet encrypted or not at all.
func endpoint(text string) (string, error) {
	text, err := config.WebAddress(text)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", err
	}
	if u.Scheme == "http" && !egress.Near(u) {
		return "", errors.New("a collector that is not on this machine or network is reached by https://")
	}
	return text, nil
}

// Section are the settings of traces and metrics over OTLP.
var Section = &config.Settings[Settings]{
	Path: "diagnostics.otel", Default: Settings{ServiceName: "hearth", Traces: true, Metrics: true, FlushMs: 5000},
	Fields: func(s *Settings) []config.Field {
		return []config.Field{
			config.Switch{Key: "enabled", To: &s.Enabled, Help: "`true`: sends traces and metrics to `endpoint` by OTLP, without words of anybody"},
			config.Text{
				Key: "endpoint", To: &s.Endpoint, Max: 2048, Is: endpoint, Hint: config.Hint{Default: "none", Example: `"http://127.0.0.1:4318"`},
				Help: "the address of a collector that speaks OTLP over HTTP; `/v1/traces` and `/v1/metrics` are added to it",
			},
			config.Map[config.Secret]{
				Key: "headers", To: &s.Headers, Name: "<header>", Is: config.HeaderName, Hint: config.Hint{Default: "none"},
				One: func(_ string, v *config.Secret) config.Field {
					return config.Hidden{To: v, Perhaps: true, Covered: true}
				},
				Help: "headers to send along, such as `{ \"Authorization\": \"keychain:otel\" }`; values may be references to secrets",
			},
			config.Text{Key: "serviceName", To: &s.ServiceName, Max: 128, Help: "what this Hearth is called there",
				Hint: config.Hint{Advanced: true}},
			config.Switch{Key: "traces", To: &s.Traces, Help: "`false`: no traces"},
			config.Switch{Key: "metrics", To: &s.Metrics, Help: "`false`: no metrics"},
			config.Number{
				Key: "flushIntervalMs", To: &s.FlushMs, Min: 1000, Max: 600_000, Nearest: true, Hint: config.Hint{Advanced: true},
				Help: "how often what was measured is sent, in milliseconds",
			},
			config.Later("protocol", "logs", "sampleRate", "captureContent", "tracesEndpoint", "metricsEndpoint", "logsEndpoint"),
		}
	},
}
