package skill

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of what a prompt says of skills, as other gateways have them.
const (
	DefaultInPrompt    = 150
	DefaultPromptChars = 18_000
	lineOverhead       = 97 // of one skill beside its words
	lineDescription    = 300
)

// Line is what a prompt says of one skill.
type Line struct{ Name, Description, Location string }

// Lines are the skills that a model may read, within the budget. Where words
// are too many, descriptions are cut before skills are left out; left is how
// many were.
func (s Snapshot) Lines(most, chars int) (out []Line, left int) {
	if most <= 0 {
		most = DefaultInPrompt
	}
	if chars <= 0 {
		chars = DefaultPromptChars
	}
	var all []Line
	for _, k := range s.Skills {
		if k.ModelVisible() {
			all = append(all, Line{k.Name, clean(k.Description, lineDescription), k.File()})
		}
	}
	if len(all) > most {
		all, left = all[:most], len(all)-most
	}
	if total(all) > chars {
		for i := range all {
			all[i].Description = clean(all[i].Description, 80)
		}
	}
	for total(all) > chars && len(all) > 0 {
		all, left = all[:len(all)-1], left+1
	}
	return all, left
}

func total(lines []Line) (n int) {
	for _, l := range lines {
		n += lineOverhead + utf8.RuneCountInString(l.Name) + utf8.RuneCountInString(l.Description) + utf8.RuneCountInString(l.Location)
	}
	return n
}

// Command is a skill that a person calls with a slash.
type Command struct {
	Name  string // without the slash
	Skill Status
}

// maxCommand is what messaging networks allow.
const maxCommand = 32

// Commands are the skills of a list that are slash commands. taken are words
// that mean something else already.
func Commands(list []Status, taken func(string) bool) []Command {
	var out []Command
	used := map[string]bool{}
	for _, s := range list {
		if !s.CommandVisible() {
			continue
		}
		base := commandName(s.Name)
		if base == "" {
			continue
		}
		name := base
		for i := 2; taken(name) || used[name]; i++ {
			tail := fmt.Sprintf("_%d", i)
			name = base[:min(len(base), maxCommand-len(tail))] + tail
		}
		used[name] = true
		out = append(out, Command{name, s})
	}
	return out
}

func commandName(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	out := strings.Trim(b.String(), "_")
	for strings.Contains(out, "__") {
		out = strings.ReplaceAll(out, "__", "_")
	}
	return out[:min(len(out), maxCommand)]
}

// Request is the message of a person who called a skill.
func Request(s Skill, args string) string {
	text := fmt.Sprintf("Use the %q skill for this request. Its instructions are in %s; read that file first.", s.Name, s.File())
	if args != "" {
		text += "\n\n" + args
	}
	return text
}
