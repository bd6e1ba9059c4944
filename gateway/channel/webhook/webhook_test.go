package webhook

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/secret"
	signature "github.com/hearth-assistant/hearth/gateway/webhook"
)

func TestChannel(t *testing.T) {
	channeltest.Run(t, func(t *testing.T) *channeltest.Setup {
		p := newProgram(t)
		return &channeltest.Setup{
			Channel: p.open(t, nil), Net: p, Again: func() channel.Channel { return p.open(t, nil) },
			Target:  channel.Target{Account: "default", Conversation: "ada"},
			Thread:  channel.Target{Account: "default", Conversation: "#home", Thread: "t1"},
			Inbound: channel.Inbound{Chat: channel.Direct, Conversation: "ada", SenderID: "ada", SenderName: "Ada", At: time.Now()},
		}
	})
}

func TestKind(t *testing.T) {
	channeltest.Kind(t, Kind(), newProgram(t).account(nil), []string{"#home"}, []string{"ada", ""})
}

// A program that takes each id once is sent a lost message again, and nobody sees it
// twice; for any other nobody can tell.
func TestFault_F_CH_WebhookAnswerIsLost(t *testing.T) {
	for _, once := range []string{"true", ""} {
		p := newProgram(t)
		c := p.open(t, map[string]string{keyOnce: once})
		p.Script(loopback.Fault{Kind: loopback.Lost})
		m := channel.Message{To: channel.Target{Conversation: "ada"}, Text: "hello", Key: "k.1"}
		_, err := c.Send(t.Context(), m)
		if err == nil || errors.Is(err, channel.ErrUncertain) != (once == "") {
			t.Errorf("once %q: %v", once, err)
		}
		if _, err := c.Send(t.Context(), m); err != nil || len(p.Messages()) != 1 {
			t.Errorf("once %q: %v, people see %+v", once, err, p.Messages())
		}
	}
}

// Nothing of a request is believed before its signature, and each refusal says what
// to do.
func TestSec_A_CH_WebhookForged(t *testing.T) {
	p := newProgram(t)
	c := p.open(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	got := make(chan channel.Inbound, 10)
	ended := make(chan error, 1)
	go func() {
		ended <- c.Run(ctx, func(_ context.Context, in channel.Inbound) error { got <- in; return nil })
	}()
	t.Cleanup(func() { stop(); <-ended })
	for c.Status().State != channel.Receiving {
		<-time.After(time.Millisecond)
	}
	_, h, _ := c.Webhook()
	good := `{"senderId": "ada", "text": "hi"}`
	for name, tc := range map[string]struct {
		body   string
		change func(*http.Request)
		status int
		says   string
	}{
		"unsigned":        {good, func(r *http.Request) { r.Header.Del("Webhook-Signature") }, 401, "sign the request"},
		"another body":    {good, func(r *http.Request) { r.Header.Set("Webhook-Id", "other") }, 401, "sign the request"},
		"two signatures":  {good, func(r *http.Request) { r.Header.Add("Webhook-Id", "in-2") }, 401, "sign the request"},
		"another method":  {good, func(r *http.Request) { r.Method = http.MethodPut }, 405, "POST"},
		"no sender":       {`{"text": "hi"}`, nil, 400, "senderId is missing"},
		"no text":         {`{"senderId": "ada"}`, nil, 400, "text is missing"},
		"no JSON":         {`senderId=ada`, nil, 400, "not one JSON object"},
		"too long":        {`{"senderId": "ada", "text": "` + strings.Repeat("x", maxBody) + `"}`, nil, 413, "at most"},
		"a number as one": {`{"senderId": 7, "text": "hi"}`, nil, 400, "not one JSON object"},
	} {
		head, err := signature.Sign(secret.New(testKey), "in-1", []byte(tc.body), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(tc.body))
		r.Header = head
		if tc.change != nil {
			tc.change(r)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.says) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	old, _ := signature.Sign(secret.New(testKey), "in-1", []byte(good), time.Now().Add(-time.Hour))
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(good))
	r.Header = old
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 401 || !strings.Contains(w.Body.String(), "clocks") {
		t.Errorf("an old one: %d %s", w.Code, w.Body)
	}
	if len(got) != 0 {
		t.Errorf("%+v was handed over", <-got)
	}
	if status := signed(h, "in-9", []byte(good)); status != http.StatusAccepted {
		t.Errorf("a true one: %d", status)
	}
	if in := <-got; in.MessageID != "in-9" || in.Conversation != "ada" || in.Chat != channel.Direct || in.Account != "default" {
		t.Errorf("%+v", in)
	}
}

// What is set wrongly says so when the account is opened.
func TestAccounts(t *testing.T) {
	p := newProgram(t)
	for want, change := range map[string]func(*channel.Account){
		"no secret is set":       func(a *channel.Account) { a.Secrets = nil },
		"at least 24 bytes":      func(a *channel.Account) { a.Secrets = map[string]string{keySecret: "whsec_c2hvcnQ="} },
		"name it with letters":   func(a *channel.Account) { a.ID = "../x" },
		"url is not set":         func(a *channel.Account) { delete(a.Texts, keyAddress) },
		"carries no files":       nil,
		"its program is nowhere": func(a *channel.Account) { a.Texts[keyAddress] = "http://127.0.0.1:1/" },
	} {
		a := p.account(nil)
		if change != nil {
			change(&a)
		}
		c, err := open(a)
		if err == nil {
			m := channel.Message{To: channel.Target{Conversation: "ada"}, Text: "x"}
			if change == nil {
				m.Media = []channel.Media{{Name: "x"}}
			}
			_, err = c.Send(t.Context(), m)
		}
		if want == "its program is nowhere" {
			want = "could not be reached"
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"senderId": "ada", "text": "hi", "conversation": "#x", "atMs": 1e300}`), "in-1")
	f.Add([]byte(`{"senderId": "\u0000", "text": "\ud800"}`), "")
	f.Fuzz(func(t *testing.T, body []byte, hook string) {
		in, err := read(body, hook, time.Now())
		if err == nil && (in.SenderID == "" || in.Conversation == "" || in.Text == "") {
			t.Errorf("%q: %+v", body, in)
		}
	})
}
