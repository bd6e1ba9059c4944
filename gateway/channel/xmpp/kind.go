// Package xmpp describes XMPP (Jabber) to the gateway: its settings, limits and rooms.
// The client itself is in package client, which only the program hearth-channels links.
package xmpp

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
)

// ID is the network's name in keys, routes and settings.
const ID = "xmpp"

// Keys of an account.
const (
	KeyAddress  = "address"
	KeyPassword = "password"
	KeyHost     = "host"
	KeyPort     = "port"
	KeyTLS      = "tls"
	KeyNick     = "nick"
	KeyRooms    = "rooms"
)

// Limits of a message. Servers take at least 64 KB a stanza, and a sign is up to five
// bytes in one. The largest file is what the server says when it is asked.
var Limits = channel.Limits{
	Text: 10_000, Unit: channel.Characters, Dialect: channel.PlainText, EditPace: 2 * time.Second, Typing: 20 * time.Second,
	Files: 10 << 20, Reactions: true,
}

// abilities are what an account can do.
var abilities = append(channel.Writing(), channel.CanRead)

// Kind describes XMPP.
func Kind() channel.Kind {
	return channel.Kind{
		ID: ID, Label: "XMPP", Connects: KeyAddress,
		Settings: []channel.Setting{
			{Key: KeyAddress, Form: channel.Words, Valid: IsAddress, Help: "an address, like hearth@example.org",
				About: "the assistant's own address (its JID). Give it an account that is not yours", Alone: "both would answer the same messages"},
			{Key: KeyPassword, Form: channel.SecretText, Needed: true, Valid: isLine, Help: "one line", About: "the password of the account"},
			{Key: KeyHost, Form: channel.Words, Valid: isHost, Help: "a server's name, like xmpp.example.org",
				About: "the server to connect to, where the name service does not say it", Unset: "what the name service says of the address"},
			{Key: KeyPort, Form: channel.PortNumber, About: "its port; at 5223 the connection is encrypted from its first byte, elsewhere with " +
				"STARTTLS", Unset: "5222"},
			{Key: KeyTLS, Form: channel.OnOff, On: true, About: "`false` is for tests with servers on this computer, and refused with any other"},
			{Key: KeyNick, Form: channel.Words, Valid: isNick, Help: "a name of up to 60 signs", About: "the assistant's name in rooms",
				Unset: "what stands before the @ of `address`"},
			{Key: KeyRooms, Form: channel.WordList, Valid: IsRoom, Help: "# and the address of a room, like #home@conference.example.org",
				About: "rooms that it joins, each as `#` and the room's address. It answers in those that `groups` or `groupPolicy` allow",
				Unset: "none"},
		},
		SetUp:   []string{"Make an account for the assistant on an XMPP server. Do not take your own."},
		First:   "Write to its address from your own account.",
		MaxFile: 100, MaxFileWhy: "The server may take less, and says so",
		New:     open,
		IsGroup: func(conversation string) bool { return strings.HasPrefix(conversation, RoomSign) },
	}
}

// RoomSign begins the id of a room: its address alone looks like a person's.
const RoomSign = "#"

// open makes the channel of an account.
func open(a channel.Account) (channel.Channel, error) {
	if err := Check(a); err != nil {
		return nil, err
	}
	return program.Bundled(ID, a, Limits, abilities...)
}

// Check says what is wrong with an account.
func Check(a channel.Account) error {
	switch {
	case !IsAddress(a.Texts[KeyAddress]):
		return errors.New("the assistant has no address of its own: set channels.xmpp.address, for example hearth@example.org")
	case a.Secrets[KeyPassword] == "":
		return errors.New("the password of the account is missing: hearth config set channels.xmpp.password asks for it")
	}
	if a.Texts[KeyTLS] != "false" {
		return nil
	}
	if ip, err := netip.ParseAddr(a.Texts[KeyHost]); err != nil || !ip.IsLoopback() {
		return fmt.Errorf("everything would be sent to %s where everybody can read it: remove channels.xmpp.tls",
			cmp.Or(a.Texts[KeyHost], "the server"))
	}
	return nil
}

// IsAddress reports whether a text is the address of an account: no resource, no
// signs that addresses cannot have.
func IsAddress(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	return ok && local != "" && len(local) <= 1023 && !strings.ContainsAny(local, "\"&'/:<>@ \t\r\n\x00#") && isDomain(domain)
}

// IsRoom reports whether a text is the id of a room.
func IsRoom(s string) bool {
	address, ok := strings.CutPrefix(s, RoomSign)
	return ok && IsAddress(address)
}

func isDomain(s string) bool {
	return s != "" && len(s) <= 1023 && !strings.ContainsAny(s, "@/ \t\r\n\x00<>&'\"#")
}

func isHost(s string) bool { return s != "" && len(s) < 254 && !strings.ContainsAny(s, " /@\r\n\x00") }

func isLine(s string) bool { return s != "" && !strings.ContainsAny(s, "\r\n\x00") }

func isNick(s string) bool { return isLine(s) && len(s) <= 240 && strings.TrimSpace(s) == s }
