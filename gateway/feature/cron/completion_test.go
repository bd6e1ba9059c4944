package cron_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// A result is posted to an address of this machine only when the owner named it;
// who wants to know that a job is done is told beside, also of failures, once.
func TestCronWebhooks(t *testing.T) {
	var mu sync.Mutex
	got := map[string][]protocol.CronEvent{}
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var ev protocol.CronEvent
		_ = json.NewDecoder(r.Body).Decode(&ev)
		mu.Lock()
		defer mu.Unlock()
		got[r.URL.Path+" "+r.Header.Get("Idempotency-Key")] = append(got[r.URL.Path+" "+r.Header.Get("Idempotency-Key")], ev)
	}))
	defer srv.Close()
	r := gatewaytest.NewForScripts(t, "chat/echo")
	p := r.Connect()
	spec := protocol.CronSpec{
		Name: "n", Schedule: hourly(), SessionTarget: protocol.CronIsolated,
		Payload: protocol.CronPayload{Kind: protocol.CronScript, Script: "return { notify: 'done it' }"},
		Delivery: &protocol.CronDelivery{
			Mode: protocol.CronDeliverWebhook, To: srv.URL + "/result",
			Completion: &protocol.CronDestination{Mode: protocol.CronDeliverWebhook, To: srv.URL + "/completion"},
		},
	}
	near := func(names ...string) {
		p.Patch(map[string]any{"cron": map[string]any{"webhookSsrfPolicy": map[string]any{"allowedHostnames": names}}})
	}
	near("127.0.0.1")
	j := addJob(p, spec)
	near("example.org") // the owner thinks better of it
	run := force(p, t, j.ID)
	if run.DeliveryStatus != protocol.CronNotDelivered || !strings.Contains(run.DeliveryError, "may not be fetched") {
		t.Errorf("to this machine, which nobody named: %+v", run)
	}
	near("127.0.0.1")
	if run = force(p, t, j.ID); run.DeliveryStatus != protocol.CronDelivered {
		t.Errorf("to this machine: %+v", run)
	}
	bad := spec
	bad.Payload.Script = "throw new Error('no')"
	failed := force(p, t, addJob(p, bad).ID)
	gatewaytest.WaitFor(t, "what is told", func() bool { mu.Lock(); defer mu.Unlock(); return len(got) == 3 })
	mu.Lock()
	defer mu.Unlock()
	for key, want := range map[string]string{
		"/result " + run.RunID: "done it", "/completion " + run.RunID + ":completion": "done it",
		"/completion " + failed.RunID + ":completion": "",
	} {
		if evs := got[key]; len(evs) != 1 || evs[0].Summary != want || want == "" && evs[0].Status != protocol.CronError {
			t.Errorf("%s: %+v", key, evs)
		}
	}
}

// Failures are posted where the job or the settings say so, with the run, and so is
// that it works again.
func TestFailuresArePosted(t *testing.T) {
	var mu sync.Mutex
	var got []string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var ev protocol.CronEvent
		_ = json.NewDecoder(r.Body).Decode(&ev)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.URL.Path+" "+ev.Status+" "+ev.Error+ev.Summary)
	}))
	defer srv.Close()
	r := gatewaytest.NewForScripts(t, "chat/echo")
	p := r.Connect()
	p.Patch(map[string]any{"cron": map[string]any{
		"webhookSsrfPolicy": map[string]any{"allowedHostnames": []string{"127.0.0.1"}},
		"failureAlert":      map[string]any{"after": 1, "mode": "webhook", "to": srv.URL + "/settings"},
	}})
	told := func(want string) {
		t.Helper()
		gatewaytest.WaitFor(t, want, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(got) > 0 && strings.Contains(got[len(got)-1], want)
		})
	}
	spec := protocol.CronSpec{
		Name: "shaky", Schedule: hourly(), SessionTarget: protocol.CronIsolated,
		Payload: protocol.CronPayload{Kind: protocol.CronScript, Script: "throw new Error('the disk is full')"},
	}
	j := addJob(p, spec)
	force(p, t, j.ID)
	told("/settings error")
	p.Do(protocol.MethodCronUpdate, map[string]any{"id": j.ID, "patch": map[string]any{
		"payload": map[string]any{"kind": "script", "script": "return { notify: 'well' }"},
	}}, nil)
	force(p, t, j.ID)
	told("/settings ok well")
	force(p, t, j.ID) // of which nobody needs to hear
	spec.FailureAlert = json.RawMessage(`{"after": 1, "mode": "webhook", "to": "` + srv.URL + `/own"}`)
	force(p, t, addJob(p, spec).ID)
	told("/own error")
	mu.Lock()
	if len(got) != 3 || !strings.Contains(got[0], "the disk is full") {
		t.Errorf("posted: %q", got)
	}
	mu.Unlock()
	spec.FailureAlert = json.RawMessage(`{"mode": "webhook", "to": "telegram:1"}`)
	err := p.Call(t.Context(), protocol.MethodCronAdd, protocol.CronAddParams{CronSpec: spec}, nil)
	if err == nil || !strings.Contains(err.Error(), "failureAlert.to has to be the https address") {
		t.Errorf("nowhere to post: %v", err)
	}
}
