package gateway_test

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Killed in the middle of an edit: the old branch is whole, and the same edit again
// makes one version more, not two. Killed after it: the same.
func TestFault_F_CRASH_01_02_AroundAnEdit(t *testing.T) {
	for _, point := range []string{"beforeAcceptCommit@2", "afterAcceptCommit@2"} {
		t.Run(point, func(t *testing.T) {
			v := gatewaytest.NewVictim(t, "chat/echo")
			v.Start(point)
			ctx := v.Background()
			c := v.Dial(ctx, nil)
			c = say(v, ctx, c, "a", "old words", "")
			if err := c.Call(ctx, protocol.MethodAgentWait, protocol.AgentWaitParams{RunID: "a", TimeoutMs: 20_000}, nil); err != nil {
				t.Fatal(err)
			}
			old := v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey]
			words := "new words"
			edit := protocol.ChatAgainParams{SessionKey: "main", EntryID: old[0].Meta.ID, Message: &words, IdempotencyKey: "b"}
			_ = c.Call(ctx, protocol.MethodChatAgain, edit, nil)
			v.Died()
			v.Start("")
			c = v.Dial(ctx, nil)
			defer c.Close()
			now := v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey]
			want := "new words"
			if point == "beforeAcceptCommit@2" {
				want = "old words"
			}
			if len(now) != 2 || now[0].Text() != want || now[1].Text() != "echo: "+want {
				t.Fatalf("after the start: %+v", now)
			}
			if err := c.Call(ctx, protocol.MethodChatAgain, edit, nil); err != nil {
				t.Fatal(err)
			}
			now = v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey]
			if len(now) != 2 || now[0].Text() != "new words" || now[1].Text() != "echo: new words" {
				t.Fatalf("edited again: %+v", now)
			}
			var h protocol.ChatHistory
			if err := c.Call(ctx, protocol.MethodChatHistory, protocol.ChatHistoryParams{SessionKey: "main"}, &h); err != nil {
				t.Fatal(err)
			}
			if s := h.Messages[0].Versions; s == nil || len(s.Entries) != 2 || s.Entries[0] != old[0].Meta.ID {
				t.Errorf("versions: %+v", s)
			}
		})
	}
}
