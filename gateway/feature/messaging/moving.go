package messaging

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// A conversation that its owner takes along: answers go to another network than the
// one that the words came from. It leads only to direct chats from which the owner
// wrote in the same conversation, so that no name of a network can mean somebody else.

// commands are the slash commands of the feature: /continue, and OpenClaw's names of
// it, one for each network.
func (f *feature) commands() []command.Command {
	list := []command.Command{{
		Spec: command.Spec{Name: "continue", Args: "[network or here]", Category: "session", Choices: []string{"here"},
			Description: "Go on elsewhere: answers to you go to that network, until you say /continue here"},
		Do: f.cmdContinue,
	}}
	for _, k := range f.o.Networks.Kinds {
		list = append(list, command.Command{
			Spec: command.Spec{Name: "dock-" + k.ID, Aliases: []string{"dock_" + k.ID}, Category: "session", Unlisted: true,
				Description: "The same as /continue " + k.ID},
			Do: func(ctx context.Context, key, _ string) (string, error) { return f.cmdContinue(ctx, key, k.ID) },
		})
	}
	return list
}

func (f *feature) cmdContinue(ctx context.Context, key, args string) (string, error) {
	if command.SpeakerIn(ctx).Chat != channel.Direct {
		return "Answers in a group stay in the group.", nil
	}
	places, dock, err := f.o.Sessions.Places(key)
	if err != nil {
		return "", err
	}
	word := strings.ToLower(strings.TrimSpace(args))
	switch {
	case word == "":
		return f.whereTo(places, dock), nil
	case word == "here" || word == "off" || word == "page":
		if dock == nil {
			return "Answers go to where you write, as before.", nil
		}
		return "Answers go to where you write again.", f.o.Sessions.SetDock(ctx, key, nil)
	}
	i := slices.IndexFunc(f.o.Networks.Kinds, func(k channel.Kind) bool { return k.ID == word || strings.EqualFold(k.Label, word) })
	if i < 0 {
		return "There is no messaging network `" + strings.ReplaceAll(word, "`", "") + "`. " + f.whereTo(places, dock), nil
	}
	k := f.o.Networks.Kinds[i]
	to, ok := newest(places, k.ID)
	if !ok {
		return fmt.Sprintf("You have not written to me on %s in this conversation, so I do not know where to go on. Write to me there once.",
			k.Label), nil
	}
	r, ok := channel.ParseRoute(to.Route)
	switch {
	case !ok || f.o.Networks.Find(r.Channel, r.Account) == nil:
		return fmt.Sprintf("%s is not connected now; `hearth channels` says why.", k.Label), nil
	case !f.o.Answers.MaySend(key, r):
		return fmt.Sprintf("The settings do not allow to send to %s from this conversation (`session.sendPolicy`).", k.Label), nil
	}
	if err := f.o.Sessions.SetDock(ctx, key, &to); err != nil {
		return "", err
	}
	err = f.o.Answers.Deliver(ctx, outbound.Delivery{
		ID: "continue:" + uuid.New(), Channel: r.Channel, To: r.Target(""), Session: key, Reply: outbound.ReplyOff,
		Text: "We go on here. `/continue here` ends that.",
	})
	return fmt.Sprintf("We go on on %s: answers to you go there, wherever you write. `/continue here` ends that.", k.Label), err
}

func newest(places []session.Place, network string) (at session.Place, ok bool) {
	for _, p := range slices.Backward(places) {
		if p.Origin.Provider == network {
			return p, true
		}
	}
	return at, false
}

// whereTo says where answers go, and where they could.
func (f *feature) whereTo(places []session.Place, dock *session.Place) string {
	said := "Answers go to where you write."
	if dock != nil {
		said = "Answers go to " + f.o.Networks.Kinds.Label(dock.Origin.Provider) + ", wherever you write. `/continue here` ends that."
	}
	var can []string
	for _, p := range slices.Backward(places) {
		if one := "`/continue " + p.Origin.Provider + "`"; !slices.Contains(can, one) {
			can = append(can, one)
		}
	}
	if len(can) == 0 {
		return said + " You have not written from a messaging network in this conversation, so there is nowhere else."
	}
	return said + " You can say " + strings.Join(can, ", ") + "."
}
