package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/signal"
	"github.com/hearth-assistant/hearth/gateway/channel/signal/client"
	"github.com/hearth-assistant/hearth/gateway/channel/signal/signaltest"
)

// TestFault_F_CH_SignalErrors: what each failure of signal-cli and of Signal means.
func TestFault_F_CH_SignalErrors(t *testing.T) {
	w := newWorld(t)
	for name, tc := range map[string]struct {
		fault signaltest.Fault
		kind  error // nil: it passes
		after time.Duration
		says  string
	}{
		"the network broke":     {signaltest.Fault{Result: "NETWORK_FAILURE"}, channel.ErrUncertain, 0, "connection to Signal broke"},
		"a new key":             {signaltest.Fault{Code: -4, Words: "Failed: untrusted identities"}, channel.ErrRefused, 0, "trust"},
		"a limit without time":  {signaltest.Fault{Result: "RATE_LIMIT_FAILURE"}, nil, time.Minute, ""},
		"a limit":               {signaltest.Fault{Result: "RATE_LIMIT_FAILURE", After: 86401}, nil, 24 * time.Hour, ""},
		"half of it":            {signaltest.Fault{Code: -32603, Words: "Failed: reset (SocketException)"}, channel.ErrUncertain, 0, ""},
		"nobody there":          {signaltest.Fault{Code: -1, Words: "The user +49 is not registered."}, channel.ErrRefused, 0, ""},
		"another account":       {signaltest.Fault{Code: -32602, Words: "Specified account does not exist"}, channel.ErrAuth, 0, "listAccounts"},
		"an old signal-cli":     {signaltest.Fault{Code: -32603, Words: "[499] (DeprecatedVersionException)"}, channel.ErrAuth, 0, "update it"},
		"a proxy":               {signaltest.Fault{Status: 502}, channel.ErrUncertain, 0, "httpUrl"},
		"another service":       {signaltest.Fault{Status: 404}, nil, 0, "httpUrl"},
		"started with a name":   {signaltest.Fault{Status: 421}, nil, 0, "by the name"},
		"cut before it was":     {signaltest.Fault{CutBefore: true}, channel.ErrUncertain, 0, ""},
		"cut after it was sent": {signaltest.Fault{CutAfter: true}, channel.ErrUncertain, 0, ""},
	} {
		w.Fail("send", tc.fault)
		_, err := w.c.Send(t.Context(), channel.Message{To: w.direct(), Text: name})
		var limit *channel.RateLimit
		switch {
		case tc.after > 0:
			if !errors.As(err, &limit) || limit.After != tc.after {
				t.Errorf("%s: %v", name, err)
			}
		case tc.kind != nil && !errors.Is(err, tc.kind), err == nil, !strings.Contains(err.Error(), tc.says):
			t.Errorf("%s: %v", name, err)
		case tc.kind == nil && (errors.Is(err, channel.ErrRefused) || errors.Is(err, channel.ErrAuth) || errors.Is(err, channel.ErrUncertain)):
			t.Errorf("%s does not pass: %v", name, err)
		}
	}
	for _, to := range []string{"", "uuid:", "uuid:x", "+4915112345678", "not base64", "uuid:" + strings.Repeat("z", 36), "Pmpi"} {
		m := channel.Message{To: channel.Target{Conversation: to}, Text: "x"}
		if _, err := w.c.Send(t.Context(), m); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%q: %v", to, err)
		}
	}
	for _, id := range []string{"", "x", "987654321", "0", "-1", "1/x", fmt.Sprint(time.Now().Add(-25 * time.Hour).UnixMilli())} {
		if err := w.c.Delete(t.Context(), w.direct(), id); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("deleting %q: %v", id, err)
		}
	}
}

// TestFault_F_CH_SignalGone: a signal-cli that is not there is told how to start, an
// account that is no more ends it.
func TestFault_F_CH_SignalGone(t *testing.T) {
	w := newWorld(t)
	w.Unlink()
	err := w.c.Run(t.Context(), func(context.Context, channel.Inbound) error { return nil })
	if !errors.Is(err, channel.ErrAuth) || !strings.Contains(err.Error(), "link or register it again") {
		t.Errorf("an account that Signal does not know: %v", err)
	}
	a := w.account(false)
	a.Texts[signal.KeyAccount] = "+4915100000000"
	c, _ := client.New(a)
	if err := c.Run(t.Context(), nil); !errors.Is(err, channel.ErrAuth) || !strings.Contains(err.Error(), "listAccounts") {
		t.Errorf("an account that signal-cli does not have: %v", err)
	}
	a.Texts[signal.KeyURL] = "http://127.0.0.1:1"
	c, _ = client.New(a)
	if _, err := c.Send(t.Context(), channel.Message{To: w.direct(), Text: "x"}); err == nil || errors.Is(err, channel.ErrUncertain) ||
		!strings.Contains(err.Error(), "daemon --http") {
		t.Errorf("no signal-cli: %v", err)
	}
}

// TestFault_F_CH_SignalConnections: what comes while the connection is down, and when
// signal-cli was started again, comes once.
func TestFault_F_CH_SignalConnections(t *testing.T) {
	w := newWorld(t)
	got, stop := clienttest.Connected(t, w.c)
	for n := range 2 { // each break is waited for longer
		w.Say(w.ada, "", map[string]any{"message": fmt.Sprint("a", n)})
		w.Drop()
		w.Say(w.ada, "", map[string]any{"message": fmt.Sprint("b", n)})
		for _, want := range []string{"a", "b"} {
			if in := clienttest.Next(t, got); in.Text != fmt.Sprint(want, n) {
				t.Errorf("%q came, not %s%d", in.Text, want, n)
			}
		}
	}
	w.Restart()
	w.Say(w.ada, "", map[string]any{"message": "new"})
	if in := clienttest.Next(t, got); in.Text != "new" {
		t.Errorf("%+v", in)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	w.Say(w.ada, "", map[string]any{"message": "later"})
	again := w.open(t, false)
	got, _ = clienttest.Connected(t, again)
	if in := clienttest.Next(t, got); in.Text != "later" {
		t.Errorf("%+v", in)
	}
	asked := w.Asked()
	if last := asked[len(asked)-1]; !strings.HasPrefix(last, "run-1:") {
		t.Errorf("it asked for what is behind %q", last)
	}
	w.Old()
	w.Drop()
	clienttest.Until(t, "connecting", func() bool { return len(w.Asked()) > len(asked) })
	w.Say(w.ada, "", map[string]any{"message": "from an old one"})
	if in := clienttest.Next(t, got); in.Text != "from an old one" {
		t.Errorf("%+v", in)
	}
}

// TestSec_A_CH_SignalFlood: lines that nobody writes take nothing but themselves.
func TestSec_A_CH_SignalFlood(t *testing.T) {
	w := newWorld(t)
	got, _ := clienttest.Connected(t, w.c)
	w.Raw(`{"envelope":"` + strings.Repeat("x", 3<<20) + `"}`)
	w.Raw(strings.Repeat("[", 100_000))
	many := make([]any, 5000)
	for i := range many {
		many[i] = mention(i, w.ada)
	}
	w.Say(w.ada, "", map[string]any{"message": "fine", "mentions": many})
	if in := clienttest.Next(t, got); in.Text == "" || len(in.Text) > 2000 {
		t.Errorf("%d bytes", len(in.Text))
	}
	dead := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = rw.Write([]byte(`{"jsonrpc":"2.0","id":"1","result":{"timestamp":`))
		_, _ = rw.Write(make([]byte, 9<<20))
	}))
	defer dead.Close()
	a := w.account(false)
	a.Texts[signal.KeyURL] = dead.URL
	c, _ := client.New(a)
	if _, err := c.Send(t.Context(), channel.Message{To: w.direct(), Text: "x"}); !errors.Is(err, channel.ErrUncertain) {
		t.Errorf("an endless answer: %v", err)
	}
}
