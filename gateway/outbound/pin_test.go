package outbound

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

func pinned(id, text string) Delivery {
	v := to(id, "c", text)
	v.Pin = true
	return v
}

func (h *house) pins() (out []string) {
	for _, m := range h.net.Messages() {
		if m.Pinned {
			out = append(out, m.Text)
		}
	}
	return out
}

// A delivery that is to be pinned is, by its first message, when all of it is there; what
// follows does not wait for that.
func TestPinned(t *testing.T) {
	bubble(t, func(h *house) {
		for range 3 {
			h.net.Script(loopback.Fault{On: loopback.OpPin, Kind: loopback.Passing})
		}
		h.put(pinned("a", "a first sentence. And a second one."), to("b", "c", "after it"))
		synctest.Wait()
		h.want("b", Delivered, "")
		h.want("a", Waiting, "it has arrived, and is not pinned yet: the network answered 503")
		if got := h.pins(); len(got) != 0 {
			t.Errorf("it is pinned: %q", got)
		}
		h.settle()
		if v := h.want("a", Delivered, ""); !v.Pinned || v.Unpinned != "" || len(v.Parts) < 2 {
			t.Errorf("%+v", v)
		}
		if got := h.pins(); len(got) != 1 || got[0] != h.net.Messages()[0].Text || h.net.Calls(loopback.OpPin) != 4 {
			t.Errorf("pinned is %q, asked %d times", got, h.net.Calls(loopback.OpPin))
		}
	})
}

// What cannot be pinned has arrived all the same, and says why.
func TestNotPinned(t *testing.T) {
	bubble(t, func(h *house) {
		h.net.Script(loopback.Fault{On: loopback.OpPin, Kind: loopback.Refused})
		h.put(pinned("a", "hello"))
		h.settle()
		if v := h.want("a", Delivered, ""); v.Unpinned == "" || !v.Pinned {
			t.Errorf("%+v", v)
		}
		for range 2000 {
			h.net.Script(loopback.Fault{On: loopback.OpPin, Kind: loopback.Passing})
		}
		h.put(pinned("b", "hello again"))
		synctest.Wait()
		pass(25 * time.Hour)
		if v := h.want("b", Delivered, ""); v.Unpinned == "" {
			t.Errorf("%+v", v)
		}
		h.less = []channel.Ability{channel.CanPin}
		h.put(pinned("x", "on a network that pins nothing"))
		h.settle()
		if v := h.want("x", Delivered, ""); v.Unpinned == "" {
			t.Errorf("%+v", v)
		}
		if list, err := h.d.Undelivered(10); err != nil || len(list) != 0 {
			t.Errorf("undelivered: %+v, %v", list, err)
		}
	})
}
