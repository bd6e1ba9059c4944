// Package imessage is Apple's iMessage. It speaks to imsg, a program of the person's
// own that reads the Messages of a Mac and writes with them: JSON-RPC, a line each, over
// its input and output. This package owns that exchange; which program it is, and what
// it may touch, is the person's choice.
package imessage

import (
	"errors"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// ID is the network's name in keys, routes and settings.
const ID = "imessage"

// Keys of an account, called as other gateways call them.
const (
	keyProgram  = "cliPath"
	keyDatabase = "dbPath"
	keyService  = "service"
	keyRegion   = "region"
	keyFiles    = "includeAttachments"
	keyRemote   = "remoteHost"
	keyCalled   = "calledAs"
)

// groupSign begins what a group is called: its number in the Mac's database.
const groupSign = "chat_id:"

// MostFile is the largest file, in bytes; Messages sends larger ones, badly.
const MostFile = 100 << 20

// limits of a message. Messages has no limit of text; what is longer is hard to read.
var limits = channel.Limits{Text: 4000, Caption: 4000, Dialect: channel.PlainText, Files: MostFile}

// Kind describes iMessage.
func Kind() channel.Kind {
	return channel.Kind{
		ID: ID, Label: "iMessage", Connects: keyProgram, Own: true,
		Settings: []channel.Setting{
			{Key: keyProgram, Form: channel.Words, Valid: isProgram, Alone: "both would answer the same messages",
				Help:  "expected imsg, or the whole path of a program",
				About: "the program `imsg` of the Mac, or a script that runs it on another Mac. It is not confined"},
			{Key: keyDatabase, Form: channel.Words, Valid: filepath.IsAbs, Help: "expected the whole path of a file",
				About: "the database of Messages", Unset: "that of the user that `imsg` runs as"},
			{Key: keyService, Form: channel.Words, Shared: true, Valid: isService, Help: "expected imessage, sms or auto",
				About: "how somebody is written to who has not written: `imessage`, `sms` or `auto`", Unset: "`auto`"},
			{Key: keyRegion, Form: channel.Words, Shared: true, Valid: isRegion, Help: "expected two letters, like AT",
				About: "the country of phone numbers without one", Unset: "`US`"},
			{Key: keyFiles, Form: channel.OnOff, Shared: true, About: "take the files that people send"},
			{Key: keyRemote, Form: channel.Words, Valid: isHost, Help: "expected user@computer",
				About: "where `cliPath` runs `imsg`, when that is another computer: files are fetched from there by `ssh`"},
			{Key: keyCalled, Form: channel.Words, Shared: true,
				About: "what people call the assistant in groups, where Messages knows no mentions", Unset: "`hearth`"},
		},
		SetUp: []string{
			"On a Mac that is logged in at Messages, install imsg: brew install steipete/tap/imsg. " +
				"Best is an Apple ID of the assistant's own, in a user of its own.",
			"Let it read Messages: System Settings, Privacy & Security, Full Disk Access: Hearth (or your terminal) and imsg.",
			"Try it: imsg chats --limit 1, and imsg send --to you@example.com --text hello. macOS asks whether it may use Messages.",
			"Where Hearth runs on another computer: make a script that runs imsg on the Mac by ssh, and name that.",
		},
		First: "With another Apple ID, write to the one that the Mac is logged in with.",
		Later: []string{"historyLimit", "dmHistoryLimit", "dms", "configWrites", "name", "capabilities", "markdown",
			"heartbeat", "probeTimeoutMs", "attachmentRoots", "remoteAttachmentRoots", "actions", "reactionNotifications",
			"sendTransport", "coalesceSameSenderDms", "catchup", "defaultTo", "chunkMode"},
		LaterAccount: []string{"name"},
		MaxFile:      16, MaxFileWhy: "Messages sends larger ones badly",
		New:     func(a channel.Account) (channel.Channel, error) { return New(a) },
		IsGroup: isGroup,
		LogOut:  "The login is that of Messages on the Mac: Messages, Settings, iMessage, Sign Out ends it",
	}
}

// isGroup: groups have their sign, people the number or address that they write with.
func isGroup(conversation string) bool { return strings.HasPrefix(conversation, groupSign) }

// onMac: imsg runs nowhere else.
const onMac = runtime.GOOS == "darwin"

// check says what is wrong with an account.
func check(a channel.Account, mac bool) error {
	program := a.Texts[keyProgram]
	switch {
	case program == "":
		return errors.New("no program is named: set channels.imessage.cliPath to imsg, or to a script that runs it on another Mac")
	case !isProgram(program):
		return errors.New("channels.imessage.cliPath is no program: write imsg, or the whole path of one")
	case !mac && program == "imsg":
		return errors.New("iMessage needs a Mac, and this is none: imsg runs only there. Run Hearth on the Mac, or set " +
			"channels.imessage.cliPath to a script that runs imsg on a Mac by ssh (docs/channels/imessage.md has one)")
	case a.Texts[keyRemote] != "" && !isHost(a.Texts[keyRemote]):
		return errors.New("channels.imessage.remoteHost is no computer: it looks like ada@mac-mini.local")
	}
	return nil
}

var (
	host   = regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9\[][A-Za-z0-9.:\]_-]*$`)
	region = regexp.MustCompile(`^[A-Za-z]{2}$`)
)

func isHost(s string) bool    { return len(s) < 256 && host.MatchString(s) }
func isRegion(s string) bool  { return region.MatchString(s) }
func isService(s string) bool { return s == "imessage" || s == "sms" || s == "auto" }

// isProgram: a name that is looked for where commands are, or a whole path.
func isProgram(s string) bool {
	whole := filepath.IsAbs(s) || strings.HasPrefix(s, "~/")
	return s != "" && !strings.ContainsAny(s, "\x00\r\n") && (whole || !strings.ContainsAny(s, `/\ `))
}
