package outbound

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// house is a store, a network and a deliverer that can be stopped, killed and
// started again.
type house struct {
	t    *testing.T
	path string
	net  *loopback.Net
	off  bool // the channel is not connected
	lim  channel.Limits
	less []channel.Ability // that the channel has not

	pairs bool // the network shows two files as one message
	db    *store.DB
	d     *Deliverer
	stop  context.CancelFunc
	done  chan struct{}

	mu     sync.Mutex
	states []string
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, path: filepath.Join(t.TempDir(), "h.db"), net: loopback.NewNet(), lim: channel.Limits{Text: 20}}
	return h
}

func (h *house) open() {
	h.t.Helper()
	db, err := store.Open(h.path, store.Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		h.t.Fatal(err)
	}
	h.db = db
	h.d = NewDeliverer(db, DelivererOptions{
		Channels: func(id, account string) channel.Channel {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.off {
				return nil
			}
			one := lesser{h.net.Channel(id, account, h.lim), h.less}
			if h.pairs {
				return gatherer{one}
			}
			return one
		},
		Rand: func() float64 { return 1 },
		OnState: func(v Delivery) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.states = append(h.states, fmt.Sprintf("%s:%s:%d", v.ID, v.State, v.Sent()))
		},
	})
}

// lesser is a channel that lacks abilities.
type lesser struct {
	*loopback.Channel
	less []channel.Ability
}

func (l lesser) Can(a channel.Ability) bool { return !slices.Contains(l.less, a) }

// gatherer is a channel that shows two files as one message.
type gatherer struct{ lesser }

func (gatherer) Albums(media []channel.Media, _ channel.Manner) [][]channel.Media {
	return slices.Collect(slices.Chunk(media, 2))
}

func (h *house) start() {
	h.open()
	ctx, stop := context.WithCancel(h.t.Context())
	h.stop, h.done = stop, make(chan struct{})
	go func() {
		defer close(h.done)
		h.d.Run(ctx)
	}()
}

func (h *house) end() {
	h.t.Helper()
	if h.stop != nil {
		h.stop()
		<-h.done
		h.stop = nil
	}
	if err := h.db.Close(context.WithoutCancel(h.t.Context())); err != nil {
		h.t.Error(err)
	}
}

func (h *house) put(vs ...Delivery) {
	h.t.Helper()
	err := h.db.Update(h.t.Context(), store.Write{Do: func(tx *store.Tx) error {
		for _, v := range vs {
			if err := h.d.Put(tx, v); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		h.t.Fatal(err)
	}
	h.d.Wake()
}

// settle waits until nothing moves any more, timers included.
func (h *house) settle() {
	synctest.Wait()
	pass(30 * 24 * time.Hour)
	synctest.Wait()
}

func (h *house) want(id string, state State, reason string) Delivery {
	h.t.Helper()
	v, err := h.d.Get(id)
	if err != nil || v.State != state || !strings.Contains(v.Reason, reason) || (reason == "") != (v.Reason == "") {
		h.t.Errorf("%s is %s (%q), %v; want %s (%q)", id, v.State, v.Reason, err, state, reason)
	}
	return v
}

func (h *house) seen(want ...string) {
	h.t.Helper()
	if diff := cmp.Diff(want, h.net.Texts()); diff != "" {
		h.t.Error("people see (-want +got):\n" + diff)
	}
}

func to(id, conversation, text string) Delivery {
	return Delivery{ID: id, Channel: "loopback", To: channel.Target{Account: "default", Conversation: conversation}, Text: text}
}

// bubble runs a test with a clock of its own.
func bubble(t *testing.T, run func(h *house)) {
	t.Helper()
	h := newHouse(t)
	synctest.Test(t, func(t *testing.T) {
		h.t = t
		h.start()
		run(h)
		h.end()
	})
}

func five() (text string, want []string) {
	for i := range 5 {
		want = append(want, fmt.Sprintf("part %d xxxxxxxxx", i+1))
	}
	return strings.Join(want, "\n\n"), want
}

// F-CHAN-04: a limit at message 3 of 5 gives five messages once, and the wait
// is the one that was asked for.
func TestFault_F_CHAN_04_RateLimitInTheMiddle(t *testing.T) {
	bubble(t, func(h *house) {
		ok := loopback.Fault{On: loopback.OpSend, Kind: loopback.OK}
		h.net.Script(ok, ok, loopback.Fault{On: loopback.OpSend, Kind: loopback.Limited, After: 7 * time.Second})
		text, want := five()
		h.put(to("a", "c", text))
		synctest.Wait()
		v := h.want("a", Waiting, "asks to wait 7s")
		if v.Sent() != 2 || v.NextAt-time.Now().UnixMilli() != 7000 {
			t.Errorf("%d sent, next in %d ms", v.Sent(), v.NextAt-time.Now().UnixMilli())
		}
		pass(7 * time.Second)
		synctest.Wait()
		h.want("a", Delivered, "")
		h.seen(want...)
	})
}

// F-CHAN-04: the same over a restart: what has a receipt is not sent again.
func TestFault_F_CHAN_04_ResumesAtTheFailedPartAfterARestart(t *testing.T) {
	bubble(t, func(h *house) {
		ok := loopback.Fault{On: loopback.OpSend, Kind: loopback.OK}
		h.net.Script(ok, ok, ok, loopback.Fault{On: loopback.OpSend, Kind: loopback.Passing})
		text, want := five()
		h.put(to("a", "c", text))
		synctest.Wait()
		h.want("a", Waiting, "503")
		h.end()
		h.lim.Text = 1000 // does not change what was planned
		h.start()
		h.settle()
		h.want("a", Delivered, "")
		h.seen(want...)
	})
}

// F-CHAN-04: passing errors are tried again with growing gaps, visibly, and
// given up after a day; a person can ask again.
func TestFault_F_CHAN_04_BackoffGiveUpResend(t *testing.T) {
	bubble(t, func(h *house) {
		for range 400 {
			h.net.Script(loopback.Fault{On: loopback.OpSend, Kind: loopback.Passing})
		}
		h.put(to("a", "c", "hello"))
		var gaps []time.Duration
		for range 11 {
			synctest.Wait()
			v := h.want("a", Waiting, "503")
			gap := time.Duration(v.NextAt-time.Now().UnixMilli()) * time.Millisecond
			gaps = append(gaps, gap)
			pass(gap)
		}
		if want := "[1s 2s 4s 8s 16s 32s 1m4s 2m8s 4m16s 5m0s 5m0s]"; fmt.Sprint(gaps) != want {
			t.Errorf("gaps %v, want %s", gaps, want)
		}
		h.settle()
		h.want("a", Failed, "given up after 24h0m0s: the network answered 503")
		calls := h.net.Calls(loopback.OpSend)
		if list, err := h.d.Undelivered(10); err != nil || len(list) != 1 || list[0].ID != "a" {
			t.Errorf("undelivered: %+v, %v", list, err)
		}
		h.settle()
		if h.net.Calls(loopback.OpSend) != calls {
			t.Error("it went on after it was given up")
		}
		if err := h.d.Resend(h.t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		h.settle()
		h.want("a", Delivered, "")
		h.seen("hello")
		if err := h.d.Resend(h.t.Context(), "a"); !errors.Is(err, ErrNotStuck) {
			t.Errorf("resend of what arrived: %v", err)
		}
		if err := h.d.Resend(h.t.Context(), "none"); !errors.Is(err, ErrNoDelivery) {
			t.Errorf("resend of nothing: %v", err)
		}
	})
}

// What the network refuses fails at once with its reason, and the next
// delivery of the conversation goes on.
func TestRefusedAndAuthFailAtOnce(t *testing.T) {
	bubble(t, func(h *house) {
		h.net.Script(loopback.Fault{On: loopback.OpSend, Kind: loopback.Refused}, loopback.Fault{On: loopback.OpSend, Kind: loopback.Auth})
		h.put(to("a", "c", "one"), to("b", "c", "two"), to("x", "c", "three"))
		synctest.Wait()
		h.want("a", Failed, "refused")
		h.want("b", Failed, "credential")
		h.want("x", Delivered, "")
		h.seen("three")
	})
}

// F-CRASH-10, F-CHAN-04: what was put before a stop is delivered after it.
func TestFault_F_CRASH_10_PutThenStop(t *testing.T) {
	bubble(t, func(h *house) {
		h.off = true
		h.put(to("a", "c", "one"), to("b", "c", "two"))
		synctest.Wait()
		h.want("a", Waiting, "not connected")
		h.end()
		h.off = false
		h.start()
		h.settle()
		h.seen("one", "two")
	})
}

// F-CRASH-11: what a crash left between attempt and receipt is uncertain: it
// is not sent again by itself, a person can have it sent or say it arrived.
func TestFault_F_CRASH_11_BetweenAttemptAndReceipt(t *testing.T) {
	for name, tc := range map[string]struct {
		decide func(*Deliverer, context.Context, string) error
		want   []string
	}{
		"resend":  {(*Deliverer).Resend, []string{"b", "part one is here", "part two is here"}},
		"arrived": {(*Deliverer).Arrived, []string{"b", "part two is here"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(h *house) {
				crashed(h, to("a", "c", "part one is here\n\npart two is here"))
				h.put(to("b", "c", "b"))
				h.settle()
				h.want("a", Uncertain, "message 1 of 2: Hearth stopped while it was being sent")
				h.seen("b")
				if err := tc.decide(h.d, h.t.Context(), "a"); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				h.want("a", Delivered, "")
				h.seen(tc.want...)
			})
		})
	}
}

// crashed leaves the store as a kill between attempt and receipt does, and
// starts again.
func crashed(h *house, v Delivery) {
	h.t.Helper()
	h.end()
	h.open()
	h.put(v)
	got, err := h.d.Get(v.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	got.Parts = plan(&got, h.d.Limits(h.net.Channel("loopback", "default", h.lim)), h.net.Channel("loopback", "default", channel.Limits{}))
	got.State, got.Parts[0].State = Sending, Sending
	if err := h.d.save(h.t.Context(), &got); err != nil {
		h.t.Fatal(err)
	}
	h.end()
	h.start()
}

// F-CRASH-11: with a network that takes a key once, the same crash gives one
// message and no question.
func TestFault_F_CRASH_11_NetworkThatRefusesRepeats(t *testing.T) {
	bubble(t, func(h *house) {
		h.net.RefuseRepeats()
		_, err := h.net.Channel("loopback", "default", h.lim).Send(h.t.Context(), channel.Message{To: to("a", "c", "").To, Text: "hello",
			Key: "a/0"})
		if err != nil {
			t.Fatal(err)
		}
		crashed(h, to("a", "c", "hello"))
		h.settle()
		h.want("a", Delivered, "")
		h.seen("hello")
	})
}

// F-CHAN-02: an uncertain end is never repeated by itself, whatever breaks.
func TestFault_F_CHAN_02_UncertainIsNotRepeated(t *testing.T) {
	for _, kind := range []loopback.Kind{loopback.Lost, loopback.Broken} {
		t.Run(string(kind), func(t *testing.T) {
			bubble(t, func(h *house) {
				h.net.Script(loopback.Fault{On: loopback.OpSend, Kind: kind})
				h.put(to("a", "c", "hello"))
				h.settle()
				h.end()
				h.start()
				h.settle()
				h.want("a", Uncertain, "may or may not")
				if n := h.net.Calls(loopback.OpSend); n != 1 {
					t.Errorf("%d requests, want 1", n)
				}
			})
		})
	}
}

// F-CHAN-02: one delivery of an id, however often it is put.
func TestFault_F_CHAN_02_OneDeliveryOfAnID(t *testing.T) {
	bubble(t, func(h *house) {
		h.put(to("run1:final", "c", "hello"), to("run1:final", "c", "hello"))
		h.put(to("run1:final", "c", "hello"))
		h.settle()
		h.end()
		h.start()
		h.put(to("run1:final", "c", "hello"))
		h.settle()
		h.seen("hello")
	})
}

// F-CHAN-01: a network that shows a message twice, or is told twice, is not
// our doing: the key of each message is the same for every attempt.
func TestFault_F_CHAN_01_KeysAreStable(t *testing.T) {
	bubble(t, func(h *house) {
		h.net.RefuseRepeats()
		h.net.Script(loopback.Fault{On: loopback.OpSend, Kind: loopback.Lost}, loopback.Fault{On: loopback.OpSend, Kind: loopback.Passing},
			loopback.Fault{On: loopback.OpSend, Kind: loopback.Lost})
		text, want := five()
		h.put(to("a", "c", text))
		h.settle()
		h.want("a", Delivered, "")
		h.seen(want...)
	})
}

// Order holds within a conversation, and one that waits does not hold up
// another.
func TestOrderPerConversation(t *testing.T) {
	bubble(t, func(h *house) {
		h.net.Script(loopback.Fault{On: loopback.OpSend, Kind: loopback.Limited, After: time.Hour})
		h.put(to("a1", "a", "a1"))
		synctest.Wait()
		h.put(to("a2", "a", "a2"), to("b1", "b", "b1"), to("a3", "a", "a3"))
		synctest.Wait()
		h.seen("b1")
		h.settle()
		h.seen("b1", "a1", "a2", "a3")
	})
}

// Hearth lets a request that is under way end before it stops.
func TestStopWaitsForTheRequest(t *testing.T) {
	bubble(t, func(h *house) {
		h.net.Script(loopback.Fault{On: loopback.OpSend, Kind: loopback.OK, After: time.Second})
		h.put(to("a", "c", "hello"))
		synctest.Wait()
		h.end()
		h.start()
		h.settle()
		h.want("a", Delivered, "")
		h.seen("hello")
	})
}

// A request that does not end is given up and is uncertain.
func TestSlowRequestsAreUncertain(t *testing.T) {
	bubble(t, func(h *house) {
		h.net.Script(loopback.Fault{On: loopback.OpSend, Kind: loopback.OK, After: time.Hour})
		h.put(to("a", "c", "hello"))
		h.settle()
		h.want("a", Uncertain, "deadline")
	})
}

// The final text edits the preview in place and only the rest is
// sent; when the edit fails, normal delivery, and the preview is removed.
func TestFinalTakesThePreviewsPlace(t *testing.T) {
	for name, tc := range map[string]struct {
		edit   bool
		faults []loopback.Kind
		want   []string
	}{
		"in place":             {true, nil, []string{"part one is here", "part two is here"}},
		"edit refused":         {true, []loopback.Kind{loopback.Refused}, []string{"part one is here", "part two is here"}},
		"edit fails twice":     {true, []loopback.Kind{loopback.Passing, loopback.Passing}, []string{"part one is here", "part two is here"}},
		"edit fails for long":  {true, slices.Repeat([]loopback.Kind{loopback.Passing}, 9), []string{"part one is here", "part two is here"}},
		"confirmation is lost": {true, []loopback.Kind{loopback.Lost}, []string{"part one is here", "part two is here"}},
		"limited":              {true, []loopback.Kind{loopback.Limited}, []string{"part one is here", "part two is here"}},
		"progress: cleared":    {false, nil, []string{"part one is here", "part two is here"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(h *house) {
				v := to("a", "c", "part one is here\n\npart two is here")
				r, err := h.net.Channel("loopback", "default", h.lim).Send(h.t.Context(), channel.Message{To: v.To, Text: "part…"})
				if err != nil {
					t.Fatal(err)
				}
				for _, k := range tc.faults {
					h.net.Script(loopback.Fault{On: loopback.OpEdit, Kind: k, After: time.Second})
				}
				v.Preview, v.EditPreview = r.MessageID, tc.edit
				h.put(v)
				h.settle()
				h.want("a", Delivered, "")
				h.seen(tc.want...)
			})
		})
	}
}

// Reply threading via replyToMode.
func TestReplyToMode(t *testing.T) {
	for mode, want := range map[ReplyMode]string{"": "[m9  ]", ReplyFirst: "[m9  ]", ReplyAll: "[m9 m9 m9]", ReplyOff: "[  ]"} {
		bubble(t, func(h *house) {
			v := to("a", "c", "part one is here\n\npart two is here")
			v.Media = []channel.Media{{URL: "/tmp/x.png"}}
			v.To.ReplyTo, v.Reply = "m9", mode
			h.put(v)
			h.settle()
			var got []string
			for _, m := range h.net.Messages() {
				got = append(got, m.To.ReplyTo)
			}
			if fmt.Sprint(got) != want {
				t.Errorf("%q: %v, want %s", mode, got, want)
			}
		})
	}
}

// Every state is told, in order, after it is durable.
func TestStatesAreTold(t *testing.T) {
	bubble(t, func(h *house) {
		h.net.Script(loopback.Fault{On: loopback.OpSend, Kind: loopback.Passing})
		h.put(to("a", "c", "part one is here\n\npart two is here"))
		h.settle()
		want := []string{"a:sending:0", "a:waiting:0", "a:sending:0", "a:waiting:1", "a:sending:1", "a:delivered:2"}
		if diff := cmp.Diff(want, h.states); diff != "" {
			t.Error(diff)
		}
	})
}

// Receipts are kept, until they are old.
func TestPrune(t *testing.T) {
	bubble(t, func(h *house) {
		h.net.Script(loopback.Fault{On: loopback.OpSend, Kind: loopback.Refused})
		h.put(to("a", "c", "one"), to("b", "c", "two"))
		h.settle()
		if n, err := h.d.Prune(h.t.Context(), time.Now().UnixMilli(), 10); n != 1 || err != nil {
			t.Errorf("%d, %v; want what was delivered", n, err)
		}
		h.want("a", Failed, "refused")
		if _, err := h.d.Get("b"); !errors.Is(err, ErrNoDelivery) {
			t.Errorf("b: %v", err)
		}
	})
}

// pass lets time go by on the clock of the bubble.
func pass(d time.Duration) { <-time.After(d) }

// What a backup held as to be sent was sent since, or not: it is not sent by itself,
// and a person can have it sent.
func TestFault_F_OPS_RestoredDeliveriesAreNotSentAgain(t *testing.T) {
	bubble(t, func(h *house) {
		h.off = true
		h.put(to("a", "c", "one"))
		pass(time.Minute)
		if err := h.db.MarkRestored(h.t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		h.end()
		h.off = false
		h.start()
		h.settle()
		h.want("a", Uncertain, "restored from a backup")
		h.seen()
		h.put(to("b", "c", "two"))
		h.settle()
		h.seen("two")
	})
}
