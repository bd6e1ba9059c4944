package messaging_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// settable is a gateway without networks that keeps secrets in a file, and a Bot API
// server that its bots can be on.
func settable(t *testing.T) (*gatewaytest.Peer, *telegramtest.Server, string) {
	t.Helper()
	api := telegramtest.New(gatewaytest.BotToken)
	t.Cleanup(api.Close)
	front := httptest.NewServer(api)
	t.Cleanup(front.Close)
	api.AddChat(telegramtest.Chat{ID: gatewaytest.Anna, Type: "private"})
	p := gatewaytest.New(t, "chat/echo").Connect()
	p.Patch(map[string]any{"secrets": map[string]any{"backend": "plain"}})
	return p, api, front.URL
}

func accountOf(p *gatewaytest.Peer, network, id string) (a protocol.ChannelAccountStatus, ok bool) {
	var st protocol.ChannelsStatus
	p.Do(protocol.MethodChannelsStatus, nil, &st)
	for _, a := range st.ChannelAccounts[network] {
		if a.AccountID == id {
			return a, true
		}
	}
	return a, false
}

func secretNames(p *gatewaytest.Peer) string {
	var l protocol.SecretsList
	p.Do(protocol.MethodSecretsList, nil, &l)
	var names []string
	for _, s := range l.Secrets {
		names = append(names, s.Name)
	}
	return strings.Join(names, " ")
}

// TestChannelKinds: every network says how it is set up.
func TestChannelKinds(t *testing.T) {
	p := gatewaytest.New(t, "chat/echo").Connect()
	var kinds protocol.ChannelKinds
	p.Do(protocol.MethodChannelsKinds, nil, &kinds)
	manifests := 0
	for _, k := range kinds.Kinds {
		needed := 0
		for _, s := range k.Settings {
			if s.Needed {
				needed++
			}
		}
		if k.Label == "" || len(k.Steps) == 0 || k.First == "" || needed == 0 {
			t.Errorf("%s: %d steps, %q, %d settings that are needed", k.ID, len(k.Steps), k.First, needed)
		}
		if k.Manifest != nil && strings.Contains(k.Manifest.Text, "socket_mode_enabled: true") {
			manifests++
		}
	}
	if len(kinds.Kinds) < 8 || manifests != 1 {
		t.Errorf("%d networks, %d manifests", len(kinds.Kinds), manifests)
	}
}

// TestSettingAnAccountUp: it is connected without a restart, its token is where keys
// are kept, and switching it off and taking it out work the same way.
func TestSettingAnAccountUp(t *testing.T) {
	p, api, root := settable(t)
	add := func(values map[string]string, account string) (r protocol.ChannelAdded) {
		p.Do(protocol.MethodChannelsAdd, protocol.ChannelAddParams{Channel: "telegram", AccountID: account, Values: values}, &r)
		return r
	}
	if r := add(map[string]string{"botToken": "nothing", "apiRoot": root, "color": "red"}, ""); r.OK || r.Wrong["botToken"] == "" ||
		r.Wrong["color"] == "" || secretNames(p) != "" {
		t.Errorf("a wrong token: %+v, %s is kept", r, secretNames(p))
	}
	if said := p.Refused(protocol.MethodChannelsAdd, protocol.ChannelAddParams{Channel: "smoke"}); !strings.Contains(said, "smoke") {
		t.Error(said)
	}
	if r := add(map[string]string{"botToken": gatewaytest.BotToken, "apiRoot": root}, ""); !r.OK || !r.Fresh {
		t.Fatalf("%+v", r)
	}
	gatewaytest.WaitFor(t, "the account to be connected", func() bool {
		a, ok := accountOf(p, "telegram", "default")
		return ok && a.Connected && a.State == "receiving" && a.Name != ""
	})
	var cfg protocol.ConfigSnapshot
	p.Do(protocol.MethodConfigGet, nil, &cfg)
	if !strings.Contains(*cfg.Raw, "keychain:channels.telegram.botToken") || secretNames(p) != "channels.telegram.botToken" {
		t.Errorf("%s\n%s", *cfg.Raw, secretNames(p))
	}
	gatewaytest.AnnaSays(api, "hi")
	gatewaytest.WaitFor(t, "the message", func() bool { a, _ := accountOf(p, "telegram", "default"); return a.LastInboundAt > 0 })
	gatewaytest.WaitSent(t, api, 1, "with this code")
	if said := p.Refused(protocol.MethodChannelsAdd, protocol.ChannelAddParams{Channel: "telegram"}); !strings.Contains(said, "already") {
		t.Error(said)
	}

	var stopped protocol.ChannelStopped
	p.Do(protocol.MethodChannelsStop, protocol.ChannelAccountParams{Channel: "telegram"}, &stopped)
	gatewaytest.WaitFor(t, "the account to be off", func() bool {
		a, ok := accountOf(p, "telegram", "default")
		return ok && !a.Enabled && !a.Connected && a.State == "stopped"
	})
	p.Do(protocol.MethodChannelsStart, protocol.ChannelAccountParams{Channel: "telegram"}, nil)
	gatewaytest.WaitFor(t, "the account to be on again", func() bool { a, _ := accountOf(p, "telegram", "default"); return a.Connected })

	p.Do(protocol.MethodChannelsRemove, protocol.ChannelRemoveParams{Channel: "telegram"}, nil)
	gatewaytest.WaitFor(t, "the account to be gone", func() bool { _, there := accountOf(p, "telegram", "default"); return !there })
	p.Do(protocol.MethodConfigGet, nil, &cfg)
	if strings.Contains(*cfg.Raw, "telegram") || secretNames(p) != "" {
		t.Errorf("%s\n%s", *cfg.Raw, secretNames(p))
	}
}

// TestSeveralAccounts: what is done to one account is not done to its neighbours,
// also where their settings begin with its own.
func TestSeveralAccounts(t *testing.T) {
	p, _, root := settable(t)
	second := "654321:abcdefghijklmnopqrstuvwxyzABCDE"
	for account, token := range map[string]string{"default": gatewaytest.BotToken, "work": second} {
		var r protocol.ChannelAdded
		p.Do(protocol.MethodChannelsAdd, protocol.ChannelAddParams{Channel: "telegram", AccountID: account,
			Values: map[string]string{"botToken": token, "apiRoot": root}}, &r)
		if !r.OK {
			t.Fatalf("%+v", r)
		}
	}
	enabled := func() (out string) {
		for _, id := range []string{"default", "work"} {
			if a, ok := accountOf(p, "telegram", id); ok && a.Enabled {
				out += id + " "
			}
		}
		return out
	}
	turn := func(method, account, want string) {
		t.Helper()
		p.Do(method, protocol.ChannelAccountParams{Channel: "telegram", AccountID: account}, nil)
		gatewaytest.WaitFor(t, want+"to be on", func() bool { return enabled() == want })
	}
	turn(protocol.MethodChannelsStop, "default", "work ")
	turn(protocol.MethodChannelsStop, "work", "")
	turn(protocol.MethodChannelsStart, "default", "default ")
	p.Patch(map[string]any{"channels": map[string]any{"telegram": map[string]any{"enabled": false}}})
	turn(protocol.MethodChannelsStart, "work", "work ") // the network was off, with all of its accounts
	gatewaytest.WaitFor(t, "the work account to try its token", func() bool {
		a, _ := accountOf(p, "telegram", "work")
		return a.LastError != "" // the server does not know it
	})

	p.Do(protocol.MethodChannelsRemove, protocol.ChannelRemoveParams{Channel: "telegram"}, nil)
	var cfg protocol.ConfigSnapshot
	p.Do(protocol.MethodConfigGet, nil, &cfg)
	if _, there := accountOf(p, "telegram", "default"); there || enabled() != "work " || !strings.Contains(*cfg.Raw, root) ||
		secretNames(p) != "channels.telegram.accounts.work.botToken" {
		t.Errorf("on: %s\n%s\n%s", enabled(), secretNames(p), *cfg.Raw)
	}
}

// TestTakingBackKeepsTheRules: what stood there before an account was added stays
// when it is taken back.
func TestTakingBackKeepsTheRules(t *testing.T) {
	p, _, root := settable(t)
	p.Patch(map[string]any{"channels": map[string]any{"telegram": map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"7"}}}})
	var r protocol.ChannelAdded
	p.Do(protocol.MethodChannelsAdd, protocol.ChannelAddParams{Channel: "telegram",
		Values: map[string]string{"botToken": gatewaytest.BotToken, "apiRoot": root}}, &r)
	if !r.OK || r.Fresh {
		t.Fatalf("%+v", r)
	}
	p.Do(protocol.MethodChannelsRemove, protocol.ChannelRemoveParams{Channel: "telegram", KeepRules: true}, nil)
	var cfg protocol.ConfigSnapshot
	p.Do(protocol.MethodConfigGet, nil, &cfg)
	if !strings.Contains(*cfg.Raw, "allowlist") || strings.Contains(*cfg.Raw, "botToken") || strings.Contains(*cfg.Raw, root) ||
		secretNames(p) != "" {
		t.Errorf("%s\n%s", *cfg.Raw, secretNames(p))
	}
}

// TestSec_A_CH_OnlyTheOwnerSetsAccountsUp: reading how it is done is no right to do it.
func TestSec_A_CH_OnlyTheOwnerSetsAccountsUp(t *testing.T) {
	p := gatewaytest.New(t, "chat/echo").ConnectAs(protocol.ScopeRead, protocol.ScopeWrite)
	var kinds protocol.ChannelKinds
	p.Do(protocol.MethodChannelsKinds, nil, &kinds)
	for _, method := range []string{protocol.MethodChannelsAdd, protocol.MethodChannelsRemove, protocol.MethodChannelsStart,
		protocol.MethodChannelsStop} {
		if said := p.Refused(method, map[string]any{"channel": "telegram"}); !strings.Contains(said, "admin") {
			t.Errorf("%s: %s", method, said)
		}
	}
}
