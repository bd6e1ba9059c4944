// Package googlechat describes Google Chat to the gateway: its settings, limits and
// groups. The client itself is in package client, which only the program
// hearth-channels links.
package googlechat

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
)

// ID is the network's name in keys, routes and settings.
const ID = "googlechat"

// Keys of an account.
const (
	KeyService  = "serviceAccount"
	KeyKind     = "audienceType"
	KeyAudience = "audience"
	KeyBot      = "botUser"
	KeyTyping   = "typingIndicator"
	KeyRoot     = "apiRoot"
)

// Kinds of an audience: what the tokens of Google's calls are for.
const (
	ByProject = "project-number"
	ByURL     = "app-url"
)

// Limits of a message. “Is typing” is a message that becomes the answer.
var Limits = channel.Limits{
	Text: 4096, Unit: channel.Bytes, Dialect: channel.Markdown, EditPace: 1200 * time.Millisecond, Typing: 30 * time.Second, Threads: true,
}

// PersonSign begins the id of a conversation with one person, before the name of its
// space.
const PersonSign = "@"

// Kind describes Google Chat.
func Kind() channel.Kind {
	return channel.Kind{
		ID: ID, Label: "Google Chat", Connects: KeyService, Called: true, Directs: "dm",
		CalledAs: "In the Google Cloud Console it is the HTTP endpoint URL of the Chat API's Configuration (Connection settings).",
		Settings: []channel.Setting{
			{Key: KeyService, Form: channel.SecretText, Valid: IsService, About: "the JSON key of the service account",
				Help: "expected the JSON key of a service account, which Google lets you download", File: "serviceAccountFile",
				Alone: "both would answer the same messages"},
			{Key: KeyKind, Form: channel.Words, Shared: true, Valid: func(s string) bool { return s == ByProject || s == ByURL },
				Help: "expected project-number or app-url, as the Chat API's Configuration says (Authentication Audience)",
				About: "for whom Google's calls are signed: `project-number` or `app-url`, as Authentication Audience in the Chat API's " +
					"Configuration",
				Unset: "`project-number` when `audience` is digits, else `app-url`"},
			{Key: KeyAudience, Form: channel.Words, Needed: true, Valid: isAudience,
				Help:  "expected the number of the Google Cloud project, or the address that Google calls",
				About: "the number of the Google Cloud project, or the whole address that Google calls, as `audienceType` says",
				Alone: "both would take the same messages"},
			{Key: KeyBot, Form: channel.Words, Valid: isUser, Help: "expected users/ and a number",
				About: "the app's own name, like `users/1234567890`, when mentions are not noticed", Unset: "any mention of an app"},
			{Key: KeyTyping, Form: channel.Words, Shared: true, Valid: func(s string) bool { return s == "message" || s == "none" },
				Help:  "expected message or none: Google lets apps put no reactions",
				About: "`message` shows a message while the answer is made, which becomes the answer; `none` shows nothing", Unset: "`message`"},
			{Key: KeyRoot, Form: channel.WebAddress, Shared: true, Unset: "Google itself", About: "a proxy of your own that hands on " +
				"what is below `/chat.googleapis.com`, `/oauth2.googleapis.com` and `/www.googleapis.com`. It sees all messages, and whom it lets " +
				"in is let in"},
		},
		Later: []string{"serviceAccountRef", "webhookPath", "webhookUrl", "appPrincipal", "allowBots", "botLoopProtection",
			"dangerouslyAllowNameMatching", "actions", "defaultTo", "defaultAccount", "name", "requireMention", "markdown", "configWrites"},
		LaterAccount: []string{"serviceAccountRef", "webhookPath", "webhookUrl", "appPrincipal", "allowBots", "name"},
		SetUp: []string{"In the Google Cloud Console, make a project and enable the Google Chat API. It needs a Google Workspace account.",
			"Make a service account (without roles), and below Keys a new key in JSON, which is downloaded.",
			"In the Chat API's Configuration, name the app, switch on interactive features, “Join spaces and group conversations”, and HTTP " +
				"endpoint URL.",
			"Set Authentication Audience to Project Number, and copy the project's number from the console's dashboard.",
			"Below Visibility, name yourself."},
		First:   "In Google Chat, start a chat with the app by its name, and write to it.",
		MaxFile: 100, MaxFileWhy: "Files come, and cannot be sent: Google lets apps upload none",
		New:     open,
		IsGroup: func(conversation string) bool { return !strings.HasPrefix(conversation, PersonSign) },
	}
}

// open makes the channel of an account.
func open(a channel.Account) (channel.Channel, error) {
	if err := Check(a); err != nil {
		return nil, err
	}
	return program.Bundled(ID, a, Limits, channel.CanEdit, channel.CanDelete, channel.CanType, channel.CanFetch, channel.CanBeCalled)
}

// Check says what is wrong with an account.
func Check(a channel.Account) error {
	switch {
	case a.Secrets[KeyService] == "":
		return errors.New("the service account is missing: set channels.googlechat.serviceAccountFile to the JSON key that Google let you " +
			"download")
	case !IsService(a.Secrets[KeyService]):
		return errors.New("channels.googlechat.serviceAccount is no JSON key of a service account: it has client_email and private_key")
	case a.Texts[KeyAudience] == "":
		return errors.New("channels.googlechat.audience is missing: without it anybody's Chat app could write messages in your name. " +
			"Set it to the number of the Google Cloud project")
	case !isAudience(a.Texts[KeyAudience]):
		return errors.New("channels.googlechat.audience is neither the number of a project nor an https:// address")
	case a.Texts[KeyKind] == ByProject && !isNumber(a.Texts[KeyAudience]):
		return errors.New("channels.googlechat.audience has to be the number of the project, as audienceType says")
	case a.Texts[KeyKind] == ByURL && isNumber(a.Texts[KeyAudience]):
		return errors.New("channels.googlechat.audience has to be the address that Google calls, as audienceType says")
	}
	return nil
}

// Service is what a service account's JSON key says.
type Service struct {
	Email string `json:"client_email"`
	Key   string `json:"private_key"`
	KeyID string `json:"private_key_id"`
}

// IsService reports whether a text has the form of a service account's JSON key.
func IsService(s string) bool {
	var k Service
	return len(s) < 8192 && json.Unmarshal([]byte(s), &k) == nil && strings.HasSuffix(k.Email, ".gserviceaccount.com") &&
		strings.Contains(k.Key, "PRIVATE KEY")
}

func isNumber(s string) bool { return s != "" && len(s) < 24 && strings.Trim(s, "0123456789") == "" }

func isAudience(s string) bool {
	return isNumber(s) || strings.HasPrefix(s, "https://") && len(s) > len("https://") && !strings.ContainsAny(s, " \t\r\n")
}

func isUser(s string) bool { return strings.HasPrefix(s, "users/") && IsName(s[len("users/"):]) }

// IsName reports whether a text has the form of the parts of Google's names.
func IsName(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.="
	return s != "" && len(s) < 200 && strings.Trim(s, letters) == "" && strings.Trim(s, ".") != ""
}
