package cron

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/rules"
)

// policy is when the failures of a job are told; ok is false for never.
func (f *feature) policy(s *protocol.CronSpec) (a protocol.CronFailureAlert, cooldown int64, ok bool) {
	c := f.settings().FailureAlert
	if string(s.FailureAlert) == "false" {
		return a, 0, false
	}
	own := len(s.FailureAlert) > 0 && json.Unmarshal(s.FailureAlert, &a) == nil
	a.After = cmp.Or(a.After, c.After)
	cooldown = int64(c.CooldownMs)
	if a.CooldownMs != nil {
		cooldown = *a.CooldownMs
	}
	a.IncludeSkipped = a.IncludeSkipped || !own && c.IncludeSkipped
	return a, cooldown, own || c.Enabled
}

// alert says where a failure is told. One that nobody asked to hear of goes
// nowhere.
func (f *feature) alert(r job.Run) (w way) {
	j, err := f.book.Get(r.JobID)
	a, cooldown, ok := f.policy(r.Spec)
	if err != nil || !ok || r.Status == protocol.CronSkipped && !a.IncludeSkipped {
		return w
	}
	n, now := j.State.ConsecutiveErrors+1, f.Now().UnixMilli()
	last := j.Plan() != nil && j.Plan().Once() || watches(&j.CronSpec) && !j.On() // there is no next time
	if n < a.After && !last || j.State.LastAlertAtMs > 0 && now-j.State.LastAlertAtMs < cooldown {
		return w
	}
	w.label = "Jobs"
	w.text = fmt.Sprintf("The job “%s” failed: %s", r.JobName, r.Error)
	if n > 1 {
		w.text += fmt.Sprintf(" That was %d times in a row.", n)
	}
	agent := f.agentOf(r.Spec)
	w.into = rules.Main(f.Settings, agent)
	if d := f.alertTo(r.Spec, a); d.Mode == protocol.CronDeliverWebhook {
		w.post = d.To
	} else {
		w.to(f, d.Channel, d.To, d.AccountID, string(d.ThreadID), w.into)
	}
	w.problem = "" // the failure itself is what is noted
	w.alert, w.alerts = true, true
	return w
}

// alertTo is where failures of a job are told beside its conversation: where its
// alert says, its delivery, the settings, or where its results go.
func (f *feature) alertTo(s *protocol.CronSpec, a protocol.CronFailureAlert) protocol.CronDelivery {
	c, d := f.settings().FailureAlert, s.Delivery
	switch {
	case a.Channel != "" || a.To != "":
		return protocol.CronDelivery{Mode: a.Mode, Channel: a.Channel, To: a.To, AccountID: a.AccountID}
	case d != nil && d.Failure != nil:
		return protocol.CronDelivery{Mode: d.Failure.Mode, Channel: d.Failure.Channel, To: d.Failure.To, AccountID: d.Failure.AccountID}
	case c.Channel != "" || c.To != "":
		return protocol.CronDelivery{Mode: c.Mode, Channel: c.Channel, To: c.To, AccountID: c.AccountID}
	case d != nil && d.Mode == protocol.CronDeliverAnnounce:
		return *d
	}
	return protocol.CronDelivery{}
}

// recoveryTo is the address that heard of a job's failure, and hears that it works
// again; "" for none.
func (f *feature) recoveryTo(s *protocol.CronSpec) string {
	a, _, ok := f.policy(s)
	if d := f.alertTo(s, a); ok && d.Mode == protocol.CronDeliverWebhook && webAddress(d.To) {
		return d.To
	}
	return ""
}

// recovers reports whether it is to be told that a job works again: its failure was.
func (f *feature) recovers(r job.Run) bool {
	j, err := f.book.Get(r.JobID)
	return err == nil && j.Alerted
}
