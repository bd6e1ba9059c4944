package prompts

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Template is a prompt that a person keeps. Words in double braces are its fields.
type Template struct{ About, Text string }

// Settings are the templates by their names.
type Settings struct{ Templates map[string]Template }

// maxText is how long a template may be, in bytes.
const maxText = 32 << 10

// maxName is how long the name of a template may be, in characters.
const maxName = 64

// Section are the settings of prompt templates.
var Section = &config.Settings[Settings]{
	Path: "hearth", Name: "hearth.prompts",
	Fields: func(s *Settings) []config.Field {
		return []config.Field{config.Map[Template]{
			Key: "prompts", To: &s.Templates, Name: "<name>", Is: named,
			One: func(_ string, t *Template) config.Field {
				return config.Object{Fields: []config.Field{
					config.Text{Key: "about", To: &t.About, Max: 300, Empty: true, Hint: config.Hint{Default: "none"},
						Help: "what it is for, as the list shows it"},
					config.Text{Key: "text", To: &t.Text, Max: maxText, Lines: true,
						Help: "what is written; `{{city}}` is a field that is asked for before it is sent"},
				}}
			},
			Hint: config.Hint{Default: "none"},
			Help: "prompts to be used again, each by its name",
		}}
	},
}

// named checks what a prompt is called. An expression of so many kinds of letters would
// take 2.5 MB at the start of every program that has it.
func named(s string) error {
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && (i == 0 || r != '-' && r != '_') {
			return badName(s)
		}
	}
	if n := utf8.RuneCountInString(s); n == 0 || n > maxName || !utf8.ValidString(s) {
		return badName(s)
	}
	return nil
}

func badName(s string) error {
	return fmt.Errorf("a prompt is called by letters, digits, - and _, up to %d of them, not %q", maxName, s)
}
