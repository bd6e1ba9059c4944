package sessions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// commands are the slash commands of the feature.
func (f *feature) commands() []command.Command {
	return []command.Command{
		{Spec: command.Spec{Name: "status", Description: "Show the model, the session and what is running", Category: "status", Guests: true},
			Do: f.cmdStatus},
		{Spec: command.Spec{Name: "context", Args: "[list|detail]", Description: "Show what the model is given", Category: "status",
			Choices: []string{"list", "detail"}}, Do: f.cmdContext},
		{Spec: command.Spec{Name: "new", Args: "[model] [message]", Description: "Start a new session", Category: "session"}, Do: noTrigger},
		{Spec: command.Spec{Name: "reset", Args: "[message]", Description: "Start a new session", Category: "session"}, Do: noTrigger},
		{Spec: command.Spec{Name: "compact", Args: "[instructions|restore]", Description: "Summarize the older part of the conversation",
			Category: "session"}, Do: f.cmdCompact},
		{Spec: command.Spec{Name: "think", Args: "[off|low|medium|high]", Description: "How long the model thinks", Category: "options",
			Choices: command.Levels("think")}, Do: f.cmdLevel("think", func(p *protocol.SessionsPatchParams, v protocol.Patch[string]) {
			p.ThinkingLevel = orElse(v, "off")
		},
			func(r protocol.SessionRow) string { return r.ThinkingLevel })},
		{Spec: command.Spec{Name: "verbose", Args: "[on|off|full]", Description: "Show tool activity", Category: "options",
			Choices: command.Levels("verbose")}, Do: f.cmdLevel("verbose",
			func(p *protocol.SessionsPatchParams, v protocol.Patch[string]) { p.VerboseLevel = v },
			func(r protocol.SessionRow) string { return r.VerboseLevel })},
		{Spec: command.Spec{Name: "reasoning", Args: "[on|off|stream]", Description: "Show the model's reasoning", Category: "options",
			Choices: command.Levels("reasoning")}, Do: f.cmdLevel("reasoning",
			func(p *protocol.SessionsPatchParams, v protocol.Patch[string]) { p.ReasoningLevel = v },
			func(r protocol.SessionRow) string { return r.ReasoningLevel })},
		{Spec: command.Spec{Name: "send", Args: "[on|off|inherit]", Description: "Allow or hold back replies to this chat", Category: "options",
			Choices: []string{"on", "off", "inherit"}}, Do: f.cmdSend},
	}
}

// noTrigger answers /new and /reset where session.resetTriggers does not have
// them.
func noTrigger(context.Context, string, string) (string, error) {
	return "That word begins no new session here: session.resetTriggers in the settings names the words that do.", nil
}

// cmdLevel is a command that shows or sets one of a few levels.
func (f *feature) cmdLevel(name string, put func(*protocol.SessionsPatchParams, protocol.Patch[string]),
	get func(protocol.SessionRow) string) func(ctx context.Context, key, args string) (string, error) {
	levels := command.Levels(name)
	return func(ctx context.Context, key, args string) (string, error) {
		level := strings.ToLower(args)
		if level == "" {
			row, _, err := f.o.Sessions.Get(key)
			now := get(row)
			if now == "" {
				now = levels[0]
			}
			return fmt.Sprintf("The level of `/%s` is **%s**. Choose from %s.", name, now, strings.Join(levels, ", ")), err
		}
		if !slices.Contains(levels, level) {
			return fmt.Sprintf("The level of `/%s` can be %s.", name, strings.Join(levels, ", ")), nil
		}
		var p protocol.SessionsPatchParams
		v := protocol.PatchTo(level)
		if level == levels[0] {
			v = protocol.Patch[string]{Set: true}
		}
		put(&p, v)
		_, err := f.o.Sessions.Patch(ctx, key, p)
		return fmt.Sprintf("The level of `/%s` is now **%s**.", name, level), err
	}
}

// orElse is a patch that says a word instead of clearing: a model left to itself
// may reason, "off" asks it not to.
func orElse(v protocol.Patch[string], word string) protocol.Patch[string] {
	if v.Value == nil {
		return protocol.PatchTo(word)
	}
	return v
}

func (f *feature) cmdSend(ctx context.Context, key, args string) (string, error) {
	said, v := "", protocol.Patch[string]{Set: true}
	switch strings.ToLower(args) {
	case "on":
		v, said = protocol.PatchTo("allow"), "Replies to this chat are sent."
	case "off":
		v, said = protocol.PatchTo("deny"), command.HeldBack
	case "inherit":
		said = "Replies to this chat follow the rules in the settings."
	default:
		row, _, err := f.o.Sessions.Get(key)
		now := map[string]string{"allow": "on", "deny": "off", "": "inherit"}[row.SendPolicy]
		return "Replies to this chat: **" + now + "**. Choose on, off or inherit.", err
	}
	_, err := f.o.Sessions.Patch(ctx, key, protocol.SessionsPatchParams{SendPolicy: v})
	return said, err
}
