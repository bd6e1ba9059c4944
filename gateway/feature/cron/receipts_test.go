package cron_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// onNetwork is a gateway with a bot, whose owner is Anna.
func onNetwork(t *testing.T) (*gatewaytest.Peer, *telegramtest.Server) {
	t.Helper()
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"allowFrom": []string{"777"}})
	return r.Connect(), api
}

// toAnna is a job whose result is sent to her.
func toAnna(name, script string) protocol.CronSpec {
	return protocol.CronSpec{
		Name: name, Schedule: hourly(), SessionTarget: protocol.CronIsolated,
		Payload:  protocol.CronPayload{Kind: protocol.CronScript, Script: script},
		Delivery: &protocol.CronDelivery{Mode: protocol.CronDeliverAnnounce, Channel: "telegram", To: "777"},
	}
}

// A result counts as delivered when the network has said so, and not a moment
// before; what the network refuses, and what nobody can know, is told as that.
func TestDeliveredIsTheReceiptOfTheNetwork(t *testing.T) {
	p, api := onNetwork(t)
	j := addJob(p, toAnna("news", "return { notify: 'the news' }"))
	api.Fail("sendMessage", telegramtest.Fault{Delay: 1500 * time.Millisecond})
	var started protocol.CronRunStarted
	p.Do(protocol.MethodCronRun, protocol.CronRunParams{CronIDParams: protocol.CronIDParams{ID: j.ID}}, &started)
	run := func() (r protocol.CronRun) {
		var runs protocol.CronRuns
		p.Do(protocol.MethodCronRuns, protocol.CronRunsParams{RunID: started.RunID, Scope: "all"}, &runs)
		if len(runs.Entries) == 1 {
			r = runs.Entries[0]
		}
		return r
	}
	gatewaytest.WaitFor(t, "its delivery", func() bool { r := run(); return r.Hearth != nil && r.Hearth.State == "delivering" })
	r := run()
	known := r.DeliveryStatus != protocol.CronUnknown || r.Delivered != nil
	if r.Hearth.State == "delivering" && (r.Status != protocol.CronOK || known) {
		t.Errorf("before the receipt: %+v", r)
	}
	gatewaytest.WaitFor(t, "the receipt", func() bool { return run().Hearth.State == "done" })
	if r := run(); r.DeliveryStatus != protocol.CronDelivered || r.Delivered == nil || !*r.Delivered || r.Hearth.DeliveryID == "" {
		t.Errorf("after it: %+v", r)
	}
	gatewaytest.WaitSent(t, api, 1, "the news")

	api.Fail("sendMessage", telegramtest.Fault{CutAfter: true}) // it arrived, and nobody says so
	if r := force(p, t, j.ID); r.DeliveryStatus == protocol.CronDelivered || r.DeliveryError == "" || r.Status != protocol.CronOK {
		t.Errorf("without a receipt: %+v", r)
	}
	api.Block(gatewaytest.Anna)
	r = force(p, t, j.ID)
	if r.DeliveryStatus != protocol.CronNotDelivered || !strings.Contains(r.DeliveryError, "blocked") || r.Status != protocol.CronOK {
		t.Errorf("refused: %+v", r)
	}
	gatewaytest.WaitFor(t, "what the job says of it", func() bool { // which the log tells a moment before
		var now protocol.CronJob
		p.Do(protocol.MethodCronGet, protocol.CronIDParams{ID: j.ID}, &now)
		return now.LastDeliveryStatus == protocol.CronNotDelivered && now.LastDeliveryError != "" && now.State.ConsecutiveErrors == 0
	})
}

// An account that is logged out, and one that is not there, are said in the log,
// and the result stands in the conversation all the same.
func TestDeliveryWithoutAnAccount(t *testing.T) {
	p, api := onNetwork(t)
	api.Revoke()
	out := force(p, t, addJob(p, toAnna("logged out", "return { notify: 'nobody hears this' }")).ID)
	if out.DeliveryStatus != protocol.CronNotDelivered || out.DeliveryError == "" || out.Status != protocol.CronOK {
		t.Errorf("logged out: %+v", out)
	}
	spec := toAnna("no account", "return { notify: 'nor this' }")
	spec.Delivery.Channel, spec.Delivery.To = "discord", "channel:1"
	accounts := func(discord any) { p.Patch(map[string]any{"channels": map[string]any{"discord": discord}}) }
	token := strings.Repeat("a", 24) + ".abcdef." + strings.Repeat("b", 30)
	accounts(map[string]any{"enabled": false, "token": token}) // it is taken out of the settings later
	j := addJob(p, spec)
	accounts(nil)
	none := force(p, t, j.ID)
	if none.DeliveryStatus != protocol.CronNotDelivered || !strings.Contains(none.DeliveryError, "no account of discord") {
		t.Errorf("no account: %+v", none)
	}
	said := ""
	for _, m := range p.History("main").Messages {
		said += m.Text()
	}
	if !strings.Contains(said, "nobody hears this") || !strings.Contains(said, "nor this") {
		t.Errorf("the conversation: %q", said)
	}
}

// Failures are told where the job says, after as many as it says and once in the
// time it says; the first result after it says that the job works again.
func TestFailuresAreTold(t *testing.T) {
	p, api := onNetwork(t)
	spec := toAnna("shaky", "throw new Error('the disk is full')")
	spec.FailureAlert = []byte(`{"after": 2, "cooldownMs": 3600000, "channel": "telegram", "to": "777"}`)
	j := addJob(p, spec)
	change := func(script string) {
		t.Helper()
		p.Do(protocol.MethodCronUpdate, map[string]any{"id": j.ID, "patch": map[string]any{
			"payload": map[string]any{"kind": "script", "script": script},
		}}, nil)
	}
	told := func(want int) (alerts int) {
		t.Helper()
		for _, text := range gatewaytest.Texts(api, gatewaytest.Anna) {
			if strings.Contains(text, "The job “shaky” failed") {
				alerts++
			}
		}
		if alerts != want {
			t.Errorf("%d alerts, want %d: %q", alerts, want, gatewaytest.Texts(api, gatewaytest.Anna))
		}
		return alerts
	}
	force(p, t, j.ID)
	told(0)
	second := force(p, t, j.ID)
	if text := gatewaytest.WaitSent(t, api, 1, "the disk is full"); !strings.Contains(text, "That was 2 times in a row.") {
		t.Errorf("the second failure: %q", text)
	}
	if second.Alert == nil || second.Status != protocol.CronError {
		t.Errorf("the second failure: %+v", second)
	}
	force(p, t, j.ID)
	told(1) // one an incident
	change("return { notify: 'well' }")
	force(p, t, j.ID)
	gatewaytest.WaitSent(t, api, 2, "works again")
	force(p, t, j.ID)
	if text := gatewaytest.WaitSent(t, api, 3, "well"); strings.Contains(text, "works again") {
		t.Errorf("told twice: %q", text)
	}
	change("throw new Error('the disk is full')")
	force(p, t, j.ID)
	force(p, t, j.ID)
	gatewaytest.WaitSent(t, api, 4, "the disk is full")
	told(2)

	quiet := toAnna("quiet", "throw new Error('no')")
	quiet.FailureAlert = []byte("false")
	silent := addJob(p, quiet)
	for range 3 {
		if r := force(p, t, silent.ID); r.Alert != nil {
			t.Errorf("told although it is not to be: %+v", r)
		}
	}
}
