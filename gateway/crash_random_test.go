package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/seed"
)

const (
	crashClients = 20
	crashKeys    = 10 // sessions; two clients share each
)

// Many kills at random times and at every failpoint, under twenty
// clients that send without pause: no acknowledged message is lost, none is
// doubled, each ends in one visible state, and order is kept.
func TestFault_F_CRASH_19_RandomKills(t *testing.T) {
	v := gatewaytest.NewVictim(t, "chat/stream-12-3")
	rnd, crashPoints := seed.New(t), seed.Rounds(60, 200)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()

	senders := make([]*sender, crashClients)
	var wg sync.WaitGroup
	for i := range senders {
		s := &sender{v: v, id: i, key: fmt.Sprintf("agent:main:crash-%d", i%crashKeys)}
		senders[i] = s
		wg.Go(func() { s.run(ctx) })
	}
	points := []string{"beforeAcceptCommit", "afterAcceptCommit", "afterClaim", "midStream", "afterFinalCommit", "beforeDelivery"}
	byPoint := map[string]int{}
	for n := range crashPoints {
		fp, wait := "", time.Duration(20+rnd.IntN(250))*time.Millisecond
		if n%2 == 0 {
			name := points[rnd.IntN(len(points))]
			fp = fmt.Sprintf("%s@%d", name, 1+rnd.IntN(40))
			byPoint[name]++
			wait = 2 * time.Second
		}
		v.Start(fp)
		select {
		case <-v.Gone: // by its failpoint
			v.Cmd = nil
		case <-time.After(wait):
			v.Kill()
		}
	}
	v.Start("")
	stop()
	wg.Wait()

	keys := make([]string, crashKeys)
	for i := range keys {
		keys[i] = fmt.Sprintf("agent:main:crash-%d", i)
	}
	checkHistory(t, v.Settled(keys...), senders)
	t.Logf("%d kills, at failpoints: %v", crashPoints, byPoint)
}

// sender sends numbered messages in order, each until it is acknowledged.
type sender struct {
	v   *gatewaytest.Victim
	id  int
	key string
	// mode, when set, says in which mode message n is sent.
	mode func(n int) string

	acked   int  // messages 0…acked-1 were acknowledged
	pending bool // message number acked was sent and not acknowledged
}

func (s *sender) text(n int) string  { return fmt.Sprintf("c%d-m%d says hello", s.id, n) }
func (s *sender) runID(n int) string { return fmt.Sprintf("run-%d-%d", s.id, n) }

func (s *sender) run(ctx context.Context) {
	var c *client.Client
	for ctx.Err() == nil {
		n := s.acked
		s.pending = true
		var ok bool
		p := protocol.ChatSendParams{SessionKey: s.key, Message: s.text(n), IdempotencyKey: s.runID(n)}
		if s.mode != nil {
			p.QueueMode = s.mode(n)
		}
		c, _, ok = s.v.DeliverAs(ctx, c, p)
		if !ok {
			break
		}
		s.acked, s.pending = n+1, false
		if n%3 == 2 && c != nil { // let the queue drain now and then
			_ = c.Call(ctx, protocol.MethodAgentWait, protocol.AgentWaitParams{RunID: s.runID(n), TimeoutMs: 1000}, nil)
		}
	}
	if c != nil {
		_ = c.Close()
	}
}

// checkHistory holds the transcripts against what the clients know.
func checkHistory(t *testing.T, transcripts map[string][]protocol.Message, senders []*sender) {
	t.Helper()
	seen := map[string]int{}
	states := map[protocol.ReceiptState]int{}
	for key, msgs := range transcripts {
		last := map[int]int{} // per client, the number of its last message
		var seq int64
		for _, turn := range gatewaytest.TurnsOf(msgs) {
			asked := turn[0]
			if asked.Meta.Seq <= seq {
				t.Fatalf("%s: positions do not rise", key)
			}
			seq = asked.Meta.Seq
			var id, n int
			if _, err := fmt.Sscanf(asked.Text(), "c%d-m%d says hello", &id, &n); err != nil {
				t.Fatalf("%s holds a message nobody sent: %q", key, asked.Text())
			}
			if prev, ok := last[id]; ok && n != prev+1 || !ok && n != 0 {
				t.Errorf("client %d: message %d follows %d", id, n, prev)
			}
			last[id] = n
			seen[asked.Meta.RunID]++
			states[asked.Hearth.State]++
			checkTurn(t, turn)
		}
	}
	total := 0
	for _, s := range senders {
		total += s.acked
		for n := range s.acked {
			if c := seen[s.runID(n)]; c != 1 {
				t.Errorf("acknowledged message %s stands %d times", s.text(n), c)
			}
		}
		if s.pending && seen[s.runID(s.acked)] > 1 {
			t.Errorf("unacknowledged message %s stands twice", s.text(s.acked))
		}
	}
	if total < crashClients {
		t.Errorf("only %d messages were acknowledged", total)
	}
	t.Logf("%d messages acknowledged, 0 lost, 0 doubled; ended: %v", total, states)
}

func checkTurn(t *testing.T, turn []protocol.Message) {
	t.Helper()
	asked := turn[0]
	whole := "re: " + asked.Text() + "\n"
	for i := 1; i <= 12; i++ {
		whole += fmt.Sprintf("w%d ", i)
	}
	switch asked.Hearth.State {
	case protocol.ReceiptAnswered:
		if len(turn) != 2 || strings.TrimSpace(turn[1].Text()) != strings.TrimSpace(whole) {
			t.Errorf("%s: answered with %d entries: %q", asked.Text(), len(turn)-1, turn[len(turn)-1].Text())
		}
	case protocol.ReceiptInterrupted:
		if len(turn) != 2 || !strings.HasPrefix(whole, turn[1].Text()) {
			t.Errorf("%s: interrupted with %+v", asked.Text(), turn[1:])
		}
	case protocol.ReceiptFailed, protocol.ReceiptDropped: // given up, or gave way in a full queue
		if len(turn) != 1 || asked.Hearth.Error == "" {
			t.Errorf("%s: %s with %+v", asked.Text(), asked.Hearth.State, turn)
		}
	default:
		t.Errorf("%s: no visible end, state %q", asked.Text(), asked.Hearth.State)
	}
}
