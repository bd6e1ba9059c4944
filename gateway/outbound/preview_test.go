package outbound

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// take ends a run: its preview's row becomes a delivery, or not.
func (h *house) take(key string) (p PreviewRow, ok bool) {
	h.t.Helper()
	err := h.db.Update(h.t.Context(), store.Write{Do: func(tx *store.Tx) (err error) {
		p, ok, err = h.d.TakePreview(tx, key)
		return err
	}})
	if err != nil {
		h.t.Fatal(err)
	}
	return p, ok
}

func (h *house) shows(key string, shown bool) {
	h.t.Helper()
	p := PreviewRow{Key: key, Channel: "loopback", To: to("", "c", "").To, Session: "s", Text: "half an ans", InPlace: true}
	if err := h.d.Showing(h.t.Context(), p); err != nil {
		h.t.Fatal(err)
	}
	if shown {
		h.d.Shown(h.t.Context(), key, "1")
	}
}

// F-CH: what is shown of an answer is known after a restart, once.
func TestFault_F_CH_PreviewIsKnownAfterARestart(t *testing.T) {
	bubble(t, func(h *house) {
		h.shows("run", true)
		h.end()
		h.start()
		if p, ok, err := h.d.PreviewOf("run"); !ok || err != nil || p.MessageID != "1" {
			t.Errorf("%+v, %v, %v", p, ok, err)
		}
		if p, ok := h.take("run"); !ok || p.MessageID != "1" || !p.InPlace || time.Since(p.Since()) > time.Minute {
			t.Errorf("%+v, %v", p, ok)
		}
		if p, ok := h.take("run"); ok {
			t.Errorf("it is taken twice: %+v", p)
		}
		if list, _ := h.d.Undelivered(10); len(list) > 0 {
			t.Errorf("%+v waits", list)
		}
	})
}

// F-CH: a preview that was being sent is shown as uncertain, is never sent again, and
// goes when a person has looked. One that was surely not sent is nothing.
func TestFault_F_CH_PreviewInFlightIsUncertain(t *testing.T) {
	for name, end := range map[string]func(h *house){
		"at the end": func(h *house) {
			if p, ok := h.take("run"); ok {
				h.t.Errorf("%+v is known", p)
			}
		},
		"before the next": func(h *house) {
			h.shows("run", true)
			if _, ok := h.take("run"); !ok {
				h.t.Error("the second is not known")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(h *house) {
				h.shows("run", false)
				h.end()
				pass(time.Second)
				h.start()
				if _, ok, _ := h.d.PreviewOf("run"); ok {
					t.Error("a message that nobody knows is gone on with")
				}
				end(h)
				h.settle()
				list, err := h.d.Undelivered(10)
				if err != nil || len(list) != 1 || list[0].State != Uncertain || !list[0].Draft || list[0].Text != "half an ans" {
					t.Fatalf("shown: %+v, %v", list, err)
				}
				if err := h.d.Resend(h.t.Context(), list[0].ID); !errors.Is(err, ErrDraft) {
					t.Errorf("resend: %v", err)
				}
				if err := h.d.Arrived(h.t.Context(), list[0].ID); err != nil {
					t.Error(err)
				}
				h.settle()
				if list, _ := h.d.Undelivered(10); len(list) > 0 || len(h.net.Messages()) > 0 || len(h.states) > 0 {
					t.Errorf("still %+v; sent %v; told %v", list, h.net.Messages(), h.states)
				}
			})
		})
	}
	bubble(t, func(h *house) {
		h.shows("run", false)
		h.d.NotShown(h.t.Context(), "run")
		h.take("run")
		if list, _ := h.d.Undelivered(10); len(list) > 0 {
			t.Errorf("%+v", list)
		}
	})
}

// A backup's word about a preview is old: the message may be a whole answer since.
func TestPreviewOfABackup(t *testing.T) {
	bubble(t, func(h *house) {
		h.shows("a", true)
		h.shows("b", false)
		pass(time.Minute)
		if err := h.db.MarkRestored(h.t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, ok, _ := h.d.PreviewOf("a"); ok {
			t.Error("it is gone on with")
		}
		for _, key := range []string{"a", "b"} {
			if p, ok := h.take(key); ok {
				t.Errorf("%+v", p)
			}
		}
		if list, _ := h.d.Undelivered(10); len(list) > 0 {
			t.Errorf("%+v", list)
		}
	})
}

// half is a delivery whose beginning is shown.
func (h *house) half(text string, edit bool) Delivery {
	h.t.Helper()
	v := to("a", "c", text)
	r, err := h.net.Channel("loopback", "default", h.lim).Send(h.t.Context(), channel.Message{To: v.To, Text: "half"})
	if err != nil {
		h.t.Fatal(err)
	}
	v.Preview, v.EditPreview, v.PreviewAt = r.MessageID, edit, time.Now().UnixMilli()
	return v
}

// What became too old to be edited while the answer waited is removed, and the answer
// is a message of its own.
func TestEditWindowIsObeyed(t *testing.T) {
	for _, late := range []bool{false, true} {
		bubble(t, func(h *house) {
			h.lim.EditWindow = time.Hour
			v := h.half("whole", true)
			h.mu.Lock()
			h.off = true
			h.mu.Unlock()
			h.put(v)
			pass(30 * time.Minute)
			if late {
				pass(time.Hour)
			}
			h.mu.Lock()
			h.off = false
			h.mu.Unlock()
			h.settle()
			h.want("a", Delivered, "")
			h.seen("whole")
			if n := h.net.Calls(loopback.OpSend); n != 1+map[bool]int{true: 1}[late] {
				t.Errorf("late %v: %d messages", late, n)
			}
		})
	}
}

// F-CH: a preview that could not be removed is removed later, and no other answer
// waits for that.
func TestFault_F_CH_RemovalIsTriedAgain(t *testing.T) {
	bubble(t, func(h *house) {
		v := h.half("whole", false)
		passing := loopback.Fault{On: loopback.OpDelete, Kind: loopback.Passing}
		h.net.Script(passing, loopback.Fault{On: loopback.OpDelete, Kind: loopback.Limited, After: time.Minute}, passing)
		h.put(v, to("b", "c", "next"))
		synctest.Wait()
		h.seen("half", "whole", "next")
		h.want("a", Waiting, "not removed yet")
		h.want("b", Delivered, "")
		h.end() // it is known after a restart
		h.start()
		h.settle()
		h.want("a", Delivered, "")
		h.seen("whole", "next")
	})
}

// Where the network refuses to remove a preview, words take the place of half an
// answer; where it refuses that too, it is said.
func TestPreviewThatStays(t *testing.T) {
	refused := func(op loopback.Op) loopback.Fault { return loopback.Fault{On: op, Kind: loopback.Refused} }
	for name, tc := range map[string]struct {
		text   string
		edit   bool
		less   []channel.Ability
		faults []loopback.Fault
		want   []string
		stale  string
	}{
		"not removed": {"whole", false, nil, []loopback.Fault{refused(loopback.OpDelete)}, []string{elsewhere, "whole"}, ""},
		"nor edited": {"whole", true, nil, []loopback.Fault{refused(loopback.OpDelete), refused(loopback.OpEdit), refused(loopback.OpEdit)},
			[]string{"half", "whole"}, "the script says so"},
		"nothing to say": {"", false, nil, []loopback.Fault{refused(loopback.OpDelete)}, []string{brokenOff}, ""},
		"cannot remove":  {"whole", false, []channel.Ability{channel.CanDelete}, nil, []string{"whole"}, ""},
		"cannot, refused": {"whole", true, []channel.Ability{channel.CanDelete},
			[]loopback.Fault{refused(loopback.OpEdit), refused(loopback.OpEdit)}, []string{"half", "whole"}, "cannot be removed"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(h *house) {
				h.less, h.lim.Text = tc.less, 100
				v := h.half(tc.text, tc.edit)
				h.net.Script(tc.faults...)
				h.put(v)
				h.settle()
				h.seen(tc.want...)
				if got := h.want("a", Delivered, ""); !strings.Contains(got.Stale, tc.stale) || (got.Stale == "") != (tc.stale == "") {
					t.Errorf("it says %q", got.Stale)
				}
				if list, _ := h.d.Incomplete(10); (len(list) == 1) != (tc.stale != "") {
					t.Errorf("%d are shown as incomplete", len(list))
				}
			})
		})
	}
}

// F-CH: when an edit may have made the answer of the preview, and the answer that was
// sent anew is uncertain, somebody who saw it may have seen the preview: it stays.
func TestFault_F_CH_SeenAnswerIsNotRemoved(t *testing.T) {
	bubble(t, func(h *house) {
		v := h.half("whole", true)
		h.net.Script(loopback.Fault{On: loopback.OpEdit, Kind: loopback.Lost})
		for range editsTried {
			h.net.Script(loopback.Fault{On: loopback.OpEdit, Kind: loopback.Passing})
		}
		h.net.Script(loopback.Fault{On: loopback.OpSend, Kind: loopback.Broken})
		h.put(v)
		h.settle()
		h.want("a", Uncertain, "may or may not")
		h.seen("whole") // the preview, whose edit was done and not confirmed
		if err := h.d.Arrived(h.t.Context(), "a"); err != nil {
			t.Error(err)
		}
		h.settle()
		if got := h.want("a", Delivered, ""); got.Stale == "" {
			t.Error("nobody is told that it may be there twice")
		}
		h.seen("whole")
	})
}
