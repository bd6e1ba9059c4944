package chat

import (
	"context"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// commands are the slash commands of the feature.
func (f *feature) commands() []command.Command {
	return []command.Command{
		{Spec: command.Spec{Name: "help", Aliases: []string{"commands"}, Description: "List the commands", Category: "status", Guests: true},
			Do: f.cmdHelp},
		{Spec: command.Spec{Name: "whoami", Description: "Show who you are to Hearth", Category: "status", Guests: true}, Do: f.cmdWhoami},
		{Spec: command.Spec{Name: "why", Args: "[message id]", Description: "Explain the last answer: which rule, model and cost",
			Category: "status"}, Do: f.cmdWhy},
		{Spec: command.Spec{Name: "stop", Description: "Stop the answer and what waits behind it", Category: "session", Guests: true},
			Do: f.cmdStop},
		{Spec: command.Spec{Name: "queue", Args: "[mode] [debounce:ms] [cap:n] [drop:rule]", Description: "What happens to messages during an " +
			"answer", Category: "options", Choices: []string{"steer", "followup", "collect", "interrupt", "default"}}, Do: f.cmdQueue},
	}
}

func (f *feature) commandList(context.Context, method.None) (protocol.CommandsList, error) {
	out := protocol.CommandsList{Commands: []protocol.CommandInfo{}}
	for _, c := range f.o.Dispatch.Commands().All() {
		if c.Unlisted {
			continue
		}
		info := protocol.CommandInfo{
			Name: c.Name, TextAliases: []string{"/" + c.Name}, Description: c.Description, Category: c.Category,
			Source: "native", Scope: "both", AcceptsArgs: c.Args != "",
		}
		for _, a := range c.Aliases {
			info.TextAliases = append(info.TextAliases, "/"+a)
		}
		if c.Args != "" {
			arg := protocol.CommandArg{Name: c.Args, Description: c.Description, Type: "string"}
			for _, v := range c.Choices {
				arg.Choices = append(arg.Choices, protocol.CommandChoice{Value: v, Label: v})
			}
			info.Args = []protocol.CommandArg{arg}
		}
		out.Commands = append(out.Commands, info)
	}
	for _, c := range f.o.Dispatch.SkillCommands() {
		out.Commands = append(out.Commands, protocol.CommandInfo{
			Name: c.Name, TextAliases: []string{"/" + c.Name}, Description: c.Skill.Description, Category: "tools", Source: "skill", Scope: "both",
			AcceptsArgs: true,
		})
	}
	return out, nil
}

func (f *feature) cmdHelp(ctx context.Context, _, _ string) (string, error) {
	var b strings.Builder
	b.WriteString("**Commands that you can send**\n\n")
	for _, c := range f.o.Dispatch.Commands().All() {
		if c.Unlisted || !command.SpeakerIn(ctx).Owner && !c.Guests {
			continue
		}
		name := "/" + c.Name
		if c.Args != "" {
			name += " " + c.Args
		}
		fmt.Fprintf(&b, "- `%s`: %s\n", name, c.Description)
	}
	if command.SpeakerIn(ctx).Owner {
		b.WriteString("\n" +
			"`/think`, `/verbose`, `/reasoning` and `/model` may stand in a message too, and hold for its answer only: `/think high what is 1+1`.")
	}
	return b.String(), nil
}

func (f *feature) cmdStop(ctx context.Context, key, _ string) (string, error) {
	helpers := 0
	if list, err := f.o.Children.Of(key); err == nil {
		for _, r := range list {
			if r.Open() && !r.Stop {
				helpers++
			}
		}
	}
	ids, err := f.o.Sessions.Abort(ctx, key, "")
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
		what = append(what, command.Counted(messages, "message"))
	}
	if helpers > 0 {
		what = append(what, command.Counted(helpers, "sub-agent"))
	}
	return "Stopped " + strings.Join(what, " and ") + "."
}

func (f *feature) cmdWhoami(ctx context.Context, key, _ string) (string, error) {
	s := command.SpeakerIn(ctx)
	this := "This conversation is `" + key + "`."
	switch {
	case s.Network == "" && s.Owner:
		return "You are the owner, at a device of your own. " + this, nil
	case s.Network == "" || s.Network == channel.API && !s.Owner:
		return "You are a program with a token of its own, and not the owner. " + this, nil
	case s.Network == channel.API:
		return "You are the owner, by a program that you gave your rights. " + this, nil
	case s.Owner && s.Chat == channel.Direct:
		return "You are the owner, on " + s.Where() + ". " + this, nil
	case s.Owner:
		return "You are the owner, in a group on " + s.Where() + "; what is said here is read by all of it. This conversation is the group's, `" +
			key + "`.", nil
	case s.Chat != channel.Direct:
		return "You are a guest in a group on " + s.Where() + ", and not the owner of this Hearth. This conversation is the group's, `" + key +
			"`.", nil
	case s.Shared:
		return "You are a guest, let in on " + s.Where() + ", and not the owner of this Hearth. The owner opened their own conversation to " +
			"you, and this is it: `" + key + "`.", nil
	}
	return "You are a guest, let in on " + s.Where() + ", and not the owner of this Hearth. This conversation is your own, `" + key + "`; " +
		"the owner's is not open to you.", nil
}
