package push

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// Only a number leaves unless the person allows more, and the number leads to the
// chat and to the request.
func TestNewsArrive(t *testing.T) {
	at(t, func(t *testing.T, w *world) {
		b := w.on(t, phone)
		w.answers("The key is sk-secret, and the train leaves at nine.")
		first := w.last(t, b)
		if first.Kind+first.Title+first.Body != "" || first.Ref == "" {
			t.Errorf("without a permission %+v left", first)
		}
		at, err := w.p.open(t.Context(), protocol.PushOpenParams{Ref: first.Ref})
		if err != nil || at.SessionKey != chat || at.Kind != kindAnswer {
			t.Errorf("it leads to %+v, %v", at, err)
		}
		w.choose(t, b, protocol.PushDevicePreferences{DetailLevel: identified})
		w.asks("a1", time.Minute)
		if p := w.last(t, b); p.Kind != kindApproval || p.Title != "Trip to Rome" || p.Body != "" {
			t.Errorf("with its name: %+v", p)
		}
		w.choose(t, b, protocol.PushDevicePreferences{DetailLevel: detailed})
		w.answers("The key is sk-secret,\nand the train leaves at nine.")
		if p := w.last(t, b); p.Body != "The key is [hidden], and the train leaves at nine." {
			t.Errorf("with its words: %+v", p)
		}
		if len(b.got) != 3 || b.got[0].size != b.got[2].size {
			t.Errorf("the size tells of the words: %+v", b.got)
		}
		if b.got[0].urgency != "normal" || b.got[1].urgency != "high" || b.got[1].ttl != "60" || b.got[0].topic == b.got[1].topic {
			t.Errorf("sent as %+v", b.got)
		}
		if at, _ := w.p.open(t.Context(), protocol.PushOpenParams{Ref: w.lastRef(t, b, 1)}); at.ApprovalID != "a1" {
			t.Errorf("a request leads to %+v", at)
		}
	})
}

func (w *world) lastRef(t *testing.T, b *browser, i int) string {
	t.Helper()
	var p payload
	if err := json.Unmarshal([]byte(b.got[i].body), &p); err != nil {
		t.Fatal(err)
	}
	return p.Ref
}

// Nobody is told of what somebody looks at, of what went to a network, of jobs' runs,
// of silence, and of what they did not choose.
func TestWhoIsNotTold(t *testing.T) {
	at(t, func(t *testing.T, w *world) {
		b := w.on(t, phone)
		no, yes := false, true
		for name, set := range map[string]func(){
			"it is looked at": func() { w.set(func() { w.views = []string{chat} }) },
			"it went to a network": func() {
				w.set(func() { w.route = channel.Route{Channel: "telegram", Conversation: "7"}.String() })
			},
			"another assistant": func() { w.choose(t, b, protocol.PushDevicePreferences{AgentIDs: []string{"cook"}}) },
			"answers are off": func() {
				w.choose(t, b, protocol.PushDevicePreferences{Categories: &protocol.PushChosen{AgentFinished: &no}})
			},
			"it may only see chats of nobody": func() { w.set(func() { w.devices[0].Roles[0].Scopes = nil }) },
			"quiet hours": func() {
				w.choose(t, b, protocol.PushDevicePreferences{QuietHours: &protocol.PushQuietHours{
					Enabled: true, StartMinute: 23 * 60, EndMinute: 7 * 60, TimeZone: "UTC"}}) // a test begins at midnight
			},
		} {
			w.set(func() {
				w.views, w.route = []string{"agent:main:chat:two"}, ""
				w.devices[0].Roles[0].Scopes = []protocol.Scope{protocol.ScopeWrite, protocol.ScopeApprovals}
			})
			w.choose(t, b, protocol.PushDevicePreferences{Categories: &protocol.PushChosen{AgentFinished: &yes}})
			set()
			w.answers("hello")
			synctest.Wait()
			if len(b.got) > 0 {
				t.Errorf("%s, and %+v was sent", name, b.got)
				b.got = nil
			}
		}
		w.set(func() {
			w.route, w.views, w.devices[0].Roles[0].Scopes = "", nil, []protocol.Scope{protocol.ScopeWrite}
		})
		w.choose(t, b, protocol.PushDevicePreferences{})
		w.answers("NO_REPLY")
		w.asks("a", time.Minute) // without the right to decide
		w.hear(server.Broadcast{Event: protocol.EventChat, Payload: protocol.ChatEvent{RunID: "cron:1", SessionKey: chat,
			State: protocol.ChatFinal, Message: &protocol.Message{Content: protocol.TextBlocks("done")}}})
		synctest.Wait()
		if len(b.got) > 0 {
			t.Errorf("told of %+v", b.got)
		}
		w.answers("hello")
		w.last(t, b)
	})
}

// Reminders and failed jobs are told, important ones in quiet hours too.
func TestReminders(t *testing.T) {
	at(t, func(t *testing.T, w *world) {
		b := w.on(t, phone)
		w.choose(t, b, protocol.PushDevicePreferences{DetailLevel: detailed, QuietHours: &protocol.PushQuietHours{
			Enabled: true, StartMinute: 0, EndMinute: 60, TimeZone: "UTC"}})
		job := func(status string, own *protocol.CronRunOwn, reminder bool) {
			j := &protocol.CronJob{ID: "j", CronSpec: protocol.CronSpec{Name: "Pills", SessionKey: chat,
				Hearth: &protocol.CronOwn{Reminder: reminder}}}
			w.hear(server.Broadcast{Event: protocol.EventCron, Payload: protocol.CronEvent{
				JobID: "j", RunID: "r", Action: "finished", Status: status, Job: j, Hearth: own, Summary: "Take the pills", Error: "no network"}})
		}
		job(protocol.CronOK, nil, true)
		synctest.Wait()
		if len(b.got) != 0 {
			t.Fatalf("in quiet hours: %+v", b.got)
		}
		job(protocol.CronOK, &protocol.CronRunOwn{Important: true}, true)
		if p := w.last(t, b); p.Kind != kindReminder || p.Title != "Pills" || p.Body != "Take the pills" {
			t.Errorf("%+v", p)
		}
		pass(2 * time.Hour)
		job(protocol.CronError, nil, false)
		if p := w.last(t, b); p.Kind != kindFailure || p.Body != "no network" {
			t.Errorf("%+v", p)
		}
	})
}

// A service that is busy or down is asked again, later and later, not before it wants
// it, and not longer than the news are news.
func TestFault_PushServiceBusy(t *testing.T) {
	at(t, func(t *testing.T, w *world) {
		b := w.on(t, phone)
		begun := time.Now()
		var tried []time.Duration
		w.respond(func(*browser, int) (int, http.Header) {
			tried = append(tried, time.Since(begun))
			switch len(tried) {
			case 1:
				return http.StatusTooManyRequests, http.Header{"Retry-After": {"300"}}
			case 2, 3:
				return http.StatusBadGateway, http.Header{}
			}
			return http.StatusCreated, http.Header{}
		})
		w.answers("hello")
		pass(time.Hour)
		w.last(t, b)
		if len(tried) != 4 || tried[1] < 300*time.Second || tried[3]-tried[2] <= tried[2]-tried[1] {
			t.Errorf("asked after %v", tried)
		}
		w.set(func() { b.got, tried = nil, nil })
		w.respond(func(*browser, int) (int, http.Header) {
			tried = append(tried, 0)
			return http.StatusServiceUnavailable, nil
		})
		w.asks("a", 2*time.Minute)
		pass(time.Hour)
		synctest.Wait()
		if len(tried) < 2 || len(tried) > 3 {
			t.Errorf("asked %d times for what was over after two minutes", len(tried))
		}
		// What was decided meanwhile is not told.
		w.set(func() { tried = nil })
		w.asks("b", time.Hour)
		synctest.Wait()
		w.hear(server.Broadcast{Event: protocol.EventExecApprovalResolved, Payload: protocol.ApprovalResolved{ID: "b"}})
		pass(time.Hour)
		if synctest.Wait(); len(tried) != 1 {
			t.Errorf("asked %d times for what was decided", len(tried))
		}
	})
}
