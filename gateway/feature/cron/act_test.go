package cron_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// A client that may write, such as a phone, begins, pauses, plans anew and deletes
// a job, and can neither make one nor change what one does.
func TestSec_ActsOnJobsWithoutAdmin(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	owner, phone := r.Connect(), r.ConnectAs(protocol.ScopeRead, protocol.ScopeWrite)
	j := addJob(owner, protocol.CronSpec{
		Name: "fern", Schedule: protocol.CronSchedule{Kind: protocol.CronExpr, Expr: "0 9 * * *", TZ: "Asia/Tokyo"},
		SessionTarget: protocol.CronMain, Payload: protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: "water it"},
		Hearth: &protocol.CronOwn{Reminder: true},
	})
	act := func(do, when string) (out protocol.CronActed) {
		t.Helper()
		phone.Do(protocol.MethodCronAct, protocol.CronActParams{CronIDParams: protocol.CronIDParams{ID: j.ID}, Do: do, When: when}, &out)
		return out
	}
	if out := act("pause", ""); out.Job == nil || *out.Job.Enabled {
		t.Errorf("paused: %+v", out)
	}
	if out := act("resume", ""); !*out.Job.Enabled || out.Job.NextRunAtMs == 0 {
		t.Errorf("resumed: %+v", out)
	}
	if out := act("run", ""); !out.Begun {
		t.Errorf("begun: %+v", out)
	}
	ran(owner, t, j.ID)
	if out := act("plan", "every weekday at 18:30"); out.Job.Schedule.Expr != "30 18 * * 1-5" || out.Job.Schedule.TZ != "Asia/Tokyo" {
		t.Errorf("planned anew: %+v", out.Job)
	}
	for _, bad := range []protocol.CronActParams{
		{Do: "run"}, {CronIDParams: protocol.CronIDParams{ID: j.ID}, Do: "explode"},
		{CronIDParams: protocol.CronIDParams{ID: "nobody"}, Do: "run"},
		{CronIDParams: protocol.CronIDParams{ID: j.ID}, Do: "plan", When: "when pigs fly"},
	} {
		if said := phone.Refused(protocol.MethodCronAct, bad); said == "" {
			t.Errorf("%+v was done", bad)
		}
	}
	change := map[string]any{"id": j.ID, "patch": map[string]any{"payload": map[string]any{"kind": "command", "argv": []string{"id"}}}}
	if said := phone.Refused(protocol.MethodCronUpdate, change); !strings.Contains(said, "operator.admin") {
		t.Errorf("what it does was changed: %s", said)
	}
	if out := act("delete", ""); !out.OK {
		t.Errorf("deleted: %+v", out)
	}
}
