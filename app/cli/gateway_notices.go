package cli

import (
	"context"
	"log/slog"
	"slices"
)

// noticeHandler shows the gateway's log records to the person who started it:
// warnings and errors only, unless they asked for more.
type noticeHandler struct {
	to    screen
	level slog.Level
	attrs []slog.Attr
}

func notices(to screen, verbose bool) *slog.Logger {
	h := noticeHandler{to: to, level: slog.LevelWarn}
	if verbose {
		h.level = slog.LevelDebug
	}
	return slog.New(h)
}

func (h noticeHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

func (h noticeHandler) Handle(_ context.Context, r slog.Record) error {
	look := dim
	switch {
	case r.Level >= slog.LevelError:
		look = red
	case r.Level >= slog.LevelWarn:
		look = yellow
	}
	parts := []any{look(r.Time.Format("15:04:05 ") + r.Level.String()), " ", line(r.Message)}
	add := func(a slog.Attr) bool {
		parts = append(parts, " ", dim(line(a.Key)+"="), line(a.Value.Resolve().String()))
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	return h.to.print(append(parts, "\n")...) // one write a record
}

func (h noticeHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.attrs = append(slices.Clip(h.attrs), attrs...)
	return h
}

func (h noticeHandler) WithGroup(string) slog.Handler { return h }
