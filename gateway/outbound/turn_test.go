package outbound

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

// What is shown beside deliveries waits for those of its chat, and for no other.
func TestTurnOfAConversation(t *testing.T) {
	bubble(t, func(h *house) {
		h.net.Script(loopback.Fault{On: loopback.OpSend, Kind: loopback.OK, After: 5 * time.Second})
		v := to("a", "c", "a notice")
		h.put(v)
		other := v.To
		other.Conversation = "d"
		if !h.d.Turn(h.t.Context(), v.Channel, other) {
			t.Error("another chat has no turn")
		}
		var took atomic.Int64
		begun := time.Now()
		go func() {
			if h.d.Turn(h.t.Context(), v.Channel, v.To) {
				took.Store(int64(time.Since(begun)))
			}
		}()
		synctest.Wait()
		if took.Load() != 0 {
			t.Error("it overtook the notice")
		}
		h.settle()
		if took := time.Duration(took.Load()); took != 5*time.Second {
			t.Errorf("its turn came after %v", took)
		}
	})
}

// An answer that the preview shows already is not edited to the same.
func TestNoEditToTheSame(t *testing.T) {
	bubble(t, func(h *house) {
		v := to("a", "c", "short")
		r, err := h.net.Channel("loopback", "default", h.lim).Send(h.t.Context(), channel.Message{To: v.To, Text: "short"})
		if err != nil {
			t.Fatal(err)
		}
		v.Preview, v.EditPreview, v.PreviewText = r.MessageID, true, "short"
		h.put(v)
		h.settle()
		h.want("a", Delivered, "")
		h.seen("short")
		if n := h.net.Calls(loopback.OpEdit); n != 0 {
			t.Errorf("%d edits", n)
		}
	})
}
