package outbound

import (
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

// A file that the network will not take, or that is gone by the time it is
// sent, is said where it is waited for.
func TestFileThatCannotBeSentIsSaid(t *testing.T) {
	bubble(t, func(h *house) {
		h.lim = channel.Limits{Text: 500}
		v := to("a", "c", "look")
		v.Media = []channel.Media{{URL: "/w/pic.png", Name: "pic.png"}}
		h.net.Script(loopback.Fault{On: loopback.OpSend, Kind: loopback.OK}, loopback.Fault{On: loopback.OpSend, Kind: loopback.Refused})
		h.put(v)
		h.settle()
		h.want("a", Delivered, "")
		got := h.net.Texts()
		if len(got) != 2 || got[0] != "look" || !strings.HasPrefix(got[1], "(pic.png could not be sent: ") {
			t.Errorf("%q", got)
		}
		if d, err := h.d.Get("a"); err != nil || d.Problem() == "" {
			t.Errorf("%+v, %v", d, err)
		}
		h.put(to("b", "c", "only words"))
		h.settle()
		if list, err := h.d.Incomplete(9); err != nil || len(list) != 1 || list[0].ID != "a" {
			t.Errorf("without a file: %+v, %v", list, err)
		}
		if n, err := h.d.Prune(h.t.Context(), 1<<60, 9); n != 2 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if list, err := h.d.Incomplete(9); err != nil || len(list) != 0 {
			t.Errorf("after all was forgotten: %+v, %v", list, err)
		}
	})
}

// The reference of a file is kept over a restart between accept and send.
func TestFileIsSentAfterARestart(t *testing.T) {
	bubble(t, func(h *house) {
		h.off = true
		v := to("a", "c", "look")
		v.Media = []channel.Media{{URL: "/w/pic.png", Name: "pic.png"}}
		h.put(v)
		pass(time.Second)
		h.end()
		h.off = false
		h.start()
		h.settle()
		h.want("a", Delivered, "")
		if m := h.net.Messages(); len(m) != 2 || len(m[1].Media) != 1 || m[1].Media[0].URL != "/w/pic.png" {
			t.Errorf("%+v", m)
		}
	})
}

// Several files of one answer are one message where the network shows them so; when it
// takes none of them, each is tried alone and only what is refused is said.
func TestFilesThatAreOneMessage(t *testing.T) {
	bubble(t, func(h *house) {
		h.pairs, h.lim = true, channel.Limits{Text: 500, Caption: 100, Files: 1 << 20}
		files := []channel.Media{{URL: "/w/1.png", Name: "1.png"}, {URL: "/w/2.png", Name: "2.png"}, {URL: "/w/3.png", Name: "3.png"}}
		v := to("a", "c", "look")
		v.Media = files
		h.put(v)
		h.settle()
		h.want("a", Delivered, "")
		m := h.net.Messages()
		if len(m) != 2 || m[0].Text != "look" || len(m[0].Media) != 2 || len(m[1].Media) != 1 {
			t.Fatalf("%+v", m)
		}
		h.net.Script(loopback.Fault{On: loopback.OpSend, Kind: loopback.Refused}, loopback.Fault{On: loopback.OpSend, Kind: loopback.OK},
			loopback.Fault{On: loopback.OpSend, Kind: loopback.Refused})
		v = to("b", "c", "look")
		v.Media = files
		h.put(v)
		h.settle()
		h.want("b", Delivered, "")
		m = h.net.Messages()[2:]
		if len(m) != 3 || m[0].Text != "look" || len(m[0].Media) != 1 || m[0].Media[0].Name != "1.png" ||
			!strings.HasPrefix(m[1].Text, "(2.png could not be sent: ") || len(m[2].Media) != 1 || m[2].Media[0].Name != "3.png" {
			t.Errorf("%+v", m)
		}
	})
}
