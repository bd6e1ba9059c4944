package tasks_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func tasksOf(p *gatewaytest.Peer, kind string) (out []protocol.TaskView) {
	p.T.Helper()
	var all protocol.TaskViews
	p.Do(protocol.MethodTaskViews, protocol.TasksListParams{}, &all)
	for _, t := range all.Tasks {
		if t.Kind == kind {
			out = append(out, t)
		}
	}
	return out
}

// taskIs waits until the task is as it should be.
func taskIs(t *testing.T, p *gatewaytest.Peer, id, status string) (out protocol.Task) {
	t.Helper()
	gatewaytest.WaitFor(t, "the task to be "+status, func() bool {
		var res protocol.TaskResult
		p.Do(protocol.MethodTasksGet, protocol.TaskIDParams{TaskID: id}, &res)
		out = res.Task
		return out.Status == status
	})
	return out
}

func planned(p *gatewaytest.Peer, s protocol.CronSpec) (j protocol.CronJob) {
	p.T.Helper()
	s.WakeMode = protocol.CronWakeNow
	p.Do(protocol.MethodCronAdd, protocol.CronAddParams{CronSpec: s}, &j)
	return j
}

// A sub-agent is a task: it can be read, cancelled and done again, and is still
// known after a restart.
func TestSubAgentsAreTasks(t *testing.T) {
	r := gatewaytest.New(t, "chat/tool-sessions_spawn")
	p := r.Connect()
	p.Send("main", "go", `{"task":"look at the sky","label":"sky","model":"chat/echo","cleanup":"delete"}`)
	p.Ended("go")
	_, run := gatewaytest.Spawned(t, p.History("main").Messages)
	p.Ended("announce:" + run)
	got := taskIs(t, p, run, protocol.TaskCompleted)
	if got.Kind != protocol.TaskSubagent || got.Title != "sky" || got.Prompt != "look at the sky" || got.Result != "echo: look at the sky" ||
		got.SessionKey != "agent:main:main" || got.Execution.State != "finished" {
		t.Errorf("the task is %+v", got)
	}
	p.Send("main", "hang", `{"task":"wait","model":"chat/fault-hang"}`)
	p.Ended("hang")
	hung := tasksOf(p, protocol.TaskSubagent)[0].ID
	taskIs(t, p, hung, protocol.TaskRunning)
	if said := p.Say("main", "list", "/tasks").Message.Text(); !strings.Contains(said, "At work:") ||
		!strings.Contains(said, "**sky**: done") {
		t.Errorf("/tasks says %q", said)
	}
	var res protocol.TaskCancelResult
	p.Do(protocol.MethodTasksCancel, protocol.TaskCancelParams{TaskID: hung}, &res)
	if !res.Found || !res.Cancelled {
		t.Errorf("cancelling says %+v", res)
	}
	taskIs(t, p, hung, protocol.TaskCancelled)
	var again protocol.TasksDone
	p.Do(protocol.MethodTasksRetry, protocol.TaskIDsParams{TaskIDs: []string{hung, run, "none"}}, &again)
	if len(again.Results) != 3 || !again.Results[0].OK || again.Results[1].OK || again.Results[2].OK {
		t.Fatalf("doing it again says %+v", again)
	}
	if again.Results[0].Task.ID == hung || again.Results[2].Reason != "There is no such task." {
		t.Errorf("doing it again says %+v", again)
	}
	r.Restart()
	p = r.Connect()
	taskIs(t, p, run, protocol.TaskCompleted)
	taskIs(t, p, hung, protocol.TaskCancelled)
}

// Runs of jobs are tasks: a command that somebody cancels ends, its run says so,
// and it can be run again.
func TestRunsOfJobsAreTasks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the command is of Unix")
	}
	v := gatewaytest.NewVictim(t, "chat/echo") // only the real program runs commands
	v.Start("")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	c := v.Dial(ctx, nil)
	if c == nil {
		t.Fatal("the gateway does not answer")
	}
	t.Cleanup(func() { _ = c.Close() })
	p := &gatewaytest.Peer{Client: c, T: t}
	j := planned(p, protocol.CronSpec{
		Name: "long", SessionTarget: protocol.CronIsolated,
		Schedule: protocol.CronSchedule{Kind: protocol.CronAt, At: time.Now().Add(time.Hour).UTC().Format(time.RFC3339)},
		Payload:  protocol.CronPayload{Kind: protocol.CronCommand, Argv: []string{"sleep", "300"}},
		Delivery: &protocol.CronDelivery{Mode: protocol.CronDeliverNone},
	})
	p.Do(protocol.MethodCronRun, protocol.CronRunParams{CronIDParams: protocol.CronIDParams{ID: j.ID}, Mode: "force"}, nil)
	var first string
	gatewaytest.WaitFor(t, "the task of the run", func() bool {
		all := tasksOf(p, protocol.TaskAutomation)
		if len(all) == 1 && all[0].Status == protocol.TaskRunning && all[0].Hearth.CanCancel {
			first = all[0].ID
			return true
		}
		return false
	})
	p.Do(protocol.MethodTasksCancel, protocol.TaskCancelParams{TaskID: first}, nil)
	got := taskIs(t, p, first, protocol.TaskCancelled)
	if got.SourceID != j.ID || got.Title != "long" || got.AgentID != "main" || got.DeliveryStatus != protocol.TaskDeliveryNone {
		t.Errorf("the task is %+v", got)
	}
	var runs protocol.CronRuns
	p.Do(protocol.MethodCronRuns, protocol.CronRunsParams{Scope: "all"}, &runs)
	if len(runs.Entries) != 1 || runs.Entries[0].Status != protocol.CronError || runs.Entries[0].Error != "You ended it." {
		t.Errorf("the log says %+v", runs.Entries)
	}
	var again protocol.TasksDone
	p.Do(protocol.MethodTasksRetry, protocol.TaskIDsParams{TaskIDs: []string{first}}, &again)
	if !again.Results[0].OK || again.Results[0].Task.Status != protocol.TaskRunning {
		t.Errorf("running it again says %+v", again.Results[0])
	}
	var page protocol.TasksList
	p.Do(protocol.MethodTasksList, protocol.TasksListParams{
		Status: protocol.TaskStatuses{protocol.TaskQueued, protocol.TaskRunning}, SessionKey: "main", AgentID: "main",
	}, &page)
	if len(page.Tasks) != 0 {
		t.Errorf("the conversation is said to have %+v", page.Tasks)
	}
	if said := p.Refused(protocol.MethodTasksList, map[string]any{"status": "over"}); !strings.Contains(said, "status is queued") {
		t.Errorf("a status that is none: %s", said)
	}
}
