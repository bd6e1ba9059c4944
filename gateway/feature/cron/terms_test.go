package cron_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// A job's own fallbacks answer in the place of the configured ones, an empty list
// is none, and the ceiling of a run ends it before the next call of a model.
func TestCronTerms(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	price := map[string]any{"input": 1000, "output": 1000, "cacheRead": 1000, "cacheWrite": 1000}
	p.Patch(map[string]any{"models": map[string]any{"pricing": map[string]any{"chat/tool-session_status": price}}})
	ask := func(name, model string, change func(*protocol.CronSpec)) protocol.CronRun {
		s := protocol.CronSpec{
			Name: name, Schedule: hourly(), SessionTarget: protocol.CronIsolated,
			Payload: protocol.CronPayload{Kind: protocol.CronAgentTurn, Message: "hello", Model: model},
		}
		change(&s)
		return force(p, t, addJob(p, s).ID)
	}
	run := ask("falls back", "chat/fault-401", func(s *protocol.CronSpec) { s.Payload.Fallbacks = []string{"llama/echo"} })
	if run.Status != protocol.CronOK || run.Model != "echo" {
		t.Errorf("with a fallback: %+v", run)
	}
	run = ask("strict", "", func(s *protocol.CronSpec) { s.Payload.Fallbacks = []string{} })
	if run.Status != protocol.CronOK {
		t.Errorf("strict: %+v", run)
	}
	run = ask("dear", "chat/tool-session_status", func(s *protocol.CronSpec) { s.Hearth = &protocol.CronOwn{MaxCostUSD: 0.0001} })
	if run.Status != protocol.CronError || !strings.Contains(run.Error, "hearth.maxCostUsd") {
		t.Errorf("beyond its ceiling: %+v", run)
	}
	run = ask("dear enough", "chat/tool-session_status", func(s *protocol.CronSpec) { s.Hearth = &protocol.CronOwn{MaxCostUSD: 100} })
	if run.Status != protocol.CronOK {
		t.Errorf("within its ceiling: %+v", run)
	}
	sizes := []int{}
	for _, light := range []bool{false, true} {
		ask("light", "", func(s *protocol.CronSpec) { s.Payload.LightContext = light })
		sizes = append(sizes, strings.Count(r.Model.Snapshot().System, "<file name="))
	}
	if sizes[0] == 0 || sizes[1] != 0 {
		t.Errorf("files of the workspace: %v", sizes)
	}
}

// What waits for the next heartbeat is a note that the next message is read with;
// no model is asked for it.
func TestCronNextHeartbeat(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	var j protocol.CronJob
	p.Do(protocol.MethodCronAdd, protocol.CronAddParams{CronSpec: protocol.CronSpec{
		Name: "later", Schedule: soon(0), SessionTarget: protocol.CronMain, WakeMode: protocol.CronWakeNext,
		Payload: protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: "the parcel is there"},
	}}, &j)
	if run := ran(p, t, j.ID); run.Status != protocol.CronOK || run.Model != "" {
		t.Errorf("%+v", run)
	}
	p.Do(protocol.MethodWake, protocol.WakeParams{Mode: protocol.CronWakeNext, Text: "and so is the post"}, nil)
	if n := r.Model.Snapshot().Requests; n != 0 {
		t.Errorf("a model was asked %d times", n)
	}
	var said []string
	for _, m := range p.History("main").Messages {
		said = append(said, m.Text())
	}
	if want := []string{"[later]\n\nthe parcel is there", "[Wake]\n\nand so is the post"}; !slices.Equal(said, want) {
		t.Errorf("the conversation: %q", said)
	}
}

// A job that ran or cost as much as it may in a day is skipped until the next one, and
// the log says so.
func TestCronCeilings(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	price := map[string]any{"input": 1000, "output": 1000, "cacheRead": 1000, "cacheWrite": 1000}
	p.Patch(map[string]any{"models": map[string]any{"pricing": map[string]any{"chat/echo": price}}})
	often := protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: 1000}
	for _, c := range []struct {
		spec protocol.CronSpec
		runs int
		says string
	}{
		{protocol.CronSpec{
			Name: "twice", SessionTarget: protocol.CronMain, Hearth: &protocol.CronOwn{Reminder: true, MaxRunsPerDay: 2},
			Payload: protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: "drink water"},
		}, 2, "It ran 2 times today, and no more are allowed (hearth.maxRunsPerDay)."},
		{protocol.CronSpec{
			Name: "dear", SessionTarget: protocol.CronIsolated, Hearth: &protocol.CronOwn{MaxCostPerDay: 0.0001},
			Payload: protocol.CronPayload{Kind: protocol.CronAgentTurn, Message: "hello"},
		}, 1, "(hearth.maxCostUsdPerDay)"},
	} {
		c.spec.Schedule = often
		j := addJob(p, c.spec)
		count := func() (done, skipped int) {
			var runs protocol.CronRuns
			p.Do(protocol.MethodCronRuns, protocol.CronRunsParams{CronIDParams: protocol.CronIDParams{ID: j.ID}}, &runs)
			for _, run := range runs.Entries {
				switch {
				case run.Status == protocol.CronOK:
					done++
				case run.Status == protocol.CronSkipped && strings.Contains(run.Error, c.says):
					skipped++
				default:
					t.Errorf("%s: %+v", c.spec.Name, run)
				}
			}
			return done, skipped
		}
		gatewaytest.WaitFor(t, "two times that are skipped", func() bool { _, skipped := count(); return skipped >= 2 })
		if done, _ := count(); done != c.runs {
			t.Errorf("%s: %d runs, want %d", c.spec.Name, done, c.runs)
		}
		p.Do(protocol.MethodCronRemove, protocol.CronIDParams{ID: j.ID}, nil)
	}
}

// While the allowance is nearly used up no job asks a model by itself, what asks none
// goes on, and what waited is done when there is more.
func TestCronWaitsForTheAllowance(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	price := map[string]any{"input": 1000, "output": 1000, "cacheRead": 1000, "cacheWrite": 1000}
	p.Patch(map[string]any{"models": map[string]any{"pricing": map[string]any{"chat/echo": price}}})
	p.Say("main", "a", "hello")
	p.Patch(map[string]any{"hearth": map[string]any{"allowance": map[string]any{"daily": 0.001}}})
	asks := addJob(p, protocol.CronSpec{
		Name: "asks", Schedule: soon(0), SessionTarget: protocol.CronIsolated,
		Payload: protocol.CronPayload{Kind: protocol.CronAgentTurn, Message: "look"},
	})
	tells := addJob(p, protocol.CronSpec{
		Name: "tells", Schedule: soon(100 * time.Millisecond), SessionTarget: protocol.CronMain, Hearth: &protocol.CronOwn{Reminder: true},
		Payload: protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: "drink water"},
	})
	if run := ran(p, t, tells.ID); run.Status != protocol.CronOK {
		t.Errorf("what asks no model: %+v", run)
	}
	if j := jobOf(p, asks.ID); !*j.Enabled || j.State.RunningAtMs != 0 || j.State.LastRunAtMs != 0 || r.Model.Snapshot().Requests != 1 {
		t.Errorf("what asks one: %+v, %d requests", j.State, r.Model.Snapshot().Requests)
	}
	daily := 5.0
	p.Do(protocol.MethodUsageAllow, protocol.UsageAllowParams{Daily: &daily}, nil)
	if run := ran(p, t, asks.ID); run.Status != protocol.CronOK {
		t.Errorf("with more of it: %+v", run)
	}
}
