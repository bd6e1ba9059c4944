// Package irc describes IRC to the gateway: its settings, limits and groups. The
// client itself is in package client, which only the program hearth-channels links.
package irc

import (
	"errors"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
)

// ID is the network's name in keys, routes and settings.
const ID = "irc"

// Keys of an account.
const (
	KeyHost     = "host"
	KeyPort     = "port"
	KeyTLS      = "tls"
	KeyNick     = "nick"
	KeyUser     = "username"
	KeyReal     = "realname"
	KeyPassword = "password"
	KeyLogin    = "account"
	KeyLoginPW  = "accountPassword"
	KeyChannels = "channels"
)

// Limits of a message. A line has 512 bytes with our name, the recipient's and the
// command in it (RFC 2812); what is left is rounded down to what every server takes.
var Limits = channel.Limits{Text: 400, Unit: channel.Bytes, Dialect: channel.PlainText}

// Kind describes IRC.
func Kind() channel.Kind {
	return channel.Kind{
		ID: ID, Label: "IRC", Connects: KeyHost,
		Settings: []channel.Setting{
			{Key: KeyHost, Form: channel.Words, Valid: isHost, Help: "the server's name, like irc.libera.chat", About: "the server's name"},
			{Key: KeyPort, Form: channel.PortNumber, Shared: true, About: "its port", Unset: "6697, and 6667 without TLS"},
			{Key: KeyTLS, Form: channel.OnOff, On: true, Shared: true, About: "whether the connection is encrypted. Without it everybody between " +
				"here and the server reads what is said, passwords too"},
			{Key: KeyNick, Form: channel.Words, Valid: isNick, About: "the assistant's name", Unset: "hearth",
				Help: "a nick has up to 30 letters, digits and - _ [ ] { } \\ | ^ `, and begins with no digit"},
			{Key: KeyUser, Form: channel.Words, Valid: isNick, Help: "letters, digits and -", About: "its user name", Unset: "as `nick`"},
			{Key: KeyReal, Form: channel.Words, About: "what the server tells of it", Unset: "Hearth"},
			{Key: KeyPassword, Form: channel.SecretText, Valid: isLine, Help: "one line", About: "the server's password, where it asks for one"},
			{Key: KeyLogin, Form: channel.Words, Valid: isNick, Help: "the name of the account at the network's services",
				About: "its account at the network's services, logged in to with SASL", Unset: "none"},
			{Key: KeyLoginPW, Form: channel.SecretText, Valid: isLine, Help: "one line", About: "the password of `account`"},
			{Key: KeyChannels, Form: channel.WordList, Valid: isChannel, Help: "the name of a channel, like #hearth",
				About: "channels that it joins. It answers in those that `groups` or `groupPolicy` allow", Unset: "none"},
		},
		SetUp: []string{"Choose a server, for example irc.libera.chat, and a nick for the assistant.",
			"If the network has services, register an account for it there: then the nick is nobody else's."},
		First: "With your usual IRC program, on the same server: /msg NICK hello",
		Later: []string{"nickserv", "mentionPatterns", "dmHistoryLimit", "defaultAccount", "name", "markdown", "configWrites",
			"dangerouslyAllowNameMatching"},
		MaxFile: 1, MaxFileWhy: "IRC carries no files",
		New:     open,
		IsGroup: IsChannel,
		SameID:  Fold,
	}
}

// IsChannel reports whether a name is that of a channel.
func IsChannel(name string) bool { return name != "" && strings.ContainsRune("#&+!", rune(name[0])) }

// Fold is a name as servers compare names (casemapping rfc1459). Ids of people are kept
// like that whatever the server says of its casemapping: kept ids outlive a server's change.
func Fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '[':
			return '{'
		case ']':
			return '}'
		case '\\':
			return '|'
		case '~':
			return '^'
		}
		return lower(r)
	}, s)
}

// FoldASCII is a name as servers compare names that say CASEMAPPING=ascii.
func FoldASCII(s string) string { return strings.Map(lower, s) }

func lower(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// open makes the channel of an account.
func open(a channel.Account) (channel.Channel, error) {
	if err := Check(a); err != nil {
		return nil, err
	}
	return program.Bundled(ID, a, Limits)
}

// Check says what is wrong with an account.
func Check(a channel.Account) error {
	switch {
	case a.Texts[KeyHost] == "":
		return errors.New("no server is named: set channels.irc.host, for example irc.libera.chat")
	case (a.Texts[KeyLogin] == "") != (a.Secrets[KeyLoginPW] == ""):
		return errors.New("account and accountPassword belong together: set both, or none")
	case a.Secrets[KeyLoginPW] != "" && a.Texts[KeyTLS] == "false":
		return errors.New("accountPassword would be sent where everybody can read it: set tls to true, or remove it")
	}
	return nil
}

func isHost(s string) bool { return !strings.ContainsAny(s, " /:@") || strings.Count(s, ":") > 1 }

func isLine(s string) bool { return s != "" && !strings.ContainsAny(s, "\r\n\x00") }

func isNick(s string) bool {
	if s == "" || len(s) > 30 || s[0] == '-' || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_[]{}\\|^`") == ""
}

func isChannel(s string) bool {
	return IsChannel(s) && len(s) <= 50 && !strings.ContainsAny(s, " ,\a\r\n\x00")
}
