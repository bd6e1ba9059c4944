// Package mattermost describes Mattermost to the gateway: its settings, limits and
// groups. The client itself is in package client, which only the program
// hearth-channels links.
package mattermost

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
)

// ID is the network's name in keys, routes and settings.
const ID = "mattermost"

// Keys of an account.
const (
	KeyToken = "botToken"
	KeyBase  = "baseUrl"
)

// Limits of a message. Newer servers take 16,383 characters, all take 4,000.
var Limits = channel.Limits{
	Text: 4000, Unit: channel.Characters, Caption: 4000, Dialect: channel.Markdown, EditPace: time.Second, Typing: 5 * time.Second,
	Files: 100 << 20, Together: 5, Reactions: true, Heard: true, Threads: true,
}

// PersonSign begins the id of a conversation with one person, before the person's own
// id; all other conversations are called by the id of their channel.
const PersonSign = "@"

// Kind describes Mattermost.
func Kind() channel.Kind {
	return channel.Kind{
		ID: ID, Label: "Mattermost", Connects: KeyToken,
		Settings: []channel.Setting{
			{Key: KeyToken, Form: channel.SecretText, Valid: IsID, Help: "expected the 26 small letters and digits of a bot's access token",
				About: "the access token of the bot account", Alone: "both would answer the same messages"},
			{Key: KeyBase, Form: channel.WebAddress, Needed: true, Shared: true,
				About: "the address of the server, like `https://chat.example.org`"},
		},
		Later: []string{"chatmode", "oncharPrefixes", "requireMention", "commands", "interactions", "capabilities", "network", "defaultAccount",
			"name", "markdown", "configWrites", "dangerouslyAllowNameMatching", "dmChannelRetry", "actions"},
		LaterAccount: []string{"chatmode", "oncharPrefixes", "requireMention", "commands", "name"},
		SetUp: []string{"In Mattermost's System Console, below Integrations, Bot Accounts, see that “Enable Bot Account Creation” is on.",
			"In the product menu, below Integrations, Bot Accounts, choose “Add Bot Account”, with the role Member.",
			"Copy the access token, which is shown once.", "Add the bot to your team (Invite People)."},
		First:   "Write the bot a direct message.",
		MaxFile: 100, MaxFileWhy: "Servers take 100 unless they are told otherwise",
		New:     open,
		IsGroup: func(conversation string) bool { return !strings.HasPrefix(conversation, PersonSign) },
		Address: channel.Addressed(PersonSign, "channel:"),
	}
}

// open makes the channel of an account.
func open(a channel.Account) (channel.Channel, error) {
	if err := Check(a); err != nil {
		return nil, err
	}
	return program.Bundled(ID, a, Limits, append(channel.Writing(), channel.CanPin, channel.CanRead, channel.CanSearch)...)
}

// Check says what is wrong with an account.
func Check(a channel.Account) error {
	switch {
	case a.Secrets[KeyToken] == "":
		return errors.New("the bot's access token is missing: hearth config set channels.mattermost.botToken asks for it")
	case !IsID(a.Secrets[KeyToken]):
		return errors.New("channels.mattermost.botToken is no access token: it has 26 small letters and digits, shown once when the bot is made")
	case a.Texts[KeyBase] == "":
		return errors.New("no server is named: set channels.mattermost.baseUrl, for example https://chat.example.org")
	}
	if u, err := url.Parse(a.Texts[KeyBase]); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("channels.mattermost.baseUrl is no address of a server: it begins with https://")
	}
	return nil
}

// IsID reports whether a text has the form of everything that Mattermost numbers.
func IsID(s string) bool {
	return len(s) == 26 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}
