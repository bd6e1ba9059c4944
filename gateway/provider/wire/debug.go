package wire

import (
	"io"
	"iter"
	"log/slog"
	"net/http"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/sse"
)

const (
	maxPayload = 16 << 10 // of a request in the log
	maxPeek    = 500      // of an event
	peeks      = 5
)

// Debug logs what is sent and what comes back, for who looks into a service that
// behaves strangely. A nil Debug logs nothing. Keys and what looks like one are
// taken out; the words of a conversation are not, so the payload is for a short
// look only.
type Debug struct {
	Log       *slog.Logger
	Transport bool
	Payload   string // tools, full-redacted
	SSE       string // events, peek
}

// NewDebug reads the environment; nil when nothing is asked for.
func NewDebug(env func(string) string, log *slog.Logger) *Debug {
	d := &Debug{
		Log: log, Transport: strings.TrimSpace(env("HEARTH_DEBUG_MODEL_TRANSPORT")) == "1",
		Payload: strings.TrimSpace(env("HEARTH_DEBUG_MODEL_PAYLOAD")), SSE: strings.TrimSpace(env("HEARTH_DEBUG_SSE")),
	}
	if !d.Transport && d.Payload == "" && d.SSE == "" {
		return nil
	}
	return d
}

// sent logs a request that is about to leave.
func (d *Debug) sent(r *http.Request, body []byte, f *fault) {
	if d == nil {
		return
	}
	if d.Transport {
		d.Log.Info("model request", "model", f.ref.String(), "url", r.URL.Scheme+"://"+r.URL.Host+r.URL.Path, "bytes", len(body))
	}
	if d.Payload != "" {
		names, err := ToolNames(body)
		d.Log.Info("model request's tools", "model", f.ref.String(), "tools", names, "err", err)
	}
	if d.Payload == "full-redacted" {
		d.Log.Info("model request's payload", "model", f.ref.String(), "payload", Clean(string(body), maxPayload, f.secrets...))
	}
}

// answered logs how a service began its answer.
func (d *Debug) answered(resp *http.Response, err error, f *fault) {
	if d == nil || !d.Transport {
		return
	}
	if err != nil {
		d.Log.Info("model answer", "model", f.ref.String(), "err", f.clean(err.Error()))
		return
	}
	d.Log.Info("model answer", "model", f.ref.String(), "status", resp.StatusCode, "type", resp.Header.Get("Content-Type"))
}

// events logs the records of a stream while they are read.
func (d *Debug) events(in iter.Seq2[sse.Event, error], f *fault) iter.Seq2[sse.Event, error] {
	if d == nil || d.SSE == "" {
		return in
	}
	return func(yield func(sse.Event, error) bool) {
		i := 0
		for ev, err := range in {
			switch i++; {
			case err != nil && err != io.EOF:
				d.Log.Info("model event", "model", f.ref.String(), "n", i, "err", f.clean(err.Error()))
			case d.SSE == "peek" && i <= peeks:
				d.Log.Info("model event", "model", f.ref.String(), "n", i, "name", string(ev.Name), "data",
					Clean(string(ev.Data), maxPeek, f.secrets...))
			case d.SSE == "events":
				d.Log.Info("model event", "model", f.ref.String(), "n", i, "name", string(ev.Name), "bytes", len(ev.Data))
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}
