package gateway_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// telegramVictim is a victim with a bot, whose owner is Anna.
func telegramVictim(t *testing.T) (*victim, *telegramtest.Server, string) {
	v := newVictim(t, "chat/echo")
	api := telegramtest.New(botToken)
	t.Cleanup(api.Close)
	front := httptest.NewServer(api)
	t.Cleanup(front.Close)
	api.AddChat(telegramtest.Chat{ID: anna, Type: "private"})
	file := filepath.Join(string(v.dir), "hearth.json")
	raw, err := os.ReadFile(file)
	cfg := map[string]any{}
	if err == nil {
		err = json.Unmarshal(raw, &cfg)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "workspace")
	cfg["agents"] = map[string]any{"defaults": map[string]any{"model": "chat/echo", "workspace": dir}}
	cfg["channels"] = map[string]any{"telegram": map[string]any{"enabled": true, "botToken": botToken, "apiRoot": front.URL,
		"streaming": "off",
		"dmPolicy":  "allowlist", "allowFrom": []string{"777"}}}
	cfg["commands"] = map[string]any{"ownerAllowFrom": []string{"telegram:777"}}
	if raw, err = json.Marshal(cfg); err == nil {
		err = os.WriteFile(file, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	v.port = freePort(t) // after the servers, which take ports too
	return v, api, dir
}

// undelivered asks the gateway what has not arrived.
func (v *victim) undelivered() []protocol.DeliveryInfo {
	v.t.Helper()
	ctx := v.background()
	c := v.dial(ctx, nil)
	if c == nil {
		v.t.Fatal("the gateway does not answer")
	}
	defer c.Close()
	var list protocol.DeliveriesList
	if err := c.Call(ctx, protocol.MethodDeliveriesList, nil, &list); err != nil {
		v.t.Fatal(err)
	}
	return list.Deliveries
}

// Killed on the way of an answer with two files to Telegram, from the accept of
// the answer to the receipt of the last file: each file is there once, or is
// shown as uncertain until somebody decides, and none is there twice.
func TestFault_F_CRASH_11_AnswerWithFiles(t *testing.T) {
	for _, tc := range []struct {
		point     string
		files     int    // that people see after the restart; -1: as many as the gateway says
		uncertain string // what hearth deliveries says
	}{
		{"afterAcceptCommit", 2, ""},
		{"afterFinalCommit", -1, ""}, // the sending has begun or not
		{"beforeSend", 0, "message 1 of 2"},
		{"afterSend", 1, "message 1 of 2"},
		{"afterReceipt", 2, ""},
		{"beforeSend@2", 1, "message 2 of 2"},
		{"afterSend@2", 2, "message 2 of 2"},
		{"afterReceipt@2", 2, ""},
	} {
		t.Run(tc.point, func(t *testing.T) {
			v, api, dir := telegramVictim(t)
			putFile(t, dir, "one.png", pixels(t, 30))
			putFile(t, dir, "two.csv", []byte("a,b\n"))
			v.start(tc.point)
			api.Say(anna, telegramtest.Person{ID: anna, Name: "Anna"}, "here you are\nMEDIA:one.png\nMEDIA:two.csv", nil)
			v.died()
			for range 2 { // a second restart changes nothing
				v.start("")
				var list []protocol.DeliveryInfo
				waitFor(t, "an end that the gateway tells", func() bool {
					list = v.undelivered()
					if len(list) == 1 && list[0].State == "uncertain" {
						return tc.files < 0 || tc.uncertain != "" && strings.Contains(list[0].Reason, tc.uncertain)
					}
					return tc.uncertain == "" && len(list) == 0 && len(api.Sent(anna)) == 2
				})
				seen := map[string]int{}
				for _, m := range api.Sent(anna) {
					if m.File == nil {
						t.Fatalf("sent %s %q without its file", m.Method, m.Text)
					}
					seen[m.File.Name]++
				}
				if tc.files >= 0 && len(seen) != tc.files || seen["one.png"] > 1 || seen["two.csv"] > 1 {
					t.Errorf("people see %v, want %d files once each", seen, tc.files)
				}
				v.kill()
			}
		})
	}
}
