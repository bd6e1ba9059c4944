// Package networks is the one list of messaging networks. What each is stands in its
// own folder beside this one.
package networks

import (
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/discord"
	"github.com/hearth-assistant/hearth/gateway/channel/email"
	"github.com/hearth-assistant/hearth/gateway/channel/googlechat"
	"github.com/hearth-assistant/hearth/gateway/channel/imessage"
	"github.com/hearth-assistant/hearth/gateway/channel/irc"
	"github.com/hearth-assistant/hearth/gateway/channel/line"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix"
	"github.com/hearth-assistant/hearth/gateway/channel/mattermost"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams"
	"github.com/hearth-assistant/hearth/gateway/channel/nextcloudtalk"
	"github.com/hearth-assistant/hearth/gateway/channel/program"
	"github.com/hearth-assistant/hearth/gateway/channel/signal"
	"github.com/hearth-assistant/hearth/gateway/channel/slack"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram"
	"github.com/hearth-assistant/hearth/gateway/channel/webhook"
	"github.com/hearth-assistant/hearth/gateway/channel/whatsapp"
	"github.com/hearth-assistant/hearth/gateway/channel/xmpp"
	"github.com/hearth-assistant/hearth/gateway/channel/zulip"
)

// List is the networks there are.
func List() channel.Kinds {
	return channel.Kinds{
		telegram.Kind(),
		discord.Kind(),
		email.Kind(),
		googlechat.Kind(),
		irc.Kind(),
		line.Kind(),
		mattermost.Kind(),
		msteams.Kind(),
		nextcloudtalk.Kind(),
		signal.Kind(),
		imessage.Kind(),
		slack.Kind(),
		xmpp.Kind(),
		zulip.Kind(),
		matrix.Kind(),
		webhook.Kind(),
		whatsapp.Kind(),
		program.Kind(),
	}
}
