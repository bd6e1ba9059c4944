package gateway_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
)

// annaOwns makes Anna the owner, whose commands count.
func annaOwns() map[string]any {
	return map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}}
}

func say(api *telegramtest.Server, text string) {
	api.Say(anna, telegramtest.Person{ID: anna, Name: "Anna"}, text, nil)
}

// waitSent waits for the nth message of the bot and returns it.
func waitSent(t *testing.T, api *telegramtest.Server, n int, holds string) string {
	t.Helper()
	last := ""
	waitFor(t, "message with "+holds, func() bool {
		got := texts(api, anna)
		if len(got) >= n {
			last = got[n-1]
		}
		return len(got) >= n && strings.Contains(last, holds)
	})
	return last
}

// Reasoning visibility: /think changes what the model is asked.
func TestThinkReachesTheModel(t *testing.T) {
	r, api := telegramRig(t, "chat/think", annaOwns())
	say(api, "one")
	waitSent(t, api, 1, "one")
	if got := r.model.Snapshot().Thinking; got != "" {
		t.Errorf("without a level the model was told %s", got)
	}
	say(api, "/think high")
	waitSent(t, api, 2, "high")
	say(api, "two")
	waitSent(t, api, 3, "two")
	if got := r.model.Snapshot().Thinking; got != `"high"` {
		t.Errorf("the model was told %q", got)
	}
	say(api, "/think off")
	waitSent(t, api, 4, "off")
	say(api, "three")
	waitSent(t, api, 5, "three")
	if got := r.model.Snapshot().Thinking; got != "" {
		t.Errorf("after /think off the model was told %s", got)
	}
}

// Reasoning visibility: reasoning is left out, stands before the
// answer, or is shown while it is made and then taken away.
func TestReasoningInAChat(t *testing.T) {
	_, api := telegramRig(t, "chat/think", annaOwns())
	say(api, "one")
	if got := waitSent(t, api, 1, "one"); strings.Contains(got, "Let me think") {
		t.Errorf("reasoning is shown although nobody asked: %q", got)
	}
	say(api, "/reasoning on")
	waitSent(t, api, 2, "on")
	say(api, "two")
	got := waitSent(t, api, 3, "Let me think about that.") // the end; the preview before it has none
	if i := strings.Index(got, "Let me think about that."); i < 0 || i > strings.Index(got, "echo:") {
		t.Errorf("with /reasoning on: %q", got)
	}
	say(api, "/reasoning stream")
	waitSent(t, api, 4, "stream")
	say(api, "three")
	waitFor(t, "the answer, and nothing beside it", func() bool {
		got := texts(api, anna)
		return len(got) == 5 && strings.Contains(got[4], "echo:") && !strings.Contains(got[4], "Let me think")
	})
}

// Silent replies: failures are told in short, and raw only with
// /verbose full.
func TestVerboseFullShowsTheRawFailure(t *testing.T) {
	_, api := telegramRig(t, "chat/fault-billing", annaOwns())
	const raw = "model chat/fault-billing: billing"
	say(api, "one")
	if got := waitSent(t, api, 1, ""); strings.Contains(got, raw) {
		t.Errorf("raw detail without /verbose full: %q", got)
	}
	say(api, "/verbose full")
	waitSent(t, api, 2, "full")
	say(api, "two")
	waitSent(t, api, 3, raw)
}

// Prefixes, threading, and replies: the account's settings hold
// in the chat.
func TestReplyAndPrefixSettings(t *testing.T) {
	for mode, replies := range map[string]bool{"off": false, "first": true} {
		account := annaOwns()
		account["replyToMode"], account["responsePrefix"] = mode, "Hearth:"
		_, api := telegramRig(t, "chat/stream-60-10", account)
		id := api.Say(anna, telegramtest.Person{ID: anna, Name: "Anna"}, "hello", nil)
		if got := waitSent(t, api, 1, "w60"); !strings.HasPrefix(got, "Hearth: re:") {
			t.Errorf("%s: the account's prefix is missing: %q", mode, got)
		}
		if m := api.Sent(anna)[0]; (m.ReplyTo == id) != replies {
			t.Errorf("%s: the answer replies to %d, the question is %d", mode, m.ReplyTo, id)
		}
	}
}
