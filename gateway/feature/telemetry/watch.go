package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// mostOpen is how many deliveries that are under way are remembered.
const mostOpen = 4096

// ids of a run's trace and of a part of it. They follow from the run, so that what
// happens later, or in another place, belongs to the same trace; the salt keeps
// anybody from working out what a run is called.
func (f *feature) trace(run string) string      { return f.hash("trace", run)[:32] }
func (f *feature) part(run, what string) string { return f.hash(run, what)[:16] }

func (f *feature) hash(a, b string) string {
	sum := sha256.Sum256([]byte(f.salt + "\x00" + a + "\x00" + b))
	return hex.EncodeToString(sum[:])
}

// whole is the span of the turn itself.
const whole = "turn"

func (f *feature) Began(run session.Run) {
	if !f.wanted() || run.AcceptedAt == 0 || run.StartedAt == 0 {
		return
	}
	f.count("hearth.queue.duration", float64(run.StartedAt-run.AcceptedAt)/1000)
	at := millis(run.AcceptedAt)
	f.put(
		span{TraceID: f.trace(run.ID), SpanID: f.part(run.ID, "accept"), Parent: f.part(run.ID, whole), Name: "accept", Kind: kindInternal,
			Start: at, End: at, Attributes: []attribute{text("hearth.network", network(run.Route))}},
		span{TraceID: f.trace(run.ID), SpanID: f.part(run.ID, "queue"), Parent: f.part(run.ID, whole), Name: "queue", Kind: kindInternal,
			Start: at, End: millis(run.StartedAt), Attributes: []attribute{number("hearth.attempt", run.Attempt)}},
	)
}

func (f *feature) Asked(run string, a failover.Attempt) {
	if !f.wanted() || a.Skipped || a.Nobody {
		return
	}
	about := []attribute{text("gen_ai.operation.name", "chat"), text("gen_ai.provider.name", a.Ref.Provider),
		text("gen_ai.request.model", a.Ref.Model)}
	f.count("gen_ai.client.token.usage", float64(a.Usage.Input), append(about[:3:3], text("gen_ai.token.type", "input"))...)
	f.count("gen_ai.client.token.usage", float64(a.Usage.Output), append(about[:3:3], text("gen_ai.token.type", "output"))...)
	s := span{TraceID: f.trace(run), SpanID: f.part(run, "model "+a.At.String()), Parent: f.part(run, whole), Name: "chat " + a.Ref.Model,
		Kind: kindClient, Start: nanos(a.At), End: nanos(a.At.Add(a.Took)),
		Attributes: append(about[:3:3], number("gen_ai.usage.input_tokens", a.Usage.Input), number("gen_ai.usage.output_tokens", a.Usage.Output))}
	if a.Status != 0 {
		s.Attributes = append(s.Attributes, number("http.response.status_code", a.Status))
	}
	if a.Reason != "" { // what the service said of it may repeat what it was asked
		about = append(about, text("error.type", string(a.Reason)))
		s.Attributes, s.Status = append(s.Attributes, text("error.type", string(a.Reason))), &status{Code: statusError}
	}
	f.count("gen_ai.client.operation.duration", a.Took.Seconds(), about...)
	f.put(s)
}

func (f *feature) Called(run string, c session.Called) {
	if !f.wanted() {
		return
	}
	parent := f.part(run, whole)
	if c.Parent != "" {
		parent = f.part(run, "tool "+c.Parent)
	}
	s := span{TraceID: f.trace(run), SpanID: f.part(run, "tool "+c.ID), Parent: parent, Name: "execute_tool " + c.Name, Kind: kindInternal,
		Start: nanos(c.At.Add(-c.Took)), End: nanos(c.At),
		Attributes: []attribute{text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", c.Name)}}
	about := []attribute{text("gen_ai.tool.name", c.Name)}
	if c.Failed {
		about = append(about, text("error.type", "tool_error"))
		s.Attributes, s.Status = append(s.Attributes, text("error.type", "tool_error")), &status{Code: statusError}
	}
	f.count("hearth.tool.duration", c.Took.Seconds(), about...)
	f.put(s)
}

func (f *feature) Ended(run session.Run) {
	if !f.wanted() || run.AcceptedAt == 0 || run.EndedAt == 0 {
		return
	}
	about := []attribute{text("hearth.network", network(run.Route)), text("hearth.run.state", string(run.State))}
	f.count("hearth.turn.duration", float64(run.EndedAt-run.AcceptedAt)/1000, about...)
	s := span{TraceID: f.trace(run.ID), SpanID: f.part(run.ID, whole), Name: "turn", Kind: kindServer, Start: millis(run.AcceptedAt),
		End: millis(run.EndedAt), Attributes: append(about[:2:2], text("gen_ai.response.model", run.AnsweredBy), text("hearth.stop", run.Stop))}
	if run.ErrorKind != "" {
		s.Attributes, s.Status = append(s.Attributes, text("error.type", run.ErrorKind)), &status{Code: statusError}
	}
	f.put(s)
}

// Delivered hears of each change of a delivery.
func (f *feature) Delivered(d outbound.Delivery) {
	if !f.wanted() || d.RunID == "" {
		return
	}
	f.mu.Lock()
	began, known := f.open[d.ID]
	done := d.State == outbound.Delivered || d.State == outbound.Failed || d.State == outbound.Uncertain
	switch {
	case done:
		delete(f.open, d.ID)
	case !known && len(f.open) < mostOpen:
		f.open[d.ID] = f.Now()
	}
	f.mu.Unlock()
	if !done {
		return
	}
	now := f.Now()
	if !known {
		began = now
	}
	about := []attribute{text("hearth.network", d.Channel), text("hearth.delivery.state", string(d.State))}
	f.count("hearth.deliveries", 1, about...)
	s := span{TraceID: f.trace(d.RunID),
		SpanID: f.part(d.RunID, "delivery "+d.ID+began.Format(time.RFC3339Nano)), Parent: f.part(d.RunID, whole),
		Name: "deliver " + d.Channel, Kind: kindProducer, Start: nanos(began), End: nanos(now), Attributes: about}
	if d.State != outbound.Delivered {
		s.Status = &status{Code: statusError}
	}
	f.put(s)
}

// network is the messaging network of a route, without who writes there.
func network(route string) string {
	name, _, _ := strings.Cut(route, ":")
	if name == "" {
		return "webchat"
	}
	return name
}
