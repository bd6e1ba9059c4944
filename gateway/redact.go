package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// guarded are methods by their names, with secrets in their errors hidden.
func (g *Gateway) guarded(all []method.Method) map[string]server.Handler {
	out := make(map[string]server.Handler, len(all))
	for _, m := range all {
		out[m.Name] = func(ctx context.Context, c *server.Caller, raw json.RawMessage) (any, error) {
			res, err := m.Answer(ctx, c, raw)
			return res, g.errorOut(err)
		}
	}
	return out
}

func (g *Gateway) errorOut(err error) error {
	if errors.Is(err, store.ErrDamaged) {
		return &protocol.Error{Code: protocol.CodeUnavailable, Message: damagedWords}
	}
	var pe *protocol.Error
	if !errors.As(err, &pe) || !g.redactor.Has(pe.Message) {
		return err
	}
	out := *pe
	out.Message = g.redactor.Text(pe.Message)
	return &out
}

// redacting hides secrets in what is logged to a terminal; the log file does
// that by itself.
type redacting struct {
	slog.Handler
	r *redact.Redactor
}

// Handle implements slog.Handler.
func (h redacting) Handle(ctx context.Context, rec slog.Record) error {
	out := slog.NewRecord(rec.Time, rec.Level, h.r.Text(rec.Message), rec.PC)
	rec.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, out)
}

// WithAttrs implements slog.Handler.
func (h redacting) WithAttrs(attrs []slog.Attr) slog.Handler {
	hidden := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		hidden[i] = h.attr(a)
	}
	return redacting{h.Handler.WithAttrs(hidden), h.r}
}

// WithGroup implements slog.Handler.
func (h redacting) WithGroup(name string) slog.Handler {
	return redacting{h.Handler.WithGroup(name), h.r}
}

func (h redacting) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, h.r.Text(v.String()))
	case slog.KindAny:
		return slog.String(a.Key, h.r.Text(fmt.Sprint(v.Any())))
	case slog.KindGroup:
		group := v.Group()
		hidden := make([]slog.Attr, len(group))
		for i, m := range group {
			hidden[i] = h.attr(m)
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(hidden...)}
	}
	return slog.Attr{Key: a.Key, Value: v}
}
