package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/bearer"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/googlechat"
	"github.com/hearth-assistant/hearth/gateway/channel/googlechat/client"
	"github.com/hearth-assistant/hearth/gateway/channel/googlechat/googlechattest"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

const (
	project  = "1234567890"
	personal = "spaces/DM1"
	town     = "spaces/TOWN"
	ada      = "users/777"
)

func account(s *googlechattest.Server, audience string, store channel.Durable) channel.Account {
	return channel.Account{ID: "default", Now: time.Now, Durable: store, MaxFile: 1 << 20,
		Texts:   map[string]string{googlechat.KeyRoot: s.URL(), googlechat.KeyAudience: audience},
		Secrets: map[string]string{googlechat.KeyService: s.ServiceAccount()}}
}

// world is Google Chat with two spaces, and our client.
type world struct {
	*googlechattest.Server
	c        *client.Client
	audience string
}

func newWorld(t *testing.T, audience string) *world {
	t.Helper()
	s, err := googlechattest.New(t.Context(), channel.CallPath(googlechat.ID, "default"), audience)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Server: s, audience: audience}
	t.Cleanup(w.Close)
	w.AddSpace(personal, "DIRECT_MESSAGE")
	w.AddSpace(town, "SPACE")
	w.c = w.open(t, &clienttest.Kept{})
	w.Calls(w.c)
	return w
}

func (w *world) open(t *testing.T, store channel.Durable) *client.Client {
	t.Helper()
	c, err := client.New(account(w.Server, w.audience, store))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func direct() channel.Target { return channel.Target{Account: "default", Conversation: "@DM1"} }

// Script implements channeltest.Network.
func (w *world) Script(faults ...loopback.Fault) {
	for _, f := range faults {
		what := map[loopback.Op]string{loopback.OpSend: "create", loopback.OpEdit: "patch"}[f.On]
		played := map[loopback.Kind]googlechattest.Fault{
			loopback.Passing: {Status: 503, Words: "The service is currently unavailable."},
			loopback.Limited: {Status: 429, Words: "Quota exceeded", Reset: f.After},
			loopback.Refused: {Status: 403, Words: "The caller does not have permission"},
			loopback.Auth:    {Status: 401, Words: "Request had invalid authentication credentials."},
			loopback.Lost:    {CutAfter: true},
			loopback.Broken:  {CutBefore: true},
		}[f.Kind]
		w.Fail(what, played)
		if f.Kind == loopback.Auth { // it is asked once more with a new token
			w.Fail(what, played)
		}
	}
}

// Receive implements channeltest.Network.
func (w *world) Receive(in channel.Inbound) { w.receive(in) }

// ReceiveFile implements conformance.FileNetwork.
func (w *world) ReceiveFile(in channel.Inbound, f loopback.File) {
	w.Put("res/"+f.Name, f.Content)
	w.receive(in, map[string]any{"name": in.MessageID, "contentName": f.Name, "contentType": f.MIME, "source": "UPLOADED_CONTENT",
		"attachmentDataRef": map[string]any{"resourceName": "res/" + f.Name}})
}

func (w *world) receive(in channel.Inbound, files ...map[string]any) {
	space, id, _ := strings.Cut(in.MessageID, "/messages/")
	if in.Thread != "" {
		space = town
	}
	w.Post(in.MessageID, func() channel.Call {
		said := googlechattest.Said{Space: space, Thread: in.Thread, ID: id, User: ada, Name: "Ada", Text: in.Text, Files: files}
		return w.Call(w.Body(said), nil)
	})
}

// Messages implements channeltest.Network.
func (w *world) Messages() (out []loopback.Message) {
	for _, m := range w.Sent() {
		if !m.Gone {
			out = append(out, loopback.Message{ID: m.Name, To: channel.Target{Conversation: m.Space, Thread: m.Thread}, Text: m.Text})
		}
	}
	return out
}

func setup(t *testing.T) *channeltest.Setup {
	t.Helper()
	w, kept := newWorld(t, project), &clienttest.Kept{}
	open := func() channel.Channel { return w.open(t, kept) }
	return &channeltest.Setup{
		Channel: open(), Net: w, Connected: true, Waits: 30 * time.Second, Target: direct(), Again: open,
		Thread:  channel.Target{Account: "default", Conversation: town, Thread: "T1"},
		Inbound: channel.Inbound{Chat: channel.Direct, Conversation: "@DM1", SenderID: ada},
		NextID:  func(n int) string { return personal + "/messages/p" + string(rune('0'+n)) },
		Skip: map[loopback.Kind]string{
			loopback.Lost: "Google takes a request's id once, so a message is sent again: TestFault_F_CH_GoogleSendsOnce"},
		Cannot: map[string]string{"SendWithoutConnection": "a message is a request of its own",
			"FileIn":         "Google tells no size of a file: TestFiles",
			"FileInTooLarge": "files are not sent, and its limit says so: TestFiles"},
	}
}

// TestChannel: it passes what every channel passes.
func TestChannel(t *testing.T) { channeltest.Run(t, setup) }

// TestChannelAsProgram: also behind the protocol of programs.
func TestChannelAsProgram(t *testing.T) { channeltest.RunAsProgram(t, setup) }

func TestKind(t *testing.T) {
	w := newWorld(t, project)
	right := account(w.Server, project, nil)
	k := googlechat.Kind()
	k.New = func(a channel.Account) (channel.Channel, error) { return client.New(a) } // what hearth-channels does with it
	channeltest.Kind(t, k, right, []string{town}, []string{"@DM1"})
	for _, wrong := range []map[string]string{
		{}, {googlechat.KeyAudience: "x"}, {googlechat.KeyAudience: project, googlechat.KeyKind: googlechat.ByURL},
		{googlechat.KeyAudience: "https://x/y", googlechat.KeyKind: googlechat.ByProject},
	} {
		right.Texts = wrong
		if err := googlechat.Check(right); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}

// TestReceive: people's messages come with where they are, and what they call us with.
func TestReceive(t *testing.T) {
	w := newWorld(t, project)
	got := clienttest.Running(t, w.c)
	w.Say(googlechattest.Said{Space: town, Thread: "T1", ID: "a", User: ada, Name: "Ada", Text: "@Hearth stop", Argument: " stop",
		Mention: "users/1"})
	in := clienttest.Next(t, got)
	if in.Chat != channel.Group || in.Conversation != town || in.Thread != "T1" || in.SenderID != ada || in.SenderName != "Ada" ||
		!in.Mentioned || in.Command != "stop" || in.Label != "town" || in.MessageID != town+"/messages/a" {
		t.Errorf("%+v", in)
	}
	w.Say(googlechattest.Said{Space: town, ID: "b", User: ada, Text: "hello all"})
	if in := clienttest.Next(t, got); in.Mentioned || in.Command != "" {
		t.Errorf("%+v", in)
	}
	for _, no := range []googlechattest.Said{
		{Space: town, ID: "c", User: ada, Text: "x", Type: "ADDED_TO_SPACE"}, {Space: town, ID: "../d", User: ada, Text: "x"},
		{Space: "x", ID: "e", User: ada, Text: "x"}, {Space: town, ID: "f", User: "ada", Text: "x"}, {Space: town, ID: "g", User: ada},
	} {
		w.Say(no)
	}
	w.Say(googlechattest.Said{Space: personal, Thread: "T9", ID: "h", User: ada, Text: "last"})
	if in := clienttest.Next(t, got); in.Text != "last" || in.Thread != "" || in.Conversation != "@DM1" || in.Chat != channel.Direct {
		t.Errorf("%+v", in)
	}
}

// TestShownMeanwhile: a message stands where an answer is waited for, becomes the answer,
// and is there once.
func TestShownMeanwhile(t *testing.T) {
	w := newWorld(t, project)
	got := clienttest.Running(t, w.c)
	typing := func() {
		t.Helper()
		if err := w.c.Typing(t.Context(), direct()); err != nil {
			t.Fatal(err)
		}
	}
	typing() // nobody waits
	w.Say(googlechattest.Said{Space: personal, ID: "a", User: ada, Text: "hi"})
	clienttest.Next(t, got)
	clienttest.Until(t, "the answer to Google", func() bool { return w.Taken("a") })
	typing()
	typing()
	if all := w.Sent(); len(all) != 1 || all[0].Text != "…" {
		t.Fatalf("%+v", all)
	}
	w.Fail("patch", googlechattest.Fault{CutAfter: true})
	m := channel.Message{To: direct(), Text: "the **answer**", Key: "k"}
	if _, err := w.c.Send(t.Context(), m); err == nil {
		t.Error("the connection broke")
	}
	r, err := w.c.Send(t.Context(), m)
	typing() // the answer is there
	if all := w.Sent(); err != nil || len(all) != 1 || all[0].Text != "the *answer*" || all[0].Name != r.MessageID {
		t.Errorf("%+v %+v %v", all, r, err)
	}
	if _, err := w.c.Send(t.Context(), channel.Message{To: direct(), Text: "more"}); err != nil || len(w.Sent()) != 2 {
		t.Errorf("%+v %v", w.Sent(), err)
	}
}

// TestFault_F_CH_GoogleSendsOnce: a message whose answer was lost is sent again, and seen
// once; a token that has ended is replaced, one that is refused is told.
func TestFault_F_CH_GoogleSendsOnce(t *testing.T) {
	w := newWorld(t, project)
	m := channel.Message{To: direct(), Text: "once", Key: "k1"}
	w.Fail("create", googlechattest.Fault{CutAfter: true}, googlechattest.Fault{Status: 502})
	for range 2 {
		if _, err := w.c.Send(t.Context(), m); err == nil || errors.Is(err, channel.ErrUncertain) || errors.Is(err, channel.ErrRefused) {
			t.Errorf("%v", err)
		}
	}
	w.Expire()
	if r, err := w.c.Send(t.Context(), m); err != nil || len(w.Sent()) != 1 || r.MessageID != w.Sent()[0].Name || w.Granted() != 2 {
		t.Errorf("%+v %v %+v, %d tokens", r, err, w.Sent(), w.Granted())
	}
	for _, bad := range []channel.Message{{To: channel.Target{Conversation: "spaces/../x"}, Text: "x"}, {To: direct()},
		{To: direct(), Text: strings.Repeat("x", 32_001)}, {To: direct(), Text: "x", Media: []channel.Media{{URL: "x"}}}} {
		if _, err := w.c.Send(t.Context(), bad); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%.80v: %v", bad, err)
		}
	}
	if _, err := w.c.Send(t.Context(), channel.Message{To: direct(), Text: "ask <users/all> and <users/1>"}); err != nil {
		t.Errorf("nobody is called: %v", err)
	}
	w.Withdraw()
	err := w.c.Run(t.Context(), func(context.Context, channel.Inbound) error { return nil })
	if !errors.Is(err, channel.ErrAuth) || !strings.Contains(err.Error(), "new JSON key") {
		t.Errorf("%v", err)
	}
}

func TestFiles(t *testing.T) {
	w := newWorld(t, project)
	got := clienttest.Running(t, w.c)
	file := func(name, resource, source string) map[string]any {
		return map[string]any{"contentName": name, "contentType": "application/pdf", "source": source,
			"attachmentDataRef": map[string]any{"resourceName": resource}}
	}
	w.Put("AbC/d=", []byte("%PDF"))
	w.Put("large", make([]byte, 1<<20+1))
	w.Say(googlechattest.Said{Space: personal, ID: "a", User: ada, Text: "see", Files: []map[string]any{
		file("plan.pdf", "AbC/d=", "UPLOADED_CONTENT"), file("large.bin", "large", "UPLOADED_CONTENT"), file("doc", "", "DRIVE_FILE")}})
	in := clienttest.Next(t, got)
	if len(in.Media) != 2 || in.Media[0].Name != "plan.pdf" || in.Text != "see\n[file in Google Drive: doc]" {
		t.Fatalf("%+v", in)
	}
	r, err := w.c.Fetch(t.Context(), in.Media[0])
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); string(b) != "%PDF" || err != nil || r.Close() != nil {
		t.Errorf("%q %v", b, err)
	}
	if r, err = w.c.Fetch(t.Context(), in.Media[1]); err == nil {
		_, err = io.ReadAll(r)
		_ = r.Close()
	}
	if !errors.Is(err, channel.ErrRefused) {
		t.Errorf("a file that is too large: %v", err)
	}
	for _, url := range []string{"", "../spaces", "a//b", "a?alt=x", "missing"} {
		if _, err := w.c.Fetch(t.Context(), channel.Media{URL: url}); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// TestSec_A_CH_GoogleForged: nothing but what Google Chat signed for us, lately, is
// taken, and that once.
func TestSec_A_CH_GoogleForged(t *testing.T) {
	for _, audience := range []string{project, "https://hearth.example.org/channels/googlechat/default"} {
		w := newWorld(t, audience)
		got := clienttest.Running(t, w.c)
		body := w.Body(googlechattest.Said{Space: personal, ID: "a", User: ada, Text: "signed"})
		claim := func(key string, value any) channel.Call {
			return w.Call(body, func(c map[string]any) { c[key] = value })
		}
		right := w.Call(body, nil)
		two := right
		two.Header = right.Header.Clone()
		two.Header.Add("Authorization", right.Header.Get("Authorization"))
		own := map[string]any{"iss": googlechattest.Chat, "aud": audience, "exp": time.Now().Add(time.Hour).Unix()}
		calls := map[string]channel.Call{
			"no token":         {Method: http.MethodPost, Body: body},
			"two tokens":       two,
			"the app's own":    w.With(body, w.ByApp(own)),
			"another audience": claim("aud", "999"),
			"no audience":      claim("aud", ""),
			"another issuer":   claim("iss", googlechattest.Email),
			"expired":          claim("exp", time.Now().Add(-bearer.Skew-time.Minute).Unix()),
			"without an end":   claim("exp", nil),
		}
		if audience != project { // anybody's token of Google's
			calls["another account"] = claim("email", "eve@project.iam.gserviceaccount.com")
			calls["not verified"] = claim("email_verified", false)
			calls["no account"] = claim("email", nil)
		}
		for name, call := range calls {
			if a, err := w.Once(call); err != nil || a.Status != http.StatusUnauthorized {
				t.Errorf("%s, %s: %d %v", audience, name, a.Status, err)
			}
		}
		for range 3 {
			if a, err := w.Once(right); err != nil || a.Status != http.StatusOK || string(a.Body) != "{}" {
				t.Errorf("%d %v", a.Status, err)
			}
		}
		if in := clienttest.Next(t, got); in.Text != "signed" {
			t.Errorf("%+v", in)
		}
		for _, b := range []string{"", "{", "[]", `{"type":"MESSAGE"}`, `{"message":7}`} {
			if a, err := w.Once(w.Call([]byte(b), nil)); err != nil || a.Status >= 500 {
				t.Errorf("%q: %d %v", b, a.Status, err)
			}
		}
		select {
		case in := <-got:
			t.Errorf("%+v came", in)
		default:
		}
	}
}
