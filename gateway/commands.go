package gateway

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// What the slash commands do. Each returns its reply as Markdown; a mistake in
// its arguments is a reply too, not an error.

// ownCommands are those that no feature brings.
func (g *Gateway) ownCommands() []command.Command {
	return []command.Command{
		{Spec: command.Spec{Name: "help", Aliases: []string{"commands"}, Description: "List the commands", Category: "status", Guests: true}, Do: g.cmdHelp},
		{Spec: command.Spec{Name: "status", Description: "Show the model, the session and what is running", Category: "status", Guests: true}, Do: g.cmdStatus},
		{Spec: command.Spec{Name: "whoami", Description: "Show who you are to Hearth", Category: "status", Guests: true}, Do: g.cmdWhoami},
		{Spec: command.Spec{Name: "why", Args: "[message id]", Description: "Explain the last answer: which rule, model and cost", Category: "status"}, Do: g.cmdWhy},
		{Spec: command.Spec{Name: "usage", Args: "[allow once|daily n|monthly n]", Description: "Show what this session used and cost, or allow more", Category: "status", Choices: []string{"allow"}}, Do: g.cmdUsage},
		{Spec: command.Spec{Name: "context", Args: "[list|detail]", Description: "Show what the model is given", Category: "status", Choices: []string{"list", "detail"}}, Do: g.cmdContext},
		{Spec: command.Spec{Name: "new", Args: "[model] [message]", Description: "Start a new session", Category: "session"}, Do: noTrigger},
		{Spec: command.Spec{Name: "reset", Args: "[message]", Description: "Start a new session", Category: "session"}, Do: noTrigger},
		{Spec: command.Spec{Name: "stop", Description: "Stop the answer and what waits behind it", Category: "session", Guests: true}, Do: g.cmdStop},
		{Spec: command.Spec{Name: "compact", Args: "[instructions|restore]", Description: "Summarize the older part of the conversation", Category: "session"}, Do: g.cmdCompact},
		{Spec: command.Spec{Name: "model", Args: "[provider/model|default]", Description: "Show or choose the model of this session", Category: "options"}, Do: g.cmdModel},
		{Spec: command.Spec{Name: "think", Args: "[off|low|medium|high]", Description: "How long the model thinks", Category: "options", Choices: command.Levels("think")}, Do: g.cmdLevel("thinking", "think", func(p *protocol.SessionsPatchParams, v protocol.Patch[string]) { p.ThinkingLevel = orElse(v, "off") },
			func(r protocol.SessionRow) string { return r.ThinkingLevel })},
		{Spec: command.Spec{Name: "verbose", Args: "[on|off|full]", Description: "Show tool activity", Category: "options", Choices: command.Levels("verbose")}, Do: g.cmdLevel("tool activity", "verbose", func(p *protocol.SessionsPatchParams, v protocol.Patch[string]) { p.VerboseLevel = v },
			func(r protocol.SessionRow) string { return r.VerboseLevel })},
		{Spec: command.Spec{Name: "reasoning", Args: "[on|off|stream]", Description: "Show the model's reasoning", Category: "options", Choices: command.Levels("reasoning")}, Do: g.cmdLevel("reasoning", "reasoning", func(p *protocol.SessionsPatchParams, v protocol.Patch[string]) { p.ReasoningLevel = v },
			func(r protocol.SessionRow) string { return r.ReasoningLevel })},
		{Spec: command.Spec{Name: "queue", Args: "[mode] [debounce:ms] [cap:n] [drop:rule]", Description: "What happens to messages during an answer", Category: "options", Choices: []string{"steer", "followup", "collect", "interrupt", "default"}}, Do: g.cmdQueue},
		{Spec: command.Spec{Name: "send", Args: "[on|off|inherit]", Description: "Allow or hold back replies to this chat", Category: "options", Choices: []string{"on", "off", "inherit"}}, Do: g.cmdSend},
	}
}

// noTrigger answers /new and /reset where session.resetTriggers does not have
// them.
func noTrigger(context.Context, string, string) (string, error) {
	return "That word begins no new session here: session.resetTriggers in the settings names the words that do.", nil
}

func (g *Gateway) cmdHelp(ctx context.Context, _, _ string) (string, error) {
	var b strings.Builder
	b.WriteString("**Commands**\n\n")
	for _, c := range g.dispatch.Commands().All() {
		if !command.SpeakerIn(ctx).Owner && !c.Guests {
			continue
		}
		name := "/" + c.Name
		if c.Args != "" {
			name += " " + c.Args
		}
		fmt.Fprintf(&b, "- `%s`: %s\n", name, c.Description)
	}
	if command.SpeakerIn(ctx).Owner {
		b.WriteString("\n`/think`, `/verbose`, `/reasoning` and `/model` may stand in a message too, and hold for its answer only: `/think high what is 1+1`.")
	}
	return b.String(), nil
}

func (g *Gateway) cmdStop(ctx context.Context, key, _ string) (string, error) {
	helpers := 0
	if list, err := g.spawns.Of(key); err == nil {
		for _, r := range list {
			if r.Open() && !r.Stop {
				helpers++
			}
		}
	}
	ids, err := g.session.Abort(ctx, key, "")
	if err != nil {
		return "", err
	}
	return stopped(len(ids), helpers), nil
}

// stopped says what a stop has stopped.
func stopped(messages, helpers int) string {
	switch {
	case messages == 0 && helpers == 0:
		return "Nothing was running."
	case messages <= 1 && helpers == 0:
		return "Stopped."
	}
	var what []string
	if messages > 0 {
		what = append(what, counted(messages, "message"))
	}
	if helpers > 0 {
		what = append(what, counted(helpers, "sub-agent"))
	}
	return "Stopped " + strings.Join(what, " and ") + "."
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// cmdLevel is a command that shows or sets one of a few levels.
func (g *Gateway) cmdLevel(what, name string, put func(*protocol.SessionsPatchParams, protocol.Patch[string]), get func(protocol.SessionRow) string) func(ctx context.Context, key, args string) (string, error) {
	levels := command.Levels(name)
	return func(ctx context.Context, key, args string) (string, error) {
		level := strings.ToLower(args)
		if level == "" {
			row, _, err := g.session.Get(key)
			now := get(row)
			if now == "" {
				now = levels[0]
			}
			return fmt.Sprintf("The level of %s is **%s**. Choose from %s.", what, now, strings.Join(levels, ", ")), err
		}
		if !slices.Contains(levels, level) {
			return fmt.Sprintf("The level of %s can be %s.", what, strings.Join(levels, ", ")), nil
		}
		var p protocol.SessionsPatchParams
		v := protocol.PatchTo(level)
		if level == levels[0] {
			v = protocol.Patch[string]{Set: true}
		}
		put(&p, v)
		_, err := g.session.Patch(ctx, key, p)
		return fmt.Sprintf("The level of %s is now **%s**.", what, level), err
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

// heldBackWords acknowledge /send off.
const heldBackWords = "Replies to this chat are held back. They still stand in the transcript; `/send on` sends them again."

func (g *Gateway) cmdSend(ctx context.Context, key, args string) (string, error) {
	said, v := "", protocol.Patch[string]{Set: true}
	switch strings.ToLower(args) {
	case "on":
		v, said = protocol.PatchTo("allow"), "Replies to this chat are sent."
	case "off":
		v, said = protocol.PatchTo("deny"), heldBackWords
	case "inherit":
		said = "Replies to this chat follow the rules in the settings."
	default:
		row, _, err := g.session.Get(key)
		now := map[string]string{"allow": "on", "deny": "off", "": "inherit"}[row.SendPolicy]
		return "Replies to this chat: **" + now + "**. Choose on, off or inherit.", err
	}
	_, err := g.session.Patch(ctx, key, protocol.SessionsPatchParams{SendPolicy: v})
	return said, err
}
