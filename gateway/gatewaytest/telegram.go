package gatewaytest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// AnnaSays has Anna write to the bot.
func AnnaSays(api *telegramtest.Server, text string) {
	api.Say(Anna, telegramtest.Person{ID: Anna, Name: "Anna"}, text, nil)
}

// WaitSent waits for the nth message of the bot and returns it.
func WaitSent(t *testing.T, api *telegramtest.Server, n int, holds string) string {
	t.Helper()
	last := ""
	WaitFor(t, "message with "+holds, func() bool {
		got := Texts(api, Anna)
		if len(got) >= n {
			last = got[n-1]
		}
		return len(got) >= n && strings.Contains(last, holds)
	})
	return last
}

// Anna is a person on that network, and BotToken that of the bot.
const (
	BotToken = "123456:abcdefghijklmnopqrstuvwxyzABCDE"
	Anna     = int64(777)
)

// NewOnTelegram is a gateway with a bot on a Bot API server of our own.
func NewOnTelegram(t *testing.T, primary any, account map[string]any) (*Rig, *telegramtest.Server) {
	t.Helper()
	api := telegramtest.New(BotToken)
	t.Cleanup(api.Close)
	front := httptest.NewServer(api)
	t.Cleanup(front.Close)
	api.AddChat(telegramtest.Chat{ID: Anna, Type: "private"})
	r := &Rig{T: t, Dir: statedir.Dir(t.TempDir()), Model: scripted.New()}
	srv := httptest.NewServer(r.Model)
	t.Cleanup(srv.Close)
	r.ModelURL = srv.URL
	tg := map[string]any{"enabled": true, "botToken": BotToken, "apiRoot": front.URL}
	for k, v := range account {
		tg[k] = v
	}
	owners, ok := tg["owners"].([]string) // else those who may write by name are
	if owners == nil {
		owners = []string{}
	}
	if list, named := tg["allowFrom"].([]string); !ok && named {
		for _, id := range list {
			owners = append(owners, "telegram:"+id)
		}
	}
	delete(tg, "owners")
	cfg := map[string]any{
		"models": map[string]any{"providers": map[string]any{
			"chat": map[string]any{"baseUrl": srv.URL + "/v1", "api": "openai-completions", "apiKey": "sk-test"},
			"eyes": map[string]any{"baseUrl": srv.URL + "/v1", "api": "openai-responses", "apiKey": "sk-test",
				"models": []any{map[string]any{"id": "see", "input": []string{"text", "image"}}}},
		}},
		"agents":   map[string]any{"defaults": map[string]any{"model": primary, "workspace": filepath.Join(t.TempDir(), "workspace")}},
		"channels": map[string]any{"telegram": tg},
		"commands": map[string]any{"ownerAllowFrom": owners},
		"features": untitled(),
	}
	raw, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(r.Dir), "hearth.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	r.Start()
	return r, api
}

// WaitFor polls a condition of another process's making.
func WaitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !ok() {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			t.Fatalf("%s did not happen", what)
		}
	}
}

// Texts are what the bot wrote to a chat.
func Texts(api *telegramtest.Server, chat int64) (out []string) {
	for _, m := range api.Sent(chat) {
		out = append(out, m.Text)
	}
	return out
}

// NewPuppetOnTelegram is a gateway whose model does what the messages say.
func NewPuppetOnTelegram(t *testing.T, account map[string]any) (*Peer, *telegramtest.Server) {
	t.Helper()
	_, p, api := NewPuppetRigOnTelegram(t, account)
	return p, api
}

// NewPuppetRigOnTelegram is the same, for who starts it again.
func NewPuppetRigOnTelegram(t *testing.T, account map[string]any) (*Rig, *Peer, *telegramtest.Server) {
	t.Helper()
	r, api := NewOnTelegram(t, "chat/puppet", account)
	srv := httptest.NewServer(http.HandlerFunc(Puppet))
	t.Cleanup(srv.Close)
	p := r.Connect()
	var cfg protocol.ConfigSnapshot
	p.Do(protocol.MethodConfigGet, nil, &cfg)
	raw, err := json.Marshal(map[string]any{
		"models": map[string]any{"providers": map[string]any{"chat": map[string]any{"baseUrl": srv.URL + "/v1"}}},
		"agents": map[string]any{"defaults": map[string]any{"workspace": t.TempDir()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: string(raw), BaseHash: cfg.Hash}, nil)
	return r, p, api
}
