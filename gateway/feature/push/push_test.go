package push

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// world is everything around the feature, and a push service.
type world struct {
	*service
	p       *Push
	dir     string
	db      *store.DB
	secrets *kept
	hear    func(server.Broadcast)
	devices []pairing.Device
	views   []string
	route   string // by which the run that is asked for came
}

// set changes what the feature reads while its queue is at work.
func (w *world) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

func (w *world) Devices() []pairing.Device {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := slices.Clone(w.devices)
	for i := range out {
		out[i].Roles = slices.Clone(out[i].Roles)
	}
	return out
}

func (w *world) Why(string, string) (session.Run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return session.Run{Route: w.route}, nil
}

func (w *world) Overhear(hear func(server.Broadcast)) { w.hear = hear }
func (w *world) Text(s string) string                 { return strings.ReplaceAll(s, "sk-secret", "[hidden]") }
func (w *world) Presence() (out []protocol.PresenceEntry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range w.views {
		out = append(out, protocol.PresenceEntry{HearthView: v})
	}
	return out
}

func (w *world) Get(key string) (protocol.SessionRow, bool, error) {
	return protocol.SessionRow{Label: "Trip to Rome"}, key == chat, nil
}

// kept is a place for secrets.
type kept struct {
	secret.Store
	mu   sync.Mutex
	has  map[string]secret.Secret
	fail error
}

func (k *kept) set(change func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change()
}

func (k *kept) Get(_ context.Context, name string) (secret.Secret, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail != nil {
		return secret.Secret{}, k.fail
	}
	if v, ok := k.has[name]; ok {
		return v, nil
	}
	return secret.Secret{}, secret.ErrNotFound
}

func (k *kept) Set(_ context.Context, name string, v secret.Secret) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.has[name] = v
	return nil
}

const (
	chat  = "agent:main:chat:one"
	phone = "phone-1"
)

func device(id string, scopes ...protocol.Scope) pairing.Device {
	return pairing.Device{ID: id, Roles: []pairing.RoleGrant{{Role: protocol.RoleOperator, Scopes: scopes}}}
}

// newWorld begins with one phone that may all that phones may.
func newWorld(t *testing.T) *world {
	w := &world{service: newService(t, time.Now), dir: t.TempDir(), secrets: &kept{has: map[string]secret.Secret{}}}
	w.devices = []pairing.Device{device(phone, protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeApprovals)}
	w.start(t)
	return w
}

func (w *world) start(t *testing.T) {
	t.Helper()
	var err error
	if w.db, err = store.Open(filepath.Join(w.dir, "store.db"), store.Options{NoSync: true, ReserveBytes: -1}); err != nil {
		t.Fatal(err)
	}
	if w.p, err = Open(t.Context(), Options{
		Store: w.db, Secrets: w.secrets, Redactor: w, Devices: w, Clients: w, Sessions: w, Web: w, Now: time.Now,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}); err != nil {
		t.Fatal(err)
	}
}

// at runs a test whose time passes at once, with the queue at work.
func at(t *testing.T, test func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.p.queue.run(ctx) }()
		test(t, w)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := w.db.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// pass lets time pass, in a test of at.
func pass(d time.Duration) { <-time.After(d) }

func caller(id string) *server.Caller { return &server.Caller{DeviceID: id} }

// on has a device subscribe.
func (w *world) on(t *testing.T, id string) *browser {
	t.Helper()
	k, err := w.p.key(t.Context(), struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	b := w.subscribe(k.VapidPublicKey)
	if _, err := w.p.subscribe(t.Context(), caller(id), b.params()); err != nil {
		t.Fatal(err)
	}
	return b
}

func (w *world) choose(t *testing.T, b *browser, d protocol.PushDevicePreferences) {
	t.Helper()
	d.Enabled = true
	if _, err := w.p.preferencesSet(t.Context(), caller(phone),
		protocol.PushPreferencesSetParams{Endpoint: b.endpoint, Scope: "device", Preferences: d}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) answers(text string) {
	w.hear(server.Broadcast{Event: protocol.EventChat, Payload: protocol.ChatEvent{
		RunID: "run-1", SessionKey: chat, AgentID: "main", State: protocol.ChatFinal,
		Message: &protocol.Message{Role: protocol.MessageAssistant, Content: protocol.TextBlocks(text)},
	}})
}

func (w *world) asks(id string, life time.Duration) {
	w.hear(server.Broadcast{Event: protocol.EventExecApprovalRequested, Payload: protocol.Approval{
		ID: id, ExpiresAtMs: time.Now().Add(life).UnixMilli(),
		Request: protocol.ApprovalRequest{SessionKey: chat, AgentID: "main", HearthTitle: "Run rm -rf build"},
	}})
}

func (w *world) last(t *testing.T, b *browser) (p payload) {
	t.Helper()
	synctest.Wait()
	if len(b.got) == 0 {
		t.Fatal("nothing arrived")
	}
	if err := json.Unmarshal([]byte(b.got[len(b.got)-1].body), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

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

// A subscription that its browser gave up goes, and so does one that the browser made
// for another key.
func TestSubscriptionsEnd(t *testing.T) {
	at(t, func(t *testing.T, w *world) {
		for _, status := range []int{http.StatusNotFound, http.StatusGone} {
			w.on(t, phone)
			w.respond(func(*browser, int) (int, http.Header) { return status, nil })
			w.answers("hello")
			if synctest.Wait(); len(w.p.subs.list()) != 0 {
				t.Errorf("after %d it is kept", status)
			}
		}
		w.respond(nil)
		b := w.on(t, phone)
		w.secrets.set(func() { delete(w.secrets.has, keyName) })
		w.answers("hello")
		if synctest.Wait(); len(w.p.subs.list()) != 0 || len(b.got) != 0 {
			t.Error("it was sent with a key that the browser does not know")
		}
		// While the place for secrets is locked nothing ends.
		b = w.on(t, phone)
		w.secrets.set(func() { w.secrets.fail = secret.ErrLocked })
		w.answers("hello")
		synctest.Wait()
		w.secrets.set(func() { w.secrets.fail = nil })
		pass(time.Minute)
		w.last(t, b)
	})
}

// A device that was removed is told nothing, whatever a copy of the store says.
func TestSec_A_NET_RemovedDevicesAreToldNothing(t *testing.T) {
	at(t, func(t *testing.T, w *world) {
		b := w.on(t, phone)
		w.set(func() { w.devices[0].RevokedAtMs = 1 })
		w.answers("hello")
		w.asks("a", time.Minute)
		synctest.Wait()
		if len(b.got) != 0 || w.p.Hears(protocol.EventExecApprovalRequested) {
			t.Errorf("it was told %+v", b.got)
		}
		w.set(func() { w.devices[0].RevokedAtMs = 0 })
		if !w.p.Hears(protocol.EventExecApprovalRequested) {
			t.Error("a phone that may decide reaches nobody")
		}
		if err := w.p.Removed(t.Context(), phone); err != nil || len(w.p.subs.list()) != 0 {
			t.Errorf("its subscription is kept: %v", err)
		}
		// Also one whose request waits to be sent again.
		b = w.on(t, phone)
		w.respond(func(*browser, int) (int, http.Header) { return http.StatusServiceUnavailable, nil })
		w.answers("hello")
		synctest.Wait()
		w.set(func() { w.answer, w.devices[0].RevokedAtMs = nil, 1 })
		pass(time.Hour)
		if synctest.Wait(); len(b.got) != 0 || len(w.p.subs.list()) != 0 {
			t.Errorf("after its removal it was told %+v", b.got)
		}
	})
}

// One device cannot read, change, end or take over what is another's.
func TestSec_A_NET_OwnSubscriptionsOnly(t *testing.T) {
	at(t, func(t *testing.T, w *world) {
		b := w.on(t, phone)
		w.set(func() { w.devices = append(w.devices, device("other", protocol.ScopeWrite)) })
		for _, id := range []string{"other", ""} {
			_, get := w.p.preferencesGet(t.Context(), caller(id), protocol.PushEndpointParams{Endpoint: b.endpoint})
			_, end := w.p.unsubscribe(t.Context(), caller(id), protocol.PushEndpointParams{Endpoint: b.endpoint})
			_, take := w.p.subscribe(t.Context(), caller(id), b.params())
			_, try := w.p.test(t.Context(), caller(id), protocol.PushTestParams{Body: "spam"})
			if get == nil || end == nil || take == nil || try == nil {
				t.Errorf("%q: %v, %v, %v, %v", id, get, end, take, try)
			}
		}
		if len(b.got) != 0 || w.p.subs.list()[0].DeviceID != phone {
			t.Error("another device got in")
		}
	})
}

// An endpoint that leads into this network, or is none, is not taken, and one whose
// name does so later is not written to.
func TestSec_A_SSRF_07_PushEndpoints(t *testing.T) {
	at(t, func(t *testing.T, w *world) {
		b := w.subscribe("")
		for _, bad := range []string{
			"", "http://push.example.org/x", "https://127.0.0.1/x", "https://[::1]/x", "https://10.0.0.1/x", "https://192.168.1.1:443/x",
			"https://169.254.169.254/latest/meta-data", "https://localhost/x", "https://router/x", "https://printer.local/x", "https://0x7f000001/x",
			"https://2130706433/x", "https://[::ffff:10.0.0.1]/x", "https://user@push.example.org/x", "https://push.example.org:22/x",
			"https://push.example.org:8443/x", "HTTPS://push.example.org/x",
			"https://push.example.org/" + strings.Repeat("x", 2048), "javascript:alert(1)",
		} {
			in := b.params()
			in.Endpoint = bad
			if _, err := w.p.subscribe(t.Context(), caller(phone), in); err == nil {
				t.Errorf("%.60q was taken", bad)
			}
		}
		for _, bad := range []protocol.PushKeys{
			{}, {P256dh: b.params().Keys.P256dh, Auth: "short"}, {P256dh: "AAAA", Auth: b.params().Keys.Auth},
			{P256dh: strings.Repeat("A", 87), Auth: b.params().Keys.Auth},
		} {
			if _, err := w.p.subscribe(t.Context(), caller(phone), protocol.PushSubscribeParams{Endpoint: b.endpoint, Keys: bad}); err == nil {
				t.Errorf("the keys %v were taken", bad)
			}
		}
		w.on(t, phone)
		guarded := &forbidding{}
		w.p.o.Web = guarded
		w.answers("hello")
		pass(time.Hour)
		if synctest.Wait(); guarded.asked != 1 {
			t.Errorf("asked %d times", guarded.asked)
		}
	})
}

// forbidding is the guarded client when a name leads into this network.
type forbidding struct{ asked int }

func (f *forbidding) Fetch(context.Context, egress.Request) (egress.Page, error) {
	f.asked++
	return egress.Page{}, &egress.ForbiddenError{Host: "push.example.org", Reason: "it leads to this machine or to a private network"}
}

// Only so many are kept, and what a device chose stays when its browser gets another
// address. All of it is there after a restart.
func TestSubscriptionsAreKept(t *testing.T) {
	at(t, func(t *testing.T, w *world) {
		b := w.on(t, phone)
		w.choose(t, b, protocol.PushDevicePreferences{DetailLevel: detailed})
		for range maxPerDevice + 2 {
			pass(time.Second)
			b = w.on(t, phone)
		}
		got, err := w.p.preferencesGet(t.Context(), caller(phone), protocol.PushEndpointParams{Endpoint: b.endpoint})
		if err != nil || got.Effective.DetailLevel != detailed || !got.Effective.Enabled || got.User.DetailLevel != private {
			t.Errorf("%+v, %v", got, err)
		}
		again, err := openSubscriptions(t.Context(), w.db)
		if err != nil || len(again.list()) != maxPerDevice || again.list()[0].Endpoint != b.endpoint {
			t.Errorf("after a restart %+v, %v", again.list(), err)
		}
		r, err := w.p.test(t.Context(), caller(phone), protocol.PushTestParams{Title: "A trial"})
		if err != nil || len(r.Results) != maxPerDevice || !r.Results[0].OK || r.Results[0].StatusCode != http.StatusCreated {
			t.Errorf("a trial: %+v, %v", r, err)
		}
		for range maxAll + 3 {
			pass(time.Second)
			id := "d" + b.endpoint
			w.set(func() { w.devices = append(w.devices, device(id, protocol.ScopeWrite)) })
			b = w.on(t, id)
		}
		if n := len(w.p.subs.list()); n != maxAll {
			t.Errorf("%d are kept", n)
		}
	})
}

// A choice that cannot be kept is refused with words.
func TestPreferencesAreChecked(t *testing.T) {
	at(t, func(t *testing.T, w *world) {
		b := w.on(t, phone)
		for _, bad := range []protocol.PushDevicePreferences{
			{Label: strings.Repeat("x", 81)}, {DetailLevel: "all"}, {AgentIDs: []string{""}},
			{QuietHours: &protocol.PushQuietHours{StartMinute: 1440, TimeZone: "UTC"}},
			{QuietHours: &protocol.PushQuietHours{EndMinute: -1, TimeZone: "UTC"}},
			{QuietHours: &protocol.PushQuietHours{TimeZone: "Nowhere/Else"}}, {QuietHours: &protocol.PushQuietHours{}},
		} {
			_, err := w.p.preferencesSet(t.Context(), caller(phone),
				protocol.PushPreferencesSetParams{Endpoint: b.endpoint, Scope: "device", Preferences: bad})
			var pe *protocol.Error
			if !errors.As(err, &pe) {
				t.Errorf("%+v was taken: %v", bad, err)
			}
		}
	})
}

// A number that is none, or too old, leads nowhere.
func TestPlacesEnd(t *testing.T) {
	at(t, func(t *testing.T, w *world) {
		old, err := w.p.places.put(t.Context(), protocol.PushPlace{Found: true, SessionKey: chat})
		if err != nil {
			t.Fatal(err)
		}
		pass(placeLife + time.Hour)
		if _, err := w.p.places.put(t.Context(), protocol.PushPlace{Found: true}); err != nil {
			t.Fatal(err)
		}
		for _, ref := range []string{old, "", "%%%", strings.Repeat("A", 27), strings.Repeat("A", 5000)} {
			if at, err := w.p.open(t.Context(), protocol.PushOpenParams{Ref: ref}); err != nil || at.Found {
				t.Errorf("%.20q leads to %+v, %v", ref, at, err)
			}
		}
	})
}

// FuzzSubscribe: what a browser, or who says to be one, can send.
func FuzzSubscribe(f *testing.F) {
	f.Add("https://updates.push.services.mozilla.com/wpush/v2/x",
		"BNNL5ZaTfK81qhXOx23-wewhigUeFb632jN6LvRWCFH1ubQr77FE_9qV1FuojuRmHP42zmf34rXgW80OvUVDgTk=",
		"zqbxT6JKstKSY9JKibZLSQ==")
	f.Add("https://[::1%25eth0]/", "", "")
	f.Fuzz(func(t *testing.T, endpoint, point, auth string) {
		if checkEndpoint(endpoint) == nil && (len(endpoint) > maxEndpoint || !strings.HasPrefix(endpoint, "https://")) {
			t.Errorf("%q was taken", endpoint)
		}
		_ = checkKeys(protocol.PushKeys{P256dh: point, Auth: auth})
	})
}
