package messaging_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// TestFault_F_CH_KilledWhileAnAnswerIsShown: the gateway is killed while it shows an
// answer on a network, before, while and after that is written. After the next start
// the answer is there once, in the place of what was shown of it. Where nobody knows
// whether the beginning arrived, the owner is shown that, and nothing else is left.
func TestFault_F_CH_KilledWhileAnAnswerIsShown(t *testing.T) {
	for point, tc := range map[string]struct {
		unclear bool   // the owner is shown that a beginning may be there
		half    int    // beginnings that are there
		says    string // the answer; "": either, as far as the computer had come by then
	}{
		"beforePreview@1":    {true, 0, "w60"},             // on its way, and not sent
		"afterPreview@1":     {true, 1, "w60"},             // sent, and nobody knows
		"midStream@5":        {false, 0, "w60"},            // shown, no word of it kept
		"midStream@55":       {false, 0, "Hearth stopped"}, // shown, and half the words are kept
		"afterPreviewEdit@1": {false, 0, ""},               // by the clock: half the words are kept, or none yet
		"afterFinalCommit@1": {false, 0, "w60"},
		"beforeSend@1":       {false, 0, "w60"},
		"afterSend@1":        {false, 0, "w60"},
	} {
		t.Run(point, func(t *testing.T) {
			v := gatewaytest.NewVictim(t, "chat/stream-60-40")
			net := onTelegram(t, v, map[string]any{})
			v.Start(point)
			net.say(0, number(1))
			v.Died()
			v.Start("")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			c := v.Dial(ctx, nil)
			if c == nil {
				t.Fatal("the gateway does not answer")
			}
			defer c.Close()
			var unclear []protocol.DeliveryInfo
			gatewaytest.WaitFor(t, "the end of it", func() bool {
				var st protocol.Status
				var list protocol.DeliveriesList
				ask(ctx, t, c, protocol.MethodStatus, nil, &st)
				ask(ctx, t, c, protocol.MethodDeliveriesList, nil, &list)
				unclear = list.Deliveries
				return st.Hearth.ActiveRuns+st.Hearth.QueuedRuns+st.Hearth.Undelivered == 0 && len(net.sent()) > 0 &&
					(len(unclear) == 0 || unclear[0].State == "uncertain")
			})
			var half int
			var whole []string
			for _, text := range net.sent() {
				if strings.Contains(text, "w60") || strings.Contains(text, "Hearth stopped") {
					whole = append(whole, text)
				} else {
					half++
				}
			}
			if len(whole) != 1 || !strings.Contains(whole[0], tc.says) || half != tc.half {
				t.Errorf("%d beginnings are there, want %d, and the answer reads %q, want %q in it", half, tc.half, whole, tc.says)
			}
			if (len(unclear) == 1 && unclear[0].Draft) != tc.unclear {
				t.Errorf("the owner is shown %+v; something unclear: %v", unclear, tc.unclear)
			}
		})
	}
}
