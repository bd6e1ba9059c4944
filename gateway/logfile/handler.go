package logfile

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"
)

// handler is slog's JSON handler with hiding of secrets before it and sampling
// around it.
type handler struct {
	file *File
	json slog.Handler
}

// Handler writes records to the file.
func (f *File) Handler() slog.Handler {
	return &handler{f, slog.NewJSONHandler(f, &slog.HandlerOptions{Level: f.opts.Level, ReplaceAttr: f.clean})}
}

func (h *handler) Enabled(ctx context.Context, l slog.Level) bool { return h.json.Enabled(ctx, l) }

func (h *handler) WithAttrs(as []slog.Attr) slog.Handler {
	return &handler{h.file, h.json.WithAttrs(as)}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.file, h.json.WithGroup(name)}
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	if !h.file.admit(r) {
		return nil
	}
	return h.json.Handle(ctx, r)
}

// clean hides secrets in values before they are escaped, and bounds them.
func (f *File) clean(_ []string, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(f.text(a.Value.String()))
	case slog.KindAny:
		a.Value = f.any(a.Value.Any())
	}
	return a
}

func (f *File) text(s string) string {
	s = f.opts.Redact(s)
	if len(s) <= maxValue {
		return s
	}
	n := maxValue
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return fmt.Sprintf("%s… (%d bytes more)", s[:n], len(s)-n)
}

func (f *File) any(v any) slog.Value {
	switch v := v.(type) {
	case error:
		return slog.StringValue(f.text(v.Error()))
	case slog.Level, *slog.Source, nil:
		return slog.AnyValue(v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return slog.StringValue("this value cannot be written: " + f.text(err.Error()))
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return slog.StringValue(f.text(string(raw)))
	}
	return slog.AnyValue(f.tree(tree))
}

func (f *File) tree(v any) any {
	switch v := v.(type) {
	case string:
		return f.text(v)
	case []any:
		for i := range v {
			v[i] = f.tree(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = f.tree(v[k])
		}
	}
	return v
}

// sampler lets a number of equal lines a second through and counts the rest:
// a flood must not push everything else out of the log.
type sampler struct {
	limit int
	until time.Time // end of the current second
	seen  map[sampleKey]int
	timer *time.Timer
}

type sampleKey struct {
	level slog.Level
	msg   string
}

// maxSampleKeys bounds the memory of one second; more kinds of lines than this
// share one count.
const maxSampleKeys = 1024

// admit says whether a record is written.
func (f *File) admit(r slog.Record) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	now := f.opts.Now()
	if !now.Before(f.sampler.until) {
		f.flush()
		f.sampler.until = now.Add(time.Second)
	}
	s := &f.sampler
	key := sampleKey{r.Level, r.Message}
	if s.seen == nil {
		s.seen = make(map[sampleKey]int)
	}
	if _, known := s.seen[key]; !known && len(s.seen) >= maxSampleKeys {
		key = sampleKey{r.Level, "log lines of many kinds"}
	}
	s.seen[key]++
	if s.seen[key] <= s.limit {
		return true
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(time.Second, f.flushLater)
	}
	return false
}

// flushLater says what was held back when nothing else is logged any more.
func (f *File) flushLater() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.flush()
	}
}

// flush writes one line for each kind that was held back. f.mu is held.
func (f *File) flush() {
	f.sampler.stop()
	for key, n := range f.sampler.seen {
		if held := n - f.sampler.limit; held > 0 {
			line, err := json.Marshal(map[string]any{
				"time": f.opts.Now().Format(time.RFC3339Nano), "level": key.level.String(),
				"msg": f.text(key.msg), "repeated": held,
			})
			if err == nil {
				_ = f.write(append(escaped(line), '\n'))
			}
		}
	}
	clear(f.sampler.seen)
}

func (s *sampler) stop() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}
