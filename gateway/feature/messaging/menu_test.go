package messaging_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func names(menu []telegramtest.Command) (out []string) {
	for _, c := range menu {
		out = append(out, c.Name)
	}
	return out
}

// The menu follows the settings while Hearth runs: a person's own commands stand in it and
// are text for the model, and when it is switched off what Hearth put there is taken away.
func TestMenuFollowsTheSettings(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"},
		"customCommands": []any{map[string]string{"command": "/Backup", "description": "Copies everything"},
			map[string]string{"command": "status", "description": "Mine"}}})
	p := r.Connect()
	shows := func(what string, ok func(all, german []string) bool) {
		t.Helper()
		gatewaytest.WaitFor(t, what, func() bool { return ok(names(api.Menu("")), names(api.Menu("de"))) })
	}
	// Chinese is taken away last, after what shows looks at.
	takenAway := func(times int) {
		t.Helper()
		gatewaytest.WaitFor(t, fmt.Sprintf("Chinese is taken away %d times", times), func() bool {
			chinese := 0
			for _, r := range api.Requests("deleteMyCommands") {
				if r.Params["language_code"] == "zh" {
					chinese++
				}
			}
			return chinese >= times
		})
	}
	shows("Hearth's commands and one's own", func(all, german []string) bool {
		return slices.Contains(all, "status") && slices.Contains(all, "backup") && slices.Equal(all, german)
	})
	if n := strings.Count(fmt.Sprint(api.Menu("")), "{status "); n != 1 || strings.Contains(fmt.Sprint(api.Menu("")), "{status Mine}") {
		t.Errorf("/status stands there %d times: %v", n, api.Menu(""))
	}
	var d protocol.Doctor
	p.Do(protocol.MethodDoctor, protocol.DoctorParams{}, &d)
	if got := checks(d); !strings.Contains(got, "Telegram (default), menu of commands: /status of customCommands is a command already") {
		t.Errorf("doctor says %s", got)
	}
	api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "/backup the photos", nil)
	gatewaytest.WaitFor(t, "an answer of the model", func() bool {
		got := gatewaytest.Texts(api, gatewaytest.Anna)
		return len(got) == 1 && strings.Contains(got[0], "/backup the photos")
	})

	p.Patch(map[string]any{"commands": map[string]any{"native": false}})
	shows("one's own alone", func(all, german []string) bool {
		return slices.Equal(all, []string{"backup", "status"}) && slices.Equal(all, german)
	})
	takenAway(1)
	p.Patch(map[string]any{"channels": map[string]any{"telegram": map[string]any{"customCommands": nil}}})
	shows("nothing", func(all, german []string) bool { return len(all)+len(german) == 0 })
	takenAway(2)
	before := len(api.Requests("deleteMyCommands"))
	r.Restart()
	p = r.Connect()
	p.Patch(map[string]any{"channels": map[string]any{"telegram": map[string]any{"commands": map[string]any{"native": true}}}})
	shows("Hearth's commands again", func(all, _ []string) bool { return slices.Contains(all, "status") && !slices.Contains(all, "backup") })
	if n := len(api.Requests("deleteMyCommands")); n != before {
		t.Errorf("what was gone was taken away %d times more", n-before)
	}
}

// Who made a menu for their bot and wants none of ours keeps theirs.
func TestMenuOfAPersonIsLeftAlone(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"},
		"commands": map[string]any{"native": false}})
	gatewaytest.WaitFor(t, "Telegram is asked for messages", func() bool { return len(api.Requests("getUpdates")) > 1 })
	api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "/status", nil)
	gatewaytest.WaitFor(t, "the status, which works typed", func() bool {
		got := gatewaytest.Texts(api, gatewaytest.Anna)
		return len(got) == 1 && strings.Contains(got[0], "Model:")
	})
	begun := time.Now()
	gatewaytest.WaitFor(t, "two looks at the menu", func() bool { return time.Since(begun) > 5*time.Second })
	r.Shutdown()
	if n := len(api.Requests("setMyCommands")) + len(api.Requests("deleteMyCommands")); n != 0 {
		t.Errorf("the menu was touched %d times", n)
	}
}
