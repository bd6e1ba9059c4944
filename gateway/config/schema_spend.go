package config

import "math"

const (
	maxMoney = 1_000_000
	anyMoney = -math.SmallestNonzeroFloat64 // greater than this: 0 is an amount too
)

func (d *decoder) pricing(n *node, m *Models) {
	m.Pricing = make(map[string]Price, len(n.items))
	d.each(n, func(ref string, _ int, v *node) { m.Pricing[ref] = d.price(v) })
}

// price reads amounts for a million tokens. Reading from a cache costs what
// input does when nothing else is said, so that nothing looks cheaper than it is.
func (d *decoder) price(n *node) (p Price) {
	money := func(to *float64) func(*node) { return func(n *node) { *to = d.number(n, anyMoney, maxMoney) } }
	p.CacheRead, p.CacheWrite = -1, -1
	d.object(n, field{"input", money(&p.Input)}, field{"output", money(&p.Output)},
		field{"cacheRead", money(&p.CacheRead)}, field{"cacheWrite", money(&p.CacheWrite)})
	if p.CacheRead < 0 {
		p.CacheRead = p.Input
	}
	if p.CacheWrite < 0 {
		p.CacheWrite = p.Input
	}
	return p
}
