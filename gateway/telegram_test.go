package gateway_test

import (
	"encoding/json"
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

const (
	botToken = "123456:abcdefghijklmnopqrstuvwxyzABCDE"
	anna     = int64(777)
)

// telegramRig is a gateway with a bot on a Bot API server of our own.
func telegramRig(t *testing.T, primary any, account map[string]any) (*rig, *telegramtest.Server) {
	t.Helper()
	api := telegramtest.New(botToken)
	t.Cleanup(api.Close)
	front := httptest.NewServer(api)
	t.Cleanup(front.Close)
	api.AddChat(telegramtest.Chat{ID: anna, Type: "private"})
	r := &rig{t: t, dir: statedir.Dir(t.TempDir()), model: scripted.New()}
	srv := httptest.NewServer(r.model)
	t.Cleanup(srv.Close)
	r.url = srv.URL
	tg := map[string]any{"enabled": true, "botToken": botToken, "apiRoot": front.URL}
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
	}
	raw, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(r.dir), "hearth.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	r.start()
	return r, api
}

// waitFor polls a condition of another process's making.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			t.Fatalf("%s did not happen", what)
		}
	}
}

func texts(api *telegramtest.Server, chat int64) (out []string) {
	for _, m := range api.Sent(chat) {
		out = append(out, m.Text)
	}
	return out
}

// A message on Telegram is answered on Telegram, in the main session that the
// owner's own clients see too.
func TestTelegramRoundTrip(t *testing.T) {
	r, api := telegramRig(t, "chat/echo", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	p := r.connect()
	api.Say(anna, telegramtest.Person{ID: anna, Name: "Anna"}, "hello from the phone", nil)
	waitFor(t, "an answer", func() bool {
		got := texts(api, anna)
		return len(got) == 1 && strings.Contains(got[0], "hello from the phone")
	})
	var h protocol.ChatHistory
	waitFor(t, "the answer in the transcript", func() bool { // the chat shows it a little earlier
		h = p.history("main")
		return len(h.Messages) == 2
	})
	if h.Messages[0].Text() != "hello from the phone" || !strings.Contains(h.Messages[0].ForAgent, "[Telegram") {
		t.Fatalf("transcript: %+v", h.Messages)
	}
	var list protocol.SessionsList
	p.call(protocol.MethodSessionsList, nil, &list)
	if o := list.Sessions[0].Origin; o == nil || o.Provider != "telegram" {
		t.Errorf("origin: %+v", o)
	}
	api.Say(anna, telegramtest.Person{ID: anna, Name: "Anna"}, "/status", nil)
	waitFor(t, "the status", func() bool {
		got := texts(api, anna)
		return len(got) == 2 && strings.Contains(got[1], "Model:")
	})
	var st protocol.ChannelsStatus
	p.call(protocol.MethodChannelsStatus, nil, &st)
	if acc := st.ChannelAccounts["telegram"]; len(acc) != 1 || !acc[0].Connected {
		t.Errorf("channels.status: %+v", st)
	}
}

// A stranger gets a code and nothing else until the owner approves it.
func TestTelegramStrangersArePaired(t *testing.T) {
	r, api := telegramRig(t, "chat/echo", nil)
	p := r.connect()
	stranger := telegramtest.Person{ID: anna, Name: "Somebody"}
	api.Say(anna, stranger, "let me in", nil)
	var reqs protocol.ContactsList
	waitFor(t, "a pairing request", func() bool {
		p.call(protocol.MethodContactsList, nil, &reqs)
		return len(reqs.Requests) == 1
	})
	waitFor(t, "the code", func() bool {
		got := texts(api, anna)
		return len(got) == 1 && strings.Contains(got[0], reqs.Requests[0].Code)
	})
	if n := r.model.Calls("let me in"); n != 0 {
		t.Errorf("the model was asked %d times for a stranger", n)
	}
	p.call(protocol.MethodContactsResolve, protocol.ContactResolveParams{Channel: "telegram", Code: reqs.Requests[0].Code,
		Decision: "approve"}, nil)
	api.Say(anna, stranger, "thank you", nil)
	waitFor(t, "an answer after approval", func() bool {
		got := texts(api, anna)
		return len(got) == 2 && strings.Contains(got[1], "thank you")
	})
	for _, text := range []string{"/model list", "/new", "/reset"} { // the owner's
		api.Say(anna, stranger, text, nil)
	}
	api.Say(anna, stranger, "/whoami", nil)
	waitFor(t, "three refusals and the reply to /whoami", func() bool { return len(texts(api, anna)) == 6 })
	for _, said := range texts(api, anna)[2:5] {
		if !strings.Contains(said, "is for the owner") {
			t.Errorf("the stranger was told %q", said)
		}
	}
}

// While a long answer is written the chat shows it in one message, which the
// final text takes over; nothing stands twice.
func TestTelegramPreviewBecomesTheAnswer(t *testing.T) {
	_, api := telegramRig(t, "chat/stream-150-20", map[string]any{"dmPolicy": "open", "allowFrom": []string{"*"}})
	api.Say(anna, telegramtest.Person{ID: anna, Name: "Anna"}, "count", nil)
	waitFor(t, "the whole answer", func() bool {
		got := texts(api, anna)
		return len(got) == 1 && strings.Contains(got[0], "w150")
	})
	if m := api.Sent(anna)[0]; m.Edits == 0 {
		t.Error("the answer was not shown while it was written")
	}
}

// A preview is never longer than textChunkLimit allows.
func TestTelegramPreviewKeepsToTheLimit(t *testing.T) {
	_, api := telegramRig(t, "chat/stream-200-10", map[string]any{"dmPolicy": "open", "allowFrom": []string{"*"}, "textChunkLimit": 100})
	api.Say(anna, telegramtest.Person{ID: anna, Name: "Anna"}, "count", nil)
	waitFor(t, "the whole answer", func() bool {
		got := texts(api, anna)
		return len(got) > 1 && strings.Contains(got[len(got)-1], "w200")
	})
	edits := api.Requests("editMessageText")
	for _, r := range append(edits, api.Requests("sendMessage")...) {
		if s, _ := r.Params["text"].(string); len(s) > 100 {
			t.Errorf("%d characters: %q", len(s), s)
		}
	}
}

// Streaming page: a reply to a part that was selected is not shown while it is
// written, because an edit would lose the quote.
func TestTelegramSelectedQuoteSkipsThePreview(t *testing.T) {
	_, api := telegramRig(t, "chat/stream-100-15", map[string]any{"dmPolicy": "open", "allowFrom": []string{"*"}})
	said := api.Say(anna, telegramtest.Person{ID: anna, Name: "Anna"}, "one two three", nil)
	waitFor(t, "the first answer", func() bool { return len(api.Sent(anna)) == 1 && strings.Contains(api.Sent(anna)[0].Text, "w100") })
	api.Say(anna, telegramtest.Person{ID: anna, Name: "Anna"}, "what of this?", map[string]any{
		"reply_to_message": map[string]any{"message_id": said, "date": 1, "chat": map[string]any{"id": anna, "type": "private"},
			"text": "one two three"},
		"quote": map[string]any{"text": "two", "position": 4, "is_manual": true},
	})
	waitFor(t, "the second answer", func() bool { return len(api.Sent(anna)) == 2 && strings.Contains(api.Sent(anna)[1].Text, "w100") })
	if n := api.Sent(anna)[1].Edits; n != 0 {
		t.Errorf("the answer to a selected quote was edited %d times", n)
	}
}

// In groups commands after a mention are commands, and ask no model; those to
// somebody else are none of ours.
func TestTelegramGroupCommands(t *testing.T) {
	const group = int64(-700)
	r, api := telegramRig(t, "chat/stream-400-50", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"},
		"groups": map[string]any{"*": map[string]any{}}})
	me, at := telegramtest.Person{ID: anna, Name: "Anna"}, "@"+telegramtest.BotName
	api.AddChat(telegramtest.Chat{ID: group, Type: "supergroup", Title: "Friends"})
	api.Say(group, me, at+" /status", nil)
	waitFor(t, "the status", func() bool { return len(texts(api, group)) == 1 && strings.Contains(texts(api, group)[0], "Model:") })
	for _, stop := range []string{at + " stop", "stop " + at} {
		n := len(texts(api, group))
		api.Say(group, me, at+" count", nil)
		waitFor(t, "the beginning of an answer", func() bool { return len(texts(api, group)) == n+1 })
		api.Say(group, me, "@somebody stop", nil)
		api.Say(group, me, stop, nil)
		waitFor(t, "the reply to "+stop, func() bool { return strings.Contains(strings.Join(texts(api, group)[n:], "\n"), "Stopped.") })
		if got := strings.Join(texts(api, group), "\n"); strings.Contains(got, "w400") {
			t.Errorf("it went on: %q", got)
		}
		if n := r.model.Calls(stop); n != 0 {
			t.Errorf("the model was asked %d times", n)
		}
	}
}
