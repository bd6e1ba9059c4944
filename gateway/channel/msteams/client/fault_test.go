package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams/msteamstest"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/store"
)

func group(thread string) channel.Target {
	return channel.Target{Account: "default", Conversation: team, Thread: thread}
}

// TestFault_F_CH_TeamsSending: each way in which sending fails, and what is told of it.
func TestFault_F_CH_TeamsSending(t *testing.T) {
	w := newWorld(t)
	w.inRegion(t)
	none := msteamstest.Fault{}
	no := func(status int, code string) msteamstest.Fault {
		return msteamstest.Fault{Status: status, Code: code, Words: "x"}
	}
	for name, tc := range map[string]struct {
		fault msteamstest.Fault
		to    channel.Target
		text  string
		kind  error // nil: passing
		says  string
		seen  int
	}{
		"door":            {no(502, ""), direct(), "", channel.ErrUncertain, "", 0},
		"time":            {no(504, ""), direct(), "", channel.ErrUncertain, "", 0},
		"broken":          {no(500, "ServiceError"), direct(), "", channel.ErrUncertain, "ServiceError", 0},
		"overload":        {no(503, "ServiceUnavailable"), direct(), "", nil, "503", 0},
		"precondition":    {no(412, "PreconditionFailed"), direct(), "", nil, "412", 0},
		"cut":             {msteamstest.Fault{CutBefore: true}, direct(), "", channel.ErrUncertain, "", 0},
		"cut after":       {msteamstest.Fault{CutAfter: true}, direct(), "", channel.ErrUncertain, "", 1},
		"half an answer":  {msteamstest.Fault{Half: true}, direct(), "", channel.ErrUncertain, "", 1},
		"removed":         {no(403, "BotNotInConversationRoster"), direct(), "", channel.ErrRefused, "add it there again", 0},
		"blocked":         {no(403, "BotDisabledByAdmin"), direct(), "", channel.ErrRefused, "Teams admin center", 0},
		"blocked by them": {no(403, "ConversationBlockedByUser"), direct(), "", channel.ErrRefused, "has blocked the app", 0},
		"permissions":     {no(403, "NotEnoughPermissions"), group(post), "", channel.ErrRefused, "ChannelMessage.Read.Group", 0},
		"another cloud":   {no(403, "InvalidBotApiHost"), direct(), "", channel.ErrRefused, "another cloud", 0},
		"no bot":          {no(400, "BotNotRegistered"), direct(), "", channel.ErrRefused, "no Azure Bot", 0},
		"words of others": {no(400, "\x1b[2J<script>"), direct(), "", channel.ErrRefused, "400 x", 0},
		"nowhere":         {none, channel.Target{Conversation: "19:gone@thread.v2"}, "", channel.ErrRefused, "ConversationNotFound", 0},
		"no conversation": {none, channel.Target{Conversation: "@a:../../x"}, "", channel.ErrRefused, "no conversation", 0},
		"no thread":       {none, group("x/../y"), "", channel.ErrRefused, "no thread", 0},
		"nothing":         {none, direct(), " ", channel.ErrRefused, "nothing to send", 0},
		"much too long":   {none, direct(), strings.Repeat("漢", 20_000), channel.ErrRefused, "textChunkLimit", 0},
		"much markup":     {none, direct(), strings.Repeat("&", 6000), errNone, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.fault != none {
				w.Fail("post", tc.fault)
			}
			if tc.text == "" {
				tc.text = "x"
			}
			before := len(w.Sent())
			_, err := w.c.Send(t.Context(), channel.Message{To: tc.to, Text: tc.text, Key: name})
			final := errors.Is(err, channel.ErrRefused) || errors.Is(err, channel.ErrUncertain) || errors.Is(err, channel.ErrAuth)
			switch {
			case errors.Is(tc.kind, errNone):
				if err != nil {
					t.Error(err)
				}
			case err == nil, tc.kind != nil && !errors.Is(err, tc.kind), tc.kind == nil && final,
				!strings.Contains(err.Error(), tc.says), strings.ContainsAny(err.Error(), "\x1b<"):
				t.Errorf("%v", err)
			}
			if n := len(w.Sent()) - before; n != tc.seen {
				t.Errorf("%d messages are seen", n)
			}
		})
	}
}

var errNone = errors.New("none")

// TestFault_F_CH_TeamsTokens: a token that has ended is replaced, and of a secret that is
// not accepted it is said why, without the secret.
func TestFault_F_CH_TeamsTokens(t *testing.T) {
	w := newWorld(t)
	w.inRegion(t)
	before := w.Granted()
	w.Expire()
	if _, err := w.c.Send(t.Context(), channel.Message{To: direct(), Text: "x"}); err != nil || w.Granted() != before+1 || len(w.Sent()) != 1 {
		t.Errorf("%v, %d tokens, %d messages", err, w.Granted()-before, len(w.Sent()))
	}
	for code, says := range map[string]string{"7000215": "not its Secret ID", "7000222": "has ended", "700016": "tenantId",
		"90002": "no such organisation", "7000112": "has disabled", "700024": "clock", "1": "look at channels.msteams.appId"} {
		w.NoTokens(&msteamstest.Fault{Status: 401, Code: code, Words: "Something is wrong."})
		err := w.open(t, &clienttest.Kept{}).Run(t.Context(), nil)
		if !errors.Is(err, channel.ErrAuth) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "AADSTS"+code) ||
			strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "Trace ID") {
			t.Errorf("%s: %v", code, err)
		}
		if _, err := w.c.Send(t.Context(), channel.Message{To: direct(), Text: "x"}); !errors.Is(err, channel.ErrAuth) {
			t.Errorf("%s: %v", code, err)
		}
	}
	for _, f := range []msteamstest.Fault{{Status: 500, Code: "90033", Words: "busy"}, {Status: 429, Code: "90055", Words: "often"},
		{CutBefore: true}} {
		w.NoTokens(&f)
		_, err := w.c.Send(t.Context(), channel.Message{To: direct(), Text: "x"})
		if err == nil || errors.Is(err, channel.ErrAuth) || errors.Is(err, channel.ErrRefused) || errors.Is(err, channel.ErrUncertain) {
			t.Errorf("%+v: %v", f, err)
		}
	}
	w.NoTokens(nil)
	if _, err := w.c.Send(t.Context(), channel.Message{To: direct(), Text: "after all"}); err != nil || len(w.Sent()) != 2 {
		t.Errorf("%v", err)
	}
}

// delivering takes messages to Teams as the gateway does, and counts what is seen.
func (w *world) delivering(t *testing.T) func(id, text string) {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "h.db"), store.Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	d := outbound.NewDeliverer(db, outbound.DelivererOptions{Channels: func(string, string) channel.Channel { return w.c },
		Retry: outbound.Retry{First: 10 * time.Millisecond}})
	ctx, stop := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() { d.Run(ctx) })
	t.Cleanup(func() {
		stop()
		work.Wait()
		_ = db.Close(context.WithoutCancel(ctx))
	})
	return func(id, text string) {
		t.Helper()
		err := db.Update(ctx, store.Write{Then: d.Wake, Do: func(tx *store.Tx) error {
			return d.Put(tx, outbound.Delivery{ID: id, Channel: w.c.ID(), To: direct(), Text: text, Reply: outbound.ReplyOff})
		}})
		if err != nil {
			t.Fatal(err)
		}
		clienttest.Until(t, "the end of "+id, func() bool {
			v, err := d.Get(id)
			return err == nil && !v.State.Open()
		})
		v, err := d.Get(id)
		seen := 0
		for _, m := range w.Sent() {
			if m.Text == text {
				seen++
			}
		}
		switch { // nothing lost, nothing doubled; what nobody knows is shown as that
		case err != nil, v.State == outbound.Delivered && seen != 1, v.State == outbound.Uncertain && seen > 1,
			v.State != outbound.Delivered && v.State != outbound.Uncertain:
			t.Errorf("%s: %s (%s), and it is seen %d times; %v", id, v.State, v.Reason, seen, err)
		}
	}
}

// TestFault_F_CH_TeamsDelivered: over every way in which a send breaks, no message is
// lost, none is seen twice, and the uncertain ones are shown as that.
func TestFault_F_CH_TeamsDelivered(t *testing.T) {
	w := newWorld(t)
	w.inRegion(t)
	deliver := w.delivering(t)
	for i, faults := range [][]msteamstest.Fault{
		nil, {{CutBefore: true}}, {{CutAfter: true}}, {{Half: true}}, {{Status: 503}, {Status: 412}}, {{Status: 502}}, {{Status: 500}},
		{{Status: 429, Reset: time.Second}, {Status: 429, Reset: time.Second}}, {{Status: 401}}, {{Status: 503}, {CutAfter: true}},
	} {
		w.Fail("post", faults...)
		if i%3 == 0 {
			w.Expire()
		}
		deliver(fmt.Sprint("d", i), fmt.Sprint("message ", i))
	}
}

// TestFault_F_CH_TeamsPace: what Microsoft lets a bot say is said, and of the rest it is
// told how long to wait; all of it arrives, once and in its order.
func TestFault_F_CH_TeamsPace(t *testing.T) {
	w := newWorld(t)
	w.inRegion(t)
	w.Limit(true)
	var want []string
	for n := 0; n < 12; {
		text := fmt.Sprint("p", n)
		_, err := w.c.Send(t.Context(), channel.Message{To: direct(), Text: text})
		var limit *channel.RateLimit
		switch {
		case err == nil:
			want = append(want, text)
			n++
		case errors.As(err, &limit) && limit.After >= time.Second && limit.After <= 3*time.Second:
			<-time.After(limit.After)
		default:
			t.Fatal(err)
		}
	}
	var got []string
	for _, m := range w.Sent() {
		got = append(got, m.Text)
	}
	if w.Limited() == 0 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("it was told %d times to wait; people see %q", w.Limited(), got)
	}
}

// TestFault_F_CH_TeamsAgain: what comes twice, late, or out of its order is taken once,
// also over a restart, and Microsoft hears that it was taken after it was.
func TestFault_F_CH_TeamsAgain(t *testing.T) {
	w := newWorld(t)
	kept := &clienttest.Kept{}
	c := w.open(t, kept)
	w.Calls(c)
	call := func(id string) channel.Call {
		at := time.Now().Add(-time.Hour)
		return w.Call(w.Body(msteamstest.Said{Conversation: crowd, ID: id, User: ada, Text: "m" + id, At: at}), nil)
	}
	if a, err := w.Once(call("1")); err != nil || a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
		t.Errorf("before it runs: %+v %v", a, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	offered, take, ended := make(chan string, 100), make(chan bool), make(chan error, 1)
	inbox := func(ctx context.Context, in channel.Inbound) error {
		offered <- in.Text
		select {
		case <-take:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	go func() { ended <- c.Run(ctx, inbox) }()
	clienttest.Until(t, "receiving", func() bool { return c.Status().State == channel.Receiving })
	answered := make(chan int, 3)
	for range 3 { // Microsoft asks again before it was answered
		go func() {
			a, err := w.Once(call("2"))
			if err != nil {
				t.Error(err)
			}
			answered <- a.Status
		}()
	}
	if text := <-offered; text != "m2" || len(answered) != 0 {
		t.Errorf("%q was offered, and %d calls were answered before it was taken", text, len(answered))
	}
	take <- true
	for range 3 {
		if status := <-answered; status != http.StatusOK {
			t.Errorf("answered with %d", status)
		}
	}
	go func() { _, _ = w.Once(call("1")) }() // later than the one behind it
	if text := <-offered; text != "m1" {
		t.Errorf("%q was offered", text)
	}
	take <- true
	clienttest.Until(t, "keeping it", func() bool { a, err := w.Once(call("1")); return err == nil && a.Status == http.StatusOK })
	stop()
	if err := <-ended; err != nil || len(offered) != 0 {
		t.Errorf("%v, %d were offered again", err, len(offered))
	}
	c = w.open(t, kept)
	w.Calls(c)
	got := clienttest.Running(t, c)
	if _, err := c.Send(t.Context(), channel.Message{To: channel.Target{Conversation: crowd}, Text: "answer"}); err != nil {
		t.Errorf("where the conversation is was forgotten: %v", err)
	}
	for _, id := range []string{"1", "2", "2", "3"} {
		if a, err := w.Once(call(id)); err != nil || a.Status != http.StatusOK {
			t.Errorf("%s: %+v %v", id, a, err)
		}
	}
	if in := clienttest.Next(t, got); in.Text != "m3" || len(got) != 0 {
		t.Errorf("after the restart %q came, and %d more", in.Text, len(got))
	}
}

// TestFault_F_CH_TeamsKeysAway: while Microsoft's keys cannot be had nothing is known of
// a call: it comes again, and is taken then.
func TestFault_F_CH_TeamsKeysAway(t *testing.T) {
	w := newWorld(t)
	got := clienttest.Running(t, w.c)
	w.KeysAway(true)
	call := w.Call(w.Body(msteamstest.Said{Conversation: personal, ID: "1", User: ada, Text: "hi"}), nil)
	if a, err := w.Once(call); err != nil || a.Status != http.StatusServiceUnavailable {
		t.Errorf("%+v %v", a, err)
	}
	w.KeysAway(false)
	if a, err := w.Once(call); err != nil || a.Status != http.StatusOK {
		t.Errorf("%+v %v", a, err)
	}
	if in := clienttest.Next(t, got); in.Text != "hi" {
		t.Errorf("%+v", in)
	}
}

// TestFault_F_CH_TeamsBodies: what cannot be read, is huge, or says the same a thousand
// times costs little and breaks nothing.
func TestFault_F_CH_TeamsBodies(t *testing.T) {
	w := newWorld(t)
	got := clienttest.Running(t, w.c)
	deep := strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000)
	for _, b := range []string{"", "{", "[]", "null", `{"type":7}`, `{"type":"message","conversation":[]}`, deep, "\x00\xff",
		strings.Repeat("x", 1<<20)} {
		if a, err := w.Once(w.Call([]byte(b), nil)); err != nil || a.Status < 400 || a.Status > 499 {
			t.Errorf("%.40q: %d %v", b, a.Status, err)
		}
	}
	mentions := map[string]string{}
	for n := range 2000 {
		mentions[fmt.Sprint("p", n)] = "29:1x"
	}
	files := make([]any, 1000)
	for n := range files {
		files[n] = map[string]any{"contentType": "image/png", "contentUrl": "https://contoso.sharepoint.com/x"}
	}
	w.Say(msteamstest.Said{Conversation: crowd, ID: "1", User: ada, Text: strings.Repeat("<at>p1</at> \u202e漢", 20_000), Mentions: mentions,
		Extra: map[string]any{"attachments": files}})
	if in := clienttest.Next(t, got); len(in.Media) > 20 || in.Mentioned || len(in.Text) > 1<<20 {
		t.Errorf("%d files, %d bytes", len(in.Media), len(in.Text))
	}
	many := make([]any, 5000)
	for n := range many {
		many[n] = map[string]any{"type": "like"}
	}
	w.Say(msteamstest.Said{Conversation: crowd, ID: "2", User: ada, Type: "messageReaction", Extra: map[string]any{"replyToId": "9",
		"reactionsAdded": many}})
	w.Say(msteamstest.Said{Conversation: crowd, ID: "3", User: ada, Text: "last"})
	for n := 0; ; n++ {
		if in := clienttest.Next(t, got); in.Text == "last" {
			break
		}
		if n > 20 {
			t.Fatal("each of a thousand emoji came in")
		}
	}
	if a, err := w.Once(channel.Call{Method: http.MethodGet, Path: channel.CallPath(msteams.ID, "default")}); err != nil || a.Status != 405 {
		t.Errorf("%+v %v", a, err)
	}
}
