package push

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

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
