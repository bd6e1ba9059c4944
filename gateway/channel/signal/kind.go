// Package signal describes Signal to the gateway: its settings, limits and groups. The
// client itself is in package client, which only the program hearth-channels links. It
// speaks to signal-cli, a program that the person runs and that holds the keys.
package signal

import (
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
)

// ID is the network's name in keys, routes and settings.
const ID = "signal"

// Keys of an account, called as other gateways call them.
const (
	KeyAccount  = "account"
	KeyURL      = "httpUrl"
	KeyHost     = "httpHost"
	KeyPort     = "httpPort"
	KeyReceipts = "sendReadReceipts"
)

// PersonSign begins what somebody is called: the number of their account at Signal,
// which stays when they get another phone number.
const PersonSign = "uuid:"

// Limits of a message. What is longer than 2,000 bytes travels as a file that programs
// show as text. Programs take ten edits of a message, for a day.
var Limits = channel.Limits{
	Text: 4000, Caption: 4000, Dialect: channel.PlainText, EditPace: 3 * time.Second, EditWindow: 24 * time.Hour, Edits: 10,
	Typing: 15 * time.Second, Files: MostFile, Together: 10, Reactions: true,
}

// MostFile is the largest file. Signal takes 100 MB; it travels to signal-cli within a
// request, which both programs hold as a whole.
const MostFile = 32 << 20

// Kind describes Signal.
func Kind() channel.Kind {
	return channel.Kind{
		ID: ID, Label: "Signal", Connects: KeyAccount,
		Settings: []channel.Setting{
			{Key: KeyAccount, Form: channel.Words, Valid: IsNumber, Help: "expected the phone number with + and the country, like +4915112345678",
				About: "the assistant's own phone number at Signal, as signal-cli knows it", Alone: "both would answer the same messages"},
			{Key: KeyURL, Form: channel.WebAddress, Shared: true, About: "the address of signal-cli's HTTP interface",
				Unset: "made of `httpHost` and `httpPort`"},
			{Key: KeyHost, Form: channel.Words, Shared: true, Valid: isHost, Help: "expected the name or address of a computer",
				About: "the computer that signal-cli runs on", Unset: "`127.0.0.1`"},
			{Key: KeyPort, Form: channel.PortNumber, Shared: true, About: "the port of its HTTP interface", Unset: "8080"},
			{Key: KeyReceipts, Form: channel.OnOff, Shared: true, About: "tell people that the assistant has read what they wrote to it directly"},
		},
		SetUp: []string{
			"Get signal-cli from https://github.com/AsamK/signal-cli and a phone number of the assistant's own.",
			"Register the number (signal-cli -a +49… register, then verify), or link signal-cli to the assistant's phone (signal-cli link).",
			"Start it and let it run: signal-cli -a +49… daemon --http 127.0.0.1:8080 --receive-mode on-connection --no-receive-stdout",
		},
		First: "With your own Signal, write to the assistant's number.",
		Later: []string{"cliPath", "autoStart", "startupTimeoutMs", "receiveMode", "ignoreAttachments", "ignoreStories", "dmHistoryLimit",
			"dms", "actions", "reactionLevel", "reactionNotifications", "reactionAllowlist", "configWrites", "name", "capabilities", "markdown",
			"heartbeat", "defaultTo", "apiMode"},
		LaterAccount: []string{"cliPath", "autoStart", "name"},
		MaxFile:      MostFile >> 20, MaxFileWhy: "Signal takes 100; Hearth and signal-cli hold a file as a whole on its way",
		New:     open,
		IsGroup: isGroup,
		LogOut: "The login is signal-cli's: `signal-cli -a NUMBER unregister`, or on the phone that it is linked to Settings, Linked devices, " +
			"ends it",
	}
}

// isGroup: people have their sign, groups the id that signal-cli gives them.
func isGroup(conversation string) bool { return !strings.HasPrefix(conversation, PersonSign) }

// open makes the channel of an account.
func open(a channel.Account) (channel.Channel, error) {
	if err := Check(a); err != nil {
		return nil, err
	}
	return program.Bundled(ID, a, Limits, channel.Writing()...)
}

// Check says what is wrong with an account.
func Check(a channel.Account) error {
	switch {
	case a.Texts[KeyAccount] == "":
		return errors.New("no phone number is named: set channels.signal.account to the assistant's own, as signal-cli knows it")
	case !IsNumber(a.Texts[KeyAccount]):
		return errors.New("channels.signal.account is no phone number: it begins with + and the country, like +4915112345678")
	}
	if u, err := url.Parse(Address(a)); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" {
		return errors.New("channels.signal.httpUrl is no address of signal-cli: it looks like http://127.0.0.1:8080")
	}
	return nil
}

// Address is where signal-cli is, without a slash at its end.
func Address(a channel.Account) string {
	if at := a.Texts[KeyURL]; at != "" {
		return strings.TrimRight(at, "/")
	}
	host, port := a.Texts[KeyHost], a.Texts[KeyPort]
	if host == "" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "8080"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// IsNumber reports whether a text is a phone number with its country.
func IsNumber(s string) bool {
	digits, ok := strings.CutPrefix(s, "+")
	return ok && len(digits) >= 7 && len(digits) <= 15 && strings.Trim(digits, "0123456789") == "" && digits[0] != '0'
}

func isHost(s string) bool { return s != "" && !strings.ContainsAny(s, "/ @?#") }
