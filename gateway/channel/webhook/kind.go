// Package webhook is a network for programs that can send and take a signed request:
// an automation, a home server, a site's chat. Messages come in by POST and go out
// by POST, both signed as standardwebhooks.com says. It owns the shapes of these
// requests; what may be sent to an address, and when again, is not its business.
package webhook

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/secret"
	signature "github.com/hearth-assistant/hearth/gateway/webhook"
)

// id is the network's name in keys, routes and settings.
const id = "webhook"

// Keys of an account.
const (
	keySecret  = "secret"
	keyAddress = "url"
	keyCan     = "can"
	keyOnce    = "once"
)

// leastKey is how many bytes a secret holds at least, as standardwebhooks.com says.
const leastKey = 24

// pathOf is where the gateway takes what an account's program sends.
func pathOf(account string) string { return "/api/channels/webhook/" + account }

var pathSafe = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// abilities are what a program may say that it can do with a message of ours.
var abilities = map[string]channel.Ability{
	"edit": channel.CanEdit, "delete": channel.CanDelete, "typing": channel.CanType, "react": channel.CanReact,
}

// Kind describes webhooks.
func Kind() channel.Kind {
	return channel.Kind{
		ID: id, Label: "Webhook", Connects: keySecret,
		Settings: []channel.Setting{
			{Key: keySecret, Form: channel.SecretText, Valid: usableSecret,
				About: "what both sides sign with: `whsec_` and at least 24 bytes in base64, as `openssl rand -base64 32` makes them",
				Help:  "a secret is whsec_ and at least 24 bytes in base64; make one with: echo whsec_$(openssl rand -base64 32)"},
			{Key: keyAddress, Form: channel.WebAddress, About: "where your program takes what Hearth says", Unset: "none: nothing can be said"},
			{Key: keyCan, Form: channel.WordList, Valid: func(s string) bool { return abilities[s] != "" },
				Help:  "one of edit, delete, typing, react",
				About: "what your program does beside taking messages: `edit`, `delete`, `typing`, `react`", Unset: "nothing"},
			{Key: keyOnce, Form: channel.OnOff, Shared: true, About: "your program takes a `Webhook-Id` once, however often it comes. Then a " +
				"message whose answer was lost is sent again; without it, it is shown as uncertain"},
		},
		SetUp: []string{"Make a secret that both sides sign with: echo \"whsec_$(openssl rand -base64 32)\"",
			"Give it to your program too. docs/channels/webhook.md says what it posts, and how that is signed."},
		First:   "Let your program post a message to /api/channels/webhook/ACCOUNT of this gateway (ACCOUNT: default).",
		MaxFile: 1, MaxFileWhy: "Webhooks carry the addresses of files, not the files",
		New:     open,
		IsGroup: func(conversation string) bool { return strings.HasPrefix(conversation, "#") },
		Blocks:  true,
	}
}

func usableSecret(s string) bool {
	key, err := signature.StandardKey(secret.New(s))
	return err == nil && len(key) >= leastKey
}

// open makes the channel of an account.
func open(a channel.Account) (channel.Channel, error) {
	key := a.Secrets[keySecret]
	switch {
	case key == "":
		return nil, errors.New("no secret is set: anybody could write in your name. Set channels.webhook.secret")
	case !usableSecret(key):
		return nil, errors.New("channels.webhook.secret is whsec_ and at least 24 bytes in base64; make one with: " +
			"echo whsec_$(openssl rand -base64 32)")
	case len(a.ID) > 64 || !pathSafe.MatchString(a.ID):
		return nil, fmt.Errorf("the account %q is part of an address: name it with letters, digits, _ and -", a.ID)
	}
	return newEndpoint(a, secret.New(key)), nil
}
