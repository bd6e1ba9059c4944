package memory_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// What somebody else who was let in wants remembered is theirs, the owner's
// stays the owner's, and only a command of the owner's shows it.
func TestSec_A_INJ_07_MemoryOfPeopleOverTelegram(t *testing.T) {
	const bert = int64(888)
	p, api := gatewaytest.NewPuppetOnTelegram(t, map[string]any{"dmPolicy": "pairing", "allowFrom": []string{"777"}})
	api.AddChat(telegramtest.Chat{ID: bert, Type: "private"})
	owner, guest := telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, telegramtest.Person{ID: bert, Name: "Bert"}
	api.Say(bert, guest, "let me in", nil)
	var reqs protocol.ContactsList
	gatewaytest.WaitFor(t, "a pairing request", func() bool { p.Do(protocol.MethodContactsList, nil, &reqs); return len(reqs.Requests) == 1 })
	p.Do(protocol.MethodContactsResolve, protocol.ContactResolveParams{Channel: "telegram", Code: reqs.Requests[0].Code, Decision: "approve",
		Shared: true}, nil)

	var doctor protocol.Doctor
	p.Do(protocol.MethodDoctor, nil, &doctor)
	if raw, _ := json.Marshal(doctor.Checks); !strings.Contains(string(raw), "telegram:888 shares your conversation, as you chose") {
		t.Errorf("the doctor does not say that they share a conversation: %s", raw)
	}
	says := func(who telegramtest.Person, text, want string) string {
		t.Helper()
		before := len(gatewaytest.Texts(api, who.ID))
		api.Say(who.ID, who, text, nil)
		var last string
		gatewaytest.WaitFor(t, "the answer to "+text, func() bool {
			all := gatewaytest.Texts(api, who.ID)
			if len(all) > before {
				last = all[len(all)-1]
			}
			return len(all) > before && strings.Contains(last, want)
		})
		return last
	}
	says(owner, `run:@memory_note {"text":"- the safe is behind the painting"}`, "Written down in memory/")
	says(guest, `run:@memory_note {"text":"- the safe is what I am after"}`, "Written down in memory/people/telegram-888-")
	if got := says(guest, `run:@memory_search {"query":"safe"}`, "what I am after"); strings.Contains(got, "painting") {
		t.Errorf("the guest hears the owner's notes: %s", got)
	}
	if got := says(owner, `run:@memory_search {"query":"safe"}`, "painting"); strings.Contains(got, "what I am after") {
		t.Errorf("the guest's words come back to the owner: %s", got)
	}
	says(guest, `run:@memory_get {"path":"MEMORY.md"}`, "not one of your memory files")

	find := func(params protocol.MemorySearchParams) string {
		t.Helper()
		params.Query = "safe"
		var found protocol.MemoryFound
		p.Do(protocol.MethodMemorySearch, params, &found)
		raw, err := json.Marshal(found.Results)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if got := find(protocol.MemorySearchParams{}); strings.Contains(got, "what I am after") || !strings.Contains(got, "painting") {
		t.Errorf("the owner's: %s", got)
	}
	for _, who := range []string{"telegram:888", "bert", "telegram-888"} {
		if got := find(protocol.MemorySearchParams{Person: who}); !strings.Contains(got, "what I am after") || strings.Contains(got, "painting") {
			t.Errorf("of %s: %s", who, got)
		}
	}
	if err := p.Call(t.Context(), protocol.MethodMemorySearch, protocol.MemorySearchParams{Query: "safe", Person: "nobody"},
		nil); err == nil || !strings.Contains(err.Error(), "people/telegram-888-") {
		t.Errorf("of nobody: %v", err)
	}
	var files protocol.MemoryFiles
	p.Do(protocol.MethodMemoryList, protocol.MemoryListParams{Person: "telegram:888"}, &files)
	if len(files.Files) != 1 || !strings.HasPrefix(files.Files[0].Person, "people/telegram-888-") {
		t.Fatalf("%+v", files)
	}
	raw, err := os.ReadFile(filepath.Join(files.Workspace, filepath.FromSlash(files.Files[0].Path)))
	if err != nil || !strings.Contains(string(raw), "from=telegram:888") {
		t.Errorf("a file that a person can read: %s %v", raw, err)
	}
	var gone protocol.MemoryChange
	p.Do(protocol.MethodMemoryForget, protocol.MemoryForgetParams{Source: "telegram:888"}, &gone)
	if gone.Notes != 1 || find(protocol.MemorySearchParams{All: true}) == "" || strings.Contains(find(protocol.MemorySearchParams{All: true}),
		"what I am after") {
		t.Errorf("forgotten: %+v", gone)
	}
}
