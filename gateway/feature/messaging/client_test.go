package messaging_test

import (
	"encoding/base64"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// refusal is the error of a call, as programs read it.
func refusal(t *testing.T, p *gatewaytest.Peer, method string, params any) *protocol.Error {
	t.Helper()
	err := p.Call(t.Context(), method, params, nil)
	var e *protocol.Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: %v", method, err)
	}
	return e
}

func allowed(more map[string]any) map[string]any {
	out := map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}, "streaming": "off"}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// TestClientsSend: what a client sends is there, with its files, once for each key, and its
// person is asked nothing.
func TestClientsSend(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", allowed(nil))
	p := r.ConnectAs(protocol.ScopeWrite)
	gatewaytest.PutFile(t, workspaceOf(t, r), "pic.png", gatewaytest.Pixels(t, 3))
	send := func(more protocol.MessageSendParams) (out protocol.MessageDone) {
		t.Helper()
		p.Do(protocol.MethodSend, more, &out)
		return out
	}
	first := protocol.MessageSendParams{To: "telegram:777", Message: "**hello** from a client", IdempotencyKey: "k1", Silent: true}
	done := send(first)
	want := protocol.MessageDone{OK: true, RunID: "k1", Channel: "telegram", AccountID: "default", ChatID: "777", MessageID: done.MessageID,
		MessageIDs: []string{done.MessageID}}
	if diff := cmp.Diff(want, done); diff != "" || done.MessageID == "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(done, send(first)); diff != "" {
		t.Errorf("the same again: %s", diff)
	}
	if m := api.Sent(gatewaytest.Anna)[0]; !m.Quiet {
		t.Error("it came with a sound")
	}
	if got := gatewaytest.Texts(api, gatewaytest.Anna); !slices.Equal(got, []string{"hello from a client"}) {
		t.Fatalf("%q", got)
	}
	send(protocol.MessageSendParams{To: "777", Message: "an answer", ReplyToID: done.MessageID, MediaURL: "pic.png", IdempotencyKey: "k2"})
	send(protocol.MessageSendParams{To: "777", Filename: "../a list.txt", IdempotencyKey: "k3",
		Buffer: "data:text/plain;base64," + base64.StdEncoding.EncodeToString([]byte("eggs"))})
	sent := api.Sent(gatewaytest.Anna)
	if len(sent) != 3 || sent[1].File == nil || sent[1].Text != "an answer" || sent[1].ReplyTo == 0 ||
		sent[2].File == nil || string(sent[2].File.Data) != "eggs" || sent[2].File.Name != "a_list.txt" {
		t.Fatalf("%+v", sent)
	}
	var list []protocol.Approval
	if r.Connect().Do(protocol.MethodExecApprovalList, nil, &list); len(list) != 0 {
		t.Errorf("it was asked for: %+v", list)
	}
	token := filepath.Join(string(r.Dir), "gateway.token")
	for what, bad := range map[string]protocol.MessageSendParams{
		"idempotencyKey": {To: "777", Message: "x"}, "'to'": {Message: "x", IdempotencyKey: "a"},
		"text or media":              {To: "777", IdempotencyKey: "a", Message: " "},
		"parseMode":                  {To: "777", IdempotencyKey: "a", Message: "x", ParseMode: "HTML"},
		"unsupported channel: smoke": {To: "777", Channel: "smoke", IdempotencyKey: "a", Message: "x"},
		"no account on a messaging network (work)": {To: "777", AccountID: "work", IdempotencyKey: "a", Message: "x"},
		"no account on a messaging network (irc)":  {To: "#town", Channel: "irc", IdempotencyKey: "a", Message: "x"},
		"outside of the workspace":                 {To: "777", IdempotencyKey: "a", MediaURL: token},
		"no base64":                                {To: "777", IdempotencyKey: "a", Buffer: "?"},
		"used for something else before":           {To: "777", Message: "other words", IdempotencyKey: "k1"},
	} {
		if said := p.Refused(protocol.MethodSend, bad); !strings.Contains(said, what) && what != "outside of the workspace" {
			t.Errorf("%s: %q", what, said)
		}
	}
	if n := len(api.Sent(gatewaytest.Anna)); n != 3 {
		t.Errorf("%d messages", n)
	}
}

// TestFault_F_CH_ClientsSendOnceOverARestart: the key of a message holds over a restart,
// and what is uncertain is told so, by that key too, and not sent again.
func TestFault_F_CH_ClientsSendOnceOverARestart(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", allowed(nil))
	say := protocol.MessageSendParams{To: "777", Message: "once", IdempotencyKey: "k1"}
	vote := protocol.MessagePollParams{To: "777", Question: "Where to?", Options: []string{"Sea", "Mountains"}, IdempotencyKey: "k1"}
	var sent, polled protocol.MessageDone
	p := r.Connect()
	p.Do(protocol.MethodSend, say, &sent)
	p.Do(protocol.MethodPoll, vote, &polled)
	if polled.MessageID == "" || polled.MessageID == sent.MessageID {
		t.Fatalf("%+v %+v", sent, polled)
	}
	lost := telegramtest.Fault{CutAfter: true}
	api.Fail("sendMessage", lost)
	api.Fail("sendPoll", lost)
	sayLost, voteLost := say, vote
	sayLost.IdempotencyKey, voteLost.IdempotencyKey = "k2", "k2"
	judge := func(when string) {
		t.Helper()
		for method, params := range map[string]any{protocol.MethodSend: sayLost, protocol.MethodPoll: voteLost} {
			e := refusal(t, p, method, params)
			if e.Code != protocol.CodeUnavailable || e.Retryable || !strings.Contains(e.Message, "nobody knows whether") ||
				e.Details["deliveryStatus"] != map[string]string{"send": "uncertain", "poll": "unknown"}[method] {
				t.Errorf("%s, %s: %+v", when, method, e)
			}
		}
		if n := len(api.Sent(gatewaytest.Anna)); n != 4 {
			t.Errorf("%s: %d messages", when, n)
		}
	}
	judge("at once")
	judge("asked again")
	r.Restart()
	p = r.Connect()
	gatewaytest.WaitFor(t, "the account to be connected", func() bool { a, _ := accountOf(p, "telegram", "default"); return a.Connected })
	judge("after a restart")
	var again protocol.MessageDone
	p.Do(protocol.MethodSend, say, &again)
	if diff := cmp.Diff(sent, again); diff != "" {
		t.Error(diff)
	}
	again = protocol.MessageDone{}
	p.Do(protocol.MethodPoll, vote, &again)
	if diff := cmp.Diff(polled, again); diff != "" {
		t.Error(diff)
	}
	vote.Question = "When?"
	if said := p.Refused(protocol.MethodPoll, vote); !strings.Contains(said, "used for something else before") {
		t.Error(said)
	}
	if n := len(api.Sent(gatewaytest.Anna)); n != 4 {
		t.Errorf("%d messages", n)
	}
}

// TestClientsAct: what OpenClaw's clients do about messages, as they write it, and what a
// network cannot.
func TestClientsAct(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", allowed(nil))
	p := r.ConnectAs(protocol.ScopeWrite)
	n := 0
	act := func(action string, params map[string]any) protocol.MessageActionParams {
		n++
		params["action"], params["to"] = action, "telegram:777"
		return protocol.MessageActionParams{Channel: "telegram", Action: action, Params: params, IdempotencyKey: "key" + string(rune('a'+n))}
	}
	do := func(action string, params map[string]any) (out protocol.MessageDone) {
		t.Helper()
		p.Do(protocol.MethodMessageAction, act(action, params), &out)
		return out
	}
	sent := do("send", map[string]any{"message": "hello", "gifPlayback": false, "silent": false, "pin": false, "target": "777"})
	id := sent.MessageID
	if id == "" || len(sent.Ignored) > 0 {
		t.Fatalf("%+v", sent)
	}
	if out := do("react", map[string]any{"messageId": id, "emoji": "👍"}); out.Added != "👍" || out.Removed {
		t.Errorf("%+v", out)
	}
	if m := api.Sent(gatewaytest.Anna)[0]; !slices.Equal(m.Reactions, []string{"👍"}) {
		t.Errorf("%+v", m)
	}
	if out := do("react", map[string]any{"messageId": id, "emoji": "👍", "remove": true}); out.Added != "" || !out.Removed {
		t.Errorf("%+v", out)
	}
	if out := do("edit", map[string]any{"message_id": id, "message": "hello again"}); !out.Edited || out.MessageID != id {
		t.Errorf("%+v", out)
	}
	if out := do("pin", map[string]any{"messageId": id}); !out.Pinned {
		t.Errorf("%+v", out)
	}
	if m := api.Sent(gatewaytest.Anna)[0]; m.Text != "hello again" || !m.Pinned || len(m.Reactions) > 0 {
		t.Errorf("%+v", m)
	}
	do("poll", map[string]any{"pollQuestion": "Where to?", "pollOption": []string{"Sea", "Mountains"}, "pollMulti": true,
		"pollDurationSeconds": "120"})
	if all := api.Sent(gatewaytest.Anna); len(all) != 2 || !slices.Equal(all[1].Options, []string{"Sea", "Mountains"}) {
		t.Errorf("%+v", all)
	}
	do("send", map[string]any{"presentation": map[string]any{"title": "Report", "blocks": []any{
		map[string]any{"type": "text", "text": "All well"},
		map[string]any{"type": "buttons", "buttons": []any{map[string]any{"label": "Approve"}}}}}})
	if all := gatewaytest.Texts(api, gatewaytest.Anna); all[2] != "Report\nAll well\n• Approve" {
		t.Errorf("%q", all)
	}
	if out := do("send", map[string]any{"message": "never", "dryRun": true}); !out.DryRun {
		t.Errorf("%+v", out)
	}
	if out := do("delete", map[string]any{"messageId": id}); !out.Deleted || len(api.Sent(gatewaytest.Anna)) != 2 {
		t.Errorf("%+v, %q", out, gatewaytest.Texts(api, gatewaytest.Anna))
	}
	for what, bad := range map[string]protocol.MessageActionParams{
		"does not support action kick": act("kick", map[string]any{}), "cannot read what was said": act("read", map[string]any{"limit": "5"}),
		"cannot read what was said before, and so not search": act("search", map[string]any{"query": "sea"}),
		"'messageId'": act("react", map[string]any{"emoji": "👍"}), "2 to 12 answers": act("poll", map[string]any{"pollQuestion": "Why?"}),
		"'action'": {Channel: "telegram", IdempotencyKey: "x"},
	} {
		if e := refusal(t, p, protocol.MethodMessageAction, bad); !strings.Contains(e.Message, what) || e.Code != protocol.CodeInvalidRequest {
			t.Errorf("%s: %+v", what, e)
		}
	}
	nobody := protocol.MessageSendParams{To: "4242", Message: "is there somebody?", IdempotencyKey: "nobody"}
	if e := refusal(t, p, protocol.MethodSend, nobody); e.Code != protocol.CodeUnavailable || e.Retryable ||
		!strings.Contains(e.Message, "Telegram did not take it") || e.Details["deliveryStatus"] != "failed" {
		t.Errorf("a chat that is not there: %+v", e)
	}
	gone := act("react", map[string]any{"messageId": "99999", "emoji": "👍"})
	for range 2 { // nothing was done, so that the key is free
		if e := refusal(t, p, protocol.MethodMessageAction, gone); e.Retryable || !strings.Contains(e.Message, "Telegram did not do it") {
			t.Errorf("a message that is not there: %+v", e)
		}
	}
}

// TestClientsSendNoted: with a conversation, it is noted there what was sent, once.
func TestClientsSendNoted(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", allowed(nil))
	p := r.Connect()
	say := protocol.MessageSendParams{To: "777", Message: "dinner is ready", IdempotencyKey: "k1", SessionKey: "main"}
	for range 2 {
		p.Do(protocol.MethodSend, say, nil)
	}
	h := p.History("main")
	if len(h.Messages) != 1 || h.Messages[0].Text() != "[Sent to Telegram 777]\n\ndinner is ready" || len(api.Sent(gatewaytest.Anna)) != 1 {
		t.Errorf("%+v", h.Messages)
	}
}

// TestSec_A_PAIR_21_ClientsWriteWithTheRight: who may only read writes to nobody, ends no login
// and lets nobody in; only an admin makes somebody the owner.
func TestSec_A_PAIR_21_ClientsWriteWithTheRight(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", nil)
	say := protocol.MessageSendParams{To: "777", Message: "x", IdempotencyKey: "k"}
	vote := protocol.MessagePollParams{To: "777", Question: "?", Options: []string{"a", "b"}, IdempotencyKey: "k"}
	act := protocol.MessageActionParams{Channel: "telegram", Action: "send", Params: map[string]any{"to": "777", "message": "x"},
		IdempotencyKey: "k"}
	for _, tc := range []struct {
		has    protocol.Scope
		method string
		params any
		needs  protocol.Scope
	}{
		{protocol.ScopeRead, protocol.MethodSend, say, protocol.ScopeWrite},
		{protocol.ScopePairing, protocol.MethodPoll, vote, protocol.ScopeWrite},
		{protocol.ScopeRead, protocol.MethodMessageAction, act, protocol.ScopeWrite},
		{protocol.ScopeWrite, protocol.MethodChannelsLogout, protocol.ChannelAccountParams{Channel: "telegram"}, protocol.ScopeAdmin},
		{protocol.ScopeWrite, protocol.MethodChannelsPairingList, nil, protocol.ScopePairing},
		{protocol.ScopeWrite, protocol.MethodChannelsPairingDismiss, protocol.ChannelPairingDismissParams{}, protocol.ScopePairing},
		{protocol.ScopeWrite, protocol.MethodChannelsPairingApprove, protocol.ChannelPairingApproveParams{}, protocol.ScopePairing},
		{protocol.ScopePairing, protocol.MethodChannelsPairingApprove, protocol.ChannelPairingApproveParams{BootstrapCommandOwner: true},
			protocol.ScopeAdmin},
	} {
		e := refusal(t, r.ConnectAs(tc.has), tc.method, tc.params)
		if e.Code != protocol.CodeForbidden || e.Message != "missing scope: "+string(tc.needs) {
			t.Errorf("%s with %s: %+v", tc.method, tc.has, e)
		}
	}
	if n := len(api.Sent(gatewaytest.Anna)); n != 0 {
		t.Errorf("%d messages", n)
	}
}

// TestClientsSayHow: what OpenClaw's clients wish about how a message is sent is done where
// the network can, and named where it cannot.
func TestClientsSayHow(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", allowed(nil))
	p := r.ConnectAs(protocol.ScopeWrite)
	gatewaytest.PutFile(t, workspaceOf(t, r), "pic.png", gatewaytest.Pixels(t, 3))
	var out protocol.MessageDone
	how := protocol.MessageSendParams{To: "777", Message: "plain", MediaURL: "pic.png", IdempotencyKey: "k1", ForceDocument: true}
	p.Do(protocol.MethodSend, how, &out)
	if m := api.Sent(gatewaytest.Anna); len(m) != 1 || m[0].Method != "sendDocument" || m[0].Quiet || len(out.Ignored) != 0 {
		t.Fatalf("%+v, ignored %q", m, out.Ignored)
	}
	how.ForceDocument = false
	if said := p.Refused(protocol.MethodSend, how); !strings.Contains(said, "used for something else before") {
		t.Error(said)
	}
	act := func(key, action string, params map[string]any) (out protocol.MessageDone) {
		t.Helper()
		params["to"] = "telegram:777"
		p.Do(protocol.MethodMessageAction, protocol.MessageActionParams{Channel: "telegram", Action: action, Params: params,
			IdempotencyKey: key}, &out)
		return out
	}
	for key, pin := range map[string]map[string]any{
		"p1": {"message": "one", "pin": true}, "p2": {"message": "two", "delivery": map[string]any{"pin": true}},
		"p3": {"message": "three", "delivery": map[string]any{"pin": map[string]any{"enabled": true}}},
	} {
		if out := act(key, "send", pin); !out.Pinned || len(out.Ignored) != 0 || out.Note != "" {
			t.Errorf("%s: %+v", key, out)
		}
	}
	for _, m := range api.Sent(gatewaytest.Anna)[1:] {
		if !m.Pinned {
			t.Errorf("%q is not pinned", m.Text)
		}
	}
	if out := act("p4", "send", map[string]any{"message": "four", "delivery": map[string]any{"pin": false, "bestEffort": true}}); out.Pinned ||
		!slices.Equal(out.Ignored, []string{"delivery"}) {
		t.Errorf("%+v", out)
	}
	api.Fail("pinChatMessage", telegramtest.Fault{Status: 400,
		Description: "Bad Request: not enough rights to manage pinned messages in the chat"})
	out = act("p5", "send", map[string]any{"message": "five", "pin": true})
	if out.Pinned || !strings.Contains(out.Note, "not enough rights") {
		t.Errorf("%+v", out)
	}
	act("q1", "poll", map[string]any{"pollQuestion": "Where to?", "pollOption": []string{"Sea", "Mountains"}, "silent": true,
		"pollPublic": true})
	vote := protocol.MessagePollParams{To: "777", Question: "When?", Options: []string{"Now", "Then"}, IdempotencyKey: "q2",
		IsAnonymous: new(true)}
	p.Do(protocol.MethodPoll, vote, &out)
	all := api.Sent(gatewaytest.Anna)
	open, secret := all[len(all)-2], all[len(all)-1]
	if !open.Public || !open.Quiet || secret.Public || secret.Quiet || len(out.Ignored) != 0 {
		t.Errorf("%+v\n%+v, ignored %q", open, secret, out.Ignored)
	}
}
