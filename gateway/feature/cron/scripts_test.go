package cron_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func jobOf(p *gatewaytest.Peer, id string) (j protocol.CronJob) {
	p.T.Helper()
	p.Do(protocol.MethodCronGet, protocol.CronIDParams{ID: id}, &j)
	return j
}

// force runs a job by hand and waits for the end of that run.
func force(p *gatewaytest.Peer, t *testing.T, id string) (run protocol.CronRun) {
	t.Helper()
	var started protocol.CronRunStarted
	gatewaytest.WaitFor(t, "its beginning", func() bool { // the last one may just be ending
		p.Do(protocol.MethodCronRun, protocol.CronRunParams{CronIDParams: protocol.CronIDParams{ID: id}, Mode: "force"}, &started)
		return started.Enqueued
	})
	gatewaytest.WaitFor(t, "the run by hand", func() bool {
		var runs protocol.CronRuns
		p.Do(protocol.MethodCronRuns, protocol.CronRunsParams{RunID: started.RunID, Scope: "all"}, &runs)
		if len(runs.Entries) == 1 && runs.Entries[0].Hearth.State == "done" {
			run = runs.Entries[0]
			return true
		}
		return false
	})
	return run
}

func hourly() protocol.CronSchedule {
	return protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: time.Hour.Milliseconds()}
}

// A script runs without a model, keeps its state from run to run, tells what it
// found, and may use no more tools than it has; one that never ends is ended.
func TestCronScript(t *testing.T) {
	r := gatewaytest.NewForScripts(t, "chat/echo")
	p := r.Connect()
	script := func(name, text string) protocol.CronJob {
		return addJob(p, protocol.CronSpec{
			Name: name, Schedule: hourly(), SessionTarget: protocol.CronIsolated,
			Payload: protocol.CronPayload{Kind: protocol.CronScript, Script: text, ToolBudget: 1},
		})
	}
	counts := script("counts", `
		const n = (trigger.state?.n ?? 0) + 1;
		let frozen = false;
		try { "use strict"; trigger.state.n = 9; } catch (e) { frozen = true; }
		return { notify: "run " + n, state: { n } };`)
	for _, want := range []string{"run 1", "run 2"} {
		if run := force(p, t, counts.ID); run.Status != protocol.CronOK || run.Summary != want ||
			run.DeliveryStatus != protocol.CronDelivered || run.Model != "" {
			t.Errorf("want %s: %+v", want, run)
		}
	}
	gatewaytest.WaitFor(t, "its state", func() bool { return string(jobOf(p, counts.ID).State.TriggerState) == `{"n":2}` })
	for name, c := range map[string]struct{ script, want string }{
		"throws":  {"\nthrow new Error('no luck')", "no luck (line 2)."},
		"forever": {"while (true) {}", "ran for longer than it may"},
		"greedy":  {"for (let i = 0; i < 3; i++) { try { await tools.session_status({}) } catch (e) {} }", "more than 1 calls"},
		"paced":   {"return { nextCheck: '5m' }", "This job has no pacing"},
		"big":     {"return { state: 'x'.repeat(20000) }", "at most 16384 are kept"},
	} {
		j := script(name, c.script)
		if run := force(p, t, j.ID); run.Status != protocol.CronError || !strings.Contains(run.Error, c.want) {
			t.Errorf("%s: %s %q", name, run.Status, run.Error)
		}
	}
	if n := r.Model.Snapshot().Requests; n != 0 {
		t.Errorf("scripts asked a model %d times", n)
	}
}

// A condition decides without a model whether a job runs at all: a no leaves no
// trace in the log, a yes brings its words, and the state is kept when the run
// succeeded.
func TestCronCondition(t *testing.T) {
	r := gatewaytest.NewForScripts(t, "chat/echo")
	p := r.Connect()
	j := addJob(p, protocol.CronSpec{
		Name: "watch", Schedule: hourly(), SessionTarget: protocol.CronIsolated,
		Trigger: &protocol.CronTrigger{Once: true, Script: `
			const n = (trigger.state?.n ?? 0) + 1;
			json({ fire: n > 1, message: "look number " + n, state: { n } });`},
		Payload: protocol.CronPayload{Kind: protocol.CronAgentTurn, Message: "see to it"},
	})
	makeDue(p, j.ID)
	gatewaytest.WaitFor(t, "the first look", func() bool { return jobOf(p, j.ID).State.TriggerEvalCount == 1 })
	if n := r.Model.Snapshot().Requests; n != 0 || string(jobOf(p, j.ID).State.TriggerState) != `{"n":1}` {
		t.Errorf("a no asked a model %d times, keeps %s", n, jobOf(p, j.ID).State.TriggerState)
	}
	var runs protocol.CronRuns
	p.Do(protocol.MethodCronRuns, protocol.CronRunsParams{Scope: "all"}, &runs)
	if len(runs.Entries) != 0 {
		t.Errorf("a no stands in the log: %+v", runs.Entries)
	}
	makeDue(p, j.ID)
	run := ran(p, t, j.ID)
	if run.Status != protocol.CronOK || !strings.Contains(run.Summary, "see to it") || !strings.Contains(run.Summary, "look number 2") {
		t.Errorf("the yes: %+v", run)
	}
	gatewaytest.WaitFor(t, "the end of its only time", func() bool {
		now := jobOf(p, j.ID)
		return !*now.Enabled && string(now.State.TriggerState) == `{"n":2}`
	})
}

// makeDue gives a job a schedule that is due in a moment, and then once a minute.
// On a slow machine the moment may be over before the gateway reads it.
func makeDue(p *gatewaytest.Peer, id string) {
	for {
		anchor := time.Now().Add(300*time.Millisecond - time.Minute).UnixMilli()
		var j protocol.CronJob
		p.Do(protocol.MethodCronUpdate, map[string]any{"id": id, "patch": map[string]any{"schedule": protocol.CronSchedule{
			Kind: protocol.CronEvery, EveryMs: time.Minute.Milliseconds(), AnchorMs: &anchor,
		}}}, &j)
		if j.NextRunAtMs-anchor <= time.Minute.Milliseconds() {
			return
		}
	}
}

// A job that paces itself says when it looks again, within its bounds.
func TestCronPacing(t *testing.T) {
	r := gatewaytest.NewForScripts(t, "chat/echo")
	p := r.Connect()
	add := func(next string) protocol.CronJob {
		return addJob(p, protocol.CronSpec{
			Name: next, Schedule: hourly(), SessionTarget: protocol.CronIsolated, Pacing: &protocol.CronPacing{Min: "10m", Max: "2h"},
			Payload: protocol.CronPayload{Kind: protocol.CronScript, Script: "return { nextCheck: '" + next + "' }"},
		})
	}
	for next, want := range map[string]time.Duration{"30m": 30 * time.Minute, "1s": 10 * time.Minute, "9h": 2 * time.Hour} {
		j := add(next)
		makeDue(p, j.ID)
		run := ran(p, t, j.ID)
		var got time.Duration
		gatewaytest.WaitFor(t, "the end of the run", func() bool {
			now := jobOf(p, j.ID) // once: it may change between two looks
			got = time.Duration(now.NextRunAtMs-run.TS) * time.Millisecond
			return now.LastRunAtMs != 0
		})
		if run.Status != protocol.CronOK || got < want-time.Second || got > want+10*time.Second {
			t.Errorf("%s: it looks again after %s, want %s; %s", next, got, want, run.Error)
		}
	}
}

// What is due by events and cannot be is refused in words.
func TestCronEventRefusals(t *testing.T) {
	r := gatewaytest.NewForScripts(t, "chat/echo")
	p := r.Connect()
	turn := map[string]any{"kind": "agentTurn", "message": "x"}
	every := map[string]any{"kind": "every", "everyMs": 60_000}
	type m = map[string]any
	one := m{"kind": "script", "script": "1"}
	lines := func(argv ...string) m { return m{"kind": "stream", "command": argv} }
	for want, change := range map[string]m{
		"schedule.command is empty":           {"schedule": m{"kind": "on-exit"}},
		"schedule.command is a list":          {"schedule": m{"kind": "stream", "command": "tail -f x"}},
		"there is no program":                 {"schedule": lines("no-such-program")},
		"cannot be read":                      {"schedule": m{"kind": "stream", "command": []string{"sh"}, "mode": "match", "match": "("}},
		"runs no command":                     {"schedule": lines("sh"), "payload": m{"kind": "command", "argv": []string{"sh"}}},
		"payload.script: its text is no Java": {"payload": m{"kind": "script", "script": "return {"}},
		"trigger.script: its text is no Java": {"trigger": m{"script": "if ("}},
		"trigger.script is empty":             {"trigger": m{"script": " "}},
		"asked every 30s at most":             {"trigger": m{"script": "1"}, "schedule": m{"kind": "every", "everyMs": 1000}},
		"due again and again: every, cron":    {"trigger": m{"script": "1"}, "schedule": m{"kind": "at", "at": "2030-01-01T00:00:00Z"}},
		"both would keep the same state":      {"trigger": m{"script": "1"}, "payload": one},
		"pacing needs min or max":             {"pacing": m{}},
		"more than pacing.max":                {"pacing": m{"min": "2h", "max": "1h"}},
		"belongs to main or isolated":         {"sessionTarget": "session:x", "payload": one},
		"trigger.script has 70000 bytes, at":  {"trigger": m{"script": strings.Repeat("x", 70_000)}},
	} {
		job := map[string]any{"name": "n", "schedule": every, "sessionTarget": "isolated", "wakeMode": "now", "payload": turn}
		for k, v := range change {
			job[k] = v
		}
		if err := p.Call(t.Context(), protocol.MethodCronAdd, job, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	p.Patch(map[string]any{"cron": map[string]any{"triggers": map[string]any{"enabled": false}}})
	job := map[string]any{"name": "n", "schedule": every, "wakeMode": "now", "payload": map[string]any{"kind": "script", "script": "1"}}
	if err := p.Call(t.Context(), protocol.MethodCronAdd, job, nil); err == nil || !strings.Contains(err.Error(), "cron.triggers.enabled") {
		t.Errorf("switched off: %v", err)
	}
}
