package gateway_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Killed before the accept is on disk: there was no acknowledgement, the client
// sends again, and there is one message. Killed after it: the same, although
// the first one had been stored.
func TestFault_F_CRASH_01_02_AroundTheAccept(t *testing.T) {
	for _, point := range []string{"beforeAcceptCommit", "afterAcceptCommit"} {
		t.Run(point, func(t *testing.T) {
			v := gatewaytest.NewVictim(t, "chat/echo")
			v.Start(point)
			ctx := v.Background()
			acked := make(chan protocol.ChatSendResult, 1)
			go func() {
				_, res, _ := v.Deliver(ctx, nil, "main", "k", "remember me")
				acked <- res
			}()
			v.Died()
			v.Start("")
			res := <-acked
			if dup := res.Status != protocol.SendStarted; dup != (point == "afterAcceptCommit") {
				t.Errorf("the second send was answered %q", res.Status)
			}
			msgs := v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey]
			if len(msgs) != 2 || msgs[0].Text() != "remember me" || msgs[1].Text() != "echo: remember me" {
				t.Errorf("transcript: %+v", msgs)
			}
		})
	}
}

// Ten messages wait behind a running answer when the process is killed: all
// ten are answered after the start, in order, each once.
func TestFault_F_CRASH_03_QueueSurvives(t *testing.T) {
	v := gatewaytest.NewVictim(t, "chat/stream-200-20")
	v.Start("")
	ctx := v.Background()
	c := v.Dial(ctx, nil)
	for i := range 11 {
		var ok bool
		if c, _, ok = v.Deliver(ctx, c, "main", fmt.Sprintf("q%d", i), fmt.Sprintf("message %d", i)); !ok {
			t.Fatal("not acknowledged")
		}
	}
	v.Kill()
	gatewaytest.WriteConfig(t, v.Dir, v.ModelURL, "chat/echo")
	v.Start("")
	turns := gatewaytest.TurnsOf(v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey])
	if len(turns) != 11 {
		t.Fatalf("%d turns, want 11", len(turns))
	}
	for i, turn := range turns {
		if turn[0].Text() != fmt.Sprintf("message %d", i) || len(turn) != 2 {
			t.Errorf("turn %d: %+v", i, turn)
		}
		if i > 0 && turn[1].Text() != fmt.Sprintf("echo: message %d", i) {
			t.Errorf("answer %d: %q", i, turn[1].Text())
		}
	}
}

// Killed right after the claim, or while the model has not said a word: nobody
// has seen anything, so the answer is simply made.
func TestFault_F_CRASH_04_05_BeforeTheFirstWord(t *testing.T) {
	t.Run("claimed", func(t *testing.T) {
		v := gatewaytest.NewVictim(t, "chat/echo")
		v.Start("afterClaim")
		ctx := v.Background()
		go v.Deliver(ctx, nil, "main", "k", "hello")
		v.Died()
		v.Start("")
		msgs := v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey]
		if len(msgs) != 2 || msgs[1].Text() != "echo: hello" {
			t.Errorf("transcript: %+v", msgs)
		}
		saysResumed(v)
	})
	t.Run("requested", func(t *testing.T) {
		v := gatewaytest.NewVictim(t, "chat/fault-slowfirst-60000")
		v.Start("")
		ctx := v.Background()
		if _, _, ok := v.Deliver(ctx, nil, "main", "k", "hello"); !ok {
			t.Fatal("not acknowledged")
		}
		for v.Model.Calls("hello") == 0 && ctx.Err() == nil {
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
			}
		}
		v.Kill()
		gatewaytest.WriteConfig(t, v.Dir, v.ModelURL, "chat/echo")
		v.Start("")
		msgs := v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey]
		if len(msgs) != 2 || msgs[1].Text() != "echo: hello" {
			t.Errorf("transcript: %+v", msgs)
		}
		saysResumed(v)
	})
}

// saysResumed: a person can see that the answer was made anew.
func saysResumed(v *gatewaytest.Victim) {
	v.T.Helper()
	ctx := v.Background()
	c := v.Dial(ctx, nil)
	if c == nil {
		v.T.Fatal("the gateway does not answer")
	}
	defer c.Close()
	var w protocol.Why
	if err := c.Call(ctx, protocol.MethodWhy, protocol.WhyParams{RunID: "k"}, &w); err != nil {
		v.T.Fatal(err)
	}
	if !slices.ContainsFunc(w.Reasons, func(r protocol.WhyReason) bool { return r.Rule == "resumed" }) {
		v.T.Errorf("nobody is told that it was made anew: %+v", w.Reasons)
	}
}

// Killed in the middle of an answer: the text that was checkpointed is kept
// and marked, nothing stands twice.
func TestFault_F_CRASH_06_MidStream(t *testing.T) {
	v := gatewaytest.NewVictim(t, "chat/stream-300-10")
	v.Start("midStream@150")
	ctx := v.Background()
	c, _, ok := v.Deliver(ctx, nil, "main", "k", "tell me")
	if !ok {
		t.Fatal("not acknowledged")
	}
	defer c.Close()
	v.Died()
	v.Start("")
	msgs := v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey]
	if len(msgs) != 2 {
		t.Fatalf("transcript: %+v", msgs)
	}
	text := msgs[1].Text()
	if msgs[0].Hearth.State != protocol.ReceiptInterrupted || msgs[1].StopReason != "interrupted" || msgs[1].ErrorMessage == "" {
		t.Errorf("receipt %+v, answer %+v", msgs[0].Hearth, msgs[1])
	}
	if !strings.HasPrefix(text, "re: tell me\nw1 w2 ") || strings.Count(text, "w1 ") != 1 {
		t.Errorf("partial text %q", text)
	}
	if n := v.Model.Calls("tell me"); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

// Killed between a tool's intent and its result: the tool is not run again by
// itself, and both the model and the person are told that its end is unknown.
func TestFault_F_CRASH_07_ToolIntent(t *testing.T) {
	for _, point := range []string{"afterToolIntent", "beforeToolResult"} {
		t.Run(point, func(t *testing.T) {
			v := gatewaytest.NewVictim(t, "chat/tool-session_status")
			v.Start(point)
			go v.Deliver(v.Background(), nil, "main", "k", "status?")
			v.Died()
			v.Start("")
			turn := v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey]
			if len(turn) != 3 || turn[1].Content[len(turn[1].Content)-1].Type != protocol.BlockToolCall {
				t.Fatalf("transcript: %+v", turn)
			}
			if !turn[2].IsError || !strings.Contains(turn[2].Text(), "Unknown") || turn[0].Hearth.State != protocol.ReceiptInterrupted {
				t.Errorf("tool result %+v, receipt %+v", turn[2], turn[0].Hearth)
			}
		})
	}
}

// Killed after the final answer is on disk: it is delivered from the outbox and
// the model is not asked again.
func TestFault_F_CRASH_10_AfterTheFinal(t *testing.T) {
	for _, point := range []string{"afterFinalCommit", "beforeDelivery"} {
		t.Run(point, func(t *testing.T) {
			v := gatewaytest.NewVictim(t, "chat/echo")
			v.Start(point)
			go v.Deliver(v.Background(), nil, "main", "k", "once")
			v.Died()
			v.Start("")
			msgs := v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey]
			if len(msgs) != 2 || msgs[1].Text() != "echo: once" || msgs[0].Hearth.State != protocol.ReceiptAnswered {
				t.Errorf("transcript: %+v", msgs)
			}
			if n := v.Model.Calls("once"); n != 1 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}
