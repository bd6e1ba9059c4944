package cron_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// addJob makes a job that is due soon.
func addJob(p *gatewaytest.Peer, s protocol.CronSpec) (j protocol.CronJob) {
	p.T.Helper()
	s.WakeMode = protocol.CronWakeNow
	p.Do(protocol.MethodCronAdd, protocol.CronAddParams{CronSpec: s}, &j)
	return j
}

// ran waits for a finished run of a job.
func ran(p *gatewaytest.Peer, t *testing.T, id string) (run protocol.CronRun) {
	t.Helper()
	gatewaytest.WaitFor(t, "the job's run", func() bool {
		var runs protocol.CronRuns
		p.Do(protocol.MethodCronRuns, protocol.CronRunsParams{Scope: "all"}, &runs)
		for _, r := range runs.Entries {
			if r.JobID == id && r.Hearth.State == "done" {
				run = r
				return true
			}
		}
		return false
	})
	return run
}

func soon(d time.Duration) protocol.CronSchedule {
	return protocol.CronSchedule{Kind: protocol.CronAt, At: time.Now().Add(d).UTC().Format(time.RFC3339Nano)}
}

// A reminder is shown as it stands and asks no model; a task is done in a session
// of its own, and its answer stands in the conversation; both are gone then, and
// the log says what they cost and that they arrived.
func TestCronLife(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	remind := addJob(p, protocol.CronSpec{
		Name: "water", Schedule: soon(50 * time.Millisecond), SessionTarget: protocol.CronMain,
		Payload: protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: "drink water"}, Hearth: &protocol.CronOwn{Reminder: true},
	})
	if run := ran(p, t, remind.ID); run.Status != protocol.CronOK || run.DeliveryStatus != protocol.CronDelivered || run.Model != "" {
		t.Errorf("the reminder: %+v", run)
	}
	if n := r.Model.Snapshot().Requests; n != 0 {
		t.Errorf("a reminder asked a model %d times", n)
	}
	p.Do(protocol.MethodSetHeartbeats, map[string]any{"enabled": false}, nil)
	var beat *protocol.HeartbeatEvent
	p.Do(protocol.MethodLastHeartbeat, nil, &beat)
	if beat != nil {
		t.Errorf("a heartbeat before the first: %+v", beat)
	}
	task := addJob(p, protocol.CronSpec{
		Name: "stars", Schedule: soon(50 * time.Millisecond), SessionTarget: protocol.CronIsolated,
		Payload: protocol.CronPayload{Kind: protocol.CronAgentTurn, Message: "count the stars"},
	})
	run := ran(p, t, task.ID)
	if run.Status != protocol.CronOK || run.Provider == "" || run.Usage == nil || run.DeliveryStatus != protocol.CronDelivered {
		t.Errorf("the task: %+v", run)
	}
	var said []string
	for _, m := range p.History("main").Messages {
		said = append(said, m.Text())
	}
	if len(said) != 2 || said[0] != "[Reminder]\n\ndrink water" || !strings.HasPrefix(said[1], "[stars]\n\n") {
		t.Errorf("the conversation: %q", said)
	}
	var list protocol.CronList
	gatewaytest.WaitFor(t, "the end of both jobs", func() bool { // which the log tells a moment before
		list = protocol.CronList{}
		p.Do(protocol.MethodCronList, protocol.CronListParams{IncludeDisabled: true}, &list)
		return len(list.Jobs) == 0
	})
	if list.SnapshotRevision == "" || list.NextOffset != nil {
		t.Errorf("what is left: %+v", list)
	}
}

// Each run of an isolated job has a session of its own; a run by hand leaves the
// schedule where it is.
func TestIsolatedRuns(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	j := addJob(p, protocol.CronSpec{
		Name: "hourly", Schedule: protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: 3_600_000}, SessionTarget: protocol.CronIsolated,
		Payload: protocol.CronPayload{Kind: protocol.CronAgentTurn, Message: "look"},
	})
	var keys []string
	for range 2 {
		var started protocol.CronRunStarted
		gatewaytest.WaitFor(t, "the end of the run before", func() bool { // its entry is there a moment earlier
			started = protocol.CronRunStarted{}
			p.Do(protocol.MethodCronRun, protocol.CronRunParams{CronIDParams: protocol.CronIDParams{ID: j.ID}}, &started)
			return started.Enqueued
		})
		gatewaytest.WaitFor(t, "the run", func() bool {
			var runs protocol.CronRuns
			p.Do(protocol.MethodCronRuns, protocol.CronRunsParams{RunID: started.RunID}, &runs)
			if len(runs.Entries) == 1 && runs.Entries[0].Hearth.State == "done" {
				keys = append(keys, runs.Entries[0].SessionKey)
				return true
			}
			return false
		})
	}
	if keys[0] == keys[1] || !strings.HasPrefix(keys[0], "agent:main:cron:"+j.ID) {
		t.Errorf("sessions %q", keys)
	}
	var now protocol.CronJob
	p.Do(protocol.MethodCronGet, protocol.CronIDParams{JobID: j.ID}, &now)
	if now.NextRunAtMs != j.NextRunAtMs {
		t.Errorf("a run by hand moved the schedule from %d to %d", j.NextRunAtMs, now.NextRunAtMs)
	}
}

// Every other day keeps its time of the day, in the zone that was said, in whatever letters.
func TestEveryOtherDay(t *testing.T) {
	p := gatewaytest.New(t, "chat/echo").Connect()
	for _, said := range []string{"every other day at 9", "alle zwei Tage um 9"} {
		var out protocol.CronPreview
		p.Do(protocol.MethodCronPreview, protocol.CronPreviewParams{Text: said, TZ: "asia/tokyo"}, &out)
		if out.Words != "every 2 days at 09:00 (Asia/Tokyo)" || len(out.Next) == 0 || out.Next[0]%86_400_000 != 0 { // nine in Tokyo is midnight
			t.Errorf("%s: %+v", said, out)
		}
		j := addJob(p, protocol.CronSpec{
			Name: said, Schedule: *out.Schedule, Hearth: &protocol.CronOwn{Reminder: true},
			Payload: protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: "water the fern"},
		})
		if j.Hearth.Words != out.Words || j.NextRunAtMs != out.Next[0] {
			t.Errorf("%s: %+v", said, j)
		}
	}
}

// A job may ask a model that is not there yet, and says so; what it says already stays when
// something else of it is changed.
func TestCronWarnsOfModels(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	for model, warns := range map[string]bool{"nope/x": true, "chat/echo": false, "": false} {
		j := addJob(p, protocol.CronSpec{
			Name: "asks", Schedule: hourly(), SessionTarget: protocol.CronIsolated,
			Payload: protocol.CronPayload{Kind: protocol.CronAgentTurn, Message: "look", Model: model},
		})
		if got := j.Hearth.Warning; strings.Contains(got, "No model here is called nope/x") != warns {
			t.Errorf("%q: %q", model, got)
		}
	}
}

// What does not fit a job is refused in words, and nothing is kept of it; a patch
// changes what it names.
// TestCronTimeIsOver: a job for one time that came in switched off, as an import makes it,
// is not done when it is switched on after its time; a later time brings it back.
func TestCronTimeIsOver(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	off := false
	j := addJob(p, protocol.CronSpec{
		Name: "old", Schedule: protocol.CronSchedule{Kind: protocol.CronAt, At: "2025-05-01T08:00:00Z"}, Enabled: &off,
		Payload: protocol.CronPayload{Kind: protocol.CronAgentTurn, Message: "x"},
	})
	on := map[string]any{"id": j.ID, "patch": map[string]any{"enabled": true}}
	if err := p.Call(t.Context(), protocol.MethodCronUpdate, on, nil); err == nil || !strings.Contains(err.Error(), "1 May 2025") {
		t.Errorf("switched on: %v", err)
	}
	p.Do(protocol.MethodCronGet, protocol.CronIDParams{ID: j.ID}, &j)
	if j.Enabled == nil || *j.Enabled || j.State.RunningAtMs+j.State.LastRunAtMs > 0 {
		t.Errorf("it is %+v", j.State)
	}
	later := map[string]any{"enabled": true, "schedule": map[string]any{"kind": "at", "at": "2h"}}
	p.Do(protocol.MethodCronUpdate, map[string]any{"id": j.ID, "patch": later}, &j)
	if !*j.Enabled || j.NextRunAtMs == 0 {
		t.Errorf("with another time: %+v", j)
	}
}

func TestCronRefusals(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	turn := map[string]any{"kind": "agentTurn", "message": "x"}
	for name, change := range map[string]map[string]any{
		"an expression": {"schedule": map[string]any{"kind": "cron", "expr": "99 * * * *"}},
		"a date":        {"schedule": map[string]any{"kind": "cron", "expr": "0 0 30 2 *"}},
		"each second":   {"schedule": map[string]any{"kind": "cron", "expr": "* * * * * *"}},
		"a zone":        {"schedule": map[string]any{"kind": "cron", "expr": "0 9 * * *", "tz": "Mars/Olympus"}},
		"a kind":        {"schedule": map[string]any{"kind": "moon"}},
		"a payload":     {"payload": map[string]any{"kind": "agentTurn"}},
		"a target":      {"sessionTarget": "elsewhere"},
		"an assistant":  {"agentId": "nosuch"},
		"a network":     {"delivery": map[string]any{"mode": "announce", "channel": "nosuch", "to": "1"}},
		"this machine":  {"delivery": map[string]any{"mode": "webhook", "to": "http://127.0.0.1/"}},
		"a webhook":     {"delivery": map[string]any{"mode": "webhook", "to": "file:///etc/passwd"}},
	} {
		job := map[string]any{
			"name": "n", "schedule": map[string]any{"kind": "every", "everyMs": 60000}, "sessionTarget": "isolated", "wakeMode": "now",
			"payload": turn,
		}
		for k, v := range change {
			job[k] = v
		}
		if err := p.Call(t.Context(), protocol.MethodCronAdd, job, nil); err == nil || !strings.Contains(err.Error(), "invalid cron.add params") {
			t.Errorf("%s: %v", name, err)
		}
	}
	j := addJob(p, protocol.CronSpec{
		Name: "n", Schedule: protocol.CronSchedule{Kind: protocol.CronExpr, Expr: "0 9 * * 1-5", TZ: "Europe/Vienna"},
		Payload: protocol.CronPayload{Kind: protocol.CronAgentTurn, Message: "x", Thinking: "high", ToolsAllow: []string{"read"}},
	})
	var out protocol.CronJob
	p.Do(protocol.MethodCronUpdate, map[string]any{"id": j.ID, "patch": map[string]any{
		"name": "m", "payload": map[string]any{"kind": "agentTurn", "thinking": nil}, "delivery": map[string]any{"mode": "none"},
	}}, &out)
	if out.Name != "m" || out.Payload.Message != "x" || out.Payload.Thinking != "" ||
		!slices.Equal(out.Payload.ToolsAllow, []string{"read"}) ||
		out.Delivery.Mode != protocol.CronDeliverNone || out.Schedule.TZ != "Europe/Vienna" || out.NextRunAtMs != j.NextRunAtMs {
		t.Errorf("%+v", out)
	}
	if out.Hearth.Words != "every weekday at 09:00 (Europe/Vienna)" {
		t.Errorf("in words: %q", out.Hearth.Words)
	}
}
