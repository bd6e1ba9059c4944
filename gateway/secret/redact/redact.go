// Package redact hides secrets in any text on its way to a log, a client, a
// model or a file: those it was told, by value and in the forms that programs
// write them in, and those that look like one. It knows no secrets by itself,
// keeps none but what it was told, and decides nothing about where it is used.
package redact

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// Mark stands for what was hidden.
	Mark = "[redacted]"
	// minValue is the shortest text that is hidden by value: hiding shorter ones
	// would garble ordinary words.
	minValue = 8
	// maxValues bounds what is remembered: tokens that are refreshed every hour
	// would pile up. The oldest are forgotten first.
	maxValues = 1024
)

// Redactor hides secrets. The zero value hides only what looks like one. Its
// methods may be called at the same time.
type Redactor struct {
	mu     sync.Mutex
	values []string // in the order of Add
	finder atomic.Pointer[finder]
}

// Add hides these values from now on, in every form. What is added stays
// hidden: a key that was replaced is still in old texts.
func (r *Redactor) Add(values ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed := false
	for _, v := range values {
		v = strings.TrimSpace(v)
		if len(v) < minValue || slices.Contains(r.values, v) {
			continue
		}
		r.values = append(r.values, v)
		changed = true
	}
	if !changed {
		return
	}
	if over := len(r.values) - maxValues; over > 0 {
		r.values = slices.Delete(r.values, 0, over)
	}
	f := newFinder(r.values)
	f.generation = 1
	if old := r.finder.Load(); old != nil {
		f.generation = old.generation + 1
	}
	r.finder.Store(f)
}

// Generation changes whenever other values are hidden: a text in which Known finds
// nothing need not be searched again before that. It is never 0.
func (r *Redactor) Generation() uint64 {
	if f := r.finder.Load(); f != nil {
		return f.generation + 1
	}
	return 1
}

// Text returns s with every secret replaced by Mark.
func (r *Redactor) Text(s string) string {
	return cut(s, r.spans(s))
}

// cut puts Mark in the place of spans.
func cut(s string, spans []span) string {
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, sp := range spans {
		b.WriteString(s[at:sp.start])
		b.WriteString(Mark)
		at = sp.end
	}
	b.WriteString(s[at:])
	return b.String()
}

// Known is Text without what only looks like a secret.
func (r *Redactor) Known(s string) string {
	f := r.finder.Load()
	if f == nil {
		return s
	}
	return cut(s, merge(f.find(s, nil)))
}

// KnownJSON is Known for a JSON text, which stays one.
func (r *Redactor) KnownJSON(raw []byte) []byte {
	return intact(raw, r.Known(string(raw)))
}

// Has says whether a text holds a secret.
func (r *Redactor) Has(s string) bool { return len(r.spans(s)) > 0 }

// JSON is Text for a JSON text, which stays one. Should hiding tear it apart (a
// secret with quotation marks in it), nothing of it is shown.
func (r *Redactor) JSON(raw []byte) []byte {
	return intact(raw, r.Text(string(raw)))
}

func intact(raw []byte, s string) []byte {
	switch {
	case s == string(raw):
		return raw
	case !json.Valid([]byte(s)):
		return []byte(`"` + Mark + `"`)
	}
	return []byte(s)
}

type span struct{ start, end int }

// spans returns what is to be hidden, in order and without overlaps.
func (r *Redactor) spans(s string) []span {
	var out []span
	if f := r.finder.Load(); f != nil {
		out = f.find(s, out)
	}
	values := len(out)
	out = shapes(s, out)
	if values == 0 || values == len(out) && values < 2 {
		return out
	}
	return merge(out)
}

// merge sorts spans and joins those that overlap.
func merge(out []span) []span {
	if len(out) < 2 {
		return out
	}
	slices.SortFunc(out, func(a, b span) int { return a.start - b.start })
	merged := out[:1]
	for _, sp := range out[1:] {
		if last := &merged[len(merged)-1]; sp.start <= last.end {
			last.end = max(last.end, sp.end)
		} else {
			merged = append(merged, sp)
		}
	}
	return merged
}
