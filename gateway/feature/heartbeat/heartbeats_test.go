package heartbeat_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/heartbeat"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// forward is a rig whose clock can be put forward.
type forward struct {
	*gatewaytest.Rig
	p     *gatewaytest.Peer
	by    atomic.Int64 // milliseconds
	ticks int
}

func putForward(r *gatewaytest.Rig) *forward {
	f := &forward{Rig: r}
	r.Shutdown()
	r.Now = func() time.Time { return time.Now().Add(time.Duration(f.by.Load()) * time.Millisecond) }
	r.Start()
	f.p = r.Connect()
	return f
}

func (f *forward) set(h map[string]any) {
	f.p.Patch(map[string]any{"agents": map[string]any{"defaults": map[string]any{"heartbeat": h}}})
}

// job is the job of an agent's heartbeat.
func (f *forward) job(agent string) (j protocol.CronJob, ok bool) {
	f.T.Helper()
	var list protocol.CronList
	f.p.Do(protocol.MethodCronList, protocol.CronListParams{IncludeDisabled: true}, &list)
	for _, j := range list.Jobs {
		if j.DeclarationKey == "heartbeat:"+agent {
			return j, true
		}
	}
	return j, false
}

// looks are what came of the looks of an agent, the newest first.
func (f *forward) looks(agent string) (out []protocol.CronRun) {
	f.T.Helper()
	if j, ok := f.job(agent); ok {
		var runs protocol.CronRuns
		f.p.Do(protocol.MethodCronRuns, protocol.CronRunsParams{CronIDParams: protocol.CronIDParams{ID: j.ID}, SortDir: "desc"}, &runs)
		out = runs.Entries
	}
	return out
}

// tick puts the clock to right before the next look, and waits for it to be over; a
// change of the settings makes the jobs look at the clock.
func (f *forward) tick() { f.tickOf("main") }

func (f *forward) tickOf(agent string) (run protocol.CronRun) {
	f.T.Helper()
	t, _ := f.T.(*testing.T)
	var j protocol.CronJob
	gatewaytest.WaitFor(t, "the job of the heartbeat", func() bool {
		var ok bool
		j, ok = f.job(agent)
		return ok && *j.Enabled && j.NextRunAtMs > f.Now().UnixMilli()+2000 // it has moved on
	})
	before := len(f.looks(agent))
	f.by.Store(j.NextRunAtMs - time.Now().UnixMilli() - 1000)
	f.ticks++
	f.set(map[string]any{"ackMaxChars": 300 + f.ticks})
	gatewaytest.WaitFor(t, "a look", func() bool {
		all := f.looks(agent)
		if len(all) <= before {
			return false
		}
		run = all[0]
		return run.Hearth.State == "done" || run.Hearth.State == "delivering"
	})
	return run
}

func (f *forward) beating() (s protocol.SessionRow, ok bool) {
	var list protocol.SessionsList
	f.p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
	for _, s := range list.Sessions {
		if s.Key == "agent:main:heartbeat" {
			return s, true
		}
	}
	return s, false
}

// While HEARTBEAT.md asks for nothing no model is asked; then one is, in a
// session of its own, and what it found stands in the main conversation. That
// nothing was found leaves no trace.
func TestHeartbeats(t *testing.T) {
	f := putForward(gatewaytest.New(t, "chat/echo"))
	dir := gatewaytest.Workspace(t, f.p)
	f.p.Say("main", "a", "hello")
	f.set(map[string]any{"every": "30m"})
	f.tick() // the starter asks for nothing
	gatewaytest.WaitFor(t, "the end of the first look", func() bool {
		var last *protocol.HeartbeatEvent
		f.p.Do(protocol.MethodLastHeartbeat, nil, &last)
		return last != nil && last.Status == "skipped" && last.Reason == "empty-heartbeat-file"
	})
	if n := f.Model.Snapshot().Requests; n != 1 {
		t.Errorf("%d requests were made", n)
	}
	if err := os.WriteFile(filepath.Join(dir, "HEARTBEAT.md"), []byte("- look at the sky\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.tick()
	gatewaytest.WaitFor(t, "what the heartbeat found", func() bool {
		msgs := f.p.History("main").Messages
		return strings.HasPrefix(msgs[len(msgs)-1].Text(), "[Heartbeat]\n\necho: Read HEARTBEAT.md")
	})
	if n := f.Model.Snapshot().Requests; n != 2 {
		t.Errorf("%d requests were made", n)
	}
	sent := f.Model.Snapshot().System
	for _, want := range []string{"## Heartbeats", "look at the sky", `<file name="HEARTBEAT.md">`} {
		if !strings.Contains(sent, want) {
			t.Errorf("%q was not sent", want)
		}
	}
	for _, not := range []string{"- message:", "- gateway:"} { // nobody's own words led there
		if strings.Contains(sent, not) {
			t.Errorf("a heartbeat has %s", not)
		}
	}
	before := len(f.p.History("main").Messages)
	f.set(map[string]any{"prompt": "All quiet? " + heartbeat.Token})
	f.tick()
	gatewaytest.WaitFor(t, "the end of a quiet heartbeat", func() bool {
		_, there := f.beating()
		return f.Model.Calls("All quiet? "+heartbeat.Token) == 1 && !there
	})
	if got := len(f.p.History("main").Messages); got != before {
		t.Errorf("a quiet heartbeat told something")
	}
}

// HEARTBEAT.md and its section are in the prompt only while heartbeats are on
// and the settings do not leave them out.
func TestHeartbeatsInThePrompt(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	gatewaytest.Workspace(t, p)
	p.Patch(map[string]any{"agents": map[string]any{
		"list": []any{map[string]any{"id": "main"}, map[string]any{"id": "work", "workspace": t.TempDir()}}}})
	for i, c := range []struct {
		key  string
		set  map[string]any
		want bool
	}{
		{"main", map[string]any{}, false},
		{"main", map[string]any{"every": "30m"}, true},
		{"agent:work:main", map[string]any{"every": "30m"}, false},
		{"main", map[string]any{"includeSystemPromptSection": false}, false},
		{"main", map[string]any{"every": "0m", "includeSystemPromptSection": true}, false},
	} {
		p.Patch(map[string]any{"agents": map[string]any{"defaults": map[string]any{"heartbeat": c.set}}})
		p.Say(c.key, string(rune('a'+i)), "hello")
		sent := r.Model.Snapshot().System
		if section, file := strings.Contains(sent, "## Heartbeats"), strings.Contains(sent, `<file name="HEARTBEAT.md">`); section != c.want ||
			file != c.want {
			t.Errorf("%d: %s with %v: section %v, file %v", i, c.key, c.set, section, file)
		}
	}
}

// With target "last" it goes where the main conversation was last held.
func TestHeartbeatOnTelegram(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	f := putForward(r)
	gatewaytest.Workspace(t, f.p)
	api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "hello", nil)
	gatewaytest.WaitFor(t, "an answer", func() bool { return len(gatewaytest.Texts(api, gatewaytest.Anna)) == 1 })
	f.set(map[string]any{"every": "30m", "prompt": "The plumber comes.", "target": "last"})
	f.tick()
	gatewaytest.WaitFor(t, "the heartbeat's words", func() bool {
		got := gatewaytest.Texts(api, gatewaytest.Anna)
		return len(got) == 2 && got[1] == "echo: The plumber comes."
	})
}

// A heartbeat is a job of Hearth's own: listed when it is asked for, with a log, and
// nobody's to change but by the settings. What waits as a note is read by the next
// one, once, also when HEARTBEAT.md is empty.
func TestHeartbeatsAreJobs(t *testing.T) {
	f := putForward(gatewaytest.New(t, "chat/echo"))
	gatewaytest.Workspace(t, f.p)
	f.p.Say("main", "a", "hello")
	f.set(map[string]any{"every": "30m", "target": "none"})
	if run := f.tickOf("main"); run.Status != protocol.CronSkipped || !strings.Contains(run.Error, "asks for nothing") {
		t.Errorf("%+v", run)
	}
	j, _ := f.job("main")
	if j.Name != "Heartbeat (main)" || j.Payload.Kind != protocol.CronHeartbeat || j.Hearth == nil || !j.Hearth.System ||
		j.Schedule.EveryMs != (30*time.Minute).Milliseconds() {
		t.Errorf("%+v", j)
	}
	var list protocol.CronList
	if f.p.Do(protocol.MethodCronList, protocol.CronListParams{}, &list); list.Total != 0 {
		t.Errorf("it is listed without being asked for: %+v", list.Jobs)
	}
	id := protocol.CronIDParams{ID: j.ID}
	for method, params := range map[string]any{
		protocol.MethodCronRemove: id,
		protocol.MethodCronUpdate: protocol.CronUpdateParams{CronIDParams: id, Patch: []byte(`{"enabled": false}`)},
	} {
		if why := f.p.Refused(method, params); !strings.Contains(why, "Hearth's own job") {
			t.Errorf("%s: %s", method, why)
		}
	}
	f.p.Do(protocol.MethodWake, protocol.WakeParams{Mode: protocol.CronWakeNext, Text: "the oven is hot"}, nil)
	if run := f.tickOf("main"); run.Status != protocol.CronOK || !strings.Contains(run.Summary, "the oven is hot") ||
		run.DeliveryStatus != protocol.CronDelivered {
		t.Errorf("%+v", run)
	}
	gatewaytest.WaitFor(t, "what the heartbeat made of it", func() bool {
		msgs := f.p.History("main").Messages
		return strings.HasPrefix(msgs[len(msgs)-1].Text(), "[Heartbeat]\n\necho: Read HEARTBEAT.md")
	})
	if run := f.tickOf("main"); run.Status != protocol.CronSkipped {
		t.Errorf("the note was read twice: %+v", run)
	}
	f.p.Do(protocol.MethodWake, protocol.WakeParams{Mode: protocol.CronWakeNext, Text: "the oven is cold"}, nil)
	f.p.Say("main", "b", "what about the oven?") // reads the note
	if run := f.tickOf("main"); run.Status != protocol.CronSkipped {
		t.Errorf("a note that an answer has read: %+v", run)
	}
	f.p.Do(protocol.MethodSetHeartbeats, map[string]any{"enabled": false}, nil)
	if run := f.tickOf("main"); run.Status != protocol.CronSkipped || !strings.Contains(run.Error, "switched off") {
		t.Errorf("%+v", run)
	}
	f.set(map[string]any{"every": "0m"})
	gatewaytest.WaitFor(t, "its end", func() bool {
		j, ok := f.job("main")
		return ok && !*j.Enabled
	})
}

// While the feature is switched off its job rests: it does not run, nothing calls it
// broken, and it is as before when the feature is back.
func TestHeartbeatsSwitchedOff(t *testing.T) {
	f := putForward(gatewaytest.New(t, "chat/echo"))
	gatewaytest.Workspace(t, f.p)
	f.set(map[string]any{"every": "30m", "prompt": "All well?"})
	if run := f.tickOf("main"); run.Status != protocol.CronOK {
		t.Fatalf("%+v", run)
	}
	was, _ := f.job("main")
	feature := func(on bool) {
		f.p.Patch(map[string]any{"features": map[string]any{"heartbeat": on}})
		f.Restart()
		f.p = f.Connect()
	}
	feature(false)
	var j protocol.CronJob
	gatewaytest.WaitFor(t, "the job to rest", func() bool {
		var ok bool
		j, ok = f.job("main")
		return ok && !*j.Enabled
	})
	if j.ID != was.ID || j.NextRunAtMs != 0 || j.State.LastError != "" || j.State.AutoDisabled != nil || j.State.ConsecutiveErrors != 0 ||
		j.State.LastRunStatus != protocol.CronOK || len(f.looks("main")) != 1 {
		t.Errorf("%+v", j)
	}
	why := f.p.Refused(protocol.MethodCronRun, protocol.CronRunParams{CronIDParams: protocol.CronIDParams{ID: j.ID}, Mode: "force"})
	if !strings.Contains(why, "features.heartbeat") {
		t.Errorf("run by hand: %s", why)
	}
	var health protocol.Health
	f.p.Do(protocol.MethodHealth, nil, &health)
	var doc protocol.Doctor
	f.p.Do(protocol.MethodDoctor, protocol.DoctorParams{}, &doc)
	for _, p := range health.Hearth.Problems { // that its settings have no effect is all that is to be said
		if p.Code != "CONFIG_WARNINGS" {
			t.Errorf("a problem: %+v", p)
		}
	}
	for _, c := range doc.Checks {
		if c.State != protocol.CheckOK && strings.Contains(strings.ToLower(c.What), "heartbeat") {
			t.Errorf("the doctor: %+v", c)
		}
	}
	f.by.Add((4 * time.Hour).Milliseconds()) // several slots of it
	var another protocol.CronJob
	f.p.Do(protocol.MethodCronAdd, protocol.CronAddParams{CronSpec: protocol.CronSpec{
		Name: "another", Schedule: protocol.CronSchedule{Kind: protocol.CronAt, At: f.Now().Add(time.Second).UTC().Format(time.RFC3339)},
		SessionTarget: protocol.CronMain, WakeMode: protocol.CronWakeNow,
		Payload: protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: "tea"}, Hearth: &protocol.CronOwn{Reminder: true},
	}}, &another)
	gatewaytest.WaitFor(t, "another job", func() bool {
		var runs protocol.CronRuns
		f.p.Do(protocol.MethodCronRuns, protocol.CronRunsParams{CronIDParams: protocol.CronIDParams{ID: another.ID}}, &runs)
		return len(runs.Entries) == 1
	})
	if n := len(f.looks("main")); n != 1 {
		t.Errorf("it ran while it was switched off: %d looks", n)
	}
	feature(true)
	if run := f.tickOf("main"); run.Status != protocol.CronOK {
		t.Errorf("%+v", run)
	}
	if now, _ := f.job("main"); now.ID != was.ID || !*now.Enabled || now.Schedule.EveryMs != was.Schedule.EveryMs {
		t.Errorf("%+v", now)
	}
}

// An agent with a heartbeat of its own has the others' away; hours, model and
// session are its own.
func TestHeartbeatsOfAgents(t *testing.T) {
	f := putForward(gatewaytest.New(t, "chat/echo"))
	gatewaytest.Workspace(t, f.p)
	f.set(map[string]any{"every": "30m", "prompt": "All well?"})
	gatewaytest.WaitFor(t, "the default agent's job", func() bool { _, ok := f.job("main"); return ok })
	f.p.Patch(map[string]any{"agents": map[string]any{"list": []any{map[string]any{"id": "main"}, map[string]any{
		"id": "ops", "workspace": t.TempDir(), "heartbeat": map[string]any{
			"every": "1h", "model": "chat/other", "session": "main", "lightContext": true, "timeoutSeconds": 45}}}}})
	gatewaytest.WaitFor(t, "one for another", func() bool {
		main, _ := f.job("main")
		ops, ok := f.job("ops")
		return ok && *ops.Enabled && !*main.Enabled
	})
	j, _ := f.job("ops")
	if j.Schedule.EveryMs != time.Hour.Milliseconds() || j.Payload.Model != "chat/other" || *j.Payload.TimeoutSeconds != 45 ||
		!j.Payload.LightContext || j.Delivery.Channel != "webchat" {
		t.Errorf("%+v", j)
	}
	if run := f.tickOf("ops"); run.Status != protocol.CronOK || run.Model != "other" || run.SessionKey != "agent:ops:main" {
		t.Errorf("%+v", run)
	}
	now := f.Now()
	f.set(map[string]any{"activeHours": map[string]any{
		"start": now.Add(6 * time.Hour).Format("15:04"), "end": now.Add(7 * time.Hour).Format("15:04"), "timezone": "local"}})
	if run := f.tickOf("ops"); run.Status != protocol.CronSkipped || !strings.Contains(run.Error, "activeHours") {
		t.Errorf("%+v", run)
	}
}
