package config

import (
	"math"
	"slices"
	"strconv"
)

// codeMode reads a switch, or an object whose enabled is the switch: naming
// limits turns nothing on.
func (d *decoder) codeMode(n *node, c *CodeMode) {
	if n.kind == kindBool {
		c.Enabled = d.boolean(n)
		return
	}
	if n.kind != kindObject {
		d.wrongKind(n, "true, false or an object in { }")
		return
	}
	number := func(name string, to *int, lo, hi int) field {
		return field{name, func(n *node) { *to = d.clamped(n, lo, hi) }}
	}
	d.object(n,
		field{"enabled", func(n *node) { c.Enabled = d.boolean(n) }},
		field{"runtime", func(n *node) { c.Runtime = d.choice(n, "quickjs-wasi") }},
		field{"mode", func(n *node) { c.Mode = d.choice(n, "only") }},
		field{"languages", func(n *node) { c.Languages = d.languages(n) }},
		number("timeoutMs", &c.TimeoutMs, 100, 60_000),
		number("memoryLimitBytes", &c.MemoryLimitBytes, 1<<20, 1<<30),
		number("maxOutputBytes", &c.MaxOutputBytes, 1<<10, 10<<20),
		number("maxSnapshotBytes", &c.MaxSnapshotBytes, 1<<10, 256<<20),
		number("maxPendingToolCalls", &c.MaxPendingToolCalls, 1, 128),
		number("snapshotTtlSeconds", &c.SnapshotTTLSeconds, 1, 86_400),
		number("searchDefaultLimit", &c.SearchDefaultLimit, 1, 50),
		number("maxSearchLimit", &c.MaxSearchLimit, 1, 50),
	)
	c.SearchDefaultLimit = min(c.SearchDefaultLimit, c.MaxSearchLimit)
}

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

// languages reads which of the two there are; a program has to be in one.
func (d *decoder) languages(n *node) (out []string) {
	before := len(d.issues)
	d.list(n, func(v *node) {
		if s := d.choice(v, "javascript", "typescript"); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	})
	if len(out) == 0 && len(d.issues) == before {
		d.issue(n.start, "name at least one of javascript, typescript; to switch code mode off, set enabled to false")
	}
	return out
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
