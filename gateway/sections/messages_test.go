package sections_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/answers"
	"github.com/hearth-assistant/hearth/gateway/rules"
	sessionpolicy "github.com/hearth-assistant/hearth/gateway/session/policy"
)

// The examples of the reference pages, as they stand there.
const pages = `{
  session: {
    scope: "per-sender",
    dmScope: "per-channel-peer",
    identityLinks: { alice: ["telegram:123456789", "discord:987654321012345678"] },
    reset: { mode: "daily", atHour: 4, idleMinutes: 120 },
    resetByType: {
      thread: { mode: "daily", atHour: 4 },
      dm: { mode: "idle", idleMinutes: 240 },
      group: { mode: "idle", idleMinutes: 120 },
    },
    resetByChannel: { discord: { mode: "idle", idleMinutes: 10080 } },
    resetTriggers: ["/new", "/reset"],
    idleMinutes: 30,
    sendPolicy: {
      rules: [
        { action: "deny", match: { channel: "discord", chatType: "group" } },
        { action: "deny", match: { keyPrefix: "cron:" } },
      ],
      default: "allow",
    },
    mainKey: "main",
  },
  messages: {
    inbound: { debounceMs: 2000, byChannel: { whatsapp: 5000, slack: 1500, discord: 1500 } },
    groupChat: { historyLimit: 0 },
    queue: { mode: "collect", debounceMs: 1000, cap: 5, drop: "old", byChannel: { telegram: "interrupt" } },
    responsePrefix: "[me] ",
  },
  surfaces: { telegram: { silentReply: { group: "disallow" } } },
}`

func TestSessionAndMessageKeys(t *testing.T) {
	four := 4
	want := sessionpolicy.Configured{
		Keys: sessionpolicy.Keys{MainKey: "main", DMScope: "per-channel-peer",
			IdentityLinks: map[string][]string{"alice": {"telegram:123456789", "discord:987654321012345678"}}},
		Triggers: []string{"/new", "/reset"},
		Resets: sessionpolicy.Resets{
			IdleMinutes: 30, Base: &sessionpolicy.Reset{Mode: "daily", AtHour: &four, IdleMinutes: 120},
			ByType: map[sessionpolicy.Type]sessionpolicy.Reset{"thread": {Mode: "daily", AtHour: &four},
				"dm": {Mode: "idle", IdleMinutes: 240}, "group": {Mode: "idle", IdleMinutes: 120}},
			ByChannel: map[string]sessionpolicy.Reset{"discord": {Mode: "idle", IdleMinutes: 10080}},
		},
		Sending: sessionpolicy.SendPolicy{Default: "allow", Rules: []sessionpolicy.SendRule{
			{Action: "deny", Match: sessionpolicy.Match{Channel: "discord", ChatType: "group"}},
			{Action: "deny", Match: sessionpolicy.Match{KeyPrefix: "cron:"}}}},
	}
	s := open(t, place(t, pages)).Snapshot()
	if !s.Valid || len(s.Problems()) != 0 {
		t.Fatalf("issues %v, problems %v", s.Issues, s.Problems())
	}
	if diff := cmp.Diff(want, sessionpolicy.Section.Of(s.Config)); diff != "" {
		t.Error(diff)
	}
	in := rules.Incoming{DebounceMs: 2000, DebounceMsByChannel: map[string]int{"whatsapp": 5000, "slack": 1500, "discord": 1500}}
	if diff := cmp.Diff(in, rules.IncomingSection.Of(s.Config)); diff != "" {
		t.Error(diff)
	}
	queue := rules.Waiting{Mode: "collect", DebounceMs: 1000, Cap: 5, Drop: "old", ByChannel: map[string]string{"telegram": "interrupt"}}
	if diff := cmp.Diff(queue, rules.QueueSection.Of(s.Config)); diff != "" {
		t.Error(diff)
	}
	if p := answers.PrefixSection.Of(s.Config); p != "[me] " {
		t.Errorf("prefix %q", p)
	}
	if diff := cmp.Diff(map[string]answers.Silence{"telegram": {Group: "disallow"}}, answers.SurfacesSection.Of(s.Config)); diff != "" {
		t.Error(diff)
	}
	for path, want := range map[string]string{
		"session.reset": `{"mode":"daily","atHour":4,"idleMinutes":120}`, "session.resetByType.dm.idleMinutes": "240",
		"messages.queue.mode": `"collect"`, "surfaces.telegram.silentReply.group": `"disallow"`, "messages.inbound.byChannel.slack": "1500",
	} {
		if got, _, err := s.InUse(path); err != nil || string(got) != want {
			t.Errorf("%s is %s, %v", path, got, err)
		}
	}
}

func TestSessionAndMessageMistakes(t *testing.T) {
	for text, says := range map[string]string{
		`{session:{dmScope:"per-moon"}}`:                                        "per-channel-peer",
		`{session:{scope:"everybody"}}`:                                         "per-sender",
		`{session:{identityLinks:{alice:["123"]}}}`:                             "NETWORK:123456789",
		`{session:{identityLinks:{alice:["telegram:"]}}}`:                       "NETWORK:123456789",
		`{session:{identityLinks:{alice:["a:1"],bob:["a:1"]}}}`:                 "another person",
		`{session:{identityLinks:{"":["a:1"]}}}`:                                "name",
		`{session:{reset:{atHour:24}}}`:                                         "0 to 23",
		`{session:{reset:{mode:"weekly"}}}`:                                     "daily, idle",
		`{session:{idleMinutes:0}}`:                                             "1 to",
		`{session:{resetTriggers:[""]}}`:                                        "empty",
		`{session:{sendPolicy:{rules:[{match:{}}]}}}`:                           "action",
		`{session:{sendPolicy:{rules:[{action:"deny",match:{chatType:"x"}}]}}}`: "direct, group, channel",
		`{messages:{inbound:{debounceMs:-1}}}`:                                  "0 to",
		`{messages:{inbound:{byChannel:{x:"5s"}}}}`:                             "whole number",
		`{messages:{groupChat:{historyLimit:5000}}}`:                            "0 to 1000",
		`{messages:{queue:{mode:"queue"}}}`:                                     "steer, followup, collect, interrupt",
		`{messages:{queue:{drop:"all"}}}`:                                       "summarize, old, new",
		`{messages:{queue:{byChannel:{x:"y"}}}}`:                                "steer",
	} {
		s := open(t, place(t, text)).Snapshot()
		if s.Valid || len(s.Issues) == 0 || !strings.Contains(s.Issues[0].Message, says) {
			t.Errorf("%s: valid %v, %v", text, s.Valid, s.Issues)
		}
	}
}
