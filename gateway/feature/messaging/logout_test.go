package messaging_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// TestLogout: the token of an account is forgotten and the account ends, who may write to
// it stays, and where there is no login it says what to do instead.
func TestLogout(t *testing.T) {
	p, _, root := settable(t)
	var added protocol.ChannelAdded
	p.Do(protocol.MethodChannelsAdd, protocol.ChannelAddParams{Channel: "telegram",
		Values: map[string]string{"botToken": gatewaytest.BotToken, "apiRoot": root}}, &added)
	p.Patch(map[string]any{"channels": map[string]any{"telegram": map[string]any{"allowFrom": []string{"777"}}}})
	gatewaytest.WaitFor(t, "the account to be connected", func() bool { a, _ := accountOf(p, "telegram", "default"); return a.Connected })
	var out protocol.ChannelLoggedOut
	p.Do(protocol.MethodChannelsLogout, protocol.ChannelAccountParams{Channel: "telegram"}, &out)
	if !out.Cleared || !out.LoggedOut || out.EnvToken || out.AccountID != "default" || out.Channel != "telegram" ||
		!strings.Contains(out.Message, "Hearth has forgotten botToken") || !strings.Contains(out.Message, "revoke it there") {
		t.Errorf("%+v", out)
	}
	gatewaytest.WaitFor(t, "the account to be gone", func() bool { _, there := accountOf(p, "telegram", "default"); return !there })
	var cfg protocol.ConfigSnapshot
	p.Do(protocol.MethodConfigGet, nil, &cfg)
	if strings.Contains(*cfg.Raw, "botToken") || !strings.Contains(*cfg.Raw, "777") || secretNames(p) != "" {
		t.Errorf("%s\n%s", *cfg.Raw, secretNames(p))
	}
	for network, why := range map[string]string{"telegram": "no account", "smoke": "smoke"} {
		if said := p.Refused(protocol.MethodChannelsLogout, protocol.ChannelAccountParams{Channel: network}); !strings.Contains(said, why) {
			t.Error(said)
		}
	}

	added = protocol.ChannelAdded{}
	p.Do(protocol.MethodChannelsAdd, protocol.ChannelAddParams{Channel: "telegram", // it can be set up again
		Values: map[string]string{"botToken": gatewaytest.BotToken, "apiRoot": root}}, &added)
	if !added.OK || added.Fresh {
		t.Errorf("%+v", added)
	}
	gatewaytest.WaitFor(t, "the account to be back", func() bool { a, _ := accountOf(p, "telegram", "default"); return a.Connected })

	p.Patch(map[string]any{"channels": map[string]any{"signal": map[string]any{"account": "+4915112345678", "httpPort": 1}}})
	if said := p.Refused(protocol.MethodChannelsLogout, protocol.ChannelAccountParams{Channel: "signal"}); !strings.Contains(said,
		"cannot be logged out here, so nothing was changed. The login is signal-cli's") ||
		!strings.Contains(said, "hearth channels stop signal") {
		t.Error(said)
	}
}

// TestLogoutLeavesWhatIsElsewhere: what a setting only refers to is left where it stands,
// and an account that would be connected without its password is switched off.
func TestLogoutLeavesWhatIsElsewhere(t *testing.T) {
	p, _, _ := settable(t)
	p.Do(protocol.MethodSecretsSet, protocol.SecretSetParams{Name: "mine", Value: "a-password-of-irc"}, nil)
	p.Patch(map[string]any{"channels": map[string]any{"irc": map[string]any{"host": "127.0.0.1", "port": 1, "tls": false, "nick": "hearth",
		"password": "keychain:mine"}}})
	var out protocol.ChannelLoggedOut
	p.Do(protocol.MethodChannelsLogout, protocol.ChannelAccountParams{Channel: "irc"}, &out)
	if !out.Cleared || !out.LoggedOut || !strings.Contains(out.Message, "What stands elsewhere was left there: keychain:mine") {
		t.Errorf("%+v", out)
	}
	var cfg protocol.ConfigSnapshot
	p.Do(protocol.MethodConfigGet, nil, &cfg)
	if a, there := accountOf(p, "irc", "default"); !there || a.Enabled || strings.Contains(*cfg.Raw, "password") || secretNames(p) != "mine" {
		t.Errorf("%+v\n%s\n%s", a, *cfg.Raw, secretNames(p))
	}
	p.Do(protocol.MethodChannelsStart, protocol.ChannelAccountParams{Channel: "irc"}, nil)
	if said := p.Refused(protocol.MethodChannelsLogout, protocol.ChannelAccountParams{Channel: "irc"}); !strings.Contains(said,
		"IRC (default) cannot be logged out here") {
		t.Error(said)
	}
}
