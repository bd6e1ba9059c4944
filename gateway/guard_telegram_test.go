package gateway_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// puppetOnTelegram is a gateway whose model does what the messages say.
func puppetOnTelegram(t *testing.T, account map[string]any) (*peer, *telegramtest.Server) {
	t.Helper()
	r, api := telegramRig(t, "chat/puppet", account)
	srv := httptest.NewServer(http.HandlerFunc(puppet))
	t.Cleanup(srv.Close)
	p := r.connect()
	var cfg protocol.ConfigSnapshot
	p.call(protocol.MethodConfigGet, nil, &cfg)
	raw, err := json.Marshal(map[string]any{
		"models": map[string]any{"providers": map[string]any{"chat": map[string]any{"baseUrl": srv.URL + "/v1"}}},
		"agents": map[string]any{"defaults": map[string]any{"workspace": t.TempDir()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.call(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: string(raw), BaseHash: cfg.Hash}, nil)
	return p, api
}

var approveLine = regexp.MustCompile(`/approve ([0-9a-f]{8}) once`)

// askedOnTelegram is the short id of the newest question in a chat.
func askedOnTelegram(t *testing.T, api *telegramtest.Server, chat int64, n int) (id string) {
	t.Helper()
	waitFor(t, "the question", func() bool {
		seen := 0
		for _, text := range texts(api, chat) {
			if m := approveLine.FindStringSubmatch(text); m != nil {
				seen, id = seen+1, m[1]
			}
		}
		return seen == n
	})
	return id
}

// The owner is asked where they wrote, and answers there. Somebody else who was
// let in gets no such tools, and cannot answer for the owner.
func TestSec_A_EXEC_19_Telegram(t *testing.T) {
	const bert = int64(888)
	p, api := puppetOnTelegram(t, map[string]any{"dmPolicy": "pairing", "allowFrom": []string{"777"}})
	api.AddChat(telegramtest.Chat{ID: bert, Type: "private"})
	owner, guest := telegramtest.Person{ID: anna, Name: "Anna"}, telegramtest.Person{ID: bert, Name: "Bert"}

	api.Say(bert, guest, "let me in", nil)
	var reqs protocol.ContactsList
	waitFor(t, "a pairing request", func() bool { p.call(protocol.MethodContactsList, nil, &reqs); return len(reqs.Requests) == 1 })
	p.call(protocol.MethodContactsResolve, protocol.ContactResolveParams{Channel: "telegram", Code: reqs.Requests[0].Code,
		Decision: "approve"}, nil)

	api.Say(anna, owner, "run:echo hello", nil)
	id := askedOnTelegram(t, api, anna, 1)
	if all := strings.Join(texts(api, anna), "\n"); !strings.Contains(all, "Run echo hello in ") {
		t.Errorf("the question: %s", all)
	}
	for _, text := range []string{"/approve " + id + " once", "/approve " + id, "I say: /approve " + id + " once"} {
		api.Say(bert, guest, text, nil)
	}
	api.Say(bert, guest, "/whoami", nil) // behind the others
	waitFor(t, "the reply to /whoami", func() bool { return strings.Contains(strings.Join(texts(api, bert), "\n"), "You are a guest") })
	api.Say(bert, guest, "run:echo pwned", nil)
	var list []protocol.Approval
	p.call(protocol.MethodExecApprovalList, nil, &list)
	if len(list) != 1 || !strings.HasPrefix(list[0].ID, id) || list[0].Request.HearthFrom != "telegram:777" {
		t.Fatalf("%+v", list)
	}
	api.Say(anna, owner, "/approve "+id+" deny", nil)
	waitFor(t, "the end", func() bool {
		all := strings.Join(texts(api, anna), "\n")
		return strings.Contains(all, "Not allowed: Run echo hello") && strings.Contains(all, "the owner said no")
	})
	waitFor(t, "the guest's answer", func() bool {
		return strings.Contains(strings.Join(texts(api, bert), "\n"), `There is no tool called "exec"`)
	})
	api.Say(anna, owner, "/approve "+id+" once", nil)
	waitFor(t, "the second decision's reply", func() bool {
		return strings.Contains(strings.Join(texts(api, anna), "\n"), "Nothing waits under this id")
	})
}
