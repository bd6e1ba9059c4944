// Package matrix describes Matrix to the gateway: its settings, limits and rooms. The
// client itself is in package client, which only the program hearth-channels links.
package matrix

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
)

// ID is the network's name in keys, routes and settings.
const ID = "matrix"

// Keys of an account.
const (
	KeyServer   = "homeserver"
	KeyUser     = "userId"
	KeyPassword = "password"
	KeyToken    = "accessToken"
	KeyDevice   = "deviceName"
	KeyInviters = "inviters"
	KeyRecovery = "recoveryKey"
)

// Limits of a message. An event has at most 65,536 bytes, is a third larger when it is
// encrypted, and a sign is up to six bytes in it; formatting is left out where it does
// not fit. The largest file is what the
// server says when it is asked.
var Limits = channel.Limits{
	Text: 7_000, Unit: channel.Bytes, Dialect: channel.HTML, EditPace: time.Second, Typing: 20 * time.Second, Files: 50 << 20,
	Reactions: true, Heard: true, Threads: true,
}

// abilities are what an account can do.
var abilities = append(channel.Writing(), channel.CanPin, channel.CanRead, channel.CanLogOut)

// Kind describes Matrix.
func Kind() channel.Kind {
	return channel.Kind{
		ID: ID, Label: "Matrix", Connects: KeyServer,
		Settings: []channel.Setting{
			{Key: KeyServer, Form: channel.WebAddress, About: "the address of the homeserver, like https://matrix.example.org"},
			{Key: KeyUser, Form: channel.Words, Needed: true, Valid: IsUser, Help: "an id, like @hearth:example.org",
				About: "the assistant's own id. Give it an account that is not yours", Alone: "both would answer the same messages"},
			{Key: KeyPassword, Form: channel.SecretText, OneOf: true, Valid: isLine, Help: "one line",
				About: "the password of the account. With it Hearth logs in as a device of its own, again when it has to"},
			{Key: KeyToken, Form: channel.SecretText, OneOf: true, Valid: isLine, Help: "one line",
				About: "an access token instead of a password; it is that of one device, which nothing else may use"},
			{Key: KeyRecovery, Form: channel.SecretText, Rare: true, Stays: true, Valid: isLine, Help: "one line",
				About: "the recovery key of the account; `hearth channels login matrix` makes one where there is none. With it Hearth " +
					"signs its device, so that it does not show as unverified, and uses the account's backup of keys"},
			{Key: KeyDevice, Form: channel.Words, Valid: isLine, Help: "a name", About: "what its device is called", Unset: "Hearth"},
			{Key: KeyInviters, Form: channel.WordList, Valid: IsUser, Help: "an id, like @ada:example.org",
				About: "people whose invitations into conversations and rooms it follows; yours above all", Unset: "nobody's"},
		},
		Later: []string{"encryption", "initialSyncLimit", "threadReplies", "autoJoin", "autoJoinAllowlist", "dm", "rooms", "deviceId",
			"name", "defaultAccount", "markdown", "configWrites"},
		SetUp: []string{"Make an account for the assistant on a homeserver, for example with https://app.element.io. Do not take your own.",
			"Note its id (like @hearth:example.org), its password and the address of the homeserver."},
		First:   "From your own account, begin a conversation with it and write “hi”. Name your own id as one whose invitations it follows.",
		MaxFile: 100, MaxFileWhy: "The server may take less, and says so",
		Streaming: "off",
		New:       open,
		IsGroup:   func(conversation string) bool { return strings.HasPrefix(conversation, "!") },
	}
}

// open makes the channel of an account.
func open(a channel.Account) (channel.Channel, error) {
	if err := Check(a); err != nil {
		return nil, err
	}
	return program.Bundled(ID, a, Limits, abilities...)
}

// Check says what is wrong with an account.
func Check(a channel.Account) error {
	u, err := url.Parse(a.Texts[KeyServer])
	switch {
	case a.Texts[KeyServer] == "":
		return errors.New("no homeserver is named: set channels.matrix.homeserver, for example https://matrix.example.org")
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("channels.matrix.homeserver is %q, which is no address that begins with https://", a.Texts[KeyServer])
	case !IsUser(a.Texts[KeyUser]):
		return errors.New("the assistant has no id of its own: set channels.matrix.userId, for example @hearth:example.org")
	case a.Secrets[KeyPassword] == "" && a.Secrets[KeyToken] == "":
		return errors.New("nothing to log in with: hearth config set channels.matrix.password asks for the password of the account")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); u.Scheme == "http" && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("the password would be sent to %s where everybody can read it: write https:// in channels.matrix.homeserver", u.Host)
	}
	return nil
}

// IsUser reports whether a text is the id of an account.
func IsUser(s string) bool {
	rest, ok := strings.CutPrefix(s, "@")
	local, server, both := strings.Cut(rest, ":")
	return ok && both && local != "" && server != "" && isID(s)
}

// IsRoom reports whether a text is the id of a room.
func IsRoom(s string) bool {
	return strings.HasPrefix(s, "!") && len(s) > 1 && isID(s)
}

func isID(s string) bool {
	return len(s) <= 255 && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

func isLine(s string) bool { return s != "" && !strings.ContainsAny(s, "\r\n\x00") }
