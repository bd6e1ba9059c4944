package spend

import (
	"math"
	"strings"
)

// Rate is the price of a token, in Nano.
type Rate float64

// PerMillion is the rate that a price list shows.
func PerMillion(units float64) Rate { return Rate(units * nanos / 1_000_000) }

func (r Rate) of(tokens int) Nano { return Nano(math.Round(float64(r) * float64(tokens))) }

// Price of a model's tokens, and of a minute of sound where it writes that down.
type Price struct {
	Input, Output, CacheRead, CacheWrite Rate
	Minute                               Rate
}

// PerMinute is the price of a minute that a price list shows.
func PerMinute(units float64) Rate { return Rate(units * nanos) }

// Free reports whether the model costs nothing.
func (p Price) Free() bool { return p == Price{} }

// List is a price list: input, output, cache read and cache write in US dollars
// for a million tokens.
type List struct{ Input, Output, CacheRead, CacheWrite float64 }

// Price of the list.
func (l List) Price() Price {
	return Price{Input: PerMillion(l.Input), Output: PerMillion(l.Output),
		CacheRead: PerMillion(l.CacheRead), CacheWrite: PerMillion(l.CacheWrite)}
}

// known are list prices of well-known models, by provider and the beginning of
// the model's id; the longest that fits counts. They change: models.pricing
// overrides them.
func known() map[string][]entry {
	return map[string][]entry{
		"anthropic": {
			{"claude-opus-4-5", List{5, 25, 0.5, 6.25}}, {"claude-opus-4", List{15, 75, 1.5, 18.75}},
			{"claude-sonnet-4", List{3, 15, 0.3, 3.75}}, {"claude-haiku-4-5", List{1, 5, 0.1, 1.25}}, {"claude-3-5-haiku", List{0.8, 4, 0.08, 1}},
		},
		"openai": {
			{"gpt-5", List{1.25, 10, 0.125, 1.25}}, {"gpt-5-mini", List{0.25, 2, 0.025, 0.25}}, {"gpt-5-nano", List{0.05, 0.4, 0.005, 0.05}},
			{"gpt-4.1", List{2, 8, 0.5, 2}}, {"gpt-4.1-mini", List{0.4, 1.6, 0.1, 0.4}}, {"gpt-4.1-nano", List{0.1, 0.4, 0.025, 0.1}},
			{"gpt-4o", List{2.5, 10, 1.25, 2.5}}, {"gpt-4o-mini", List{0.15, 0.6, 0.075, 0.15}},
			{"text-embedding-3-small", List{0.02, 0, 0, 0}}, {"text-embedding-3-large", List{0.13, 0, 0, 0}},
			{"text-embedding-ada-002", List{0.1, 0, 0, 0}},
			{"gpt-4o-transcribe", List{6, 10, 0, 0}}, {"gpt-4o-mini-transcribe", List{3, 5, 0, 0}},
		},
		"google": {
			{"gemini-2.5-pro", List{1.25, 10, 0.31, 1.25}}, {"gemini-2.5-flash", List{0.3, 2.5, 0.075, 0.3}},
			{"gemini-2.5-flash-lite", List{0.1, 0.4, 0.025, 0.1}},
			{"gemini-embedding", List{0.15, 0, 0, 0}},
		},
		"deepseek": {{"deepseek-chat", List{0.28, 0.42, 0.028, 0.28}}, {"deepseek-reasoner", List{0.28, 0.42, 0.028, 0.28}}},
		"mistral":  {{"mistral-medium", List{0.4, 2, 0.4, 0.4}}, {"mistral-small", List{0.1, 0.3, 0.1, 0.1}}},
		"xai":      {{"grok-4", List{3, 15, 0.75, 3}}},
		"groq":     {{"llama-3.3-70b-versatile", List{0.59, 0.79, 0.59, 0.59}}, {"openai/gpt-oss-120b", List{0.15, 0.6, 0.075, 0.15}}},
		"cerebras": {{"gpt-oss-120b", List{0.35, 0.75, 0.35, 0.35}}},
	}
}

// minutes are list prices of a minute of sound, where services count those.
func minutes() map[string]map[string]float64 {
	return map[string]map[string]float64{
		"openai": {"whisper-1": 0.006, "gpt-4o-transcribe": 0.006, "gpt-4o-mini-transcribe": 0.003},
		"groq":   {"whisper-large-v3": 0.111 / 60, "whisper-large-v3-turbo": 0.04 / 60, "distil-whisper-large-v3-en": 0.02 / 60},
	}
}

type entry struct {
	prefix string
	list   List
}

// Table is the built-in list.
type Table struct {
	by      map[string][]entry
	minutes map[string]map[string]float64
}

// NewTable returns the built-in list.
func NewTable() Table { return Table{known(), minutes()} }

// Price of a well-known model. The rest of its id may only be a date or a
// version: gpt-5-mini is not a gpt-5.
func (t Table) Price(provider, id string) (Price, bool) {
	best, ok := entry{}, false
	for _, e := range t.by[provider] {
		if rest, found := strings.CutPrefix(id, e.prefix); found && version(rest) && len(e.prefix) > len(best.prefix) {
			best, ok = e, true
		}
	}
	price := best.list.Price()
	if m, found := t.minutes[provider][id]; found {
		price.Minute, ok = PerMinute(m), true
	}
	return price, ok
}

// version: nothing, -latest, -20250514, -2025-08-07, -5, -001.
func version(rest string) bool {
	for _, part := range strings.Split(strings.TrimPrefix(rest, "-"), "-") {
		if part != "latest" && strings.Trim(part, "0123456789") != "" {
			return false
		}
	}
	return rest == "" || rest[0] == '-'
}
