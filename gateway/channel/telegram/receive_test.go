package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

func TestMessagesComeInOrder(t *testing.T) {
	in(t, func(r *rig) {
		stop := r.run()
		for i := range 250 {
			r.net.Say(dm, ann(), fmt.Sprint("m", i), nil)
		}
		got := r.texts()
		if len(got) != 250 || got[0] != "m0" || got[249] != "m249" {
			t.Fatalf("got %d messages", len(got))
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if s := r.ch.Status(); s.State != channel.Stopped || s.Bot != telegramtest.BotName {
			t.Errorf("status %+v", s)
		}
	})
}

// What inbox did not take is not confirmed: it comes again, and before those
// that came later.
func TestFault_F_CHAN_01_NotTakenIsDeliveredAgain(t *testing.T) {
	in(t, func(r *rig) {
		r.fail = []error{nil, errors.New("disk full"), errors.New("disk full")}
		for _, s := range []string{"a", "b", "c"} {
			r.net.Say(dm, ann(), s, nil)
		}
		stop := r.run()
		if diff := cmp.Diff([]string{"a"}, r.texts()); diff != "" {
			t.Fatal(diff)
		}
		if s := r.ch.Status(); s.State != channel.Waiting || !strings.Contains(s.Problem, "disk full") {
			t.Errorf("status %+v", s)
		}
		r.wait(5 * time.Second)
		if diff := cmp.Diff([]string{"a", "b", "c"}, r.texts()); diff != "" {
			t.Fatal(diff)
		}
		if s := r.ch.Status(); s.State != channel.Receiving || s.Problem != "" {
			t.Errorf("status %+v", s)
		}
		_ = stop()
		if n := r.net.Pending(); n != 0 {
			t.Errorf("%d updates were not confirmed", n)
		}
	})
}

// A crash after inbox and before the next poll: Telegram brings the message
// again with the same ids, by which inbound knows it.
func TestFault_F_CHAN_01_RedeliveryHasTheSameIDs(t *testing.T) {
	in(t, func(r *rig) {
		r.net.Say(dm, ann(), "once", nil)
		ctx, crash := context.WithCancel(r.t.Context())
		var ids []string
		take := func(_ context.Context, in channel.Inbound) error {
			ids = append(ids, in.Conversation+"/"+in.MessageID)
			crash()
			return nil
		}
		for range 2 {
			if err := r.ch.Run(ctx, take); err != nil {
				t.Fatal(err)
			}
			ctx, crash = context.WithCancel(r.t.Context())
		}
		crash()
		if diff := cmp.Diff([]string{"77/1", "77/1"}, ids); diff != "" {
			t.Error(diff)
		}
	})
	in(t, func(r *rig) {
		u := map[string]any{"update_id": 1001, "message": map[string]any{"message_id": 9, "date": 1, "text": "once",
			"chat": map[string]any{"id": dm, "type": "private"}, "from": map[string]any{"id": 77}}}
		r.net.Push(u)
		r.net.Push(u) // the same update twice in one page
		stop := r.run()
		got := r.messages()
		if len(got) != 1 || got[0].MessageID != "9" {
			t.Fatalf("got %+v", got)
		}
		_ = stop()
	})
}

func TestFault_F_CHAN_05_SilentPollIsBegunAgain(t *testing.T) {
	in(t, func(r *rig) {
		stop := r.run()
		r.net.Deaf(true)
		r.wait(time.Second)
		before := r.net.Calls("getUpdates")
		r.net.Say(dm, ann(), "hello?", nil)
		r.wait(45 * time.Second)
		if s := r.ch.Status(); s.State != channel.Waiting && r.net.Calls("getUpdates") == before {
			t.Fatalf("nothing was noticed after 45 s: %+v", s)
		}
		r.net.Deaf(false)
		r.wait(15 * time.Second)
		if len(r.messages()) != 1 {
			t.Fatalf("not received within 60 s; %d polls, %+v", r.net.Calls("getUpdates"), r.ch.Status())
		}
		if r.net.Calls("getUpdates") <= before {
			t.Error("the silent poll was not begun again")
		}
		_ = stop()
	})
}

func TestFault_F_CHAN_04_APIDownAndRateLimit(t *testing.T) {
	for name, f := range map[string]telegramtest.Fault{
		"500":          {Status: 500, Description: "Internal Server Error"},
		"502 page":     {Status: 502, Body: "<html>bad gateway</html>"},
		"cut":          {CutBefore: true},
		"200 nonsense": {Body: "<html>sign in to the hotel wifi</html>"},
		"404 page":     {Status: 404, Body: "<html>not found</html>"},
		"429":          {Status: 429, Description: "Too Many Requests: retry after 7", RetryAfter: 7},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(r *rig) {
				r.net.Fail("getMe", f)
				r.net.Fail("getUpdates", f, f)
				r.net.Say(dm, ann(), "hi", nil)
				start := time.Now()
				stop := r.run()
				if f.RetryAfter > 0 {
					r.wait(6 * time.Second)
					if n := r.net.Calls("getMe"); n != 1 {
						t.Errorf("asked again %d times before retry_after was over", n-1)
					}
				}
				for len(r.messages()) == 0 && time.Since(start) < 2*time.Minute {
					r.wait(time.Second)
				}
				if len(r.messages()) != 1 {
					t.Fatalf("not received: %+v", r.ch.Status())
				}
				_ = stop()
			})
		})
	}
}

func TestAuthEndsRunWithAdvice(t *testing.T) {
	for name, fault := range map[string]telegramtest.Fault{
		"revoked": {Status: 401, Description: "Unauthorized"},
		"unknown": {Status: 404, Description: "Not Found"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(r *rig) {
				r.net.Fail("getMe", fault)
				err := r.ch.Run(r.t.Context(), r.inbox)
				mustBe(t, err, channel.ErrAuth)
				if !strings.Contains(err.Error(), "@BotFather") {
					t.Errorf("no advice in %q", err)
				}
				if s := r.ch.Status(); s.State != channel.Failed {
					t.Errorf("status %+v", s)
				}
			})
		})
	}
	t.Run("revoked while polling", func(t *testing.T) {
		in(t, func(r *rig) {
			done := make(chan error, 1)
			go func() { done <- r.ch.Run(r.t.Context(), r.inbox) }()
			r.wait(time.Second)
			r.net.Revoke()
			mustBe(t, <-done, channel.ErrAuth)
		})
	})
}

func TestSecondPollerIsExplained(t *testing.T) {
	in(t, func(r *rig) {
		r.net.Fail("getUpdates", telegramtest.Fault{Status: 409, Description: "Conflict: terminated by other getUpdates request; make sure " +
			"that only one bot instance is running"})
		stop := r.run()
		if s := r.ch.Status(); s.State != channel.Conflict || !strings.Contains(s.Problem, "another program") {
			t.Errorf("status %+v", s)
		}
		r.wait(3 * time.Second)
		if s := r.ch.Status(); s.State != channel.Receiving || s.Problem != "" {
			t.Errorf("did not recover: %+v", s)
		}
		r.net.Say(dm, ann(), "hi", nil)
		if len(r.messages()) != 1 {
			t.Error("not received after the conflict ended")
		}
		_ = stop()
	})
}

func TestPollTakesOverFromAWebhookAndKeepsWhatWaits(t *testing.T) {
	in(t, func(r *rig) {
		r.net.SetWebhook("https://old.example/hook-with-secret-path")
		r.net.Say(dm, ann(), "waiting", nil)
		stop := r.run()
		if diff := cmp.Diff([]string{"waiting"}, r.texts()); diff != "" {
			t.Fatal(diff)
		}
		if strings.Contains(r.logs.String(), "secret-path") || !strings.Contains(r.logs.String(), "old.example") {
			t.Errorf("log: %s", r.logs)
		}
		_ = stop()
	})
}

func TestOneRunAtATime(t *testing.T) {
	in(t, func(r *rig) {
		stop := r.run()
		if err := r.ch.Run(r.t.Context(), r.inbox); err == nil {
			t.Error("a second Run was let in")
		}
		_ = stop()
	})
}

// An update that cannot be read does not block those behind it.
func TestFault_F_CHAN_07_UnreadableUpdateIsPassedOver(t *testing.T) {
	in(t, func(r *rig) {
		r.net.Push(map[string]any{"message": "nonsense"})
		r.net.Push(map[string]any{"message": map[string]any{"message_id": "x"}})
		r.net.Push(map[string]any{"message": map[string]any{"message_id": 1, "text": "no chat"}})
		r.net.Say(dm, ann(), "fine", nil)
		stop := r.run()
		if diff := cmp.Diff([]string{"fine"}, r.texts()); diff != "" {
			t.Fatal(diff)
		}
		_ = stop()
	})
}

// A network that comes and goes, a name that cannot be found, a hotel's page in
// front of everything: none of it ends the channel, each is tried again later and
// later, at times that differ, and what was written meanwhile arrives once.
func TestFault_F_CLK_04_FlappingNetwork(t *testing.T) {
	in(t, func(r *rig) {
		portal := telegramtest.Fault{Body: "<html>sign in to the hotel wifi</html>"}
		down, elsewhere := telegramtest.Fault{CutBefore: true}, telegramtest.Fault{Status: 302, Body: "<html>this way</html>"}
		stop := r.run()
		r.wait(time.Second)
		for n := range 40 {
			r.net.Fail("getUpdates", []telegramtest.Fault{portal, down, elsewhere}[n%3])
			r.net.Say(dm, ann(), "message "+strconv.Itoa(n), nil)
			r.wait(2 * time.Second)
		}
		for began := time.Now(); len(r.messages()) < 40 && time.Since(began) < 5*time.Minute; {
			r.wait(time.Second)
		}
		seen := map[string]int{}
		for _, m := range r.messages() {
			seen[m.Text]++
		}
		if len(seen) != 40 || len(r.messages()) != 40 {
			t.Errorf("%d messages, %d of them different: %+v", len(r.messages()), len(seen), r.ch.Status())
		}
		// An outage of half an hour is no flood of tries, and is over when it is over.
		before := r.net.Calls("getUpdates")
		for range 2000 {
			r.net.Fail("getUpdates", down)
		}
		r.wait(30 * time.Minute)
		if n := r.net.Calls("getUpdates") - before; n < 10 || n > 400 {
			t.Errorf("tried %d times in half an hour", n)
		}
		if err := stop(); err != nil {
			t.Errorf("the channel ended: %v", err)
		}
	})
}
