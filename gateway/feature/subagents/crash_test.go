package subagents_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// A sub-agent that was accepted runs once, and its result is told once, wherever
// the gateway was killed in between.
func TestFault_F_CRASH_08_SubagentIsToldOnce(t *testing.T) {
	for _, point := range []string{"afterSpawn", "afterSpawnStart", "beforeSpawnTell", "afterSpawnTell", "afterAcceptCommit@2",
		"afterAcceptCommit@3", "afterFinalCommit@2"} {
		t.Run(point, func(t *testing.T) {
			g := gatewaytest.NewGuarded(t)
			g.Up(point)
			const task = "count the stars"
			g.Say(`run:@sessions_spawn {"task":"` + task + `","label":"stars"}`)
			g.Died()
			g.Start("")
			told, child := 0, ""
			for deadline := time.Now().Add(30 * time.Second); told == 0 && time.Now().Before(deadline); {
				told, child = countTold(g, "stars")
				select {
				case <-time.After(20 * time.Millisecond):
				case <-t.Context().Done():
				}
			}
			if told != 1 {
				t.Fatalf("the result was told %d times", told)
			}
			// Once more from cold: nothing is told again.
			g.Kill()
			g.Start("")
			if told, _ = countTold(g, "stars"); told != 1 {
				t.Errorf("after one more start the result was told %d times", told)
			}
			asked := 0
			for _, m := range g.Settled(child)[child] {
				if m.Role == protocol.MessageUser && m.Text() == task {
					asked++
				}
			}
			if asked != 1 {
				t.Errorf("the task stands %d times in the session of the sub-agent", asked)
			}
		})
	}
}

// countTold counts the messages about a sub-agent in the main session.
func countTold(g *gatewaytest.Guarded, label string) (n int, child string) {
	for _, m := range g.Settled(gatewaytest.MainKey)[gatewaytest.MainKey] {
		if m.Provenance != nil && strings.HasPrefix(m.Text(), fmt.Sprintf("The sub-agent “%s”", label)) {
			n, child = n+1, m.Provenance.SourceSessionKey
		}
	}
	return n, child
}
