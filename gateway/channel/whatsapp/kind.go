// Package whatsapp describes WhatsApp to the gateway: its settings, limits and groups.
// The client is the program hearth-whatsapp (app/whatsapp), a module of its own under
// the GPL that nothing else links.
package whatsapp

import (
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
)

// ID is the network's name in keys, routes and settings.
const ID = "whatsapp"

// Program is the one that speaks to WhatsApp.
const Program = "hearth-whatsapp"

// Keys of an account.
const (
	KeyNumber   = "number"
	KeyByCode   = "pairByCode"
	KeyReceipts = "sendReadReceipts"
)

// GroupSign ends the ids of groups, HiddenSign begins those of people whose phone
// number WhatsApp does not tell.
const (
	GroupSign  = "@g.us"
	HiddenSign = "lid:"
)

// Limits of a message. WhatsApp takes more text; phones show long ones badly.
var Limits = channel.Limits{
	Text: 4000, Caption: 1000, Dialect: channel.PlainText, EditPace: 2 * time.Second, EditWindow: 20 * time.Minute,
	Typing: 10 * time.Second, Files: MostFile, Reactions: true,
	Manner: channel.Manner{Document: true, Animation: true, Voice: true},
}

// MostFile is the largest file: it is encrypted as a whole.
const MostFile = 64 << 20

// Kind describes WhatsApp.
func Kind() channel.Kind {
	return channel.Kind{
		ID: ID, Label: "WhatsApp", Connects: KeyNumber,
		Settings: []channel.Setting{
			{Key: KeyNumber, Form: channel.Words, Valid: IsNumber, Help: "expected the phone number with + and the country, like +4915112345678",
				About: "the phone number of the assistant's own WhatsApp", Alone: "both would answer the same messages"},
			{Key: KeyByCode, Form: channel.OnOff, Shared: true, About: "link it by a code that is typed into the phone, instead of a QR code"},
			{Key: KeyReceipts, Form: channel.OnOff, Shared: true, On: true, About: "show people that what they wrote was read"},
		},
		SetUp: []string{
			"Build or install hearth-whatsapp beside hearth: docs/channels/whatsapp.md says how. WhatsApp does not allow such programs and may " +
				"ban the number.",
			"Put WhatsApp on a phone with a number of the assistant's own, not yours.",
			"On that phone, open Settings, Linked devices, Link a device. The code to scan comes next.",
		},
		First: "With your own WhatsApp, write to the assistant's number.",
		Later: []string{"selfChatMode", "ackReaction", "actions", "configWrites", "debounceMs", "messagePrefix", "dmHistoryLimit", "dms",
			"markdown", "heartbeat", "reactionLevel", "name", "capabilities", "defaultTo", "authDir", "exposeErrorText", "pluginHooks", "web"},
		LaterAccount: []string{"authDir", "name", "selfChatMode"},
		MaxFile:      MostFile >> 20, MaxFileWhy: "A file is encrypted as a whole",
		New:     open,
		IsGroup: func(conversation string) bool { return strings.HasSuffix(conversation, GroupSign) },
	}
}

// open makes the channel of an account.
func open(a channel.Account) (channel.Channel, error) {
	if err := Check(a); err != nil {
		return nil, err
	}
	return program.Beside(Program, program.Options{Account: a, Network: ID, Limits: Limits, Can: append(channel.Writing(), channel.CanLogOut)})
}

// Check says what is wrong with an account.
func Check(a channel.Account) error {
	switch {
	case a.Texts[KeyNumber] == "":
		return errors.New("no phone number is named: set channels.whatsapp.number to that of the assistant's own WhatsApp")
	case !IsNumber(a.Texts[KeyNumber]):
		return errors.New("channels.whatsapp.number is no phone number: it begins with + and the country, like +4915112345678")
	}
	return nil
}

// IsNumber reports whether a text is a phone number with its country.
func IsNumber(s string) bool {
	digits, ok := strings.CutPrefix(s, "+")
	return ok && len(digits) >= 7 && len(digits) <= 15 && strings.Trim(digits, "0123456789") == "" && digits[0] != '0'
}
