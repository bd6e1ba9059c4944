// Package line describes LINE to the gateway: its settings, limits and groups. The
// client itself is in package client, which only the program hearth-channels links.
package line

import (
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
)

// ID is the network's name in keys, routes and settings.
const ID = "line"

// Keys of an account.
const (
	KeyToken  = "channelAccessToken"
	KeySecret = "channelSecret"
	KeyRoot   = "apiRoot"
)

// Limits of a message. LINE knows no formatting, no edits and no reactions of bots.
var Limits = channel.Limits{Text: 5000, Unit: channel.UTF16, Dialect: channel.PlainText, Typing: 20 * time.Second}

// Kind describes LINE.
func Kind() channel.Kind {
	return channel.Kind{
		ID: ID, Label: "LINE", Connects: KeyToken, Called: true,
		CalledAs: "In the LINE Developers Console it is the Webhook URL of the channel (Messaging API). Press Verify, and switch on Use webhook.",
		Settings: []channel.Setting{
			{Key: KeyToken, Form: channel.SecretText, Valid: isToken, Help: "expected the long-lived channel access token (Messaging API, Issue)",
				About: "the channel access token", File: "tokenFile", Alone: "both would answer the same messages"},
			{Key: KeySecret, Form: channel.SecretText, Needed: true,
				Valid: isSecret, Help: "expected the 32 hexadecimal digits of the channel secret",
				About: "the channel secret, with which LINE signs what it sends", File: "secretFile", Alone: "both would take the same messages"},
			{Key: KeyRoot, Form: channel.WebAddress, Shared: true, Unset: "LINE itself",
				About: "a proxy of your own that hands on what is below `/api.line.me` and `/api-data.line.me`. It sees the token and all messages"},
		},
		Later:        []string{"webhookPath", "defaultAccount", "name", "markdown", "threadBindings", "dmHistoryLimit"},
		LaterAccount: []string{"webhookPath", "name"},
		SetUp: []string{"In the LINE Developers Console (developers.line.biz), make a provider and a Messaging API channel.",
			"Copy the Channel secret (Basic settings) and issue a long-lived Channel access token (Messaging API).",
			"In LINE Official Account Manager, switch off greeting and auto-reply messages, and allow group chats if you want them."},
		First:   "Add the account as a friend (the QR code is on the Messaging API page), and write it a message.",
		MaxFile: 100, MaxFileWhy: "Files come, and cannot be sent: LINE takes none but by a public address",
		New:     open,
		IsGroup: func(conversation string) bool { return !strings.HasPrefix(conversation, "U") },
		Blocks:  true,
	}
}

// open makes the channel of an account.
func open(a channel.Account) (channel.Channel, error) {
	if err := Check(a); err != nil {
		return nil, err
	}
	return program.Bundled(ID, a, Limits, channel.CanType, channel.CanFetch, channel.CanBeCalled)
}

// Check says what is wrong with an account.
func Check(a channel.Account) error {
	switch {
	case a.Secrets[KeyToken] == "":
		return errors.New("the channel access token is missing: hearth config set channels.line.channelAccessToken asks for it")
	case !isToken(a.Secrets[KeyToken]):
		return errors.New("channels.line.channelAccessToken is no channel access token: the LINE Developers Console issues it (Messaging API)")
	case a.Secrets[KeySecret] == "":
		return errors.New("the channel secret is missing: without it anybody could write messages in your name. Set channels.line.channelSecret")
	case !isSecret(a.Secrets[KeySecret]):
		return errors.New("channels.line.channelSecret is no channel secret: it has 32 hexadecimal digits (Basic settings)")
	}
	return nil
}

const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func isToken(s string) bool {
	return len(s) >= 40 && len(s) <= 1024 && strings.Trim(s, alphabet+"+/=-_.") == ""
}

func isSecret(s string) bool { return len(s) == 32 && strings.Trim(s, "0123456789abcdefABCDEF") == "" }

// IsID reports whether a text has the form of somebody, a group or a room.
func IsID(s string) bool {
	return len(s) == 33 && strings.ContainsAny(s[:1], "UCR") && strings.Trim(s[1:], "0123456789abcdef") == ""
}
