package gateway_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// TestFault_F_LIFE_03_05_LittleTimeToStop: a supervisor, or a person who logs out,
// asks the gateway to stop and kills it soon after, again and again while people
// write. What was acknowledged is answered once, in order, or shown as interrupted.
func TestFault_F_LIFE_03_05_LittleTimeToStop(t *testing.T) {
	v := gatewaytest.NewVictim(t, "chat/stream-20-10")
	ctx := v.Background()
	sent, rnd := 0, seed.New(t)
	for range 6 { // so few that none gives way to others in the queue
		v.Start("")
		c := v.Dial(ctx, nil)
		if c == nil {
			t.Fatal("it does not come back")
		}
		for range 3 {
			var ok bool
			if c, _, ok = v.Deliver(ctx, c, "main", fmt.Sprint("m", sent), fmt.Sprint("message ", sent)); !ok {
				t.Fatal("not acknowledged")
			}
			sent++
		}
		_ = c.Close()
		if err := v.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		select {
		case <-time.After(time.Duration(rnd.IntN(250)) * time.Millisecond):
		case <-v.Gone:
		}
		v.Kill()
	}
	if out, err := os.ReadFile(string(v.Dir.RuntimeFile())); err == nil {
		t.Logf("a stale runtime file is left, as after every kill: %s", out)
	}
	gatewaytest.WriteConfig(t, v.Dir, v.ModelURL, "chat/echo")
	v.Start("")
	turns := gatewaytest.TurnsOf(v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey])
	if len(turns) != sent {
		t.Fatalf("%d messages of %d are there", len(turns), sent)
	}
	for i, turn := range turns {
		finals := 0
		for _, m := range turn[1:] {
			if m.Role == protocol.MessageAssistant && m.StopReason == "stop" {
				finals++
			}
		}
		state := turn[0].Hearth.State
		// On a slow machine three starts may not see a word of it: it is given up, in words.
		shown := state == protocol.ReceiptInterrupted || state == protocol.ReceiptAnswered ||
			state == protocol.ReceiptFailed && strings.Contains(turn[0].Hearth.Error, "given up")
		if turn[0].Text() != fmt.Sprint("message ", i) || finals > 1 || finals == 0 && !shown {
			t.Errorf("message %d: %q, %d final answers, %s: %s", i, turn[0].Text(), finals, state, turn[0].Hearth.Error)
		}
	}
}
