package telegram

import (
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// id is the network's name in keys, routes and settings.
const id = "telegram"

// Keys of an account.
const (
	keyToken   = "botToken"
	keyServer  = "apiRoot"
	keyWebhook = "webhookUrl"
	keySecret  = "webhookSecret"

	keyBusiness = "businessAccounts"
)

// Kind describes Telegram.
func Kind() channel.Kind {
	return channel.Kind{
		ID: id, Label: "Telegram", Connects: keyToken,
		Settings: []channel.Setting{
			{Key: keyToken, Form: channel.SecretText, Valid: tokenShaped, About: "the bot's token",
				Help:  "a bot token is digits, a colon and letters; @BotFather shows it, copy all of it",
				Alone: "Telegram gives messages to one receiver only"},
			{Key: keyServer, Form: channel.WebAddress, Shared: true, About: "address of a Bot API server of your own", Unset: "Telegram's"},
			{Key: keyWebhook, Form: channel.PublicAddress, About: "public `https://` address that leads to this gateway",
				Unset: "none: Hearth asks Telegram", Needs: keySecret, NeedsWhy: "without it anybody could write messages in your name",
				Alone: "give each its own"},
			{Key: keySecret, Form: channel.SecretText, Valid: secretShaped,
				About: "needed with `webhookUrl`: 16 to 256 letters, digits, `_`, `-`, different from every other secret",
				Help:  "a webhook secret has 16 to 256 letters, digits, _ or -"},
			{Key: keyBusiness, Form: channel.WordList, Valid: accountNumber, Unset: "none", Rare: true,
				About: "Telegram Business: numbers of the accounts in whose name it answers their customers, who are guests. Each connects the " +
					"bot in Telegram",
				Help: "an account of Telegram is a number"},
		},
		SetUp: []string{"In Telegram, write to @BotFather (https://t.me/BotFather): /newbot",
			"Give it a name, and a user name that ends in “bot”.",
			"Copy the token that it shows, all of it."},
		First: "In Telegram, open your bot, choose Start, and write “hi”.",
		Later: []string{"defaultAccount", "proxy", "network", "actions", "reactionLevel",
			"ackReaction", "linkPreview", "direct", "dms", "dmHistoryLimit", "tokenFile", "name",
			"capabilities", "execApprovals", "threadBindings", "retry", "timeoutSeconds", "configWrites", "webhookPath",
			"webhookHost", "webhookPort", "markdown", "errorPolicy", "heartbeat", "autoTopicLabel"},
		LaterAccount: []string{"name", "proxy", "tokenFile"},
		MaxFile:      20, MaxFileWhy: "Telegram gives bots no more than 20 MB",
		New: open,
		IsGroup: func(conversation string) bool {
			return strings.HasPrefix(conversation, "-") || strings.HasPrefix(conversation, businessScheme)
		},
		Address: address,
		Thread:  "topic", Blocks: true,
		Menu: channel.MenuTraits{Registered: true, Most: maxCommands, Added: true, Dashless: true},
	}
}

// address reads <chat>:topic:<topic>, as OpenClaw's clients write a topic of a forum.
func address(target string) (conversation, thread string) {
	target = strings.TrimPrefix(target, "tg:")
	chat, topic, ok := strings.Cut(target, ":topic:")
	if !ok || chat == "" || topic == "" {
		return target, ""
	}
	return chat, topic
}

func accountNumber(s string) bool {
	return len(s) <= 20 && s != "" && strings.Trim(s, "0123456789") == ""
}

// open makes the channel of an account.
func open(a channel.Account) (channel.Channel, error) {
	o := Options{
		Token: a.Secrets[keyToken], Account: a.ID, BaseURL: a.Texts[keyServer], Mode: Poll,
		WebhookURL: a.Texts[keyWebhook], WebhookSecret: a.Secrets[keySecret],
		Business: strings.Fields(a.Texts[keyBusiness]), OpenFile: a.OpenFile, MaxFile: a.MaxFile, Now: a.Now, Logger: a.Logger,
	}
	if o.WebhookURL != "" {
		o.Mode = Webhook
	}
	return New(o)
}
