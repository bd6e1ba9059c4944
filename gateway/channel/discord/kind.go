// Package discord describes Discord to the gateway: its settings, limits and groups.
// The client itself is in package client, which only the program hearth-channels
// links.
package discord

import (
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
)

// ID is the network's name in keys, routes and settings.
const ID = "discord"

// Keys of an account.
const (
	KeyToken = "token"
	KeyRoot  = "apiRoot"
)

// Root is where Discord's API is.
const Root = "https://discord.com/api"

// Limits of a message. Discord says 2,000 characters; the strictest count is taken.
var Limits = channel.Limits{
	Text: 2000, Unit: channel.UTF16, Lines: 17, Caption: 2000, Dialect: channel.Markdown, EditPace: 1200 * time.Millisecond,
	Typing: 10 * time.Second, Files: 10 << 20, Together: 10, Reactions: true, Threads: true, Heard: true, Choices: 25,
	Manner: channel.Manner{Silent: true},
}

// PersonSign begins the id of a conversation with one person, before the person's own
// id; all other conversations are called by the id of their channel.
const PersonSign = "@"

// Kind describes Discord.
func Kind() channel.Kind {
	return channel.Kind{
		ID: ID, Label: "Discord", Connects: KeyToken,
		Settings: []channel.Setting{
			{Key: KeyToken, Form: channel.SecretText, Valid: IsToken, Help: "expected a bot's token: three parts with points between them",
				About: "the token of the bot", Alone: "both would answer the same messages"},
			{Key: KeyRoot, Form: channel.WebAddress, Shared: true, Unset: "`" + Root + "`",
				About: "where Discord's API is, for a proxy of your own. It sees the token and all messages"},
		},
		Later: []string{"guilds", "dm", "allowBots", "maxLinesPerMessage", "proxy", "threadBindings", "intents", "activity", "status", "voice",
			"execApprovals", "actions", "mentionAliases", "defaultAccount", "name", "markdown", "configWrites", "retry",
			"dangerouslyAllowNameMatching", "pluralkit", "ui", "slashCommand", "eventQueue", "inboundWorker", "ackReaction", "autoPresence"},
		LaterAccount: []string{"guilds", "dm", "allowBots", "name"},
		SetUp: []string{"Open https://discord.com/developers/applications and choose “New Application”.",
			"Below “Bot”, switch on “Message Content Intent”.", "There, choose “Reset Token” and copy the token.",
			"Below “Installation”, “Guild Install”, choose the scope bot and the permissions Add Reactions, Attach Files, Read Message " +
				"History, Send Messages, Send Messages in Threads and View Channels, and save.",
			"Open the “Install Link” that stands there, and choose your server."},
		First:   "Write the bot a direct message: open its profile in the server's list of members.",
		MaxFile: 100, MaxFileWhy: "A bot sends 10 at most",
		Streaming: "off",
		New:       open,
		IsGroup:   func(conversation string) bool { return !strings.HasPrefix(conversation, PersonSign) },
		Address:   channel.Addressed(PersonSign, "channel:"),
		Menu:      channel.MenuTraits{Registered: true, Most: 100},
	}
}

// open makes the channel of an account.
func open(a channel.Account) (channel.Channel, error) {
	if err := Check(a); err != nil {
		return nil, err
	}
	can := append(channel.Writing(), channel.CanChoose, channel.CanPoll, channel.CanPin, channel.CanRead, channel.CanMenu)
	return program.Bundled(ID, a, Limits, can...)
}

// Check says what is wrong with an account.
func Check(a channel.Account) error {
	switch {
	case a.Secrets[KeyToken] == "":
		return errors.New("the bot's token is missing: hearth config set channels.discord.token asks for it")
	case !IsToken(a.Secrets[KeyToken]):
		return errors.New("channels.discord.token is no bot's token: it has three parts with points between them, and is shown once at " +
			"https://discord.com/developers/applications, Bot, Reset Token")
	}
	return nil
}

// IsToken reports whether a text has the form of a bot's token.
func IsToken(s string) bool {
	parts := strings.Split(s, ".")
	if len(parts) != 3 || len(s) < 50 || len(s) > 200 {
		return false
	}
	for _, p := range parts {
		if p == "" || strings.Trim(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			return false
		}
	}
	return true
}

// IsID reports whether a text has the form of everything that Discord numbers.
func IsID(s string) bool {
	return len(s) > 14 && len(s) < 20 && strings.Trim(s, "0123456789") == ""
}
