package cron_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func proposals(p *gatewaytest.Peer) []protocol.CronProposal {
	p.T.Helper()
	var res protocol.CronProposals
	p.Do(protocol.MethodCronProposals, nil, &res)
	return res.Proposals
}

func jobs(p *gatewaytest.Peer) int {
	p.T.Helper()
	var list protocol.CronList
	p.Do(protocol.MethodCronList, protocol.CronListParams{IncludeDisabled: true}, &list)
	return list.Total
}

// What an answer promises is proposed, and planned only after a yes; a no is
// remembered, also over a restart.
func TestPromisesBecomeJobsAfterAYes(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Send("main", "one", "ok. I will look at the oven in two hours.")
	p.Ended("one")
	gatewaytest.WaitFor(t, "the proposal", func() bool { return len(proposals(p)) == 1 })
	got := proposals(p)[0]
	if got.Kind != "task" || got.Text != "look at the oven in two hours" || got.SessionKey != "agent:main:main" ||
		got.Words == "" || jobs(p) != 0 {
		t.Errorf("proposed is %+v, and there are %d jobs", got, jobs(p))
	}
	if n := r.Model.Snapshot().Requests; n != 1 {
		t.Errorf("noticing it took %d requests of the model, want the one of the answer", n)
	}
	p.Do(protocol.MethodCronProposalAnswer, protocol.CronProposalParams{ID: got.ID}, nil)
	p.Send("main", "two", "ok. I will look at the oven in two hours.")
	p.Ended("two")
	p.Send("main", "three", "ok. I'll remind you tomorrow at nine to call mum")
	p.Ended("three")
	gatewaytest.WaitFor(t, "the next proposal", func() bool { return len(proposals(p)) == 1 })
	r.Restart()
	p = r.Connect()
	left := proposals(p)
	if len(left) != 1 || left[0].Kind != "reminder" || left[0].Text != "call mum" {
		t.Fatalf("after a no and a restart there is %+v", left)
	}
	if said := p.Say("main", "yes", "/cron yes").Message.Text(); !strings.Contains(said, "Planned: **call mum**") {
		t.Errorf("/cron yes says %q", said)
	}
	if n := jobs(p); n != 1 || len(proposals(p)) != 0 {
		t.Errorf("after the yes there are %d jobs, and %+v", n, proposals(p))
	}
	said := p.Refused(protocol.MethodCronProposalAnswer, protocol.CronProposalParams{ID: left[0].ID, Yes: true})
	if !strings.Contains(said, "no such") {
		t.Errorf("a second yes: %s", said)
	}
}

// The tool's action asks, and plans nothing; another time may be said with the yes.
func TestTheToolProposes(t *testing.T) {
	r := gatewaytest.New(t, "chat/tool-cron")
	p := r.Connect()
	p.Send("main", "go", `{"action":"propose","when":"tomorrow at nine","text":"Call mum","kind":"reminder"}`)
	p.Ended("go")
	open := proposals(p)
	if len(open) != 1 || open[0].Kind != "reminder" || jobs(p) != 0 {
		t.Fatalf("proposed is %+v, and there are %d jobs", open, jobs(p))
	}
	var res protocol.CronProposalAnswered
	p.Do(protocol.MethodCronProposalAnswer, protocol.CronProposalParams{ID: open[0].ID, Yes: true, When: "in 3 hours"}, &res)
	if res.Job == nil || res.Job.Schedule.Kind != protocol.CronAt || res.Job.Schedule.At == open[0].Schedule.At || !res.Job.Hearth.Reminder {
		t.Errorf("it became %+v", res.Job)
	}
	p.Do(protocol.MethodCronRemove, protocol.CronIDParams{ID: res.Job.ID}, nil)
	p.Send("main", "again", `{"action":"propose","when":"tomorrow at nine","text":"call  mum!","kind":"reminder"}`)
	p.Ended("again")
	p.Do(protocol.MethodCronProposalAnswer, protocol.CronProposalParams{ID: proposals(p)[0].ID}, nil)
	p.Send("main", "third", `{"action":"propose","when":"on Friday at nine","text":"Call mum","kind":"reminder"}`)
	p.Ended("third")
	if open := proposals(p); len(open) != 0 {
		t.Errorf("what was declined is proposed again: %+v", open)
	}
}
