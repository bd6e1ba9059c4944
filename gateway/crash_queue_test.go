package gateway_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
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

// Kill points of messages that are answered together, and of summaries.

// say delivers a message in a mode.
func say(v *gatewaytest.Victim, ctx context.Context, c *client.Client, runID, text, mode string) *client.Client {
	v.T.Helper()
	c, _, ok := v.DeliverAs(ctx, c, protocol.ChatSendParams{SessionKey: "main", Message: text, IdempotencyKey: runID, QueueMode: mode})
	if !ok {
		v.T.Fatalf("%q was not acknowledged", text)
	}
	return c
}

// states renders a transcript: "first answered(call,result,text) …".
func states(msgs []protocol.Message) string {
	var out []string
	for _, turn := range gatewaytest.TurnsOf(msgs) {
		var parts []string
		for _, m := range turn[1:] {
			switch {
			case m.Role == protocol.MessageToolResult && m.IsError:
				parts = append(parts, "lost")
			case m.Role == protocol.MessageToolResult:
				parts = append(parts, "result")
			case m.StopReason == "toolUse":
				parts = append(parts, "call")
			default:
				parts = append(parts, "text")
			}
		}
		out = append(out, fmt.Sprintf("%s %s(%s)", turn[0].Text(), turn[0].Hearth.State, strings.Join(parts, ",")))
	}
	return strings.Join(out, " ")
}

// Killed right after messages joined a running turn: the turn that people saw a
// part of is closed, its tool is not called again, and the messages that had
// joined are answered.
func TestFault_F_CRASH_03_Steer(t *testing.T) {
	v := gatewaytest.NewVictim(t, "chat/wait-300-tool-session_status")
	v.Start("afterSteer")
	ctx := v.Background()
	c := say(v, ctx, nil, "a", "first", "steer")
	c = say(v, ctx, c, "b", "second", "steer")
	say(v, ctx, c, "c", "third", "steer")
	v.Died()
	v.Start("")
	got := states(v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey])
	want := "first interrupted(call,result) second answered(call,result) third answered(call,result,text)"
	if got != want {
		t.Errorf("transcript %s\nwant       %s", got, want)
	}
	if n := v.Model.Calls("first"); n != 1 {
		t.Errorf("the model was asked about the first %d times", n)
	}
}

// Killed right after waiting messages were put together: nobody has seen
// anything of their answer, so they are answered, once.
func TestFault_F_CRASH_03_Collect(t *testing.T) {
	v := gatewaytest.NewVictim(t, "chat/wait-300-echo")
	v.Start("afterCollect")
	ctx := v.Background()
	c := say(v, ctx, nil, "a", "first", "collect")
	c = say(v, ctx, c, "b", "second", "collect")
	say(v, ctx, c, "c", "third", "collect")
	v.Died()
	v.Start("")
	got := states(v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey])
	if want := "first answered(text) second answered() third answered(text)"; got != want {
		t.Errorf("transcript %s\nwant       %s", got, want)
	}
	if n := v.Model.Calls("first") + v.Model.Calls("third"); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
}

// Ten messages of all modes wait when the process is killed: all are answered
// after the start, in order, each once.
func TestFault_F_CRASH_03_MixedQueue(t *testing.T) {
	v := gatewaytest.NewVictim(t, "chat/stream-200-20")
	v.Start("")
	ctx := v.Background()
	c := say(v, ctx, nil, "q0", "m0", "followup")
	want := []string{"m0"}
	for i := 1; i <= 10; i++ {
		mode := []string{"followup", "collect", "steer", "collect", "collect"}[i%5]
		c = say(v, ctx, c, fmt.Sprintf("q%d", i), fmt.Sprintf("m%d", i), mode)
		want = append(want, fmt.Sprintf("m%d", i))
	}
	v.Kill()
	gatewaytest.WriteConfig(t, v.Dir, v.ModelURL, "chat/echo")
	v.Start("")
	msgs := v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey]
	var asked []string
	for _, turn := range gatewaytest.TurnsOf(msgs) {
		asked = append(asked, turn[0].Text())
		if s := turn[0].Hearth.State; s != protocol.ReceiptAnswered && turn[0].Text() != "m0" {
			t.Errorf("%s ended as %s", turn[0].Text(), s)
		}
		if len(turn) > 2 || len(turn) == 2 && turn[0].Text() != "m0" && turn[1].Text() != "echo: "+turn[0].Text() {
			t.Errorf("%s has %+v", turn[0].Text(), turn[1:])
		}
	}
	if fmt.Sprint(asked) != fmt.Sprint(want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
	for _, text := range want[1:] {
		if n := v.Model.Calls(text); n > 1 {
			t.Errorf("the model was asked %q %d times", text, n)
		}
	}
}

// Killed around a summary, the first and a later one: the transcript is the
// same to the byte, the summary in force is the old one or the new one, and the
// conversation goes on.
func TestFault_F_CRASH_12_Compaction(t *testing.T) {
	for _, nth := range []int{1, 2} {
		for _, point := range []string{"beforeSummary", "beforeCompactionCommit", "afterCompactionCommit"} {
			t.Run(fmt.Sprintf("%s@%d", point, nth), func(t *testing.T) { killCompaction(t, point, nth) })
		}
	}
}

func killCompaction(t *testing.T, point string, nth int) {
	v := gatewaytest.NewVictim(t, "chat/echo")
	v.Start(fmt.Sprintf("%s@%d", point, nth))
	ctx := v.Background()
	c := v.Dial(ctx, nil)
	message := 0
	chat := func(n int) {
		for range n {
			message++
			id := fmt.Sprintf("k%d", message)
			c = say(v, ctx, c, id, fmt.Sprintf("message %d", message), "")
			if err := c.Call(ctx, protocol.MethodAgentWait, protocol.AgentWaitParams{RunID: id, TimeoutMs: 20_000}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	compact := func() error {
		return c.Call(ctx, protocol.MethodSessionsCompact, protocol.SessionsCompactParams{Key: "main"}, nil)
	}
	chat(5)
	if nth == 2 {
		if err := compact(); err != nil {
			t.Fatal(err)
		}
		chat(4)
	}
	before := hashOf(t, v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey])
	if err := compact(); err == nil {
		t.Fatal("the gateway lived on")
	}
	v.Died()
	v.Start("")
	if after := hashOf(t, v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey]); after != before {
		t.Error("the transcript has changed")
	}
	c = v.Dial(ctx, nil)
	defer c.Close()
	var d protocol.SessionsDescribeResult
	if err := c.Call(ctx, protocol.MethodSessionsDescribe, protocol.SessionKeyParams{Key: "main"}, &d); err != nil {
		t.Fatal(err)
	}
	want := nth - 1
	if point == "afterCompactionCommit" {
		want = nth
	}
	if d.Session.CompactionCount != want {
		t.Errorf("%d summaries, want %d", d.Session.CompactionCount, want)
	}
	chat(1)
	if msgs := v.Settled(gatewaytest.MainKey)[gatewaytest.MainKey]; msgs[len(msgs)-1].Text() != fmt.Sprintf("echo: message %d", message) {
		t.Errorf("the next answer: %+v", msgs[len(msgs)-1])
	}
}

func hashOf(t *testing.T, msgs []protocol.Message) [sha256.Size]byte {
	t.Helper()
	raw, err := json.Marshal(msgs)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(raw)
}

const (
	mixedClients = 10
	mixedKeys    = 5
)

// Many kills under ten clients that send in all modes, half of them to a
// model that calls tools: nothing acknowledged is lost or doubled, order is
// kept, every message has one visible end, and every tool call has one result.
func TestFault_F_CRASH_19_RandomKillsMixedModes(t *testing.T) {
	v := gatewaytest.NewVictim(t, "chat/stream-6-3")
	rnd, mixedPoints := seed.New(t), seed.Rounds(40, 100)
	keys := mixedSessions(v)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	senders := make([]*sender, mixedClients)
	var wg sync.WaitGroup
	for i := range senders {
		senders[i] = &sender{v: v, id: i, key: keys[i%mixedKeys], mode: func(n int) string {
			return []string{"steer", "followup", "collect", "interrupt", "collect", "steer", "followup"}[(n+i)%7]
		}}
		wg.Go(func() { senders[i].run(ctx) })
	}
	points := []string{
		"afterAcceptCommit", "afterClaim", "midStream", "afterToolIntent", "beforeToolResult", "afterSteer", "afterCollect",
		"afterFinalCommit", "beforeDelivery",
	}
	for n := range mixedPoints {
		fp, wait := "", time.Duration(50+rnd.IntN(400))*time.Millisecond
		if n%2 == 0 {
			fp = fmt.Sprintf("%s@%d", points[rnd.IntN(len(points))], 1+rnd.IntN(10))
			wait = time.Second
		}
		v.Start(fp)
		select {
		case <-v.Gone:
			v.Cmd = nil
		case <-time.After(wait):
			v.Kill()
		}
	}
	v.Start("")
	stop()
	wg.Wait()
	checkMixed(t, v.Settled(keys...), senders)
}

// mixedSessions makes the sessions; every other one calls tools.
func mixedSessions(v *gatewaytest.Victim) []string {
	v.T.Helper()
	v.Start("")
	defer v.Kill()
	c := v.Dial(v.Background(), nil)
	defer c.Close()
	keys := make([]string, mixedKeys)
	for i := range keys {
		keys[i] = fmt.Sprintf("agent:main:mixed-%d", i)
		model := "chat/stream-6-3"
		if i%2 == 1 {
			model = "chat/wait-5-tool-session_status"
		}
		if err := c.Call(v.Background(), protocol.MethodSessionsCreate, protocol.SessionsCreateParams{Key: keys[i], Model: model},
			nil); err != nil {
			v.T.Fatal(err)
		}
	}
	return keys
}

func checkMixed(t *testing.T, transcripts map[string][]protocol.Message, senders []*sender) {
	t.Helper()
	seen := map[string]int{}
	ended := map[protocol.ReceiptState]int{}
	for key, msgs := range transcripts {
		last := map[int]int{}
		open := "" // a message that was answered together with a later one
		for _, turn := range gatewaytest.TurnsOf(msgs) {
			asked := turn[0]
			var id, n int
			if _, err := fmt.Sscanf(asked.Text(), "c%d-m%d says hello", &id, &n); err != nil {
				t.Fatalf("%s holds a message nobody sent: %q", key, asked.Text())
			}
			if n != last[id] {
				t.Errorf("client %d: message %d where %d should be", id, n, last[id])
			}
			last[id] = n + 1
			seen[asked.Meta.RunID]++
			ended[asked.Hearth.State]++
			switch asked.Hearth.State {
			case protocol.ReceiptAnswered:
				if open = asked.Text(); answers(turn) > 0 {
					open = ""
				}
			case protocol.ReceiptAborted, protocol.ReceiptInterrupted, protocol.ReceiptFailed, protocol.ReceiptDropped:
			default:
				t.Errorf("%s: no visible end, state %q", asked.Text(), asked.Hearth.State)
			}
			checkEntries(t, turn)
		}
		if open != "" {
			t.Errorf("%s: %q counts as answered and nothing answers it", key, open)
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
	}
	if total < mixedClients {
		t.Errorf("only %d messages were acknowledged", total)
	}
	t.Logf("%d messages acknowledged, 0 lost, 0 doubled; ended: %v", total, ended)
}

// answers counts the texts that end a turn.
func answers(turn []protocol.Message) (n int) {
	for _, m := range turn[1:] {
		if m.Role == protocol.MessageAssistant && m.StopReason != "toolUse" {
			n++
		}
	}
	return n
}

// checkEntries: at most one answer, words once, and one result for each call.
func checkEntries(t *testing.T, turn []protocol.Message) {
	t.Helper()
	if n := answers(turn); n > 1 {
		t.Errorf("%s has %d answers", turn[0].Text(), n)
	}
	calls := map[string]int{}
	for _, m := range turn[1:] {
		for _, b := range m.Content {
			if b.Type == protocol.BlockToolCall {
				calls[b.ID]++
			}
		}
		if m.Role == protocol.MessageToolResult {
			calls[m.ToolCallID] -= 1
		}
		if strings.Count(m.Text(), "w1 ") > 1 {
			t.Errorf("%s: doubled words in %q", turn[0].Text(), m.Text())
		}
	}
	for id, n := range calls {
		// A run that was stopped ends at once; the model is told what is missing.
		if n < 0 || n > 0 && turn[0].Hearth.State != protocol.ReceiptAborted {
			t.Errorf("%s (%s): call %s is %d results short", turn[0].Text(), turn[0].Hearth.State, id, n)
		}
	}
}
