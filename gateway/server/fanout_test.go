package server

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/seed"
)

func slimCLI() *connecting {
	p := asCLI(protocol.ScopeRead)
	p.Caps = []string{protocol.CapSlimDeltas}
	return p
}

// chat is the next chat event.
func (c *client) chat() protocol.ChatEvent {
	c.t.Helper()
	var e protocol.ChatEvent
	if err := json.Unmarshal(c.event(protocol.EventChat).Payload, &e); err != nil {
		c.t.Fatal(err)
	}
	return e
}

func final(run, session, text string) Broadcast {
	return Broadcast{Event: protocol.EventChat, SessionKey: session, RunID: run, EndsRun: true, Payload: protocol.ChatEvent{
		RunID: run, SessionKey: session, State: protocol.ChatFinal,
		Message: &protocol.Message{Role: protocol.MessageAssistant, Content: protocol.TextBlocks(text)}}}
}

// randomText grows in steps that cut through everything, also through runes.
func randomText(rnd *rand.Rand) []string {
	words := []string{"hello ", "wörld ", "日本語", "😀", "\"quoted\"", "<b>&", "\n\t", "e\u0301", "\\"}
	var b strings.Builder
	for b.Len() < 400 {
		b.WriteString(words[rnd.IntN(len(words))])
	}
	text := b.String()
	var steps []string
	for i := 0; i < len(text); {
		i = min(len(text), i+1+rnd.IntN(9))
		steps = append(steps, text[:i])
	}
	return steps
}

// Whatever the pace of the reader, what it joins is the text: nothing lost,
// nothing twice, nothing cut; numbers rise without a gap; and what must arrive
// comes after the words that came before it.
func TestDeltasJoinToTheText(t *testing.T) {
	for n := range uint64(60) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { joinDeltas(t, n) })
		})
	}
}

func joinDeltas(t *testing.T, n uint64) {
	rnd := seed.Fixed(t, n)
	slow := time.Duration(rnd.IntN(3)) * 30 * time.Millisecond // the reader's pace
	steps := randomText(rnd)
	whole := steps[len(steps)-1]
	marks := map[int]bool{len(steps) / 3: true, len(steps) / 2: true}
	g := startMemory(t, nil)
	slim, full := g.connected(t, slimCLI()), g.connected(t, asCLI(protocol.ScopeRead))
	slim.call(protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: "s"})
	go func() {
		for i, text := range steps {
			g.Delta(Delta{RunID: "r", SessionKey: "s", AgentID: "main", Text: text, Timestamp: 7})
			if marks[i] {
				g.Broadcast(Broadcast{Event: protocol.EventAgent, RunID: "r", SessionKey: "s", Payload: protocol.AgentEvent{RunID: "r", Stream: "tool",
					Seq: int64(len(text))}})
			}
			pass(time.Duration(rnd.IntN(15)) * time.Millisecond)
		}
		pass(300 * time.Millisecond) // let the last words out: the final takes the place of what waits
		g.Broadcast(final("r", "s", whole))
	}()
	var readers sync.WaitGroup
	for _, r := range []*reader{{client: slim, slim: true}, {client: full}} {
		readers.Go(func() { r.follow(t, slow) })
		defer func() { r.check(t, whole, len(marks)) }()
	}
	readers.Wait()
}

// reader joins what a client gets.
type reader struct {
	*client
	slim   bool
	joined string
	shown  string // last cumulative message
	marks  int
	deltas int
}

func (r *reader) follow(t *testing.T, slow time.Duration) {
	var last uint64
	var lastChat int64
	for {
		pass(slow)
		f := r.next()
		if f.Type != protocol.TypeEvent {
			continue
		}
		if f.Seq != last+1 {
			t.Errorf("event %s has number %d after %d", f.Event, f.Seq, last)
		}
		last = f.Seq
		switch f.Event {
		case protocol.EventAgent:
			var e protocol.AgentEvent
			if err := json.Unmarshal(f.Payload, &e); err != nil {
				t.Error(err)
			}
			if cut := int(e.Seq) - len(r.joined); cut < 0 || cut >= utf8.UTFMax {
				t.Errorf("a mark at %d came when %d bytes were there", e.Seq, len(r.joined))
			}
			r.marks++
		case protocol.EventChat:
			var e protocol.ChatEvent
			if err := json.Unmarshal(f.Payload, &e); err != nil {
				t.Error(err)
			}
			if e.Seq <= lastChat {
				t.Errorf("chat number %d after %d", e.Seq, lastChat)
			}
			lastChat = e.Seq
			if e.State == protocol.ChatFinal {
				return
			}
			r.add(t, e)
		}
	}
}

func (r *reader) add(t *testing.T, e protocol.ChatEvent) {
	r.deltas++
	if r.slim {
		if e.Offset != int64(len(r.joined)) || e.End != e.Offset+int64(len(e.DeltaText)) || e.Message != nil {
			t.Errorf("offset %d, end %d, %d bytes, when %d were there", e.Offset, e.End, len(e.DeltaText), len(r.joined))
		}
	}
	r.joined += e.DeltaText
	if !r.slim {
		r.shown = e.Message.Text()
		if r.shown != r.joined {
			t.Errorf("cumulative %q, joined %q", r.shown, r.joined)
		}
	}
	if !utf8.ValidString(e.DeltaText) || strings.ContainsRune(e.DeltaText, utf8.RuneError) {
		t.Errorf("a delta cuts a rune: %q", e.DeltaText)
	}
}

func (r *reader) check(t *testing.T, whole string, marks int) {
	if r.joined != whole {
		t.Errorf("slim %v: joined %d bytes, want %d", r.slim, len(r.joined), len(whole))
	}
	if r.marks != marks {
		t.Errorf("slim %v: %d marks, want %d", r.slim, r.marks, marks)
	}
}

// A client that subscribes in the middle and then reads the history misses
// nothing: its first delta starts at or before what history could have said.
func TestSubscribeInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, nil)
		c := g.connected(t, slimCLI())
		g.Delta(Delta{RunID: "r", SessionKey: "s", Text: "one "})
		g.Delta(Delta{RunID: "r", SessionKey: "s", Text: "one two "})
		c.call(protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: "s"})
		history := "one two " // what chat.history would say now
		pass(time.Second)
		g.Delta(Delta{RunID: "r", SessionKey: "s", Text: "one two three"})
		text := history
		for text != "one two three" {
			e := c.chat()
			if e.Offset > int64(len(text)) {
				t.Fatalf("a gap: %d bytes known, the next delta starts at %d", len(text), e.Offset)
			}
			text = text[:e.Offset] + e.DeltaText
		}
	})
}

// An answer that starts over (another model took the turn) is told from zero.
func TestTextThatStartsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, nil)
		c := g.connected(t, slimCLI())
		c.call(protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: "s"})
		g.Delta(Delta{RunID: "r", SessionKey: "s", Text: "a first try"})
		if e := c.chat(); e.DeltaText != "a first try" {
			t.Fatal(e.DeltaText)
		}
		pass(time.Second)
		g.Delta(Delta{RunID: "r", SessionKey: "s", Text: "again"})
		if e := c.chat(); e.DeltaText != "again" || e.Offset != 0 || e.End != 5 {
			t.Errorf("%+v", e)
		}
	})
}

func TestSec_A_PAIR_13_Audiences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, nil)
		tools := asCLI(protocol.ScopeRead)
		tools.Caps = []string{protocol.CapToolEvents}
		clients := map[string]*client{
			"plain": g.connected(t, asCLI(protocol.ScopeRead)), "none": g.connected(t, asCLI()),
			"sessions": g.connected(t, asCLI(protocol.ScopeRead)), "messages": g.connected(t, asCLI(protocol.ScopeRead)),
			"tools": g.connected(t, tools), "writer": g.connected(t, asCLI(protocol.ScopeWrite)),
		}
		clients["sessions"].call(protocol.MethodSessionsSubscribe, nil)
		clients["messages"].call(protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: "s"})
		send := func(name string, a Audience, key string) {
			g.Broadcast(Broadcast{Event: protocol.EventSessionsChanged, Audience: a, SessionKey: key, Payload: name})
		}
		send("everyone", Everyone, "")
		send("sessions", SessionsWatchers, "")
		send("messages", MessageWatchers, "s")
		send("other", MessageWatchers, "other")
		send("tools", ToolWatchers, "")
		g.Broadcast(Broadcast{Event: "no.such.event", Payload: "x"})
		g.Broadcast(Broadcast{Event: protocol.EventHealth, Payload: "end"})
		want := map[string]string{
			"plain": "everyone", "none": "", "sessions": "everyone sessions", "messages": "everyone messages",
			"tools": "everyone tools", "writer": "everyone",
		}
		for name, c := range clients {
			var got []string
			for f := c.next(); f.Event != protocol.EventHealth; f = c.next() {
				if f.Event == protocol.EventSessionsChanged {
					got = append(got, strings.Trim(string(f.Payload), `"`))
				}
				if f.Event == "no.such.event" {
					t.Error("an event without a scope was sent")
				}
			}
			if s := strings.Join(got, " "); s != want[name] {
				t.Errorf("%s got %q, want %q", name, s, want[name])
			}
		}
	})
}

// Deltas go to our own clients only for what they watch.
func TestSlimClientsGetWhatTheyWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, nil)
		c := g.connected(t, slimCLI())
		c.call(protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: "mine"})
		g.Delta(Delta{RunID: "r1", SessionKey: "other", Text: "x"})
		g.Delta(Delta{RunID: "r2", SessionKey: "mine", Text: "y"})
		if e := c.chat(); e.RunID != "r2" {
			t.Errorf("%+v", e)
		}
		c.call(protocol.MethodSessionsMessagesUnsubscribe, protocol.SessionKeyParams{Key: "mine"})
		pass(time.Second)
		g.Delta(Delta{RunID: "r2", SessionKey: "mine", Text: "y and z"})
		g.Broadcast(final("r2", "mine", "y and z"))
		if e := c.chat(); e.State != protocol.ChatFinal {
			t.Errorf("%+v", e)
		}
	})
}

// What comes after the end is not sent, and nothing of a run stays behind.
func TestNothingAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, nil)
		c := g.connected(t, asCLI(protocol.ScopeRead))
		for i := range 3 * maxOverRuns {
			id := fmt.Sprint("r", i)
			g.Delta(Delta{RunID: id, SessionKey: "s", Text: "a"})
			g.Broadcast(final(id, "s", "ab"))
			g.Delta(Delta{RunID: id, SessionKey: "s", Text: "abc"})
			for e := c.chat(); e.State != protocol.ChatFinal; e = c.chat() {
				if e.RunID != id {
					t.Fatalf("%+v", e)
				}
			}
		}
		synctest.Wait()
		if n := len(g.liveRuns()); n != 0 {
			t.Errorf("%d runs are left", n)
		}
		if n := len(g.over.ids); n > maxOverRuns {
			t.Errorf("%d ended runs are remembered", n)
		}
		for _, conn := range *g.conns.Load() {
			if n := len(conn.out.cursors); n != 0 {
				t.Errorf("%d cursors are left", n)
			}
		}
	})
}
