package program

import (
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

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
		ID: "program", Label: "Program", Connects: keyCommand,
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
		IsGroup: func(conversation string) bool { return strings.HasPrefix(conversation, groupSign) },
	}
}

// groupSign begins the id of every conversation that is a group's, so that everybody
// can tell without the program.
const groupSign = "#"

func isOption(s string) bool { name, _, ok := strings.Cut(s, "="); return ok && name != "" }

func open(a channel.Account) (channel.Channel, error) {
	command := a.Texts[keyCommand]
	if command == "" {
		return nil, fmt.Errorf("no program is named: set channels.program.command, for example [\"/home/ada/my-channel\"]")
	}
	settings := map[string]string{}
	for o := range strings.SplitSeq(a.Texts[keyOptions], "\n") {
		if name, value, ok := strings.Cut(o, "="); ok {
			settings[name] = value
		}
	}
	return New(Options{
		ID: "program", Account: a.ID, Argv: strings.Split(command, "\n"), Limits: own, IsGroup: Kind().IsGroup,
		Settings: settings, Secrets: a.Secrets,
		MaxFile: a.MaxFile, OpenFile: a.OpenFile, Durable: a.Durable, Launch: a.Launch, Now: a.Now, Logger: a.Logger,
	})
}
