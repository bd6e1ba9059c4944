package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
)

// Every failure that can be made, and no text of it holds the token.
func TestSec_A_SEC_02_TokenIsInNoErrorAndNoLog(t *testing.T) {
	leak := func(t *testing.T, what string) {
		t.Helper()
		for _, s := range []string{testToken, "AAcanary-7f3a9c", testSecret} {
			if strings.Contains(what, s) {
				t.Errorf("leaks: %s", what)
			}
		}
	}
	faults := map[string]telegramtest.Fault{
		"cut": {CutBefore: true}, "500 echo": {Status: 500, Description: "no such path /bot" + testToken + "/x"},
		"400 echo": {Status: 400, Description: "bad " + testToken}, "page": {Body: testToken}, "hang": {Hang: true},
		"429": {Status: 429, Description: testToken}, "401": {Status: 401, Description: testToken},
	}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			in(t, func(r *rig) { // in checks the log
				for _, method := range []string{"getMe", "getUpdates", "getWebhookInfo", "sendMessage", "sendDocument", "editMessageText", "getFile"} {
					r.net.Fail(method, f)
				}
				ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
				defer cancel()
				_, e1 := r.send(dm, "x")
				_, e2 := r.ch.Send(ctx, channel.Message{To: target(dm), Media: []channel.Media{{URL: "https://example.org/x"}}})
				_, e3 := r.ch.Fetch(ctx, channel.Media{URL: "telegram-file:x"})
				e4 := r.ch.Edit(ctx, target(dm), "1", "x")
				e5 := r.ch.Run(ctx, r.inbox)
				for _, err := range []error{e1, e2, e3, e4, e5} {
					for ; err != nil; err = errors.Unwrap(err) {
						leak(t, fmt.Sprintf("%v %+v %#v", err, err, err))
					}
				}
				leak(t, fmt.Sprintf("%+v", r.ch.Status()))
			})
		})
	}
	ch, err := New(Options{Token: testToken, Mode: Webhook, WebhookURL: "https://h.example/tg", WebhookSecret: testSecret})
	if err != nil {
		t.Fatal(err)
	}
	leak(t, fmt.Sprintf("%v %+v %#v %+v %#v", ch, ch, ch, ch.api, ch.hook))
	_, err = New(Options{Token: "wrong AAcanary-7f3a9c"})
	leak(t, err.Error())
}

// Files come from the API's host only, whatever the server names, and the
// token follows no redirect.
func TestSec_A_SSRF_03_FilesAndRedirectsStayAtTheHost(t *testing.T) {
	for _, p := range []string{
		"../../secret", "//evil.example/x", "http://evil.example/x", "https://169.254.169.254/", "a/../../b", "/etc/passwd", "x?y", "x#y",
		"%2e%2e/x", "a\\b", "@evil.example/x", "", ".", "a//b",
	} {
		in(t, func(r *rig) {
			r.net.AddFile("f", telegramtest.File{Path: p, Data: []byte("x")})
			_, err := r.ch.Fetch(r.t.Context(), channel.Media{URL: "telegram-file:f"})
			mustBe(t, err, channel.ErrRefused)
			if r.net.Calls("file") != 0 {
				t.Errorf("%q was fetched", p)
			}
		})
	}
	for _, u := range []string{"http://evil.example/x", "file:///etc/passwd", "", "telegram-file:"} {
		in(t, func(r *rig) {
			_, err := r.ch.Fetch(r.t.Context(), channel.Media{URL: u})
			mustBe(t, err, channel.ErrRefused)
		})
	}
	var hosts []string
	client := &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		hosts = append(hosts, req.URL.Host)
		return &http.Response{StatusCode: 307, Header: http.Header{"Location": {"https://evil.example" + req.URL.Path}},
			Body: io.NopCloser(strings.NewReader("")), Request: req}, nil
	})}
	ch, err := New(Options{Token: testToken, HTTP: client})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ch.Send(t.Context(), channel.Message{To: target(dm), Text: "x"}); err == nil {
		t.Error("a redirect counts as sent")
	}
	if diff := cmp.Diff([]string{"api.telegram.org"}, hosts); diff != "" {
		t.Error(diff)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestSec_A_SEC_07_TokenGoesOnlyEncryptedOrNowhere(t *testing.T) {
	for _, u := range []string{"http://api.telegram.org", "http://192.168.1.5:8081", "ftp://localhost", "https://user:pw@x", "https://x/?a=b",
		"//x", "x", "http://localhost.evil.example"} {
		if _, err := New(Options{Token: testToken, BaseURL: u}); err == nil {
			t.Errorf("%s was accepted", u)
		}
	}
	for _, u := range []string{"", "https://bots.example:8443/api", "http://localhost:8081", "http://127.0.0.1:8081", "http://[::1]:8081"} {
		if _, err := New(Options{Token: testToken, BaseURL: u}); err != nil {
			t.Errorf("%s: %v", u, err)
		}
	}
}

func hookOptions() Options {
	return Options{Mode: Webhook, WebhookURL: "https://hearth.example/telegram", WebhookSecret: testSecret}
}

func TestWebhookDelivers(t *testing.T) {
	inMode(t, hookOptions(), func(r *rig) {
		path, h, ok := r.ch.Webhook()
		if !ok || path != "/telegram" {
			t.Fatalf("webhook at %q, %v", path, ok)
		}
		post := func(secret string, body []byte) int {
			req := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
			req.Header.Set(secretHeader, secret)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			return w.Code
		}
		r.net.Say(dm, ann(), "early", nil)
		if code := post(testSecret, []byte(`{"update_id":1}`)); code != 503 {
			t.Errorf("before Run: %d, Telegram must come again", code)
		}
		stop := r.run()
		if r.net.Webhook() != "https://hearth.example/telegram" || r.net.Calls("getUpdates") != 0 {
			t.Errorf("registered %q", r.net.Webhook())
		}
		r.net.Say(dm, ann(), "second", nil)
		r.fail = []error{nil, errors.New("disk full")}
		if code := r.net.Post(post); code != 503 {
			t.Errorf("a message that was not stored: %d", code)
		}
		if code := r.net.Post(post); code != 200 {
			t.Errorf("the next time: %d", code)
		}
		if diff := cmp.Diff([]string{"early", "second"}, r.texts()); diff != "" {
			t.Error(diff)
		}
		r.net.SetWebhook("https://thief.example/")
		r.wait(2 * time.Minute)
		if r.net.Webhook() != "https://hearth.example/telegram" {
			t.Error("a changed address was not noticed within two minutes")
		}
		_ = stop()
		if code := post(testSecret, []byte(`{"update_id":99}`)); code != 503 {
			t.Errorf("after Run: %d", code)
		}
	})
}

// countingBody tells whether anybody read it.
type countingBody struct {
	io.Reader
	reads int
}

func (b *countingBody) Read(p []byte) (int, error) { b.reads++; return b.Reader.Read(p) }

func TestSec_A_NET_22_WebhookWithoutTheSecret(t *testing.T) {
	inMode(t, hookOptions(), func(r *rig) {
		stop := r.run()
		_, h, _ := r.ch.Webhook()
		answers := map[string]bool{}
		for name, headers := range map[string][]string{
			"none": nil, "empty": {""}, "wrong": {"hook-secret_9876543210"}, "cut": {testSecret[:len(testSecret)-1]}, "longer": {testSecret + "x"},
			"twice": {testSecret, testSecret}, "list": {testSecret + "," + testSecret}, "other case": {strings.ToUpper(testSecret)},
			"token": {testToken}, "bearer": {"Bearer " + testSecret},
		} {
			body := &countingBody{Reader: strings.NewReader(
				`{"update_id":5,"message":{"message_id":1,"text":"x","chat":{"id":77,"type":"private"}}}`)}
			req := httptest.NewRequest(http.MethodPost, "/telegram?secret="+testSecret, body)
			req.Header.Set("X-Forwarded-Host", "api.telegram.org")
			for _, v := range headers {
				req.Header.Add(secretHeader, v)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			if w.Code != http.StatusUnauthorized || body.reads != 0 {
				t.Errorf("%s: %d, body read %d times", name, w.Code, body.reads)
			}
			answers[w.Body.String()] = true
		}
		if len(answers) != 1 {
			t.Errorf("refusals differ: %v", answers)
		}
		if n := len(r.messages()); n != 0 {
			t.Errorf("%d messages came in", n)
		}
		for name, tt := range map[string]struct {
			method, body string
			want         int
		}{
			"get": {http.MethodGet, "", 405}, "no JSON": {http.MethodPost, "{", 400}, "no number": {http.MethodPost, "{}", 400},
			"huge": {http.MethodPost, `{"update_id":1,"x":"` + strings.Repeat("x", 1<<20) + `"}`, 413},
		} {
			req := httptest.NewRequest(tt.method, "/telegram", strings.NewReader(tt.body))
			req.Header.Set(secretHeader, testSecret)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			if w.Code != tt.want {
				t.Errorf("%s: %d, want %d", name, w.Code, tt.want)
			}
		}
		_ = stop()
	})
}

// The same update posted again is one message. After a restart inbound knows
// it by its message id, which is the same too.
func TestSec_A_NET_23_WebhookReplay(t *testing.T) {
	inMode(t, hookOptions(), func(r *rig) {
		stop := r.run()
		_, h, _ := r.ch.Webhook()
		for range 3 {
			req := httptest.NewRequest(http.MethodPost, "/telegram",
				strings.NewReader(`{"update_id":5,"message":{"message_id":1,"date":1,"text":"x","chat":{"id":77,"type":"private"}}}`))
			req.Header.Set(secretHeader, testSecret)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			if w.Code != 200 {
				t.Errorf("got %d", w.Code)
			}
		}
		if n := len(r.messages()); n != 1 {
			t.Errorf("%d messages of one update", n)
		}
		_ = stop()
	})
}

func TestSec_A_NET_22_WebhookNeedsASecret(t *testing.T) {
	good := hookOptions()
	good.Token = testToken
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Options){
		"no secret": func(o *Options) { o.WebhookSecret = "" }, "short": func(o *Options) { o.WebhookSecret = "abc" },
		"odd": func(o *Options) { o.WebhookSecret = "0123456789 0123456789" }, "http": func(o *Options) {
			o.WebhookURL = "http://hearth.example/x"
		},
		"no url": func(o *Options) { o.WebhookURL = "" }, "query": func(o *Options) { o.WebhookURL += "?x=y" }, "mode": func(o *Options) {
			o.Mode = "both"
		},
	} {
		o := good
		change(&o)
		if _, err := New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	ch, err := New(Options{Token: testToken})
	if err != nil {
		t.Fatal(err)
	}
	if _, h, ok := ch.Webhook(); ok || h != nil {
		t.Error("a handler without webhook mode")
	}
}
