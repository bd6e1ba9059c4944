// Package slack describes Slack to the gateway: its settings, limits and groups. The
// client itself is in package client, which only the program hearth-channels links.
package slack

import (
	_ "embed"
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
)

// ID is the network's name in keys, routes and settings.
const ID = "slack"

// Keys of an account.
const (
	KeyBot  = "botToken"
	KeyApp  = "appToken"
	KeyRoot = "apiRoot"
)

// Root is where Slack's API is.
const Root = "https://slack.com/api"

// Limits of a message. Slack advises 4,000 characters and cuts at 40,000. It shows that
// a bot is thinking in threads, for two minutes.
var Limits = channel.Limits{
	Text: 4000, Unit: channel.Characters, Caption: 4000, Dialect: channel.Markdown, EditPace: time.Second, Files: 100 << 20, Together: 10,
	Typing:    time.Minute,
	Reactions: true, Threads: true, Heard: true, Choices: 25,
}

// Scopes are what the bot's token needs, as they stand in the manifest.
func Scopes() []string {
	return []string{"app_mentions:read", "channels:history", "channels:read", "chat:write", "commands", "files:read", "files:write",
		"groups:history", "groups:read", "im:history", "im:read", "im:write", "mpim:history", "mpim:read", "pins:write", "reactions:read",
		"reactions:write", "users:read"}
}

// manifest is what Slack makes an app of. docs/channels/slack-manifest.yaml is the
// same, for people.
//
//go:embed manifest.yaml
var manifest string

// Kind describes Slack.
func Kind() channel.Kind {
	return channel.Kind{
		ID: ID, Label: "Slack", Connects: KeyBot,
		Settings: []channel.Setting{
			{Key: KeyBot, Form: channel.SecretText, Valid: isBot, Help: "expected the Bot User OAuth Token, which begins with xoxb-",
				About: "the Bot User OAuth Token (`xoxb-…`)", Alone: "both would answer the same messages"},
			{Key: KeyApp, Form: channel.SecretText, Needed: true, Valid: isApp, Help: "expected an App-Level Token, which begins with xapp-",
				About: "the App-Level Token with the scope `connections:write` (`xapp-…`)", Alone: "Slack would give each message to one of both"},
			{Key: KeyRoot, Form: channel.WebAddress, Shared: true, Unset: "`" + Root + "`",
				About: "where Slack's API is, for a proxy of your own. It sees the tokens and all messages"},
		},
		Later: []string{"mode", "signingSecret", "userToken", "userTokenReadOnly", "webhookPath", "channels", "dm", "allowBots", "slashCommand",
			"thread", "typingReaction", "ackReaction", "replyToModeByChatType", "actions",
			"commands", "execApprovals", "interactiveReplies", "nativeStreaming", "requireMention", "unfurlLinks", "unfurlMedia",
			"socketMode", "defaultAccount", "name", "markdown", "configWrites", "dangerouslyAllowNameMatching"},
		LaterAccount: []string{"mode", "signingSecret", "userToken", "channels", "dm", "allowBots", "name"},
		SetUp: []string{"Open https://api.slack.com/apps, choose “Create New App”, “From a manifest”, and your workspace.",
			"Paste the manifest (choose the tab YAML) and create the app. `hearth channels manifest slack` prints it.",
			"In “Basic Information”, “App-Level Tokens”, choose “Generate Token and Scopes”, add connections:write, and copy the token (xapp-…).",
			"In “Install App”, install it, and copy the “Bot User OAuth Token” (xoxb-…)."},
		First:    "In Slack, open Apps, Hearth, Messages, and write “hi”.",
		Manifest: channel.Manifest{Name: "slack-manifest.yaml", Text: manifest},
		MaxFile:  100, MaxFileWhy: "Slack takes up to 1,000",
		New: open,
		IsGroup: func(conversation string) bool {
			return strings.HasPrefix(conversation, "C") || strings.HasPrefix(conversation, "G")
		},
		Address: channel.Addressed("", "channel:"),
	}
}

// open makes the channel of an account.
func open(a channel.Account) (channel.Channel, error) {
	if err := Check(a); err != nil {
		return nil, err
	}
	return program.Bundled(ID, a, Limits, channel.CanEdit, channel.CanDelete, channel.CanType, channel.CanReact, channel.CanFetch,
		channel.CanChoose, channel.CanPin, channel.CanRead, channel.CanMenu, channel.CanFinish)
}

// Check says what is wrong with an account.
func Check(a channel.Account) error {
	switch {
	case a.Secrets[KeyBot] == "":
		return errors.New("the bot's token is missing: hearth config set channels.slack.botToken asks for it")
	case !isBot(a.Secrets[KeyBot]):
		return errors.New("channels.slack.botToken is no bot's token: it begins with xoxb- (OAuth & Permissions, Bot User OAuth Token)")
	case a.Secrets[KeyApp] == "":
		return errors.New("the app's token is missing: hearth config set channels.slack.appToken asks for it")
	case !isApp(a.Secrets[KeyApp]):
		return errors.New("channels.slack.appToken is no App-Level Token: it begins with xapp- (Basic Information, App-Level Tokens)")
	}
	return nil
}

func isBot(s string) bool { return strings.HasPrefix(s, "xoxb-") && isToken(s) }
func isApp(s string) bool { return strings.HasPrefix(s, "xapp-") && isToken(s) }

func isToken(s string) bool {
	return len(s) > 15 && len(s) < 300 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") == ""
}

// IsID reports whether a text has the form of a conversation or person.
func IsID(s string) bool {
	return len(s) > 6 && len(s) < 25 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}
