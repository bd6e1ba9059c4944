package provider

import "github.com/hearth-assistant/hearth/gateway/config"

// Price is what a million tokens cost.
type Price struct {
	Input, Output, CacheRead, CacheWrite float64
	PerMinute                            float64 // of sound that it writes down
}

// maxMoney bounds what somebody may say that a million tokens cost.
const maxMoney = 1_000_000

// Field is the key of a price.
func (p *Price) Field(key, help string) config.Field {
	return config.Any{Key: key, Help: help, Read: p.read, Show: p.shown, Like: config.Object{Fields: new(Price).amounts()}}
}

// read reads a price. Reading from a cache costs what input does when nothing else is
// said, so that nothing looks cheaper than it is.
func (p *Price) read(v config.Value) {
	*p = Price{CacheRead: -1, CacheWrite: -1}
	v.Object(p.amounts()...)
	if p.CacheRead < 0 {
		p.CacheRead = p.Input
	}
	if p.CacheWrite < 0 {
		p.CacheWrite = p.Input
	}
}

func (p *Price) shown() (any, bool) {
	m := map[string]float64{"input": p.Input, "output": p.Output, "cacheRead": p.CacheRead, "cacheWrite": p.CacheWrite}
	if p.PerMinute != 0 {
		m["perMinute"] = p.PerMinute
	}
	return m, true
}

func (p *Price) amounts() (out []config.Field) {
	for _, a := range []struct {
		key string
		to  *float64
	}{{"input", &p.Input}, {"output", &p.Output}, {"cacheRead", &p.CacheRead}, {"cacheWrite", &p.CacheWrite}, {"perMinute", &p.PerMinute}} {
		out = append(out, config.Amount{Key: a.key, To: a.to, Max: maxMoney})
	}
	return out
}
