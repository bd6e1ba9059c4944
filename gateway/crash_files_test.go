package gateway_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// telegramVictim is a victim with a bot, whose owner is Anna.
func telegramVictim(t *testing.T) (*gatewaytest.Victim, *telegramtest.Server, string) {
	v := gatewaytest.NewVictim(t, "chat/echo")
	api := telegramtest.New(gatewaytest.BotToken)
	t.Cleanup(api.Close)
	front := httptest.NewServer(api)
	t.Cleanup(front.Close)
	api.AddChat(telegramtest.Chat{ID: gatewaytest.Anna, Type: "private"})
	file := filepath.Join(string(v.Dir), "hearth.json")
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
	cfg["channels"] = map[string]any{"telegram": map[string]any{"enabled": true, "botToken": gatewaytest.BotToken, "apiRoot": front.URL,
		"streaming": "off",
		"dmPolicy":  "allowlist", "allowFrom": []string{"777"}}}
	cfg["commands"] = map[string]any{"ownerAllowFrom": []string{"telegram:777"}}
	if raw, err = json.Marshal(cfg); err == nil {
		err = os.WriteFile(file, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	v.Port = gatewaytest.FreePort(t) // after the servers, which take ports too
	return v, api, dir
}

// undelivered asks the gateway what has not arrived.
func undelivered(v *gatewaytest.Victim) []protocol.DeliveryInfo {
	v.T.Helper()
	ctx := v.Background()
	c := v.Dial(ctx, nil)
	if c == nil {
		v.T.Fatal("the gateway does not answer")
	}
	defer c.Close()
	var list protocol.DeliveriesList
	if err := c.Call(ctx, protocol.MethodDeliveriesList, nil, &list); err != nil {
		v.T.Fatal(err)
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
			gatewaytest.PutFile(t, dir, "one.png", gatewaytest.Pixels(t, 30))
			gatewaytest.PutFile(t, dir, "two.csv", []byte("a,b\n"))
			v.Start(tc.point)
			api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "here you are\nMEDIA:one.png\nMEDIA:two.csv", nil)
			v.Died()
			for range 2 { // a second restart changes nothing
				v.Start("")
				var list []protocol.DeliveryInfo
				gatewaytest.WaitFor(t, "an end that the gateway tells", func() bool {
					list = undelivered(v)
					if len(list) == 1 && list[0].State == "uncertain" {
						return tc.files < 0 || tc.uncertain != "" && strings.Contains(list[0].Reason, tc.uncertain)
					}
					return tc.uncertain == "" && len(list) == 0 && len(api.Sent(gatewaytest.Anna)) == 2
				})
				seen := map[string]int{}
				for _, m := range api.Sent(gatewaytest.Anna) {
					if m.File == nil {
						t.Fatalf("sent %s %q without its file", m.Method, m.Text)
					}
					seen[m.File.Name]++
				}
				if tc.files >= 0 && len(seen) != tc.files || seen["one.png"] > 1 || seen["two.csv"] > 1 {
					t.Errorf("people see %v, want %d files once each", seen, tc.files)
				}
				v.Kill()
			}
		})
	}
}
