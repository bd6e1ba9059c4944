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
	j := addJob(p, spec)
	run := force(p, t, j.ID)
	if run.DeliveryStatus != protocol.CronNotDelivered || !strings.Contains(run.DeliveryError, "may not be fetched") {
		t.Errorf("to this machine, which nobody named: %+v", run)
	}
	p.Patch(map[string]any{"cron": map[string]any{"webhookSsrfPolicy": map[string]any{"allowedHostnames": []string{"127.0.0.1"}}}})
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
