package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// bench is a manager on a real store whose model is a Go function.
type bench struct {
	*Manager
	t    *testing.T
	path string
	db   *store.DB

	mu    sync.Mutex
	asked []model.Request
	ends  map[string][]protocol.ChatEvent // terminal events by run
}

type answerer func(ctx context.Context, n int, req model.Request, yield func(model.Event) bool)

func (f answerer) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		f(ctx, 0, req, func(e model.Event) bool { return yield(e, nil) })
		if ctx.Err() != nil {
			yield(model.Event{}, ctx.Err())
		}
	}
}

type blockingTool struct{ run func(ctx context.Context) }

func (b blockingTool) Spec() model.ToolSpec {
	return model.ToolSpec{Name: "work", Description: "Work.", Schema: json.RawMessage(`{"type":"object"}`)}
}

// always gives every run the same tools.
func (b blockingTool) Run(ctx context.Context, _ tool.Call) (tool.Result, error) {
	b.run(ctx)
	return tool.Text("worked"), nil
}

func newBench(t *testing.T, answer answerer, toolRun func(ctx context.Context), policy QueuePolicy) *bench {
	t.Helper()
	b := &bench{t: t, path: filepath.Join(t.TempDir(), "s.db"), ends: map[string][]protocol.ChatEvent{}}
	b.open(answer, toolRun, policy)
	return b
}

func (b *bench) open(answer answerer, toolRun func(ctx context.Context), policy QueuePolicy) {
	db, err := store.Open(b.path, store.Options{ReserveBytes: -1})
	if err != nil {
		b.t.Fatal(err)
	}
	if toolRun == nil {
		toolRun = func(context.Context) {}
	}
	tools, err := tool.NewSet(blockingTool{toolRun})
	if err != nil {
		b.t.Fatal(err)
	}
	var calls, ids atomic.Int64
	counting := answerer(func(ctx context.Context, _ int, req model.Request, yield func(model.Event) bool) {
		n := int(calls.Add(1)) - 1
		b.mu.Lock()
		b.asked = append(b.asked, req)
		b.mu.Unlock()
		answer(ctx, n, req, yield)
	})
	b.db = db
	b.Manager = NewManager(b.t.Context(), Options{
		DB: db, Publish: silent{}, Outbox: b, Logger: slog.New(slog.DiscardHandler),
		Models: asked{begin: func(context.Context, failover.Selection, failover.Session) (Model, error) {
			return Model{Ref: model.Ref{Provider: "p", Model: "m"}, Provider: counting, Tools: true}, nil
		}},
		Engine:   Engine{Tools: always{tools}, Prompt: prompted(func(Asked) (string, int) { return "", 0 })},
		Settings: fixed{func() QueuePolicy { return policy }, time.Hour},
		Now:      time.Now, Epoch: fmt.Sprint(time.Now().UnixNano()),
		NewID: func() string {
			return fmt.Sprintf("00000000-0000-4000-8000-%012x", ids.Add(1)+time.Now().UnixNano()&0xffffffff<<8)
		},
	})
}

func (b *bench) close() {
	if err := b.Manager.Close(b.t.Context()); err != nil {
		b.t.Error(err)
	}
	if err := b.db.Close(b.t.Context()); err != nil {
		b.t.Error(err)
	}
}

func (b *bench) Put(_ *store.Tx, ev protocol.ChatEvent, _ Run) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ends[ev.RunID] = append(b.ends[ev.RunID], ev)
	return nil
}
func (b *bench) Wake() {}

type silent struct{}

func (silent) Delta(Delta)                             {}
func (silent) Chat(protocol.ChatEvent)                 {}
func (silent) Agent(protocol.AgentEvent)               {}
func (silent) SessionChanged(protocol.SessionsChanged) {}
func (silent) Message(protocol.SessionMessage)         {}

const benchKey = "agent:main:main"

func (b *bench) send(id, text string) error {
	_, err := b.Submit(b.t.Context(), Turn{RunID: id, SessionKey: benchKey, Text: text})
	return err
}

func (b *bench) must(id, text string) {
	b.t.Helper()
	if err := b.send(id, text); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) wait(id string) Outcome {
	b.t.Helper()
	out, err := b.Wait(b.t.Context(), id)
	if err != nil {
		b.t.Fatalf("wait for %s: %v", id, err)
	}
	return out
}

// transcript renders the session: "user:a | assistant:b".
func (b *bench) transcript() string {
	b.t.Helper()
	h, err := b.History(b.t.Context(), benchKey, protocol.ChatHistoryParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	var out []string
	for _, m := range h.Messages {
		s := m.Role + ":" + m.Text()
		for _, c := range m.Content {
			if c.Type == protocol.BlockToolCall {
				s += "call " + c.ID
			}
		}
		out = append(out, s)
	}
	return strings.Join(out, " | ")
}

func (b *bench) request(n int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return render(b.asked[n].Messages)
}

func say(yield func(model.Event) bool, text string) {
	yield(model.Event{Kind: model.EventText, Text: text})
	yield(model.Event{Kind: model.EventStop, Stop: model.StopEnd})
}

func lastUser(req model.Request) string {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		if req.Messages[i].Role == model.RoleUser {
			return req.Messages[i].Blocks[0].Text
		}
	}
	return ""
}

func policy(m Mode) QueuePolicy {
	p := DefaultQueue()
	p.Mode = m
	return p
}

// callWork makes the model ask for the tool n times at once.
func callWork(yield func(model.Event) bool, n int) {
	for i := range n {
		yield(model.Event{Kind: model.EventToolCall, Call: &model.ToolCall{ID: fmt.Sprintf("k%d", i), Name: "work",
			Arguments: json.RawMessage("{}")}})
	}
	yield(model.Event{Kind: model.EventStop, Stop: model.StopTool})
}

// A message that comes while a tool runs joins the turn after it: the tool is
// not cut short, calls that had not started are skipped with a result each, and
// the model reads the message before it goes on.
func TestSteerJoinsAtTheToolBoundary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		working, done := make(chan struct{}, 1), make(chan struct{})
		ran := 0
		b := newBench(t, func(_ context.Context, n int, req model.Request, yield func(model.Event) bool) {
			if n == 0 {
				callWork(yield, 2)
				return
			}
			say(yield, "about "+lastUser(req))
		}, func(context.Context) {
			ran++
			working <- struct{}{}
			<-done
		}, policy(Steer))
		defer b.close()
		b.must("a", "first")
		<-working
		b.must("b", "no, this")
		b.must("c", "and that")
		close(done)
		out := b.wait("a")
		if ran != 1 {
			t.Errorf("the tool ran %d times, want 1", ran)
		}
		if got := out.Message.Text(); got != "about and that" {
			t.Errorf("answer %q", got)
		}
		want := "user:first | assistant:call k0call k1 | toolResult:worked | toolResult:" + "Skipped: the person sent a new message before " +
			"this tool started. Read it first." + " | user:no, this | user:and that | assistant:about and that"
		if got := b.transcript(); got != want {
			t.Errorf("transcript\n%s\nwant\n%s", got, want)
		}
		if got := b.request(1); !strings.HasSuffix(got, "tool:result k1! | user:no, this | user:and that") {
			t.Errorf("second request: %s", got)
		}
		for _, id := range []string{"b", "c"} {
			if o := b.wait(id); o.Run.State != RunAnswered || o.Run.Into != "a" || o.Message == nil {
				t.Errorf("steered message %s: %+v", id, o.Run)
			}
		}
		b.oneEndEach("a", "b", "c")
	})
}

// Without a tool boundary a steering message is simply answered next.
func TestSteerWithoutABoundaryFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		b := newBench(t, func(_ context.Context, n int, req model.Request, yield func(model.Event) bool) {
			if n == 0 {
				<-gate
			}
			say(yield, "about "+lastUser(req))
		}, nil, policy(Steer))
		defer b.close()
		b.must("a", "first")
		b.must("b", "second")
		close(gate)
		b.wait("b")
		if got := b.transcript(); got != "user:first | assistant:about first | user:second | assistant:about second" {
			t.Error(got)
		}
	})
}

func TestCollectAnswersAllAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		b := newBench(t, func(_ context.Context, n int, req model.Request, yield func(model.Event) bool) {
			if n == 0 {
				<-gate
			}
			say(yield, fmt.Sprintf("answer %d", n))
		}, nil, policy(Collect))
		defer b.close()
		b.must("a", "one")
		b.must("b", "two")
		b.must("c", "three")
		<-time.After(200 * time.Millisecond) // fake time, within the quiet time
		b.must("d", "four")
		close(gate)
		for _, id := range []string{"a", "b", "c", "d"} {
			b.wait(id)
		}
		if got := b.transcript(); got != "user:one | assistant:answer 0 | user:two | user:three | user:four | assistant:answer 1" {
			t.Error(got)
		}
		if got := b.request(1); got != "user:one | assistant:answer 0 | user:two | user:three | user:four" {
			t.Error(got)
		}
		b.oneEndEach("a", "b", "c", "d")
		b.must("e", "five")
		b.wait("e")
		if got := b.request(2); !strings.HasSuffix(got, "user:four | assistant:answer 1 | user:five") {
			t.Errorf("later turns see %s", got)
		}
	})
}

// Collecting keeps routing: what came from another place is a turn of its own.
func TestCollectKeepsRoutesApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		b := newBench(t, func(_ context.Context, n int, req model.Request, yield func(model.Event) bool) {
			if n == 0 {
				<-gate
			}
			say(yield, fmt.Sprintf("answer %d", n))
		}, nil, policy(Collect))
		defer b.close()
		for i, route := range []string{"", "", "", "tg:1", "tg:1", ""} {
			_, err := b.Submit(t.Context(), Turn{RunID: fmt.Sprint(i), SessionKey: benchKey, Text: fmt.Sprint("m", i), Route: route})
			if err != nil {
				t.Fatal(err)
			}
		}
		close(gate)
		for i := range 6 {
			b.wait(fmt.Sprint(i))
		}
		if got := b.transcript(); got != "user:m0 | assistant:answer 0 | user:m1 | user:m2 | assistant:answer 1 | user:m3 | user:m4 | "+
			"assistant:answer 2 | user:m5 | assistant:answer 3" {
			t.Error(got)
		}
	})
}

func TestInterruptStopsTheRunningAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(ctx context.Context, n int, req model.Request, yield func(model.Event) bool) {
			if n == 0 {
				yield(model.Event{Kind: model.EventText, Text: "well, "})
				<-ctx.Done()
				return
			}
			say(yield, "about "+lastUser(req))
		}, nil, policy(Interrupt))
		defer b.close()
		b.must("a", "first")
		synctest.Wait()
		b.must("b", "second")
		if o := b.wait("a"); o.Run.State != RunAborted || o.Message.Text() != "well, " {
			t.Errorf("interrupted run: %+v", o)
		}
		b.wait("b")
		if got := b.transcript(); got != "user:first | assistant:well,  | user:second | assistant:about second" {
			t.Error(got)
		}
	})
}

func TestAFullQueueDropsByRule(t *testing.T) {
	for _, rule := range []Drop{DropOld, DropNew, DropSummarize} {
		t.Run(string(rule), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				p := QueuePolicy{Mode: Followup, Cap: 3, Drop: rule}
				b := newBench(t, func(_ context.Context, n int, req model.Request, yield func(model.Event) bool) {
					if n == 0 {
						<-gate
					}
					say(yield, "ok")
				}, nil, p)
				defer b.close()
				b.must("0", "m0")
				synctest.Wait()
				var refused int
				for i := 1; i <= 5; i++ {
					if err := b.send(fmt.Sprint(i), fmt.Sprint("m", i)); errors.Is(err, ErrQueueFull) {
						refused++
					} else if err != nil {
						t.Fatal(err)
					}
				}
				close(gate)
				last := "5"
				if rule == DropNew {
					last = "3"
				}
				b.wait(last)
				switch rule {
				case DropNew:
					if refused != 2 {
						t.Errorf("%d refused, want 2", refused)
					}
				default:
					if o := b.wait("1"); o.Run.State != RunDropped || refused != 0 {
						t.Errorf("oldest: %+v, %d refused", o.Run, refused)
					}
				}
				told := strings.Contains(b.request(1), "dropped from the queue; their beginnings:]\n- m1\n- m2")
				if told != (rule == DropSummarize) {
					t.Errorf("the model was told: %v\n%s", told, b.request(1))
				}
			})
		})
	}
}

// oneEndEach: every run has exactly one terminal event.
func (b *bench) oneEndEach(ids ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		if n := len(b.ends[id]); n != 1 {
			b.t.Errorf("run %s has %d terminal events", id, n)
		}
	}
}

// Messages page, "Silent replies": an answer that is exactly the token is shown
// nowhere, and the message counts as answered.
func TestSilentAnswerIsShownNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(_ context.Context, n int, req model.Request, yield func(model.Event) bool) {
			say(yield, []string{"NO_REPLY", " no_reply\n", "NO_REPLY is a token"}[n])
		}, nil, policy(Followup))
		defer b.close()
		for _, id := range []string{"a", "b", "c"} {
			b.must(id, id)
			if o := b.wait(id); o.Run.State != RunAnswered {
				t.Errorf("%s: %+v", id, o.Run)
			}
		}
		if got := b.transcript(); got != "user:a | user:b | user:c | assistant:NO_REPLY is a token" {
			t.Error(got)
		}
		b.oneEndEach("a", "b", "c")
	})
}

// All sessions together have a lane too: more answers than it takes wait.
func TestGlobalLaneBoundsAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		b := newBench(t, func(_ context.Context, _ int, _ model.Request, yield func(model.Event) bool) {
			most.Store(max(most.Load(), now.Add(1)))
			<-time.After(time.Second)
			now.Add(-1)
			say(yield, "ok")
		}, nil, policy(Followup))
		defer b.close()
		b.slots = make(chan struct{}, 2)
		for i := range 7 {
			id := fmt.Sprint(i)
			if _, err := b.Submit(t.Context(), Turn{RunID: id, SessionKey: "agent:main:s" + id, Text: "x"}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 7 {
			b.wait(fmt.Sprint(i))
		}
		if most.Load() != 2 {
			t.Errorf("%d answers at a time, want 2", most.Load())
		}
	})
}
