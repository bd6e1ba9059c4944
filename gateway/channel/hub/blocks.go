package hub

import (
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// BlockChunk bounds the blocks of an answer. Zero: outbound's default.
type BlockChunk struct {
	MinChars, MaxChars int
	BreakPreference    string // paragraph, newline, sentence, whitespace
}

// Field is the key of such bounds.
func (b *BlockChunk) Field(key, help string, hint config.Hint) config.Field {
	check := Ordered("minChars", &b.MinChars, "maxChars", &b.MaxChars)
	return config.Object{Key: key, Help: help, Hint: hint, Check: check, Fields: []config.Field{
		config.Number{Key: "minChars", To: &b.MinChars, Min: 1, Max: 100_000},
		config.Number{Key: "maxChars", To: &b.MaxChars, Min: 1, Max: 100_000},
		config.Choice{
			Key: "breakPreference", To: &b.BreakPreference, Among: []string{"paragraph", "newline", "sentence", "whitespace"},
		},
	}}
}

// BlockCoalesce merges blocks that follow each other. Zero: outbound's default.
type BlockCoalesce struct{ MinChars, MaxChars, IdleMs int }

// Field is the key of how they are merged.
func (b *BlockCoalesce) Field(key, help string, hint config.Hint) config.Field {
	check := Ordered("minChars", &b.MinChars, "maxChars", &b.MaxChars)
	return config.Object{Key: key, Help: help, Hint: hint, Check: check, Fields: []config.Field{
		config.Number{Key: "minChars", To: &b.MinChars, Min: 1, Max: 100_000},
		config.Number{Key: "maxChars", To: &b.MaxChars, Min: 1, Max: 100_000},
		config.Number{Key: "idleMs", To: &b.IdleMs, Max: 60_000},
	}}
}

// Ordered says that one number may not be greater than another, where that is set.
func Ordered(low string, lo *int, high string, hi *int) func() error {
	return func() error {
		if *hi > 0 && *lo > *hi {
			return fmt.Errorf("%s may not be greater than %s", low, high)
		}
		return nil
	}
}
