// Package command is the list of slash commands and the reading of one from
// what a person typed. What a command does is not here: package gateway, which
// has the rooms, carries it out.
package command

import "strings"

// Spec describes a command to people and clients.
type Spec struct {
	Name        string
	Aliases     []string
	Args        string // shown behind the name, "" = takes none
	Description string
	Category    string
	Choices     []string // what the first argument may be, for completion
}

// All lists the commands in the order people see them.
func All() []Spec {
	return []Spec{
		{Name: "help", Aliases: []string{"commands"}, Description: "List the commands", Category: "status"},
		{Name: "status", Description: "Show the model, the session and what is running", Category: "status"},
		{Name: "whoami", Description: "Show who you are to Hearth", Category: "status"},
		{Name: "why", Args: "[message id]", Description: "Explain the last answer: which rule, model and cost", Category: "status"},
		{Name: "usage", Args: "[allow once|daily n|monthly n]", Description: "Show what this session used and cost, or allow more", Category: "status", Choices: []string{"allow"}},
		{Name: "context", Args: "[list|detail]", Description: "Show what the model is given", Category: "status", Choices: []string{"list", "detail"}},
		{Name: "new", Args: "[model] [message]", Description: "Start a new session", Category: "session"},
		{Name: "reset", Args: "[message]", Description: "Start a new session", Category: "session"},
		{Name: "stop", Description: "Stop the answer and what waits behind it", Category: "session"},
		{Name: "compact", Args: "[instructions|restore]", Description: "Summarize the older part of the conversation", Category: "session"},
		{Name: "model", Args: "[provider/model|default]", Description: "Show or choose the model of this session", Category: "options"},
		{Name: "think", Args: "[off|low|medium|high]", Description: "How long the model thinks", Category: "options", Choices: []string{"off", "low", "medium", "high"}},
		{Name: "verbose", Args: "[on|off|full]", Description: "Show tool activity", Category: "options", Choices: []string{"on", "off", "full"}},
		{Name: "reasoning", Args: "[on|off|stream]", Description: "Show the model's reasoning", Category: "options", Choices: []string{"on", "off", "stream"}},
		{Name: "queue", Args: "[mode] [debounce:ms] [cap:n] [drop:rule]", Description: "What happens to messages during an answer", Category: "options", Choices: []string{"steer", "followup", "collect", "interrupt", "default"}},
		{Name: "approve", Args: "[id] [once|session|here|program|deny|never]", Description: "Decide about something that waits for your yes", Category: "tools"},
		{Name: "pause", Args: "[tools|network|everything] [1h]", Description: "Stop Hearth from acting", Category: "tools", Choices: []string{"tools", "network", "everything"}},
		{Name: "resume", Description: "End the pause", Category: "tools"},
		{Name: "send", Args: "[on|off|inherit]", Description: "Allow or hold back replies to this chat", Category: "options", Choices: []string{"on", "off", "inherit"}},
	}
}

// Invocation is a command that was typed.
type Invocation struct {
	Name string // canonical
	Args string // the rest, trimmed
}

// Parse reads a command that stands at the beginning of a message. ok is false
// for anything else, so that a path like /etc/hosts stays a message.
func Parse(text string) (inv Invocation, ok bool) {
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
	name := strings.ToLower(head)
	for _, s := range All() {
		if s.Name == name {
			return Invocation{Name: s.Name, Args: strings.TrimSpace(rest)}, true
		}
		for _, a := range s.Aliases {
			if a == name {
				return Invocation{Name: s.Name, Args: strings.TrimSpace(rest)}, true
			}
		}
	}
	return inv, false
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
	return []string{"stop", "stop it", "abort", "cancel", "halt", "esc", "exit", "wait", "please stop", "stop please", "stop now", "anhalten", "stopp", "停", "停止"}
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
