//go:build unix

package cron_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func lines(argv ...string) json.RawMessage {
	raw, err := json.Marshal(argv)
	if err != nil {
		panic(err)
	}
	return raw
}

// A job begins when the command ends that it waits for, once, with what it said;
// one begins with each batch of lines of a program, which ends with its job.
func TestCronPrograms(t *testing.T) {
	v := gatewaytest.NewVictim(t, "chat/echo")
	v.Start("")
	p := reach(t, v)
	gate := filepath.Join(t.TempDir(), "go")
	exit := addJob(p, protocol.CronSpec{
		Name: "built", SessionTarget: protocol.CronMain, Hearth: &protocol.CronOwn{Reminder: true},
		Schedule: protocol.CronSchedule{
			Kind: protocol.CronOnExit, Command: json.RawMessage(`"while [ ! -e ` + gate + ` ]; do sleep 0.05; done; echo all done; exit 3"`),
		},
		Payload: protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: "The build is over."},
	})
	pidFile := filepath.Join(t.TempDir(), "pid")
	stream := addJob(p, protocol.CronSpec{
		Name: "lines", SessionTarget: protocol.CronMain, Hearth: &protocol.CronOwn{Reminder: true},
		Schedule: protocol.CronSchedule{
			Kind: protocol.CronStream, Mode: "match", Match: "^bad", BatchMs: 500,
			Command: lines("sh", "-c", "echo $$ > "+pidFile+"; echo good 1; echo bad 2; echo bad 3 >&2; exec sleep 600"),
		},
		Payload: protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: "Look:"},
	})
	if run := ran(p, t, stream.ID); run.Status != protocol.CronOK || run.Summary != "Look:\n\nbad 2\nbad 3" {
		t.Errorf("the lines: %+v", run)
	}
	if j := jobOf(p, exit.ID); j.State.StreamStatus != "running" || !*j.Enabled {
		t.Errorf("before its end: %+v", j.State)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	run := ran(p, t, exit.ID)
	if run.Status != protocol.CronOK || run.Summary != "The build is over.\n\nThe command ended with code 3.\nall done" {
		t.Errorf("the end: %+v", run)
	}
	gatewaytest.WaitFor(t, "the end of the waiting", func() bool { return !*jobOf(p, exit.ID).Enabled })
	raw, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid := atoi(t, strings.TrimSpace(string(raw)))
	p.Do(protocol.MethodCronRemove, protocol.CronIDParams{ID: stream.ID}, nil)
	gatewaytest.WaitFor(t, "the end of the program", func() bool { return syscall.Kill(pid, 0) != nil })
}

func atoi(t *testing.T, s string) (n int) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A command that was waited for when Hearth was killed is not started a second
// time: the job says so. A program whose lines count is started again.
func TestFault_F_CRON_02_WatchedProgramsAfterAKill(t *testing.T) {
	v := gatewaytest.NewVictim(t, "chat/echo")
	v.Start("")
	p := reach(t, v)
	starts := filepath.Join(t.TempDir(), "starts")
	count := func(word string) int {
		raw, _ := os.ReadFile(starts)
		return strings.Count(string(raw), word)
	}
	payload := protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: "over"}
	exit := addJob(p, protocol.CronSpec{
		Name: "exit", SessionTarget: protocol.CronMain, Hearth: &protocol.CronOwn{Reminder: true}, Payload: payload,
		Schedule: protocol.CronSchedule{Kind: protocol.CronOnExit, Command: lines("sh", "-c", "echo exit >> "+starts+"; sleep 600")},
	})
	addJob(p, protocol.CronSpec{
		Name: "stream", SessionTarget: protocol.CronMain, Hearth: &protocol.CronOwn{Reminder: true}, Payload: payload,
		Schedule: protocol.CronSchedule{Kind: protocol.CronStream, Command: lines("sh", "-c", "echo stream >> "+starts+"; sleep 600")},
	})
	gatewaytest.WaitFor(t, "both programs", func() bool { return count("exit") == 1 && count("stream") == 1 })
	gatewaytest.WaitFor(t, "what is known of them", func() bool { return jobOf(p, exit.ID).State.StreamLastStartedAtMs != 0 })
	v.Kill()
	v.Start("")
	p = reach(t, v)
	run := ran(p, t, exit.ID)
	if run.Status != protocol.CronError || run.CompletionStatus != protocol.CronUnknown ||
		!strings.Contains(run.Error, "not started a second time") {
		t.Errorf("after the kill: %+v", run)
	}
	gatewaytest.WaitFor(t, "the program again", func() bool { return count("stream") == 2 })
	if n := count("exit"); n != 1 {
		t.Errorf("the command ran %d times", n)
	}
}

// reach is a client of a victim.
func reach(t *testing.T, v *gatewaytest.Victim) *gatewaytest.Peer {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	c := v.Dial(ctx, nil)
	if c == nil {
		t.Fatal("the gateway does not answer")
	}
	t.Cleanup(func() { _ = c.Close() })
	return &gatewaytest.Peer{Client: c, T: t}
}

// What a command prints begins a run when it is something else, also when it changed
// while Hearth was away; the same words begin none.
func TestWatchedOutput(t *testing.T) {
	v := gatewaytest.NewVictim(t, "chat/echo")
	name := filepath.Join(t.TempDir(), "said")
	var p *gatewaytest.Peer
	var j protocol.CronJob
	looked := func() bool {
		w := jobOf(p, j.ID).Hearth.Watching
		if w != nil && w.Problem != "" {
			t.Fatal(w.Problem)
		}
		return w != nil && w.LookedAtMs > 0
	}
	begin := func(words string) { // a start looks at once
		v.Kill()
		if err := os.WriteFile(name, []byte(words), 0o600); err != nil {
			t.Fatal(err)
		}
		v.Start("")
		p = reach(t, v)
	}
	begin("2 mails\n")
	j = addJob(p, protocol.CronSpec{
		Name: "the post", SessionTarget: protocol.CronMain, Hearth: &protocol.CronOwn{Reminder: true},
		Schedule: protocol.CronSchedule{Kind: protocol.CronWatch, Watch: &protocol.CronWatched{
			Source: protocol.WatchOutput, Argv: []string{"cat", name}, EveryMs: time.Hour.Milliseconds(),
		}},
		Payload: protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: "look"},
	})
	gatewaytest.WaitFor(t, "the first look", looked)
	begin("2 mails\n")
	gatewaytest.WaitFor(t, "a look at the same", looked)
	begin("2 mails\n1 letter\n")
	run := ran(p, t, j.ID)
	if run.Status != protocol.CronOK || run.DeliveryStatus != protocol.CronDelivered || !strings.Contains(run.Summary, "+ 1 letter") ||
		strings.Contains(run.Summary, "2 mails") {
		t.Errorf("the run: %+v", run)
	}
	begin("2 mails\n1 letter\n")
	gatewaytest.WaitFor(t, "a look after it", looked)
	var runs protocol.CronRuns
	p.Do(protocol.MethodCronRuns, protocol.CronRunsParams{CronIDParams: protocol.CronIDParams{ID: j.ID}}, &runs)
	if len(runs.Entries) != 1 {
		t.Errorf("%d runs: %+v", len(runs.Entries), runs.Entries)
	}
}

// How a command of a job ended is said as it was: who ended it, or what it did not do.
func TestHowCommandsEnd(t *testing.T) {
	v := gatewaytest.NewVictim(t, "chat/echo")
	v.Start("")
	p := reach(t, v)
	command := func(name string, change func(*protocol.CronPayload)) protocol.CronJob {
		s := protocol.CronSpec{Name: name, Schedule: hourly(), SessionTarget: protocol.CronIsolated,
			Payload: protocol.CronPayload{Kind: protocol.CronCommand, Argv: []string{"sleep", "300"}}}
		change(&s.Payload)
		return addJob(p, s)
	}
	quiet := command("quiet", func(c *protocol.CronPayload) { c.QuietSeconds = 1 })
	if run := force(p, t, quiet.ID); !strings.Contains(run.Error, "said nothing for 1s") {
		t.Errorf("quiet: %+v", run)
	}
	long := 1.0
	slow := command("slow", func(c *protocol.CronPayload) { c.TimeoutSeconds = &long })
	if run := force(p, t, slow.ID); !strings.Contains(run.Error, "took longer than 1s") || run.ErrorReason != "timeout" {
		t.Errorf("slow: %+v", run)
	}
	stopped := command("stopped", func(*protocol.CronPayload) {})
	var started protocol.CronRunStarted
	p.Do(protocol.MethodCronRun, protocol.CronRunParams{CronIDParams: protocol.CronIDParams{ID: stopped.ID}, Mode: "force"}, &started)
	gatewaytest.WaitFor(t, "its task", func() bool {
		return p.Call(t.Context(), protocol.MethodTasksCancel, map[string]any{"taskId": started.RunID}, nil) == nil
	})
	if run := ran(p, t, stopped.ID); run.Error != "You ended it." {
		t.Errorf("ended by hand: %+v", run)
	}
}

// A program that cannot be started is told at its job: why, and when it is tried again.
func TestProgramThatCannotStart(t *testing.T) {
	r := gatewaytest.NewForScripts(t, "chat/echo")
	p := r.Connect()
	j := addJob(p, protocol.CronSpec{
		Name: "gone", SessionTarget: protocol.CronMain, Hearth: &protocol.CronOwn{Reminder: true},
		Schedule: protocol.CronSchedule{Kind: protocol.CronStream, Command: lines("/nonexistent")},
		Payload:  protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: "Look:"},
	})
	gatewaytest.WaitFor(t, "what is known of it", func() bool {
		w := jobOf(p, j.ID).Hearth.Watching
		return w != nil && strings.HasPrefix(w.Problem, "The program could not be started: ") && w.NextLookAtMs > w.LookedAtMs
	})
}
