package cron_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// Jobs of the crash test: so many are added between two kills, and these repeat.
const (
	crashJobs   = 3
	crashRepeat = 2
	firstChat   = int64(1_000_000) // a chat takes one message a second, so each job has its own
)

// crashEvery is how often a job repeats: so that the log keeps all its runs.
func crashEvery() time.Duration { return time.Duration(seed.Rounds(1, 5)) * time.Second }

// crashPoints are the places between a due slot and the network's receipt.
var crashPoints = []string{
	"beforeJobClaim", "afterJobClaim", "beforeAcceptCommit", "afterAcceptCommit", "afterClaim", "midStream", "afterFinalCommit",
	"beforeJobSettle", "afterJobSettle", "beforeDelivery", "beforeSend", "afterSend", "afterReceipt",
}

// TestFault_F_CRON_02_ProcessKills: the real program is killed, at random instants
// and at every place between the claim of a slot, the acceptance of its message,
// the answer, and the network's receipt. No job that was acknowledged is lost, no
// slot is run twice or left out, and no result reaches the network twice: 200
// kills, 10,000 with HEARTH_LONG=1.
func TestFault_F_CRON_02_ProcessKills(t *testing.T) {
	v := gatewaytest.NewVictim(t, "chat/stream-12-3")
	s := &slots{v: v, rnd: seed.New(t), api: onTelegram(t, v), began: time.Now()}
	kills := seed.Rounds(200, 10_000)
	byPoint := map[string]int{}
	for n := range kills {
		point, wait := "", time.Duration(20+s.rnd.IntN(130))*time.Millisecond
		if n%2 == 0 {
			name := crashPoints[s.rnd.IntN(len(crashPoints))]
			point, wait = fmt.Sprintf("%s@%d", name, 1+s.rnd.IntN(4)), 250*time.Millisecond
			byPoint[name]++
		}
		v.Start(point)
		ctx, stop := context.WithCancel(t.Context())
		answers, fed := make(chan struct{}), make(chan struct{})
		go func() { defer close(fed); s.feed(ctx, answers) }()
		if n%4 != 1 { // the others die while they start, on a busy machine before they answer
			select {
			case <-answers:
			case <-fed:
			case <-v.Gone:
			case <-time.After(30 * time.Second):
			}
		}
		select {
		case <-v.Gone:
			v.Cmd = nil
		case <-time.After(wait):
			v.Kill()
		}
		stop()
		<-fed
	}
	v.Start("")
	s.settle(t)
	s.check(t)
	v.Kill()
	t.Logf("%d kills, to be killed at: %v", kills, byPoint)
}

// onTelegram gives the gateway a bot on a Bot API server of our own.
func onTelegram(t *testing.T, v *gatewaytest.Victim) *telegramtest.Server {
	t.Helper()
	api := telegramtest.New(gatewaytest.BotToken)
	t.Cleanup(api.Close)
	front := httptest.NewServer(api)
	t.Cleanup(front.Close)
	path := filepath.Join(string(v.Dir), "hearth.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cfg map[string]any
	if err := json.Unmarshal(raw, &cfg); err != nil {
		t.Fatal(err)
	}
	cfg["channels"] = map[string]any{"telegram": map[string]any{
		"enabled": true, "botToken": gatewaytest.BotToken, "apiRoot": front.URL,
	}}
	if raw, err = json.Marshal(cfg); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return api
}

// slots are the jobs of the crash test and what is known of them.
type slots struct {
	v     *gatewaytest.Victim
	rnd   *rand.Rand
	api   *telegramtest.Server
	began time.Time

	names   int                // also of chats
	acked   []string           // jobs that are due once, by name, as the gateway acknowledged them
	repeats int                // those that repeat, as it acknowledged them
	repeat  []protocol.CronJob // all that do, as they are in the end
}

// spec is a job whose result is sent to the network. Every other one asks a model.
func (s *slots) spec(kind string, ask bool) protocol.CronSpec {
	s.names++
	chat := firstChat + int64(s.names)
	s.api.AddChat(telegramtest.Chat{ID: chat, Type: "private"})
	name := fmt.Sprintf("%s-%d-", kind, s.names)
	spec := protocol.CronSpec{
		Name: name, WakeMode: protocol.CronWakeNow, Schedule: soon(time.Duration(s.rnd.IntN(150)) * time.Millisecond),
		SessionTarget: protocol.CronMain, Payload: protocol.CronPayload{Kind: protocol.CronSystemEvent, Text: name},
		Delivery: &protocol.CronDelivery{Mode: protocol.CronDeliverAnnounce, Channel: "telegram", To: fmt.Sprint(chat)},
		Hearth:   &protocol.CronOwn{Reminder: true},
	}
	if ask {
		spec.SessionTarget, spec.Hearth = protocol.CronIsolated, nil
		spec.Payload = protocol.CronPayload{Kind: protocol.CronAgentTurn, Message: name}
	}
	return spec
}

// feed adds jobs until ctx ends, as somebody does who sees nothing of the kills, and
// closes answers as soon as the gateway does.
func (s *slots) feed(ctx context.Context, answers chan<- struct{}) {
	c := s.v.Dial(ctx, nil)
	if c == nil {
		return
	}
	defer c.Close()
	close(answers)
	for s.repeats < crashRepeat {
		spec := s.spec("again", false)
		spec.Schedule = protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: crashEvery().Milliseconds()}
		spec.Hearth.CatchUp = &protocol.CronCatchUp{Mode: "all"}
		if _, ok := addOver(ctx, c, spec); !ok {
			return
		}
		s.repeats++
	}
	for range crashJobs {
		spec := s.spec("once", s.rnd.IntN(2) == 0)
		if _, ok := addOver(ctx, c, spec); !ok {
			return
		}
		s.acked = append(s.acked, spec.Name)
	}
}

func addOver(ctx context.Context, c *client.Client, spec protocol.CronSpec) (j protocol.CronJob, ok bool) {
	err := c.Call(ctx, protocol.MethodCronAdd, protocol.CronAddParams{CronSpec: spec}, &j)
	return j, err == nil
}

// settle waits until nothing is on its way any more.
func (s *slots) settle(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seed.Rounds(3, 30))*time.Minute)
	defer cancel()
	c := s.v.Dial(ctx, nil)
	if c == nil {
		t.Fatal("the gateway does not answer")
	}
	defer c.Close()
	s.repeated(ctx, t, c)
	for _, j := range s.jobs(ctx, t, c) {
		if !strings.HasPrefix(j.Name, "again-") {
			continue
		}
		s.repeat = append(s.repeat, j)
		off := map[string]any{"id": j.ID, "patch": map[string]any{"enabled": false}}
		if err := c.Call(ctx, protocol.MethodCronUpdate, off, nil); err != nil {
			t.Fatal(err)
		}
	}
	left := "nothing"
	for {
		var st protocol.Status
		if err := c.Call(ctx, protocol.MethodStatus, nil, &st); err != nil {
			t.Fatalf("%v; still %s", err, left)
		}
		on, open := 0, 0
		for _, j := range s.jobs(ctx, t, c) {
			if j.Enabled != nil && *j.Enabled {
				on++
			}
		}
		rest := on + st.Hearth.Undelivered + st.Hearth.ActiveRuns + st.Hearth.QueuedRuns
		if rest == 0 {
			for _, r := range s.runs(ctx, t, c) {
				if r.Hearth.State != "done" {
					open++
				}
			}
			if open == 0 {
				return
			}
		}
		left = fmt.Sprintf("%d jobs wait, %d runs are open, %d deliveries", on, open, st.Hearth.Undelivered)
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal("still " + left)
		}
	}
}

// repeated waits until every job that repeats had three slots: on a busy machine
// the kills leave them no time.
func (s *slots) repeated(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	for {
		had := map[string]int{}
		for _, r := range s.runs(ctx, t, c) {
			had[r.JobName]++
		}
		few := slices.ContainsFunc(s.jobs(ctx, t, c), func(j protocol.CronJob) bool {
			return strings.HasPrefix(j.Name, "again-") && had[j.Name] < 3
		})
		if !few {
			return
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("jobs that repeat do not: %v", had)
		}
	}
}

func (s *slots) jobs(ctx context.Context, t *testing.T, c *client.Client) (out []protocol.CronJob) {
	t.Helper()
	limit := 200
	for {
		var page protocol.CronList
		p := protocol.CronListParams{IncludeDisabled: true, Limit: &limit, Offset: len(out)}
		if err := c.Call(ctx, protocol.MethodCronList, p, &page); err != nil {
			t.Fatal(err)
		}
		if out = append(out, page.Jobs...); !page.HasMore {
			return out
		}
	}
}

func (s *slots) runs(ctx context.Context, t *testing.T, c *client.Client) (out []protocol.CronRun) {
	t.Helper()
	limit := 200
	for {
		var page protocol.CronRuns
		p := protocol.CronRunsParams{Scope: "all", Limit: &limit, Offset: len(out), SortDir: "asc"}
		if err := c.Call(ctx, protocol.MethodCronRuns, p, &page); err != nil {
			t.Fatal(err)
		}
		if out = append(out, page.Entries...); !page.HasMore {
			return out
		}
	}
}

var jobName = regexp.MustCompile(`(?:once|again)-\d+-`)

// check compares what was to be with the log, the conversation and the network.
func (s *slots) check(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	c := s.v.Dial(ctx, nil)
	if c == nil {
		t.Fatal("the gateway does not answer")
	}
	runs := s.runs(ctx, t, c)
	_ = c.Close()
	byName, done := map[string][]protocol.CronRun{}, map[string]int{}
	for _, r := range runs {
		byName[r.JobName] = append(byName[r.JobName], r)
		if r.Delivered != nil && *r.Delivered {
			done[r.JobName]++
		}
	}
	noted, sent := map[string]int{}, map[string]int{} // in the conversation, on the network
	for _, m := range s.v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey] {
		if m.Text() != "" && strings.HasPrefix(m.Text(), "[") {
			noted[jobName.FindString(m.Text())]++
		}
	}
	for chat := firstChat + 1; chat <= firstChat+int64(s.names); chat++ {
		for _, m := range s.api.Sent(chat) {
			sent[jobName.FindString(m.Text)]++
		}
	}
	states := map[string]int{}
	for _, name := range s.acked {
		if len(byName[name]) == 0 {
			t.Errorf("%s was acknowledged and never run", name)
		}
	}
	for name, rows := range byName {
		if strings.HasPrefix(name, "again-") {
			continue
		}
		for _, r := range rows {
			states[strings.TrimSuffix(r.Status+", "+r.DeliveryStatus+": "+r.DeliveryError, ": ")]++
		}
		r := rows[0]
		switch {
		case len(rows) > 1:
			t.Errorf("%s was run %d times", name, len(rows))
		case r.Status == protocol.CronOK && noted[name] != 1:
			t.Errorf("%s: %d times in the conversation", name, noted[name])
		case sent[name] > 1 || done[name] != sent[name] && r.DeliveryStatus == protocol.CronDelivered:
			t.Errorf("%s: %d times on the network, the log says %s", name, sent[name], r.DeliveryStatus)
		case r.Status != protocol.CronOK && !strings.Contains(r.Error, "Hearth stopped"):
			t.Errorf("%s failed: %s", name, r.Error)
		case r.DeliveryStatus != protocol.CronDelivered && r.DeliveryError == "" && r.Status == protocol.CronOK:
			t.Errorf("%s did not arrive, and nobody says why: %+v", name, r)
		}
	}
	if len(s.repeat) < crashRepeat {
		t.Errorf("of %d jobs that repeat %d are there", crashRepeat, len(s.repeat))
	}
	for _, j := range s.repeat {
		s.checkSlots(t, j, byName[j.Name], noted[j.Name], sent[j.Name])
	}
	t.Logf("%d jobs in %v; ended: %v", len(s.acked), time.Since(s.began).Round(time.Second), states)
}

// checkSlots follows a job from slot to slot.
func (s *slots) checkSlots(t *testing.T, j protocol.CronJob, rows []protocol.CronRun, noted, sent int) {
	t.Helper()
	last, arrived, uncertain := j.CreatedAtMs, 0, 0
	for _, r := range rows {
		if want := last + int64(1+r.Hearth.Missed)*crashEvery().Milliseconds(); r.Hearth.SlotMs != want {
			t.Errorf("%s: the slot %d follows %d and stands for %d others", j.Name, r.Hearth.SlotMs, last, r.Hearth.Missed)
		}
		last = r.Hearth.SlotMs
		if r.Status != protocol.CronOK {
			t.Errorf("%s: %+v", j.Name, r)
		}
		if r.DeliveryStatus == protocol.CronDelivered {
			arrived++
		} else {
			uncertain++
		}
	}
	if len(rows) < 3 || noted != len(rows) || sent < arrived || sent > arrived+uncertain {
		t.Errorf("%s: %d runs, %d in the conversation, %d on the network, of which %d have a receipt", j.Name, len(rows), noted, sent, arrived)
	}
	t.Logf("%s: %d slots, %d with a receipt, of %d nobody knows whether they arrived", j.Name, len(rows), arrived, uncertain)
}
