package pdf

import (
	"math"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

const (
	// maxOperands of one operator are kept, and maxOperators run for one page.
	maxOperands  = 4096
	maxOperators = 4_000_000
	maxStates    = 256
)

type affine [6]float64

var unit = affine{1, 0, 0, 1, 0, 0}

func (m affine) times(n affine) affine {
	return affine{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// state is what q keeps and Q brings back.
type state struct {
	ctm                             affine
	font                            *font
	size, chars, words, scale, lead float64
	rise                            float64
}

// writer follows the operators of a page and notes each glyph with its place.
type writer struct {
	f          *File
	out        *page
	s          state
	kept       []state
	tm, line   affine
	ran        int
	unreadable int
	pictures   int
}

// run follows one stream. Operands that an operator does not expect do nothing.
func (w *writer) run(b []byte, resources types.Dict, depth int) {
	if depth == 0 {
		w.s = state{ctm: unit, scale: 1}
	}
	l := lexer{b: b}
	var ops []token
	for {
		t := l.next()
		switch {
		case t.kind == ending:
			return
		case t.kind != operator:
			if len(ops) < maxOperands {
				ops = append(ops, t)
			}
			continue
		}
		if w.ran++; w.ran > maxOperators {
			return
		}
		switch string(t.word) {
		case "Do":
			w.object(ops, resources, depth)
		case "Tf":
			if n := len(ops); n >= 2 && ops[n-2].kind == name {
				w.s.font, w.s.size = w.f.font(resources, string(ops[n-2].word)), ops[n-1].num
			}
		case "ID":
			l.picture()
			w.pictures++
		default:
			w.do(string(t.word), ops)
		}
		ops = ops[:0]
	}
}

// numbers are the last n operands.
func numbers(ops []token, n int) ([]float64, bool) {
	if len(ops) < n {
		return nil, false
	}
	out := make([]float64, n)
	for i, t := range ops[len(ops)-n:] {
		if t.kind != number {
			return nil, false
		}
		out[i] = t.num
	}
	return out, true
}

func (w *writer) do(op string, ops []token) {
	switch op {
	case "q":
		if len(w.kept) < maxStates {
			w.kept = append(w.kept, w.s)
		}
	case "Q":
		if n := len(w.kept); n > 0 {
			w.s, w.kept = w.kept[n-1], w.kept[:n-1]
		}
	case "cm":
		if v, ok := numbers(ops, 6); ok {
			w.s.ctm = affine(v).times(w.s.ctm)
		}
	case "BT":
		w.tm, w.line = unit, unit
	case "Tm":
		if v, ok := numbers(ops, 6); ok {
			w.tm = affine(v)
			w.line = w.tm
		}
	case "Td", "TD":
		if v, ok := numbers(ops, 2); ok {
			if op == "TD" {
				w.s.lead = -v[1]
			}
			w.move(v[0], v[1])
		}
	case "T*":
		w.move(0, -w.s.lead)
	case "Tj":
		w.show(ops)
	case "'", "\"":
		if v, ok := numbers(ops[:max(len(ops)-1, 0)], 2); ok && op == "\"" {
			w.s.words, w.s.chars = v[0], v[1]
		}
		w.move(0, -w.s.lead)
		w.show(ops)
	case "TJ":
		w.spaced(ops)
	default:
		if v, ok := numbers(ops, 1); ok {
			w.set(op, v[0])
		}
	}
}

func (w *writer) set(op string, v float64) {
	switch op {
	case "Tc":
		w.s.chars = v
	case "Tw":
		w.s.words = v
	case "Tz":
		w.s.scale = v / 100
	case "TL":
		w.s.lead = v
	case "Ts":
		w.s.rise = v
	}
}

func (w *writer) move(x, y float64) {
	w.line = affine{1, 0, 0, 1, x, y}.times(w.line)
	w.tm = w.line
}

func (w *writer) show(ops []token) {
	if n := len(ops); n > 0 && ops[n-1].kind == text {
		w.glyphs(ops[n-1].word)
	}
}

// spaced shows the strings of an array, with moves between them.
func (w *writer) spaced(ops []token) {
	for _, t := range ops {
		switch t.kind {
		case text:
			w.glyphs(t.word)
		case number:
			w.tm = affine{1, 0, 0, 1, -t.num / 1000 * w.s.size * w.s.scale, 0}.times(w.tm)
		}
	}
}

// glyphs notes those of a string.
func (w *writer) glyphs(b []byte) {
	if w.s.font == nil {
		return
	}
	for len(b) > 0 {
		g := w.s.font.glyph(b)
		b = b[g.bytes:]
		at := affine{w.s.size * w.s.scale, 0, 0, w.s.size, 0, w.s.rise}.times(w.tm).times(w.s.ctm)
		wide := g.width / 1000
		if g.text == "" && g.width > 0 {
			w.unreadable++
		}
		w.out.add(g.text, at, wide)
		step := wide*w.s.size + w.s.chars
		if g.bytes == 1 && g.code == ' ' {
			step += w.s.words
		}
		w.tm = affine{1, 0, 0, 1, step * w.s.scale, 0}.times(w.tm)
	}
}

// object runs a form, or counts a picture.
func (w *writer) object(ops []token, resources types.Dict, depth int) {
	if len(ops) == 0 || ops[len(ops)-1].kind != name || depth > maxDepth {
		return
	}
	o, ok := w.f.dict(resources["XObject"]).Find(string(ops[len(ops)-1].word))
	if !ok {
		return
	}
	d := w.f.dict(o)
	switch w.f.name(d["Subtype"]) {
	case "Image":
		w.pictures++
	case "Form":
		b, err := w.f.stream(o)
		if err != nil {
			return
		}
		before, kept := w.s, len(w.kept)
		if m := w.f.array(d["Matrix"]); len(m) == 6 {
			var v affine
			for i := range v {
				v[i], _ = w.f.number(m[i])
			}
			w.s.ctm = v.times(w.s.ctm)
		}
		if r := w.f.dict(d["Resources"]); r != nil {
			resources = r
		}
		w.run(b, resources, depth+1)
		w.s = before
		w.kept = w.kept[:min(kept, len(w.kept))]
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
