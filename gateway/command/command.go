// Package command has the slash commands of a gateway and reads one from what a
// person typed. What a command does is its feature's.
package command

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Spec describes a command to people and clients.
type Spec struct {
	Name        string
	Aliases     []string
	Args        string // shown behind the name, "" = takes none
	Description string
	Category    string
	Guests      bool     // it is for everybody who may write, and not for the owner only
	Choices     []string // what the first argument may be, for completion
	Unlisted    bool     // it is another name for one that is listed
}

// Command is a slash command: what people and clients are told of it, and what
// it does.
type Command struct {
	Spec
	// Do carries it out in the session of a key; args is what stands behind the
	// name. The reply is Markdown; a mistake in args is a reply too, not an error.
	Do func(ctx context.Context, key, args string) (reply string, err error)
}

// Invocation is a command that was typed.
type Invocation struct {
	Name string // canonical, "" for none
	Args string // the rest, trimmed
}

// Set holds the commands of a gateway. It is not changed after it was made.
type Set struct{ list []Command }

// categories in the order in which people see them.
func categories() []string { return []string{"status", "session", "options", "tools"} }

// NewSet returns a set of commands, by category and then as they come. Of two of
// one name the first one counts.
func NewSet(all ...Command) *Set {
	list := slices.Clone(all)
	rank := func(c Command) int {
		if i := slices.Index(categories(), c.Category); i >= 0 {
			return i
		}
		return len(categories())
	}
	slices.SortStableFunc(list, func(a, b Command) int { return cmp.Compare(rank(a), rank(b)) })
	return &Set{list}
}

// All lists the commands in the order in which people see them.
func (s *Set) All() []Command { return slices.Clone(s.list) }

// Parse reads a command that stands at the beginning of a message. ok is false
// for anything else, so that a path like /etc/hosts stays a message.
func (s *Set) Parse(text string) (inv Invocation, ok bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "/") {
		return inv, false
	}
	head, rest, _ := strings.Cut(text[1:], " ")
	if i := strings.IndexByte(head, '\n'); i >= 0 {
		head, rest = head[:i], head[i+1:]+" "+rest
	}
	head, _, _ = strings.Cut(head, "@") // /status@botname, as groups write it
	if name, colon, found := strings.Cut(head, ":"); found {
		head, rest = name, colon+" "+rest // /think:high
	}
	c, ok := s.Get(strings.ToLower(head))
	if !ok {
		return inv, false
	}
	return Invocation{Name: c.Name, Args: strings.TrimSpace(rest)}, true
}

// Get finds a command by its name or one of its aliases.
func (s *Set) Get(name string) (Command, bool) {
	i := slices.IndexFunc(s.list, func(c Command) bool { return c.Name == name || slices.Contains(c.Aliases, name) })
	if i < 0 {
		return Command{}, false
	}
	return s.list[i], true
}

// Word reads what stands behind a slash at the beginning of a message, for
// commands that are not in the list: its name in lower case and the rest.
func Word(text string) (name, args string, ok bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "/") {
		return "", "", false
	}
	head, rest := text[1:], ""
	if i := strings.IndexAny(head, " \n\t"); i >= 0 {
		head, rest = head[:i], head[i+1:]
	}
	head, _, _ = strings.Cut(head, "@")
	if head == "" || strings.ContainsAny(head, "/.\\") {
		return "", "", false
	}
	return strings.ToLower(head), strings.TrimSpace(rest), true
}

// stopPhrases stop an answer when they are the whole message.
func stopPhrases() []string {
	return []string{"stop", "stop it", "abort", "cancel", "halt", "esc", "exit", "wait", "please stop", "stop please", "stop now", "anhalten",
		"stopp", "停", "停止"}
}

// IsStop reports whether a message as a whole asks to stop.
func IsStop(text string) bool {
	t := strings.ToLower(strings.Trim(strings.TrimSpace(text), "!.… "))
	for _, p := range stopPhrases() {
		if t == p {
			return true
		}
	}
	return false
}
