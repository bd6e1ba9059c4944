package hub_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

// called is a channel that its network calls.
type called struct {
	*loopback.Channel
	answer func(channel.Call) (channel.CallAnswer, error)
}

func (c *called) Call(_ context.Context, in channel.Call) (channel.CallAnswer, error) {
	return c.answer(in)
}

// Can implements channel.Standing.
func (c *called) Can(a channel.Ability) bool { return a == channel.CanBeCalled }

// openCalled is a hub with one such account, and its port.
func openCalled(t *testing.T, answer func(channel.Call) (channel.CallAnswer, error)) http.Handler {
	t.Helper()
	net := loopback.NewNet()
	h, _ := open(t, net, `{ channels: { pigeon: { loftKey: "first-key" } } }`)
	h.Kinds[0].New = func(a channel.Account) (channel.Channel, error) {
		return &called{net.Channel("pigeon", a.ID, channel.Limits{Text: 100}), answer}, nil
	}
	h.Open(t.Context(), nil, nil)
	return h.Webhooks()[channel.CallsBelow]
}

func knock(h http.Handler, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, channel.CallPath("pigeon", "default")+"?a=b", strings.NewReader(body))
	r.Header.Set("Cookie", "mine=1")
	r.Header.Set("X-Ring", "of the pigeon")
	h.ServeHTTP(w, r)
	return w
}

// TestCalls: a call goes to the account as it came, and its answer back, where that is
// one that can be passed on.
func TestCalls(t *testing.T) {
	var got channel.Call
	var said channel.CallAnswer
	var err error
	h := openCalled(t, func(c channel.Call) (channel.CallAnswer, error) { got = c; return said, err })
	header := http.Header{"Content-Type": {"text/x"}, "Set-Cookie": {"a=b"}, "Location": {"/"}}
	said = channel.CallAnswer{Status: 202, Header: header, Body: []byte("ok")}
	w := knock(h, "the body")
	if w.Code != 202 || w.Body.String() != "ok" || w.Header().Get("Content-Type") != "text/x" ||
		w.Header().Get("Set-Cookie")+w.Header().Get("Location") != "" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if string(got.Body) != "the body" || got.Query != "a=b" || got.Header.Get("X-Ring") == "" || got.Header.Get("Cookie") != "" ||
		got.Path != "/channels/pigeon/default" {
		t.Errorf("%+v", got)
	}
	for name, a := range map[string]channel.CallAnswer{
		"nothing": {}, "a redirect": {Status: 302}, "switching": {Status: 101}, "much": {Status: 200, Body: bytes.Repeat([]byte("x"), 65<<10)},
	} {
		if said = a; knock(h, "").Code != http.StatusServiceUnavailable {
			t.Errorf("%s is passed on", name)
		}
	}
	said, err = channel.CallAnswer{Status: 200}, errors.New("the program is away")
	if w := knock(h, ""); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" ||
		strings.Contains(w.Body.String(), "away") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	said, err = channel.CallAnswer{Status: 401}, nil
	if w := knock(h, ""); w.Code != 401 || !strings.Contains(w.Body.String(), channel.NotProven("Pigeon Post")) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestSec_A_DOS_11_Calls: what anybody can send costs little: 1 MB, sixteen calls at a
// time and two hundred at once of an account.
func TestSec_A_DOS_11_Calls(t *testing.T) {
	gate, entered := make(chan struct{}), make(chan struct{}, 100)
	h := openCalled(t, func(channel.Call) (channel.CallAnswer, error) {
		entered <- struct{}{}
		<-gate
		return channel.CallAnswer{Status: 200}, nil
	})
	if w := knock(h, strings.Repeat("x", 1<<20+1)); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d", w.Code)
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if w := knock(h, "x"); w.Code != 200 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	for range 16 {
		<-entered
	}
	if w := knock(h, "x"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("the seventeenth: %d", w.Code)
	}
	close(gate)
	all.Wait()
	limited := 0
	for range 400 {
		if knock(h, "x").Code == http.StatusTooManyRequests {
			limited++
		}
		for len(entered) > 0 {
			<-entered
		}
	}
	if limited < 100 {
		t.Errorf("of 400 calls at once %d were told to come later", limited)
	}
}
