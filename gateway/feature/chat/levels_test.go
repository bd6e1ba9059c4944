package chat_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
)

// annaOwns makes Anna the owner, whose commands count.
func annaOwns() map[string]any {
	return map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}}
}

// Reasoning visibility: /think changes what the model is asked.
func TestThinkReachesTheModel(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/think", annaOwns())
	gatewaytest.AnnaSays(api, "one")
	gatewaytest.WaitSent(t, api, 1, "one")
	if got := r.Model.Snapshot().Thinking; got != "" {
		t.Errorf("without a level the model was told %s", got)
	}
	gatewaytest.AnnaSays(api, "/think high")
	gatewaytest.WaitSent(t, api, 2, "high")
	gatewaytest.AnnaSays(api, "two")
	gatewaytest.WaitSent(t, api, 3, "two")
	if got := r.Model.Snapshot().Thinking; got != `"high"` {
		t.Errorf("the model was told %q", got)
	}
	gatewaytest.AnnaSays(api, "/think off")
	gatewaytest.WaitSent(t, api, 4, "off")
	gatewaytest.AnnaSays(api, "three")
	gatewaytest.WaitSent(t, api, 5, "three")
	if got := r.Model.Snapshot().Thinking; got != "" {
		t.Errorf("after /think off the model was told %s", got)
	}
}

// Reasoning visibility: reasoning is left out, stands before the
// answer, or is shown while it is made and then taken away.
func TestReasoningInAChat(t *testing.T) {
	_, api := gatewaytest.NewOnTelegram(t, "chat/think", annaOwns())
	gatewaytest.AnnaSays(api, "one")
	if got := gatewaytest.WaitSent(t, api, 1, "one"); strings.Contains(got, "Let me think") {
		t.Errorf("reasoning is shown although nobody asked: %q", got)
	}
	gatewaytest.AnnaSays(api, "/reasoning on")
	gatewaytest.WaitSent(t, api, 2, "on")
	gatewaytest.AnnaSays(api, "two")
	got := gatewaytest.WaitSent(t, api, 3, "Let me think about that.") // the end; the preview before it has none
	if i := strings.Index(got, "Let me think about that."); i < 0 || i > strings.Index(got, "echo:") {
		t.Errorf("with /reasoning on: %q", got)
	}
	gatewaytest.AnnaSays(api, "/reasoning stream")
	gatewaytest.WaitSent(t, api, 4, "stream")
	gatewaytest.AnnaSays(api, "three")
	gatewaytest.WaitFor(t, "the answer, and nothing beside it", func() bool {
		got := gatewaytest.Texts(api, gatewaytest.Anna)
		return len(got) == 5 && strings.Contains(got[4], "echo:") && !strings.Contains(got[4], "Let me think")
	})
}

// Silent replies: failures are told in short, and raw only with
// /verbose full.
func TestVerboseFullShowsTheRawFailure(t *testing.T) {
	_, api := gatewaytest.NewOnTelegram(t, "chat/fault-billing", annaOwns())
	const raw = "model chat/fault-billing: billing"
	gatewaytest.AnnaSays(api, "one")
	if got := gatewaytest.WaitSent(t, api, 1, ""); strings.Contains(got, raw) {
		t.Errorf("raw detail without /verbose full: %q", got)
	}
	gatewaytest.AnnaSays(api, "/verbose full")
	gatewaytest.WaitSent(t, api, 2, "full")
	gatewaytest.AnnaSays(api, "two")
	gatewaytest.WaitSent(t, api, 3, raw)
}

// Prefixes, threading, and replies: the account's settings hold
// in the chat.
func TestReplyAndPrefixSettings(t *testing.T) {
	for mode, replies := range map[string]bool{"off": false, "first": true} {
		account := annaOwns()
		account["replyToMode"], account["responsePrefix"] = mode, "Hearth:"
		_, api := gatewaytest.NewOnTelegram(t, "chat/stream-60-10", account)
		id := api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "hello", nil)
		if got := gatewaytest.WaitSent(t, api, 1, "w60"); !strings.HasPrefix(got, "Hearth: re:") {
			t.Errorf("%s: the account's prefix is missing: %q", mode, got)
		}
		if m := api.Sent(gatewaytest.Anna)[0]; (m.ReplyTo == id) != replies {
			t.Errorf("%s: the answer replies to %d, the question is %d", mode, m.ReplyTo, id)
		}
	}
}
