package config

import (
	"math"
	"strconv"
)

// agentCodeMode reads whether one agent is different; limits are everybody's.
func (d *decoder) agentCodeMode(n *node) *bool {
	on := false
	switch n.kind {
	case kindBool:
		on = d.boolean(n)
	case kindObject:
		d.object(n, field{"enabled", func(n *node) { on = d.boolean(n) }})
	default:
		d.wrongKind(n, "true, false or { enabled: true }")
	}
	return &on
}

// clamped reads a number and moves one that is out of bounds to the nearest.
func (d *decoder) clamped(n *node, lo, hi int) int {
	if n.kind != kindNumber {
		d.wrongKind(n, "a whole number")
		return lo
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil || f != math.Trunc(f) {
		d.issue(n.start, "expected a whole number")
		return lo
	}
	out := int(min(max(f, float64(lo)), float64(hi)))
	if float64(out) != f {
		d.warn(n.start, "this is outside of %d to %d; %d is used", lo, hi, out)
	}
	return out
}
