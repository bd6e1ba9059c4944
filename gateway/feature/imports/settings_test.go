package imports_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// settingsOf is a folder of OpenClaw with nothing but settings.
func settingsOf(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	gatewaytest.PutFile(t, dir, "openclaw.json", []byte(text))
	return dir
}

// file is what the settings file says at a path; "": nothing.
func (h here) file(keys ...string) string {
	h.t.Helper()
	var cfg protocol.ConfigSnapshot
	h.Do(protocol.MethodConfigGet, nil, &cfg)
	raw := cfg.Parsed
	for _, k := range keys {
		var o map[string]json.RawMessage
		if json.Unmarshal(raw, &o) != nil {
			return ""
		}
		raw = o[k]
	}
	return string(raw)
}

func row(rep protocol.ImportReport, kind string) protocol.ImportRow {
	i := slices.IndexFunc(rep.Rows, func(r protocol.ImportRow) bool { return r.Kind == kind })
	if i < 0 {
		return protocol.ImportRow{}
	}
	return rep.Rows[i]
}

// why is the reason that something is not taken for; "": it is.
func why(rep protocol.ImportReport, name string) string {
	for _, l := range rep.Left {
		if slices.Contains(l.Names, name) {
			return l.Why
		}
	}
	return ""
}

// What is set here stays as it is, also where it is written in a shorter form than there,
// and half of a thing is not put together with half of another one.
func TestSettingsHereStay(t *testing.T) {
	h := start(t)
	h.Patch(map[string]any{
		"agents":   map[string]any{"defaults": map[string]any{"model": "chat/echo"}},
		"models":   map[string]any{"providers": map[string]any{"mine": map[string]any{"api": "openai-completions", "apiKey": "${MINE}"}}},
		"channels": map[string]any{"irc": map[string]any{"enabled": true, "host": "127.0.0.1", "nick": "h"}},
	})
	dir := settingsOf(t, `{
		agents: { defaults: { model: { primary: "a/b", fallbacks: ["c/d"] }, userTimezone: "Europe/Vienna" },
			list: [{ id: "work", default: true, model: "a/b" }, { id: "main", model: "a/b", name: "M" }] },
		models: { providers: { mine: { baseUrl: "http://127.0.0.1:9/v1" } } },
		channels: { irc: { nick: "other" } }, session: { dmScope: "per-peer" }, messages: { responsePrefix: "[claw]", ackReaction: "x" } }`)
	before := []string{h.file("agents", "defaults", "model"), h.file("models", "providers", "mine"), h.file("channels")}
	rep := h.take("openclaw", dir)
	after := []string{h.file("agents", "defaults", "model"), h.file("models", "providers", "mine"), h.file("channels")}
	if !slices.Equal(before, after) {
		t.Errorf("what was\n%q\nis now\n%q", before, after)
	}
	want := []string{
		"agents.defaults.model.fallbacks", "agents.defaults.model.primary", "channels.irc.nick", "models.providers.mine.baseUrl",
		"agents.list[work].default", "agents.list[main].model",
	}
	news := []string{"agents.defaults.userTimezone", "agents.list"}
	if r := row(rep, "setting"); !slices.Equal(r.Kept, want) || !slices.Equal(r.Names, news) {
		t.Errorf("new: %q, here: %q", r.Names, r.Kept)
	}
	if got := h.file("agents", "list"); strings.Contains(got, `"model":"a/b","name"`) || strings.Count(got, "default") != 1 {
		t.Errorf("the agents: %s", got)
	}
	for _, name := range []string{"session.dmScope", "messages.responsePrefix"} {
		if !strings.Contains(why(rep, name), "connected here") || h.file(strings.Split(name, ".")...) != "" {
			t.Errorf("%s, which changes how a network here answers: %q", name, why(rep, name))
		}
	}
}

// What would only lock out or warn for ever is left, each for the reason that holds; keys
// in variables are kept as keys.
func TestSettingsThatAreLeft(t *testing.T) {
	h := start(t)
	h.Patch(map[string]any{"secrets": map[string]any{"backend": "plain"}})
	rep := h.take("openclaw", settingsOf(t, `{
		env: { OPENROUTER_API_KEY: "sk-or-v1-0123456789abcdef", OTHER: "x",
			vars: { GROQ_API_KEY: "gsk_0123456789abcdef", URL: "http://127.0.0.1:9/v1" } },
		agents: { defaults: { models: { "a/b": { alias: "opus" } }, thinkingDefault: "high", timeFormat: "24" } },
		models: { mode: "merge", providers: { x: { api: "openai-completions", baseUrl: "${URL}", models: [{ id: "m", blah: 1 }] } } },
		messages: { ackReaction: "x", responsePrefix: "[claw]" },
		channels: { telegram: { dmPolicy: "pairing", groupPolicy: "open" } } }`))
	for name, reason := range map[string]string{
		"agents.defaults.models": "only models", "agents.defaults.thinkingDefault": "no such setting", "models.mode": "no such setting",
		"messages.ackReaction": "no such setting", "models.providers.x.models[0].blah": "no such setting",
		"channels.telegram.dmPolicy": "open or allowed", "channels.telegram.groupPolicy": "lets everybody", "env.OTHER": "no model service",
	} {
		if got := why(rep, name); !strings.Contains(got, reason) {
			t.Errorf("%s: %q", name, got)
		}
	}
	want := []string{
		"agents.defaults.timeFormat", "messages.responsePrefix", "models.providers.x.api", "models.providers.x.baseUrl",
		"models.providers.x.models",
	}
	if r := row(rep, "setting"); !slices.Equal(r.Names, want) {
		t.Errorf("new: %q", r.Names)
	}
	if got := h.file("models", "providers", "x", "baseUrl"); got != `"http://127.0.0.1:9/v1"` {
		t.Errorf("the address: %s", got)
	}
	if r := row(rep, "key"); r.New != 2 || !slices.Equal(r.Names, []string{"env.GROQ_API_KEY", "env.OPENROUTER_API_KEY"}) {
		t.Errorf("keys: %+v", r)
	}
	var cfg protocol.ConfigSnapshot
	h.Do(protocol.MethodConfigGet, nil, &cfg)
	for _, w := range cfg.Warnings {
		if w.Path != "secrets.backend" {
			t.Errorf("Hearth warns of what came in: %+v", w)
		}
	}
}
