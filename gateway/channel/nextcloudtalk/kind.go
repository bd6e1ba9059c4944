// Package nextcloudtalk describes Nextcloud Talk to the gateway: its settings, limits
// and groups. The client itself is in package client, which only the program
// hearth-channels links.
package nextcloudtalk

import (
	"errors"
	"net/url"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
)

// ID is the network's name in keys, routes and settings.
const ID = "nextcloud-talk"

// Keys of an account.
const (
	KeySecret   = "botSecret"
	KeyBase     = "baseUrl"
	KeyUser     = "apiUser"
	KeyPassword = "apiPassword"
	KeyName     = "botName"
)

// MostText is how many characters a message has.
const MostText = 32_000

// Limits of a message. A bot changes nothing that it has written, and sends no files.
var Limits = channel.Limits{Text: MostText, Unit: channel.Characters, Dialect: channel.Markdown, Reactions: true}

// PersonSign begins the id of a conversation with one person, before its token.
const PersonSign = "@"

// Kind describes Nextcloud Talk.
func Kind() channel.Kind {
	return channel.Kind{
		ID: ID, Label: "Nextcloud Talk", Connects: KeySecret, Groups: "rooms", Called: true,
		CalledAs: "It is the address in `occ talk:bot:install`.",
		Settings: []channel.Setting{
			{Key: KeyBase, Form: channel.WebAddress, Needed: true, Shared: true,
				About: "the address of the server, like `https://cloud.example.org`"},
			{Key: KeySecret, Form: channel.SecretText, Valid: isSecret, Help: "expected the 40 to 128 characters that the bot was installed with",
				About: "the secret that the bot was installed with", File: "botSecretFile", Alone: "both would answer the same messages"},
			{Key: KeyUser, Form: channel.Words, Valid: isName, Help: "expected the name of an account on the server",
				About: "an account that is in the conversations too, which is asked what kind of conversation one is",
				Unset: "none: every conversation counts as a group"},
			{Key: KeyPassword, Form: channel.SecretText, Valid: isPassword, Help: "expected an app password, without spaces",
				About: "an app password of that account", File: "apiPasswordFile"},
			{Key: KeyName, Form: channel.Words, Shared: true, About: "the bot's name: with an `@` before it a message in a group is for it. " +
				"Talk itself knows no mention of bots", Unset: "`Hearth`"},
		},
		Later: []string{"webhookPort", "webhookHost", "webhookPath", "webhookPublicUrl", "dmHistoryLimit", "dms", "defaultAccount", "name",
			"markdown", "network"},
		LaterAccount: []string{"webhookPort", "webhookHost", "webhookPath", "webhookPublicUrl", "name"},
		SetUp: []string{"Make a secret: openssl rand -hex 32",
			"On the Nextcloud server, as its administrator, install the bot with that secret and with the address below: " +
				"occ talk:bot:install Hearth SECRET ADDRESS --feature webhook --feature response --feature reaction",
			"In the conversation's settings in Talk, below Bots, enable it.",
			"For a conversation with you alone: make an app password in Nextcloud (Settings, Security) of an account that is in it."},
		First:   "Write in a one-to-one conversation in which the bot is enabled.",
		MaxFile: 1, MaxFileWhy: "Bots send and get no files",
		New:     open,
		IsGroup: func(conversation string) bool { return !strings.HasPrefix(conversation, PersonSign) },
	}
}

// open makes the channel of an account.
func open(a channel.Account) (channel.Channel, error) {
	if err := Check(a); err != nil {
		return nil, err
	}
	return program.Bundled(ID, a, Limits, channel.CanReact, channel.CanBeCalled)
}

// Check says what is wrong with an account.
func Check(a channel.Account) error {
	switch {
	case a.Secrets[KeySecret] == "":
		return errors.New("the bot's secret is missing: hearth config set channels.nextcloud-talk.botSecret asks for it")
	case !isSecret(a.Secrets[KeySecret]):
		return errors.New("channels.nextcloud-talk.botSecret is no secret of a bot: Nextcloud takes 40 to 128 characters")
	case a.Texts[KeyBase] == "":
		return errors.New("no server is named: set channels.nextcloud-talk.baseUrl, for example https://cloud.example.org")
	case (a.Texts[KeyUser] == "") != (a.Secrets[KeyPassword] == ""):
		return errors.New("channels.nextcloud-talk.apiUser and apiPassword go together: set both, or none")
	}
	if u, err := url.Parse(a.Texts[KeyBase]); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("channels.nextcloud-talk.baseUrl is no address of a server: it begins with https://")
	}
	return nil
}

func isSecret(s string) bool {
	return len(s) >= 40 && len(s) <= 128 && !strings.ContainsAny(s, " \t\r\n")
}

func isName(s string) bool     { return s != "" && !strings.ContainsAny(s, ":\r\n") }
func isPassword(s string) bool { return s != "" && !strings.ContainsAny(s, " \t\r\n") }

// IsToken reports whether a text has the form of a conversation's token.
func IsToken(s string) bool {
	return len(s) >= 4 && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}
