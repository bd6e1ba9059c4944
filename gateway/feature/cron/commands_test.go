package cron_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// People plan by commands: the reply says when, the job belongs to the
// conversation, and no model is asked.
func TestCommandsPlan(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	for i, tc := range []struct{ text, want string }{
		{"/cron", "Nothing is planned"},
		{"/remind soon", "When?"},
		{"/remind in 20 minutes", "Remind you of what?"},
		{"/remind on 30 February call mum", "There is no such day"},
		{"/remind me in 20 minutes to look at the oven", "I will remind you: **look at the oven**\nOnce, on "},
		{"/remind ! jeden Werktag um 8 Dehnen", "**Dehnen**\nEvery weekday at 08:00"},
		{"/loop 10m is the build done?", "**is the build done?**\nEvery 10 minutes"},
		{"/loop 10s is it there?", "No job repeats more often than once a minute. Say another time."},
		{"/loop every 10 seconds is it there?", "No job repeats more often than once a minute."},
		{"/loop", "What is to be done"},
		{"/cron list", "**is the build done?**"},
		{"/cron pause dehnen", "Paused: **Dehnen**"},
		{"/cron list", "**Dehnen**: every weekday at 08:00, paused"},
		{"/cron resume dehnen", "It goes on"},
		{"/cron delete is the build done?", "Deleted"},
		{"/cron delete nothing", "There is no job nothing"},
		{"/cron dance", "Say `/cron list`"},
	} {
		end := p.Say("main", fmt.Sprintf("plan%d", i), tc.text)
		if end.State != protocol.ChatFinal || !strings.Contains(end.Message.Text(), tc.want) {
			t.Errorf("%s: %q %s, want %q", tc.text, end.Message.Text(), end.ErrorMessage, tc.want)
		}
	}
	if n := r.Model.Snapshot().Requests; n != 0 {
		t.Errorf("a command asked a model %d times", n)
	}
	var list protocol.CronList
	p.Do(protocol.MethodCronList, protocol.CronListParams{IncludeDisabled: true}, &list)
	var said []string
	for _, j := range list.Jobs {
		if j.Payload.Kind != protocol.CronSystemEvent || !j.Hearth.Reminder || j.Owner == nil || j.Owner.SessionKey != "agent:main:main" {
			t.Errorf("%s: %+v", j.Name, j.CronSpec)
		}
		said = append(said, j.Name+map[bool]string{true: "!"}[j.Hearth.Important])
	}
	if got := strings.Join(said, ", "); got != "look at the oven, Dehnen!" && got != "Dehnen!, look at the oven" {
		t.Errorf("planned: %s", got)
	}
}

// Where no model is connected the built-in guide plans what somebody wishes to be
// reminded of, with the tool that a model would use.
func TestTheGuideReminds(t *testing.T) {
	r := gatewaytest.New(t, "guide/guide")
	p := r.Connect()
	for i, tc := range []struct{ text, want string }{
		{"remind me on Friday at nine to call mum", "Planned: **call mum**\n\nOnce, on Friday "},
		{"Can you remind me every weekday at 8 to stretch?", "Planned: **stretch**\n\nEvery weekday at 08:00"},
		{"erinnere mich in 20 Minuten an den Ofen", "Planned: **an den Ofen**"},
		{"remind me of my dentist", "names no time that Hearth understands"},
		{"remind me tomorrow at 9", "says when, and not what"},
	} {
		end := p.Say("main", fmt.Sprintf("guide%d", i), tc.text)
		if end.State != protocol.ChatFinal || !strings.Contains(end.Message.Text(), tc.want) {
			t.Errorf("%s: %q %s, want %q", tc.text, end.Message.Text(), end.ErrorMessage, tc.want)
		}
	}
	var list protocol.CronList
	p.Do(protocol.MethodCronList, protocol.CronListParams{IncludeDisabled: true}, &list)
	if len(list.Jobs) != 3 {
		t.Errorf("%d jobs", len(list.Jobs))
	}
	for _, j := range list.Jobs {
		if j.Hearth == nil || !j.Hearth.Reminder || j.Payload.Kind != protocol.CronSystemEvent {
			t.Errorf("%s is no reminder: %+v", j.Name, j.CronSpec)
		}
	}
}
