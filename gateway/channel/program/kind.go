package program

import (
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// id is the network's name in keys, routes and settings.
const id = "program"

// Keys of an account whose program somebody else wrote.
const (
	keyCommand = "command"
	keyOptions = "options"
	keyToken   = "token"
)

// own are the limits of a program until it has told its own.
var own = channel.Limits{Text: 2000}

// Kind describes programs that others wrote: the network is whatever they connect
// to. docs/channels/write-your-own.md says how to write one.
func Kind() channel.Kind {
	return channel.Kind{
		ID: id, Label: "Program", Connects: keyCommand,
		Settings: []channel.Setting{
			{Key: keyCommand, Form: channel.WordList,
				About: "the program and its arguments, files by their whole path. It runs in a sandbox and reaches the network"},
			{Key: keyOptions, Form: channel.WordList, Valid: isOption, Help: "expected NAME=value",
				About: "what the program gets as its settings, each as `NAME=value`", Unset: "none"},
			{Key: keyToken, Form: channel.SecretText, Valid: func(s string) bool { return s != "" }, Help: "a text",
				About: "the credential that the program gets as its secret `token`"},
		},
		SetUp:   []string{"Write the program, as docs/channels/write-your-own.md says.", "Try it: hearth channels check PROGRAM"},
		First:   "Write to it on its network.",
		MaxFile: 100, MaxFileWhy: "The program may take less",
		New:     open,
		IsGroup: isGroup,
		Menu:    channel.MenuTraits{Registered: true},
	}
}

// groupSign begins the id of every conversation that is a group's, so that everybody
// can tell without the program.
const groupSign = "#"

func isGroup(conversation string) bool { return strings.HasPrefix(conversation, groupSign) }

func isOption(s string) bool { name, _, ok := strings.Cut(s, "="); return ok && name != "" }

func open(a channel.Account) (channel.Channel, error) {
	command, options := a.Texts[keyCommand], a.Texts[keyOptions]
	if command == "" {
		return nil, fmt.Errorf("no program is named: set channels.program.command, for example [\"/home/ada/my-channel\"]")
	}
	a.Texts = map[string]string{}
	for o := range strings.SplitSeq(options, "\n") {
		if name, value, ok := strings.Cut(o, "="); ok {
			a.Texts[name] = value
		}
	}
	return New(Options{Account: a, Network: id, Argv: strings.Split(command, "\n"), Limits: own, IsGroup: isGroup})
}
