package inbound

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
)

func debounced(h *house) {
	h.settings.Debounce = 2 * time.Second
	h.settings.DebounceByChannel = map[string]time.Duration{"whatsapp": 5 * time.Second, "slack": 0}
}

func TestDebounceGathersTextOfOneSender(t *testing.T) {
	inBubble(t, debounced, func(t *testing.T, h *house) {
		h.receive(dm("1", "one"))
		pass(1500 * time.Millisecond)
		h.receive(dm("2", "two"))
		pass(1999 * time.Millisecond)
		h.want("")
		pass(2 * time.Millisecond)
		h.want("one\ntwo")
		a := h.sessions.got[0]
		if diff := cmp.Diff([]string{"1", "2"}, a.MessageIDs); diff != "" || a.Reply.ReplyTo != "2" {
			t.Errorf("ids %v, reply to %q", a.MessageIDs, a.Reply.ReplyTo)
		}
		if a.Text != "[Telegram Ann (@ann)] one\ntwo" {
			t.Errorf("the model reads %q", a.Text)
		}
	})
}

// What is on its way to the disk joins what waits, however long the disk takes; but
// not for ever.
func TestDebounceWaitsForTheDisk(t *testing.T) {
	inBubble(t, debounced, func(t *testing.T, h *house) {
		h.receive(dm("1", "one"))
		kept := h.expect(streamKey(dm("2", "")))
		pass(5 * time.Second)
		h.want("")
		h.receive(dm("2", "two"))
		kept()
		pass(2001 * time.Millisecond)
		h.want("one\ntwo")
		h.receive(dm("3", "three"))
		defer h.expect(streamKey(dm("4", "")))()
		pass(19 * time.Second)
		h.want("one\ntwo")
		pass(2 * time.Second)
		h.want("one\ntwo|three")
	})
}

func TestDebounceScope(t *testing.T) {
	inBubble(t, debounced, func(t *testing.T, h *house) {
		other := dm("1", "another account")
		other.Account = "work"
		topic := group("5", "topic", true)
		topic.Thread = "7"
		h.receive(dm("1", "ann"))
		h.receive(by(dm("2", "bob"), "43", "Bob"))
		h.receive(other)
		h.receive(group("3", "ann in the group", true))
		h.receive(by(group("4", "bob in the group", true), "43", "Bob"))
		h.receive(topic)
		pass(2001 * time.Millisecond)
		h.want("ann|bob|another account|ann in the group|bob in the group|topic")
	})
}

func TestDebounceByChannel(t *testing.T) {
	inBubble(t, debounced, func(t *testing.T, h *house) {
		in := dm("1", "slow")
		in.Channel = "whatsapp"
		h.receive(in)
		in.Channel, in.Text = "slack", "at once"
		h.receive(in)
		synctest.Wait()
		h.want("at once")
		pass(4999 * time.Millisecond)
		h.want("at once")
		pass(2 * time.Millisecond)
		h.want("at once|slow")
	})
}

func TestDebounceIsOffByDefault(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, h *house) {
		h.receive(dm("1", "one"))
		h.receive(dm("2", "two"))
		synctest.Wait()
		h.want("one|two")
	})
}

func TestDebounceMediaAndCommandsFlush(t *testing.T) {
	inBubble(t, debounced, func(t *testing.T, h *house) {
		photo := dm("2", "look")
		photo.Media = []channel.Media{{MIME: "image/jpeg", Name: "a.jpg", Size: 2048}}
		h.receive(dm("1", "one"))
		h.receive(photo)
		synctest.Wait()
		h.want("one|look")
		if got := h.sessions.got[1]; got.Text != "[Telegram Ann (@ann)] look\n[attached: image/jpeg a.jpg, 2 KB]" || len(got.Media) != 1 {
			t.Errorf("%q with %d files", got.Text, len(got.Media))
		}
		h.receive(dm("3", "two"))
		h.receive(dm("4", "/stop"))
		h.receive(dm("5", "three"))
		synctest.Wait()
		h.want("one|look|two|/stop")
		pass(3 * time.Second)
		h.want("one|look|two|/stop|three")
	})
}

func TestDebounceCommandsMayJoinWhereTheChannelAsksForIt(t *testing.T) {
	inBubble(t, func(h *house) { debounced(h); h.policy.CoalesceCommands = true }, func(t *testing.T, h *house) {
		h.receive(dm("1", "/new"))
		h.receive(dm("2", "what is up"))
		h.receive(group("3", "/status", true)) // not direct: stands alone
		synctest.Wait()
		h.want("/status")
		pass(3 * time.Second)
		h.want("/status|/new\nwhat is up")
	})
}

// Somebody who never stops writing is answered all the same.
func TestDebounceHasAnEnd(t *testing.T) {
	inBubble(t, debounced, func(t *testing.T, h *house) {
		for i := range 25 {
			h.receive(dm(strings.Repeat("x", i+1), "more"))
			pass(time.Second)
		}
		synctest.Wait()
		if n := len(h.sessions.got); n != 1 {
			t.Errorf("%d turns after 25 s of writing, want 1", n)
		}
		for i := range 2 * maxBatch {
			h.receive(dm(strings.Repeat("y", i+1), strings.Repeat("y", i+1)))
		}
		synctest.Wait()
		if n := len(h.sessions.got); n != 3 {
			t.Errorf("%d turns, want 3", n)
		}
	})
}

func TestFault_F_CHAN_03_OrderEditsAndLateMessages(t *testing.T) {
	inBubble(t, debounced, func(t *testing.T, h *house) {
		now := time.Now()
		first, second := dm("1", "first"), dm("2", "second")
		first.At, second.At = now.Add(-2*time.Second), now.Add(-time.Second)
		h.receive(second)
		h.receive(first) // out of order
		changed := first
		changed.Text, changed.Edited = "first, changed", true
		h.receive(changed)
		forged := by(changed, "66", "Eve")
		forged.Conversation, forged.Text = "42", "forged"
		h.receive(forged) // somebody else's edit of the same id
		pass(3 * time.Second)
		h.want("first, changed\nsecond")
		if to := h.sessions.got[0].Reply.ReplyTo; to != "2" {
			t.Errorf("replies to %q", to)
		}
		changed.Text = "too late"
		h.receive(changed)
		late := dm("3", "late by hours")
		late.At = now.Add(-5 * time.Hour)
		h.settings.Envelope.NoTimestamp = false
		h.receive(late)
		pass(3 * time.Second)
		h.want("first, changed\nsecond|late by hours")
		if want := late.At.UTC().Format("2006-01-02 15:04 MST"); !strings.Contains(h.sessions.got[1].Text, want) {
			t.Errorf("%q does not tell %s", h.sessions.got[1].Text, want)
		}
		if got := h.rules(); got != "edited edited-late accepted edited-late accepted" {
			t.Error(got)
		}
	})
}

// Text that waits for more is on disk: a crash loses none of it and repeats
// none of it.
func TestFault_F_CRASH_03_DebouncedTextSurvives(t *testing.T) {
	inBubble(t, debounced, func(t *testing.T, h *house) {
		h.receive(dm("1", "one"))
		h.receive(dm("2", "two"))
		h.receive(by(dm("3", "bob"), "43", "Bob"))
		h.restart()
		h.want("one\ntwo|bob")
		h.receive(dm("1", "one"))
		h.receive(dm("2", "two"))
		h.restart()
		h.want("one\ntwo|bob")
		if got := h.rules(); got != "accepted accepted duplicate duplicate" {
			t.Error(got)
		}
	})
}

// A stop between the turn and its session, on either side of it.
func TestFault_F_CRASH_10_ATurnReachesItsSessionOnce(t *testing.T) {
	for name, fail := range map[string]func(*sessions, func(Accepted) error){
		"before the session": func(s *sessions, f func(Accepted) error) { s.try = f },
		"after the session":  func(s *sessions, f func(Accepted) error) { s.lose = f },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, debounced, func(t *testing.T, h *house) {
				fail(h.sessions, func(Accepted) error { return ErrBusy })
				h.receive(dm("1", "/one"))
				h.receive(dm("2", "two"))
				pass(2500 * time.Millisecond)
				for range 5 { // stops that are not the message's fault do not put it aside
					h.restart()
				}
				fail(h.sessions, nil)
				h.receive(dm("3", "/three"))
				pass(time.Minute)
				h.want("/one|two|/three")
			})
		})
	}
}

func TestSessionKeysAndOrigin(t *testing.T) {
	inBubble(t, func(h *house) {
		h.settings.Keys = policy.Keys{DMScope: policy.ScopeChannelPeer, Threads: map[string]string{"telegram": "topic"}}
	}, func(t *testing.T, h *house) {
		h.receive(dm("1", "hello"))
		in := group("2", "hi", true)
		in.Thread, in.Room, in.Space = "7", "#family", "home"
		h.receive(in)
		synctest.Wait()
		want := []Origin{
			{Label: "Ann (@ann)", Provider: "telegram", From: "42", To: "42", AccountID: "default"},
			{Label: "Family", Provider: "telegram", From: "42", To: "-100", AccountID: "default", ThreadID: "7", Room: "#family",
				Space: "home"},
		}
		keys := []string{"agent:main:telegram:dm:42", "agent:main:telegram:group:-100:topic:7"}
		for i, a := range h.sessions.got {
			if diff := cmp.Diff(want[i], a.Origin); diff != "" || a.SessionKey != keys[i] {
				t.Errorf("%s %s", a.SessionKey, diff)
			}
		}
		if to := h.sessions.got[1].Reply; to != (channel.Target{Account: "default", Conversation: "-100", Thread: "7", ReplyTo: "2"}) {
			t.Errorf("%+v", to)
		}
	})
}

// 500 messages that waited while Hearth was down are read together, fifty to a
// turn and in order, and none is lost, also when it stops again in the middle.
// What is written now stands alone.
func TestFault_F_CHAN_06_BacklogIsReadTogether(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, h *house) {
		var want []string
		began := time.Now().Add(-time.Hour)
		for i := range 500 {
			in := dm(fmt.Sprint(i), fmt.Sprintf("message %d", i))
			in.At = began.Add(time.Duration(i) * time.Second)
			h.receive(in)
			want = append(want, in.Text)
			if i == 275 {
				h.restart()
			}
		}
		pass(time.Minute)
		h.receive(dm("500", "now"))
		synctest.Wait()
		got := strings.FieldsFunc(h.sessions.bodies(), func(r rune) bool { return r == '|' || r == '\n' })
		if !slices.Equal(got, append(want, "now")) {
			t.Errorf("%d messages came through, want %d", len(got), len(want)+1)
		}
		if n := len(h.sessions.got); n > 13 || h.sessions.got[n-1].CommandBody != "now" {
			t.Errorf("they made %d turns", n)
		}
	})
}
