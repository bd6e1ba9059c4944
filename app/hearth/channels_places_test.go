package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/discord"
	"github.com/hearth-assistant/hearth/gateway/channel/discord/discordtest"
	"github.com/hearth-assistant/hearth/gateway/channel/googlechat"
	"github.com/hearth-assistant/hearth/gateway/channel/googlechat/googlechattest"
	"github.com/hearth-assistant/hearth/gateway/channel/line"
	"github.com/hearth-assistant/hearth/gateway/channel/line/linetest"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix"
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
	"github.com/hearth-assistant/hearth/gateway/channel/whatsapp"
	"github.com/hearth-assistant/hearth/gateway/channel/zulip"
	"github.com/hearth-assistant/hearth/gateway/channel/zulip/zuliptest"
)

type typed = map[string]string

// places are the networks that are set up in tests: strict servers, and those of Debian.
var places = map[string]func(t *testing.T) *place{
	discord.ID: onDiscord, slack.ID: onSlack, mattermost.ID: onMattermost, zulip.ID: onZulip, signal.ID: onSignal,
	line.ID: onLine, nextcloudtalk.ID: onTalk, googlechat.ID: onGoogleChat, msteams.ID: onTeams,
	whatsapp.ID: onWhatsApp, matrix.ID: onMatrix, "email": onMail, "irc": onIRC, "xmpp": onXMPP,
}

// texts are the texts of messages.
func texts[M any](list []M, text func(M) string) (out []string) {
	for _, m := range list {
		out = append(out, text(m))
	}
	return out
}

func onDiscord(t *testing.T) *place {
	const token = "MTA0NzE1Mzk4NzIyMzEyODExMA.abcdef.abcdefghijklmnopqrstuvwxyz0123456789AB"
	s := discordtest.New(token)
	t.Cleanup(s.Close)
	ada := s.AddUser("ada", false)
	at := s.Direct(ada)
	return &place{
		right:   typed{discord.KeyToken: token, discord.KeyRoot: s.URL() + "/"},
		wrong:   typed{discord.KeyToken: strings.Replace(token, "AB", "CD", 1)},
		refused: "Reset Token",
		say:     func(text string) { s.Say(ada, at, text, nil) },
		sent:    func() []string { return texts(s.Sent(), func(m discordtest.Message) string { return m.Content }) },
	}
}

func onSlack(t *testing.T) *place {
	const bot, app = "xoxb-1234567890-abcdefghijklmno", "xapp-1-A0000000-1234567890-abcdef"
	s := slacktest.New(bot, app, slack.Scopes())
	t.Cleanup(s.Close)
	ada := s.AddUser("ada", false)
	at := s.Direct(ada)
	return &place{
		right: typed{slack.KeyBot: bot, slack.KeyApp: app, slack.KeyRoot: s.URL() + "/"}, wrong: typed{slack.KeyBot: bot + "x"},
		refused: "invalid_auth",
		say:     func(text string) { s.Say(ada, at, text, nil) },
		sent:    func() []string { return texts(s.Sent(), func(m slacktest.Message) string { return m.Text }) },
	}
}

func onMattermost(t *testing.T) *place {
	token := strings.Repeat("ab", 13)
	s := mattermosttest.New(token)
	t.Cleanup(s.Close)
	ada := s.AddUser("ada", false)
	at := s.Direct(ada)
	return &place{
		right: typed{mattermost.KeyToken: token, mattermost.KeyBase: s.URL() + "/"}, wrong: typed{mattermost.KeyToken: strings.Repeat("ba", 13)},
		refused: "botToken",
		say:     func(text string) { s.Say(ada, at, text, nil) },
		sent:    func() []string { return texts(s.Sent(), func(m mattermosttest.Post) string { return m.Message }) },
	}
}

func onZulip(t *testing.T) *place {
	key := strings.Repeat("a1", 16)
	s := zuliptest.New(key)
	t.Cleanup(s.Close)
	ada := s.AddUser("Ada", false)
	return &place{
		right: typed{zulip.KeySite: s.URL() + "/", zulip.KeyEmail: zuliptest.Email, zulip.KeyAPIKey: key},
		wrong: typed{zulip.KeyAPIKey: strings.Repeat("b2", 16)}, refused: "apiKey",
		say:  func(text string) { s.Say(ada, zuliptest.Place{People: []zuliptest.User{ada}}, text, nil) },
		sent: func() []string { return texts(s.Sent(), func(m zuliptest.Message) string { return m.Content }) },
	}
}

func onSignal(t *testing.T) *place {
	s := signaltest.New(time.Now().UnixMilli())
	t.Cleanup(s.Close)
	ada := s.AddPerson("Ada", "+491701234567")
	return &place{
		right: typed{signal.KeyAccount: signaltest.Number, signal.KeyURL: s.URL() + "/"}, wrong: typed{signal.KeyAccount: "+4915100000000"},
		refused: "signal-cli listAccounts",
		say:     func(text string) { s.Say(ada, "", map[string]any{"message": text}) },
		sent:    func() []string { return texts(s.Sent(), func(m signaltest.Message) string { return m.Text }) },
	}
}

// ids are those of messages, one after the other.
func ids() func() string {
	var n atomic.Int64
	return func() string { return strconv.FormatInt(n.Add(1), 10) }
}

func onLine(t *testing.T) *place {
	const token = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/="
	secret, id := "0123456789abcdef0123456789abcdef", ids()
	s := linetest.New(t.Context(), token, secret, channel.CallPath(line.ID, "default"))
	t.Cleanup(s.Close)
	return &place{
		right: typed{line.KeyToken: token, line.KeySecret: secret, line.KeyRoot: s.URL()}, wrong: typed{line.KeyToken: "x" + token},
		refused: "channelAccessToken", calls: s.Calls,
		say: func(text string) {
			s.Say(linetest.Event{User: "U" + strings.Repeat("a", 32), ID: id(), Message: map[string]any{"type": "text", "text": text}})
		},
		sent: func() []string { return texts(s.Sent(), func(m linetest.Message) string { return m.Text }) },
	}
}

func onTalk(t *testing.T) *place {
	secret, id := strings.Repeat("0123456789abcdef", 3), ids()
	s := nextcloudtalktest.New(t.Context(), secret, channel.CallPath(nextcloudtalk.ID, "default"))
	t.Cleanup(s.Close)
	s.AddRoom("n3xtc10ud", 1)
	return &place{
		right: typed{nextcloudtalk.KeyBase: s.URL() + "/", nextcloudtalk.KeySecret: secret, nextcloudtalk.KeyUser: nextcloudtalktest.User,
			nextcloudtalk.KeyPassword: nextcloudtalktest.Password},
		wrong: typed{nextcloudtalk.KeyPassword: "AbCdE-FgHiJ-KlMnO-PqRsT-XXXXX"}, refused: "apiPassword", calls: s.Calls,
		say: func(text string) {
			s.Say(nextcloudtalktest.Said{Token: "n3xtc10ud", ID: id(), Actor: "users/ada", Name: "Ada", Text: text})
		},
		sent: func() []string { return texts(s.Sent(), func(m nextcloudtalktest.Message) string { return m.Text }) },
	}
}

func onGoogleChat(t *testing.T) *place {
	const project = "1234567890"
	s, err := googlechattest.New(t.Context(), channel.CallPath(googlechat.ID, "default"), project)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.AddSpace("spaces/DM1", "DIRECT_MESSAGE")
	key := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	id, other := ids(), strings.Replace(s.ServiceAccount(), googlechattest.Email, "other@project.iam.gserviceaccount.com", 1)
	return &place{
		right:   typed{googlechat.KeyService: key("key.json", s.ServiceAccount()), googlechat.KeyAudience: project, googlechat.KeyRoot: s.URL()},
		wrong:   typed{googlechat.KeyService: key("other.json", other)},
		refused: "service account", calls: s.Calls,
		say: func(text string) {
			s.Say(googlechattest.Said{Space: "spaces/DM1", ID: id(), User: "users/777", Name: "Ada", Text: text})
		},
		sent: func() []string { return texts(s.Sent(), func(m googlechattest.Message) string { return m.Text }) },
	}
}

func onTeams(t *testing.T) *place {
	s, err := msteamstest.New(t.Context(), channel.CallPath(msteams.ID, "default"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.AddConversation("a:1pYzD_eF-gH", "personal")
	id := ids()
	return &place{
		right: typed{msteams.KeyApp: msteamstest.App, msteams.KeyPassword: msteamstest.Secret, msteams.KeyTenant: msteamstest.Tenant,
			msteams.KeyRoot: s.URL()},
		wrong: typed{msteams.KeyPassword: msteamstest.Secret[1:] + "x"}, refused: "appPassword", calls: s.Calls,
		say: func(text string) {
			s.Say(msteamstest.Said{Conversation: "a:1pYzD_eF-gH", ID: id(), User: "40a1a0ed-4ff2-4164-a219-55518990c197", Name: "Ada", Text: text})
		},
		sent: func() []string { return texts(s.Sent(), func(m msteamstest.Message) string { return m.Text }) },
	}
}

// door is where a network calls the gateway.
type door struct {
	channel.Channel
	t    *testing.T
	port string
}

// Call implements channel.Called.
func (d door) Call(ctx context.Context, in channel.Call) (out channel.CallAnswer, err error) {
	address := "http://127.0.0.1:" + d.port + in.Path
	if in.Query != "" {
		address += "?" + in.Query
	}
	req, err := http.NewRequestWithContext(ctx, in.Method, address, bytes.NewReader(in.Body))
	if err != nil {
		return out, err
	}
	if in.Header != nil {
		req.Header = in.Header.Clone()
	}
	req.Host = "hearth.example.org" // as out of a tunnel
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return out, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return out, fmt.Errorf("read the answer: %w", err)
	}
	return channel.CallAnswer{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}
