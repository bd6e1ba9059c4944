// Package email describes e-mail to the gateway: its settings and limits. The client
// itself is in package client, which only the program hearth-channels links.
package email

import (
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
)

// ID is the network's name in keys, routes and settings.
const ID = "email"

// Keys of an account.
const (
	KeyAddress  = "address"
	KeyUser     = "username"
	KeyPassword = "password"
	KeyIMAPHost = "imapHost"
	KeyIMAPPort = "imapPort"
	KeySMTPHost = "smtpHost"
	KeySMTPPort = "smtpPort"
	KeyFolder   = "folder"
	KeyDisplay  = "displayName"
	KeyResults  = "authenticationServer"
	KeyTLS      = "tls"
)

// MaxMessage is the largest message that is read, in bytes: most servers take no
// larger one.
const MaxMessage = 25 << 20

// Limits of a message. Encoded for the way, a file is a third larger, so less than
// MaxMessage can be sent.
var Limits = channel.Limits{
	Text: 100_000, Unit: channel.Characters, Caption: 100_000, Dialect: channel.HTML, Files: 15 << 20, Together: 20,
}

// Kind describes e-mail.
func Kind() channel.Kind {
	return channel.Kind{
		ID: ID, Label: "E-mail", Connects: KeyAddress,
		Settings: []channel.Setting{
			{Key: KeyAddress, Form: channel.Words, Valid: IsAddress, Help: "an address, like hearth@example.org",
				About: "the assistant's own address. Give it a mailbox that is not yours", Alone: "both would answer the same mail"},
			{Key: KeyUser, Form: channel.Words, Valid: isLine, Help: "one line", About: "the name to log in with", Unset: "as `address`"},
			{Key: KeyPassword, Form: channel.SecretText, Needed: true, Valid: isLine, Help: "one line",
				About: "the password of the mailbox; where the provider has passwords for single programs, one of those"},
			{Key: KeyIMAPHost, Form: channel.Words, Needed: true, Valid: isHost, Help: "a server's name, like imap.example.org",
				About: "the server that mail is read from"},
			{Key: KeyIMAPPort, Form: channel.PortNumber, About: "its port; at 143 the connection is encrypted with STARTTLS", Unset: "993"},
			{Key: KeySMTPHost, Form: channel.Words, Needed: true, Valid: isHost, Help: "a server's name, like smtp.example.org",
				About: "the server that takes mail to send"},
			{Key: KeySMTPPort, Form: channel.PortNumber, About: "its port; at 587 and 25 the connection is encrypted with STARTTLS", Unset: "465"},
			{Key: KeyFolder, Form: channel.Words, Valid: isLine, Help: "the name of a folder", About: "the folder that is read", Unset: "INBOX"},
			{Key: KeyDisplay, Form: channel.Words, Valid: isLine, Help: "a name", About: "the name beside the address", Unset: "Hearth"},
			{Key: KeyResults, Form: channel.Words, Valid: isHost, Help: "the first word of the header Authentication-Results, like mx.example.org",
				About: "the name under which your own mail server writes into a message whether its sender is proven (the first word of the " +
					"topmost `Authentication-Results`). Name only a server that removes what others wrote under its name",
				Unset: "senders are proven by their DKIM signature alone"},
			{Key: KeyTLS, Form: channel.OnOff, On: true, About: "`false` is for tests with servers on this computer, and refused with any other"},
		},
		SetUp: []string{"Make a new mailbox for the assistant, at a provider with IMAP and SMTP. Do not give it your own.",
			"Where the provider has passwords for single programs, make one for it."},
		First:   "Write a mail to its address.",
		MaxFile: 25, MaxFileWhy: "Most mail servers take no larger message, and 15 are the most that is sent",
		New: open,
	}
}

// open makes the channel of an account.
func open(a channel.Account) (channel.Channel, error) {
	if err := Check(a); err != nil {
		return nil, err
	}
	return program.Bundled(ID, a, Limits, channel.CanFetch)
}

// Check says what is wrong with an account.
func Check(a channel.Account) error {
	switch {
	case !IsAddress(a.Texts[KeyAddress]):
		return errors.New("the assistant has no address of its own: set channels.email.address, for example hearth@example.org")
	case a.Texts[KeyIMAPHost] == "":
		return errors.New("no server is named that mail is read from: set channels.email.imapHost; your provider's help calls it IMAP")
	case a.Texts[KeySMTPHost] == "":
		return errors.New("no server is named that mail is sent with: set channels.email.smtpHost; your provider's help calls it SMTP")
	case a.Secrets[KeyPassword] == "":
		return errors.New("the password of the mailbox is missing: hearth config set channels.email.password asks for it")
	}
	if a.Texts[KeyTLS] != "false" {
		return nil
	}
	for _, key := range []string{KeyIMAPHost, KeySMTPHost} {
		if ip, err := netip.ParseAddr(a.Texts[key]); err != nil || !ip.IsLoopback() {
			return fmt.Errorf("the password would be sent to %s where everybody can read it: remove channels.email.tls", a.Texts[key])
		}
	}
	return nil
}

// IsAddress reports whether a text is one address as servers take it, without a name.
func IsAddress(s string) bool {
	if len(s) > 254 || s == "" || s[0] == '#' || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return false
	}
	a, err := mail.ParseAddress(s)
	return err == nil && a.Name == "" && a.Address == s && strings.Contains(s[strings.LastIndexByte(s, '@')+1:], ".")
}

func isHost(s string) bool { return s != "" && len(s) < 254 && !strings.ContainsAny(s, " /@\r\n\x00") }

func isLine(s string) bool { return s != "" && !strings.ContainsAny(s, "\r\n\x00") }
