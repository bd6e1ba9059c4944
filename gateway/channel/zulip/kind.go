// Package zulip describes Zulip to the gateway: its settings, limits and groups. The
// client itself is in package client, which only the program hearth-channels links.
package zulip

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
)

// ID is the network's name in keys, routes and settings.
const ID = "zulip"

// Keys of an account, called as in the file zuliprc that Zulip gives out.
const (
	KeyAPIKey = "apiKey"
	KeyEmail  = "email"
	KeySite   = "site"
)

// MostText is how many characters a message has. The server cuts a longer one.
const MostText = 10_000

// Limits of a message. The links of its files are a part of the text. Servers let
// people edit for ten minutes unless they are told otherwise.
var Limits = channel.Limits{
	Text: MostText, Unit: channel.Characters, Caption: 9000, Dialect: channel.Markdown, EditPace: 1200 * time.Millisecond,
	EditWindow: 10 * time.Minute, Typing: 10 * time.Second, Files: 25 << 20, Together: 10, Reactions: true, Heard: true, Threads: true,
}

// Signs that conversations begin with: a stream's before its number, a person's before
// the numbers of those who are in a conversation with us, with commas between.
const (
	StreamSign = "#"
	PersonSign = "@"
)

// Kind describes Zulip.
func Kind() channel.Kind {
	return channel.Kind{
		ID: ID, Label: "Zulip", Connects: KeyAPIKey,
		Settings: []channel.Setting{
			{Key: KeySite, Form: channel.WebAddress, Needed: true, Shared: true,
				About: "the address of the organization, like `https://example.zulipchat.com`"},
			{Key: KeyEmail, Form: channel.Words, Needed: true, Valid: isEmail,
				Help:  "expected the bot's e-mail address, like hearth-bot@example.zulipchat.com",
				About: "the e-mail address of the bot"},
			{Key: KeyAPIKey, Form: channel.SecretText, Valid: IsKey, Help: "expected the 32 letters and digits of a bot's API key",
				About: "the API key of the bot", Alone: "both would answer the same messages"},
		},
		SetUp: []string{"In Zulip, open the gear menu, Personal settings, Bots, and choose “Add a new bot”, of the type “Generic bot”.",
			"Copy its API key and its e-mail address from the bot's card.",
			"Subscribe the bot to the channels where it should be (a channel's settings, Subscribers)."},
		First:   "Write the bot a direct message.",
		MaxFile: 25, MaxFileWhy: "Servers take 25 unless they are told otherwise",
		New:     open,
		IsGroup: isGroup,
		Thread:  "topic",
	}
}

// isGroup: only a conversation with one person is none.
func isGroup(conversation string) bool {
	return !strings.HasPrefix(conversation, PersonSign) || strings.Contains(conversation, ",")
}

// open makes the channel of an account.
func open(a channel.Account) (channel.Channel, error) {
	if err := Check(a); err != nil {
		return nil, err
	}
	return program.Bundled(ID, a, Limits, append(channel.Writing(), channel.CanRead, channel.CanSearch)...)
}

// Check says what is wrong with an account.
func Check(a channel.Account) error {
	switch {
	case a.Secrets[KeyAPIKey] == "":
		return errors.New("the bot's API key is missing: hearth config set channels.zulip.apiKey asks for it")
	case !IsKey(a.Secrets[KeyAPIKey]):
		return errors.New("channels.zulip.apiKey is no API key: it has 32 letters and digits, shown on the bot's card in Zulip's settings")
	case a.Texts[KeySite] == "":
		return errors.New("no organization is named: set channels.zulip.site, for example https://example.zulipchat.com")
	case !isEmail(a.Texts[KeyEmail]):
		return errors.New("the bot's e-mail address is missing: set channels.zulip.email, which stands on the bot's card in Zulip's settings")
	}
	if u, err := url.Parse(a.Texts[KeySite]); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("channels.zulip.site is no address of an organization: it begins with https://")
	}
	return nil
}

// IsKey reports whether a text has the form of an API key.
func IsKey(s string) bool {
	return len(s) == 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// isEmail: a colon would end the name in the credential of each request.
func isEmail(s string) bool {
	at := strings.LastIndexByte(s, '@')
	return at > 0 && at < len(s)-1 && !strings.ContainsAny(s, ": \t\r\n")
}
