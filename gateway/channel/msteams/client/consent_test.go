package client_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams/client"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams/msteamstest"
)

const eve = "50b2b1fe-5aa3-5275-b320-66629201a208"

// pdf is a file of a size.
func pdf(size int) []byte {
	b := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
	copy(b, "%PDF")
	return b
}

// sharing is a world with local files, whose client runs and knows its region.
func sharing(t *testing.T, files fstest.MapFS, change ...func(*channel.Account)) *world {
	t.Helper()
	w := newWorld(t, append([]func(*channel.Account){func(a *channel.Account) { a.OpenFile, a.MaxFile = files.Open, 200<<20 }}, change...)...)
	w.inRegion(t)
	return w
}

// send sends a file, and returns the message that people see.
func (w *world) send(t *testing.T, c *client.Client, to channel.Target, words, name string) msteamstest.Message {
	t.Helper()
	r, err := c.Send(t.Context(), channel.Message{To: to, Text: words, Key: name, Media: []channel.Media{{Name: name, URL: name}}})
	if err != nil {
		t.Fatal(err)
	}
	return w.message(t, r.MessageID)
}

func (w *world) message(t *testing.T, id string) msteamstest.Message {
	t.Helper()
	for _, m := range w.Sent() {
		if m.ID == id {
			return m
		}
	}
	t.Fatalf("there is no message %s", id)
	return msteamstest.Message{}
}

// settled waits until the question of a message is gone, and returns the message.
func (w *world) settled(t *testing.T, id string) (m msteamstest.Message) {
	t.Helper()
	clienttest.Until(t, "the end of the question", func() bool {
		m = w.message(t, id)
		return m.Gone || len(m.Asks) == 0
	})
	return m
}

// saysYes is somebody who accepts a question.
func (w *world) saysYes(id string, m msteamstest.Message) {
	w.Say(w.Consent(msteamstest.Said{ID: id, User: ada}, m, "accept"))
}

// TestConsent: a file goes into the OneDrive of its person after they said yes, whole and
// with its name, and the question goes.
func TestConsent(t *testing.T) {
	for _, tc := range []struct {
		name  string
		size  int
		words string
	}{{"plan.pdf", 24, "see **this**"}, {"a/b: 100%?.pdf", 24, ""}, {"range.pdf", 10 << 20, ""}, {"large.pdf", 25<<20 + 7, ""}} {
		w := sharing(t, fstest.MapFS{"x": {Data: pdf(tc.size)}})
		r, err := w.c.Send(t.Context(), channel.Message{To: direct(), Text: tc.words, Media: []channel.Media{{Name: tc.name, URL: "x"}}})
		if err != nil {
			t.Fatal(err)
		}
		m := w.message(t, r.MessageID)
		if len(m.Asks) != 1 || m.Asks[0].Size != int64(tc.size) || strings.ContainsAny(m.Asks[0].Name, `/:?%`) || len(w.Drive()) != 0 {
			t.Fatalf("%+v", m)
		}
		asked := m.Asks[0].Name
		w.saysYes("f:1", m)
		m = w.settled(t, m.ID)
		if m.Gone != (tc.words == "") || m.Text != strings.ReplaceAll(tc.words, "*", "") {
			t.Errorf("%s: the question became %+v", tc.name, m)
		}
		all, stored := w.Sent(), w.Drive()
		if len(stored) != 1 || !bytes.Equal(stored[0].Data, pdf(tc.size)) || len(all) != 2 || len(all[1].Shown) != 1 ||
			all[1].Shown[0].Name != asked || all[1].Shown[0].Kind != "pdf" {
			t.Errorf("%s: %d files, people see %+v", tc.name, len(stored), all)
		}
	}
}

// TestConsentNo: who wants no file gets none, and is asked no longer.
func TestConsentNo(t *testing.T) {
	w := sharing(t, fstest.MapFS{"plan.pdf": {Data: pdf(24)}})
	m := w.send(t, w.c, direct(), "", "plan.pdf")
	w.Say(w.Consent(msteamstest.Said{ID: "f:1", User: ada}, m, "decline"))
	if m = w.settled(t, m.ID); !m.Gone || len(w.Sent()) != 1 || len(w.Drive()) != 0 {
		t.Errorf("%+v", w.Sent())
	}
	w.saysYes("f:2", m) // after all, in a Teams that still shows it
	m = w.send(t, w.c, direct(), "see", "plan.pdf")
	if err := w.c.Edit(t.Context(), direct(), m.ID, "look"); err != nil {
		t.Fatal(err)
	}
	if m = w.message(t, m.ID); len(m.Asks) != 1 || m.Text != "look" {
		t.Errorf("an edit took the question away: %+v", m)
	}
	if err := w.c.Delete(t.Context(), direct(), m.ID); err != nil {
		t.Fatal(err)
	}
	w.saysYes("f:3", m)
	m = w.send(t, w.c, direct(), "", "plan.pdf")
	w.saysYes("f:4", m)
	w.settled(t, m.ID)
	if len(w.Drive()) != 1 || w.Drive()[0].Versions != 1 {
		t.Errorf("%+v", w.Drive())
	}
}

// TestSec_A_CH_TeamsConsent: a file goes to whom it was offered, once, in time, and to
// SharePoint or OneDrive alone.
func TestSec_A_CH_TeamsConsent(t *testing.T) {
	var mu sync.Mutex
	ahead := time.Duration(0)
	pass := func(d time.Duration) { mu.Lock(); defer mu.Unlock(); ahead += d }
	w := sharing(t, fstest.MapFS{"plan.pdf": {Data: pdf(24)}}, func(a *channel.Account) {
		a.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return time.Now().Add(ahead) }
	})
	const hers = "a:eve-1"
	w.AddConversation(hers, "personal")
	m := w.send(t, w.c, direct(), "see", "plan.pdf")
	yes := func(change func(value map[string]any), said msteamstest.Said) msteamstest.Said {
		out := w.Consent(msteamstest.Said{ID: said.ID, User: ada}, m, "accept")
		value, _ := out.Extra["value"].(map[string]any)
		if change != nil {
			change(value)
		}
		if said.User != "" {
			out.User = said.User
		}
		if said.Conversation != "" {
			out.Conversation = said.Conversation
		}
		return out
	}
	guess := func(id string) func(map[string]any) {
		return func(v map[string]any) { v["context"] = map[string]any{"hearthFile": id} }
	}
	for name, said := range map[string]msteamstest.Said{
		"another person":    yes(nil, msteamstest.Said{ID: "s1", User: eve}),
		"another chat":      yes(nil, msteamstest.Said{ID: "s2", User: eve, Conversation: hers}),
		"theirs from there": yes(nil, msteamstest.Said{ID: "s3", Conversation: hers}),
		"a guess":           yes(guess(strings.Repeat("A", 26)), msteamstest.Said{ID: "s4"}),
	} {
		w.Say(said)
		clienttest.Until(t, "words about "+name, func() bool {
			all := w.Sent()
			return strings.Contains(all[len(all)-1].Text, "waits no longer") && len(all) > 1
		})
	}
	for name, said := range map[string]msteamstest.Said{
		"a group":   yes(nil, msteamstest.Said{ID: "s5", Conversation: crowd}),
		"no id":     yes(guess(""), msteamstest.Said{ID: "s6"}),
		"a long id": yes(guess(strings.Repeat("A", 1<<16)), msteamstest.Said{ID: "s7"}),
		"no type":   yes(func(v map[string]any) { v["type"] = "x" }, msteamstest.Said{ID: "s8"}),
		"no action": yes(func(v map[string]any) { v["action"] = "" }, msteamstest.Said{ID: "s9"}),
	} {
		if a, err := w.Once(w.Call(w.Body(said), nil)); err != nil || a.Status != http.StatusNotImplemented {
			t.Errorf("%s: %d %v", name, a.Status, err)
		}
	}
	if m = w.message(t, m.ID); len(m.Asks) != 1 || len(w.Drive()) != 0 {
		t.Fatalf("a forged yes: %+v %d", m, len(w.Drive()))
	}
	w.Say(yes(nil, msteamstest.Said{ID: "s10"}))
	w.settled(t, m.ID)
	before := len(w.Sent())
	w.Say(yes(nil, msteamstest.Said{ID: "s11"})) // once more
	w.Say(yes(nil, msteamstest.Said{ID: "s10"}))
	for n, address := range []string{"https://evil.example.org/x", "http://contoso.sharepoint.com/x", "https://contoso.sharepoint.com:8443/x",
		"https://contoso.sharepoint.com.evil.org/x", "https://x@contoso.sharepoint.com/x", "https://127.0.0.1/x", "",
		"https://smba.trafficmanager.net/emea/v3/x", "https://graph.microsoft.com/v1.0/x", "https://fabrikam.sharepoint.com/x"} {
		m = w.send(t, w.c, direct(), "", "plan.pdf")
		w.Say(yes(func(v map[string]any) {
			info, _ := v["uploadInfo"].(map[string]any)
			info["uploadUrl"] = address
		}, msteamstest.Said{ID: fmt.Sprint("h", n)}))
		if m = w.settled(t, m.ID); !strings.Contains(m.Text, "could not be put") {
			t.Errorf("%q: %+v", address, m)
		}
	}
	m = w.send(t, w.c, direct(), "", "plan.pdf")
	pass(13 * time.Hour)
	late := w.Call(w.Body(yes(nil, msteamstest.Said{ID: "late"})), func(claims map[string]any) {
		claims["nbf"], claims["exp"] = time.Now().Add(12*time.Hour).Unix(), time.Now().Add(14*time.Hour).Unix()
	})
	if a, err := w.Once(late); err != nil || a.Status != http.StatusOK {
		t.Fatalf("%+v %v", a, err)
	}
	if m = w.settled(t, m.ID); !strings.Contains(m.Text, "waits no longer") {
		t.Errorf("after the time: %+v", m)
	}
	if len(w.Drive()) != 1 || w.Drive()[0].Versions != 1 || len(w.Sent()) != before+11 || len(w.Elsewhere()) != 0 {
		t.Errorf("%d files, %d messages more, and it asked elsewhere: %q", len(w.Drive()), len(w.Sent())-before, w.Elsewhere())
	}
}

// TestSec_A_CH_TeamsWaiting: what waits has bounds, and who says yes to what does so no
// longer is told, also after a restart.
func TestSec_A_CH_TeamsWaiting(t *testing.T) {
	kept := &clienttest.Kept{}
	files := fstest.MapFS{"plan.pdf": {Data: pdf(24)}, "half.pdf": {Data: pdf(60 << 20)}, "huge.pdf": {Data: pdf(100<<20 + 1)}, "none.pdf": {}}
	open := func(a *channel.Account) { a.OpenFile, a.MaxFile = files.Open, 200<<20 }
	w := newWorld(t)
	c := w.open(t, kept, open)
	w.Calls(c)
	got, stop := clienttest.Connected(t, c)
	w.Say(msteamstest.Said{Conversation: personal, ID: "first", User: ada, Text: "hi"})
	clienttest.Next(t, got)
	var all []msteamstest.Message
	for range 11 {
		all = append(all, w.send(t, c, direct(), "words", "plan.pdf"))
	}
	if m := w.settled(t, all[0].ID); !strings.Contains(m.Text, "newer files") || !strings.HasPrefix(m.Text, "words") {
		t.Errorf("the first of eleven: %+v", m)
	}
	for range 2 {
		all = append(all, w.send(t, c, direct(), "", "half.pdf"))
	}
	for _, n := range []int{1, 11} { // ten wait, and not two of more than half of all bytes
		if m := w.settled(t, all[n].ID); !strings.Contains(m.Text, "waits no longer") {
			t.Errorf("%d: %+v", n, m)
		}
	}
	if m := w.message(t, all[2].ID); len(m.Asks) != 1 {
		t.Errorf("a file that had room: %+v", m)
	}
	for name, says := range map[string]string{"huge.pdf": "at most", "none.pdf": "empty"} {
		_, err := c.Send(t.Context(), channel.Message{To: direct(), Media: []channel.Media{{Name: name, URL: name}}})
		if !errors.Is(err, channel.ErrRefused) || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want %s", name, err, says)
		}
	}
	last := w.send(t, c, direct(), "words", "plan.pdf")
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	c = w.open(t, kept, open)
	w.Calls(c)
	clienttest.Running(t, c)
	w.saysYes("after", last)
	if m := w.settled(t, last.ID); !strings.Contains(m.Text, "started anew") || !strings.HasPrefix(m.Text, "words") || len(w.Drive()) != 0 {
		t.Errorf("after a restart: %+v", m)
	}
	before := len(w.Sent())
	w.saysYes("again", last)
	clienttest.Until(t, "words", func() bool { return len(w.Sent()) == before+1 })
	next := w.send(t, c, direct(), "", "plan.pdf")
	w.saysYes("next", next)
	if w.settled(t, next.ID); len(w.Drive()) != 1 || len(w.Sent()) != before+3 {
		t.Errorf("%d files, %d messages", len(w.Drive()), len(w.Sent())-before)
	}
}

// TestFault_F_CH_TeamsConsent: over every way in which a step breaks, the file is there
// once and shown once, or its person reads that it is not, or that nobody knows.
func TestFault_F_CH_TeamsConsent(t *testing.T) {
	const there, gone, unknown = "there", "could not be put", "is not known"
	busy := msteamstest.Fault{Status: 503, Code: "serviceNotAvailable", Words: "x"}
	for name, tc := range map[string]struct {
		step   string
		faults []msteamstest.Fault
		want   string
		shown  int
		// unasked: what is missing cannot be asked for once
		unasked bool
	}{
		"busy":                {"upload", []msteamstest.Fault{busy, busy}, there, 1, false},
		"often":               {"upload", []msteamstest.Fault{{Status: 429, Reset: time.Second}}, there, 1, false},
		"cut":                 {"upload", []msteamstest.Fault{{CutBefore: true}}, there, 1, false},
		"cut after":           {"upload", []msteamstest.Fault{{CutAfter: true}}, there, 1, false},
		"cut after the last":  {"upload", []msteamstest.Fault{{}, {CutAfter: true}}, unknown, 0, false},
		"unknown in the end":  {"upload", []msteamstest.Fault{{}, {CutAfter: true}}, unknown, 0, true},
		"half after the last": {"upload", []msteamstest.Fault{{}, {Half: true}}, unknown, 0, false},
		"broken for good":     {"upload", []msteamstest.Fault{busy, busy, busy, busy, busy}, gone, 0, false},
		"full":                {"upload", []msteamstest.Fault{{Status: 507, Code: "quotaLimitReached"}}, gone, 0, false},
		"refused":             {"upload", []msteamstest.Fault{{Status: 403, Code: "accessDenied"}}, gone, 0, false},
		"shown late":          {"post", []msteamstest.Fault{busy, {Status: 429, Reset: time.Second}}, there, 1, false},
		"shown, cut":          {"post", []msteamstest.Fault{{CutAfter: true}}, there, 1, false},
		"shown never":         {"post", []msteamstest.Fault{{Status: 403, Code: "NotEnoughPermissions"}}, "is in your OneDrive", 0, false},
		"taken away late":     {"delete", []msteamstest.Fault{busy, {CutAfter: true}}, there, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sharing(t, fstest.MapFS{"plan.pdf": {Data: pdf(11 << 20)}})
			m := w.send(t, w.c, direct(), "", "plan.pdf")
			w.Fail(tc.step, tc.faults...)
			if tc.unasked {
				w.Fail("missing", msteamstest.Fault{CutBefore: true})
			}
			w.saysYes("f:1", m)
			m = w.settled(t, m.ID)
			shown, stored := 0, w.Drive()
			for _, other := range w.Sent() {
				shown += len(other.Shown)
			}
			if shown != tc.shown || tc.want == there && (!m.Gone || len(stored) != 1) || tc.want != there && !strings.Contains(m.Text, tc.want) ||
				tc.want == gone && len(stored) != 0 || len(stored) > 1 || len(stored) == 1 && stored[0].Versions != 1 {
				t.Errorf("%d files, shown %d times, and the question is %+v", len(stored), shown, m)
			}
		})
	}
}
