package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/discord"
	"github.com/hearth-assistant/hearth/gateway/channel/discord/discordtest"
	"github.com/hearth-assistant/hearth/gateway/channel/googlechat"
	"github.com/hearth-assistant/hearth/gateway/channel/googlechat/googlechattest"
	"github.com/hearth-assistant/hearth/gateway/channel/line"
	"github.com/hearth-assistant/hearth/gateway/channel/line/linetest"
	"github.com/hearth-assistant/hearth/gateway/channel/mattermost"
	"github.com/hearth-assistant/hearth/gateway/channel/mattermost/mattermosttest"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams/msteamstest"
	"github.com/hearth-assistant/hearth/gateway/channel/nextcloudtalk"
	"github.com/hearth-assistant/hearth/gateway/channel/nextcloudtalk/nextcloudtalktest"
	"github.com/hearth-assistant/hearth/gateway/channel/signal"
	"github.com/hearth-assistant/hearth/gateway/channel/signal/signaltest"
	"github.com/hearth-assistant/hearth/gateway/channel/slack"
	"github.com/hearth-assistant/hearth/gateway/channel/slack/slacktest"
	"github.com/hearth-assistant/hearth/gateway/channel/zulip"
	"github.com/hearth-assistant/hearth/gateway/channel/zulip/zuliptest"
)

// accountIdle is how long an account has done nothing when its memory is read.
const accountIdle = 3 * time.Second

// words are settings, or secrets.
type words = map[string]string

// lab is an account on a server, and somebody who writes to it.
type lab struct {
	network        string
	texts, secrets words
	say            func(context.Context) error
	calls          func(channel.Channel) // of a network that calls the account
	close          func()
	unproven       bool // nobody proves who wrote, so what comes is looked at and left
}

// says is somebody who writes without fail.
func says(do func()) func(context.Context) error {
	return func(context.Context) error { do(); return nil }
}

// strict are accounts on strict servers of ours that the account connects to.
func strict() []lab {
	const (
		discordToken = "MTA0NzE1Mzk4NzIyMzEyODExMA.abcdef.abcdefghijklmnopqrstuvwxyz0123456789AB"
		slackBot     = "xoxb-1234567890-abcdefghijklmno"
		slackApp     = "xapp-1-A0000000-1234567890-abcdef"
	)
	key26, key32 := strings.Repeat("ab", 13), strings.Repeat("a1", 16)
	d := discordtest.New(discordToken)
	dAda := d.AddUser("ada", false)
	dTown := d.Direct(dAda)
	s := slacktest.New(slackBot, slackApp, slack.Scopes())
	sAda := s.AddUser("ada", false)
	mm := mattermosttest.New(key26)
	mAda := mm.AddUser("ada", false)
	z := zuliptest.New(key32)
	zAda := z.AddUser("Ada", false)
	g := signaltest.New(time.Now().UnixMilli())
	gAda := g.AddPerson("Ada", "+491701234567")
	return []lab{
		{network: discord.ID, secrets: words{discord.KeyToken: discordToken}, texts: words{discord.KeyRoot: d.URL() + "/"}, close: d.Close,
			say: says(func() { d.Say(dAda, dTown, "hello", nil) })},
		{network: slack.ID, secrets: words{slack.KeyBot: slackBot, slack.KeyApp: slackApp}, texts: words{slack.KeyRoot: s.URL() + "/"},
			close: s.Close, say: says(func() { s.Say(sAda, s.Direct(sAda), "hello", nil) })},
		{network: mattermost.ID, secrets: words{mattermost.KeyToken: key26}, texts: words{mattermost.KeyBase: mm.URL() + "/"}, close: mm.Close,
			say: says(func() { mm.Say(mAda, mm.Direct(mAda), "hello", nil) })},
		{network: zulip.ID, secrets: words{zulip.KeyAPIKey: key32}, texts: words{zulip.KeySite: z.URL() + "/", zulip.KeyEmail: zuliptest.Email},
			close: z.Close, say: says(func() { z.Say(zAda, zuliptest.Place{People: []zuliptest.User{zAda}}, "hello", nil) })},
		{network: signal.ID, texts: words{signal.KeyAccount: signaltest.Number, signal.KeyURL: g.URL() + "/"}, close: g.Close,
			say: says(func() { g.Say(gAda, "", map[string]any{"message": "hello"}) })},
	}
}

// calling are accounts of networks that call the gateway.
func calling(ctx context.Context) ([]lab, error) {
	const (
		lineToken  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/="
		lineSecret = "0123456789abcdef0123456789abcdef"
		talkSecret = "0123456789abcdef0123456789abcdef0123456789abcdef"
		project    = "1234567890"
	)
	l := linetest.New(ctx, lineToken, lineSecret, channel.CallPath(line.ID, "default"))
	n := nextcloudtalktest.New(ctx, talkSecret, channel.CallPath(nextcloudtalk.ID, "default"))
	n.AddRoom("n3xtc10ud", 1)
	g, err := googlechattest.New(ctx, channel.CallPath(googlechat.ID, "default"), project)
	if err != nil {
		return nil, err
	}
	g.AddSpace("spaces/DM1", "DIRECT_MESSAGE")
	t, err := msteamstest.New(ctx, channel.CallPath(msteams.ID, "default"))
	if err != nil {
		return nil, err
	}
	t.AddConversation("a:1pYzD_eF-gH", "personal")
	return []lab{
		{network: line.ID, texts: words{line.KeyRoot: l.URL()}, secrets: words{line.KeyToken: lineToken, line.KeySecret: lineSecret},
			close: l.Close, calls: l.Calls, say: says(func() {
				l.Say(linetest.Event{User: "U" + strings.Repeat("a", 32), ID: "1", Message: map[string]any{"type": "text", "text": "hello"}})
			})},
		{network: nextcloudtalk.ID, texts: words{nextcloudtalk.KeyBase: n.URL() + "/", nextcloudtalk.KeyUser: nextcloudtalktest.User},
			secrets: words{nextcloudtalk.KeySecret: talkSecret, nextcloudtalk.KeyPassword: nextcloudtalktest.Password},
			close:   n.Close, calls: n.Calls, say: says(func() {
				n.Say(nextcloudtalktest.Said{Token: "n3xtc10ud", ID: "1", Actor: "users/ada", Name: "Ada", Text: "hello"})
			})},
		{network: googlechat.ID, texts: words{googlechat.KeyRoot: g.URL(), googlechat.KeyAudience: project},
			secrets: words{googlechat.KeyService: g.ServiceAccount()}, close: g.Close, calls: g.Calls, say: says(func() {
				g.Say(googlechattest.Said{Space: "spaces/DM1", ID: "1", User: "users/777", Name: "Ada", Text: "hello"})
			})},
		{network: msteams.ID, texts: words{msteams.KeyRoot: t.URL(), msteams.KeyApp: msteamstest.App, msteams.KeyTenant: msteamstest.Tenant},
			secrets: words{msteams.KeyPassword: msteamstest.Secret}, close: t.Close, calls: t.Calls, say: says(func() {
				t.Say(msteamstest.Said{Conversation: "a:1pYzD_eF-gH", ID: "1", User: "40a1a0ed-4ff2-4164-a219-55518990c197", Name: "Ada",
					Text: "hello"})
			})},
	}, nil
}

// measureChannels connects one account of each network in a process of its own, lets one
// message come, and reads what the process keeps for itself.
func measureChannels(ctx context.Context, b *bench) ([]figure, error) {
	called, err := calling(ctx)
	if err != nil {
		return nil, err
	}
	var out []figure
	measure := func(l lab, err error) {
		private := 0.0
		if err == nil {
			private, err = l.memory(ctx, b)
			l.close()
		}
		out = append(out, figure{name: "an idle account on " + l.network, measured: private, budget: 12, unit: "MB", err: err,
			note: "RssAnon of hearth-channels, connected and after one message"})
	}
	for _, l := range append(strict(), called...) {
		measure(l, nil)
	}
	for _, open := range real() {
		l, err := open(ctx, b)
		if errors.Is(err, errNotHere) {
			_, _ = fmt.Fprintf(os.Stderr, "%s is not measured: %v\n", l.network, err)
			continue
		}
		measure(l, err)
	}
	return out, nil
}

// memory is what the process of an account has for itself, in MB.
func (l lab) memory(ctx context.Context, b *bench) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	c, err := begin(ctx, b, l.network, l.texts, l.secrets)
	if err != nil {
		return 0, err
	}
	defer c.end()
	if l.calls != nil {
		l.calls(called{c: c})
	}
	if err := l.say(ctx); err != nil {
		return 0, err
	}
	if !l.unproven {
		if err := c.until(ctx, c.came); err != nil {
			return 0, fmt.Errorf("no message came: %w", err)
		}
	}
	select {
	case <-time.After(accountIdle):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("memory is measured on Linux only: %w", err)
	}
	return inStatus(status, "RssAnon:")
}
