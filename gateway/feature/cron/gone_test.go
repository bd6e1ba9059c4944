package cron_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func asking(name, target, message string) protocol.CronSpec {
	return protocol.CronSpec{
		Name: name, Schedule: hourly(), SessionTarget: target,
		Payload: protocol.CronPayload{Kind: protocol.CronAgentTurn, Message: message},
	}
}

// A job whose model is gone fails in words, names the model, and stays; with a
// model in reserve that one answers.
func TestTheModelIsGone(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	spec := asking("old", protocol.CronIsolated, "hello")
	spec.Payload.Model = "gone/model-7"
	j := addJob(p, spec)
	run := force(p, t, j.ID)
	if run.Status != protocol.CronError || !strings.Contains(run.Error, "gone") {
		t.Errorf("the run: %+v", run)
	}
	gatewaytest.WaitFor(t, "what the job says of it", func() bool { // which the log tells a moment before
		var now protocol.CronJob
		p.Do(protocol.MethodCronGet, protocol.CronIDParams{ID: j.ID}, &now)
		return now.State.ConsecutiveErrors == 1 && now.LastRunError != "" && now.Enabled != nil && *now.Enabled
	})
	spec.Payload.Fallbacks = []string{"chat/echo"}
	if run := force(p, t, addJob(p, spec).ID); run.Status != protocol.CronOK || run.Model != "echo" {
		t.Errorf("with one in reserve: %+v", run)
	}
}

// A job of a conversation that was deleted begins it anew; a run whose
// conversation is deleted under it ends, and says why.
func TestTheConversationIsGone(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	const key = "agent:main:garden"
	p.Say(key, "first", "hello")
	j := addJob(p, asking("garden", protocol.CronSessionPrefix+key, "look at the roses"))
	p.Do(protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: key}, nil)
	run := force(p, t, j.ID)
	if run.Status != protocol.CronOK || run.SessionKey != key {
		t.Errorf("after its conversation was deleted: %+v", run)
	}
	if h := p.History(key); len(h.Messages) != 2 || !strings.Contains(h.Messages[0].Text(), "roses") {
		t.Errorf("the new conversation: %+v", h.Messages)
	}

	p.Patch(map[string]any{"agents": map[string]any{"defaults": map[string]any{"model": "chat/wait-60000-echo"}}})
	var started protocol.CronRunStarted
	p.Do(protocol.MethodCronRun, protocol.CronRunParams{CronIDParams: protocol.CronIDParams{ID: j.ID}}, &started)
	gatewaytest.WaitFor(t, "the question", func() bool { return r.Model.Snapshot().Requests >= 3 })
	p.Do(protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: key}, nil)
	gatewaytest.WaitFor(t, "the end of the run", func() bool {
		var runs protocol.CronRuns
		p.Do(protocol.MethodCronRuns, protocol.CronRunsParams{RunID: started.RunID, Scope: "all"}, &runs)
		if len(runs.Entries) == 1 {
			run = runs.Entries[0]
		}
		return len(runs.Entries) == 1 && run.Hearth.State == "done"
	})
	if run.Status != protocol.CronError || run.Error == "" {
		t.Errorf("deleted while it ran: %+v", run)
	}
}

// TestSec_JobsMakeNoJobs: what runs by itself makes nothing that runs by itself,
// changes nothing that does, and wakes nobody.
func TestSec_JobsMakeNoJobs(t *testing.T) {
	r := gatewaytest.New(t, "chat/puppet")
	srv := httptest.NewServer(http.HandlerFunc(gatewaytest.Puppet))
	t.Cleanup(srv.Close)
	p := r.Connect()
	p.Patch(map[string]any{"models": map[string]any{"providers": map[string]any{"chat": map[string]any{"baseUrl": srv.URL + "/v1"}}}})
	spec := asking("breeder", protocol.CronIsolated, strings.Join([]string{
		`run:@cron {"action":"add","when":"in 1 hour","text":"more","kind":"task"}`,
		`@cron {"action":"add","job":{"schedule":{"kind":"every","everyMs":1000},"payload":{"kind":"agentTurn","message":"more"}}}`,
		`@cron {"action":"propose","when":"in 1 hour","text":"more","kind":"task"}`,
		`@cron {"action":"wake","text":"more","mode":"now"}`,
	}, "\n"))
	spec.Schedule = soon(50 * time.Millisecond)
	run := ran(p, t, addJob(p, spec).ID)
	if n := strings.Count(run.Summary, "does not make or change jobs"); n != 4 {
		t.Errorf("%d of 4 were refused: %+v", n, run)
	}
	gatewaytest.WaitFor(t, "the end of the job", func() bool {
		var list protocol.CronList
		p.Do(protocol.MethodCronList, protocol.CronListParams{IncludeDisabled: true}, &list)
		return len(list.Jobs) == 0
	})
}
