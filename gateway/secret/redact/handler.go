package redact

import (
	"context"
	"fmt"
	"log/slog"
)

// Handler is h with the secrets that r knows hidden in all that is logged.
func Handler(h slog.Handler, r *Redactor) slog.Handler { return handler{h, r} }

type handler struct {
	slog.Handler
	r *Redactor
}

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, rec slog.Record) error {
	out := slog.NewRecord(rec.Time, rec.Level, h.r.Text(rec.Message), rec.PC)
	rec.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, out)
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	hidden := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		hidden[i] = h.attr(a)
	}
	return handler{h.Handler.WithAttrs(hidden), h.r}
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.r}
}

func (h handler) attr(a slog.Attr) slog.Attr {
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
