package failover

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

func TestFault_F_PROV_05_RetryAfter(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		calls []string
		took  time.Duration
	}{
		{0, []string{"a/one", "b/two"}, 0}, // also "abc", -1 and a date in the past
		{time.Second, []string{"a/one", "a/one"}, time.Second},
		{10 * time.Second, []string{"a/one", "a/one"}, 10 * time.Second},
		{11 * time.Second, []string{"a/one", "b/two"}, 0},
		{30 * time.Second, []string{"a/one", "b/two"}, 0},
		{time.Hour, []string{"a/one", "b/two"}, 0},
	} {
		t.Run(c.after.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model = func(r, _ string, n int, _ model.Request, yield func(model.Event) bool) error {
					if r == "a/one" && n == 0 {
						return &model.Error{Class: model.ClassRateLimit, Status: 429, RetryAfter: c.after}
					}
					return say(yield, "I am "+r)
				}
				start := time.Now()
				w.want(Selection{}, "I am "+c.calls[1], c.calls...)
				if took := time.Since(start); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
			})
		})
	}
}

// A service that asks to wait again and again is waited for once.
func TestFault_F_PROV_05_WaitsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.failing(&model.Error{Class: model.ClassRateLimit, Status: 429, RetryAfter: 5 * time.Second}, "a/one")
		w.want(Selection{}, "I am b/two", "a/one", "a/one", "b/two")
	})
}

func TestFault_F_PROV_06_TheWholeChainIsTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.Fallbacks = nil
		var failing, want []string
		for i := range 16 {
			failing = append(failing, fmt.Sprintf("p%d/m", i))
		}
		for i := 1; i < 17; i++ {
			w.settings.Fallbacks = append(w.settings.Fallbacks, ref(fmt.Sprintf("p%d/m", i)))
		}
		w.settings.Primary = ref("p0/m")
		want = append(append(want, failing...), "p16/m")
		w.failing(&model.Error{Class: model.ClassRateLimit, Status: 429}, failing...)
		start := time.Now()
		w.want(Selection{}, "I am p16/m", want...)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestFault_F_PROV_08_RepeatsThenFallsBack(t *testing.T) {
	for _, status := range []int{500, 502, 503, 504, 520, 529} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				class := model.ClassServer
				if status == 503 || status == 529 {
					class = model.ClassOverloaded
				}
				w := newWorld(t)
				w.failing(fault(class, status), "a/one")
				start := time.Now()
				got, err := w.ask(Selection{})
				if err != nil || got != "I am b/two" {
					t.Errorf("%q, %v", got, err)
				}
				if took := time.Since(start); took > 2*time.Second {
					t.Errorf("the fallback came after %v", took)
				}
				if n := w.count["a/one"]; n > 1+maxRepeats {
					t.Errorf("asked %d times", n)
				}
			})
		})
	}
}

// Where nothing else could answer, it repeats at most three times within thirty
// seconds; a passing failure is not seen.
func TestFault_F_PROV_08_NothingElseToAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.failing(fault(model.ClassServer, 500), "x/mine")
		start := time.Now()
		_, err := w.ask(Selection{Ref: ref("x/mine"), Source: SourceUser})
		if model.ClassOf(err) != model.ClassServer {
			t.Error(err)
		}
		if n, took := w.count["x/mine"], time.Since(start); n != 4 || took > 30*time.Second {
			t.Errorf("%d calls in %v", n, took)
		}
		w.calls = nil
		w.model = func(_, _ string, n int, _ model.Request, yield func(model.Event) bool) error {
			if n < 6 {
				return fault(model.ClassOverloaded, 529)
			}
			return say(yield, "back")
		}
		if got, err := w.ask(Selection{Ref: ref("x/mine"), Source: SourceUser}); err != nil || got != "back" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// A service that takes its time to fail is not asked again where another could
// answer, and not for longer than half a minute where none could.
func TestFault_F_PROV_08_SlowFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model = func(r, _ string, _ int, _ model.Request, yield func(model.Event) bool) error {
			if r == "b/two" {
				return say(yield, "I am b/two")
			}
			<-time.After(8 * time.Second) // of the fake clock
			return fault(model.ClassServer, 504)
		}
		w.want(Selection{}, "I am b/two", "a/one", "b/two")
		if _, err := w.ask(Selection{Ref: ref("x/mine"), Source: SourceUser}); err == nil {
			t.Error("answered")
		}
		w.called("x/mine", "x/mine", "x/mine", "x/mine")
		w.calls = nil
		w.model = func(string, string, int, model.Request, func(model.Event) bool) error {
			<-time.After(14 * time.Second) // of the fake clock
			return fault(model.ClassServer, 504)
		}
		if _, err := w.ask(Selection{Ref: ref("x/mine"), Source: SourceUser}); err == nil {
			t.Error("answered")
		}
		w.called("x/mine", "x/mine", "x/mine")
	})
}

func TestFault_F_PROV_11_CutBeforeAnyText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model = func(r, _ string, n int, _ model.Request, yield func(model.Event) bool) error {
			if n == 0 {
				return fault(model.ClassInterrupted, 0)
			}
			return say(yield, "I am "+r)
		}
		w.want(Selection{}, "I am a/one", "a/one", "a/one")
	})
}

func TestFault_F_PROV_13_EmptyIsRepeatedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.failing(fault(model.ClassEmpty, 0), "x/mine")
		_, err := w.ask(Selection{Ref: ref("x/mine"), Source: SourceUser})
		if model.ClassOf(err) != model.ClassEmpty {
			t.Error(err)
		}
		w.called("x/mine", "x/mine")
	})
}

// 200 tokens, then 529: one answer, in which nothing stands twice. The fallback
// is told what was said; one that begins anew all the same is cut.
func TestFault_F_PROV_20_NothingIsSaidTwice(t *testing.T) {
	words := strings.Repeat("word ", 200)
	for name, answer := range map[string]string{
		"it goes on":         "and the end.",
		"it begins anew":     words + "and the end.",
		"it is cut in parts": "",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model = func(r, _ string, _ int, _ model.Request, yield func(model.Event) bool) error {
					if r == "a/one" {
						for range 200 {
							_ = say(yield, "word ")
						}
						return fault(model.ClassOverloaded, 529)
					}
					if answer == "" {
						for _, b := range []byte(words + "and the end.") {
							_ = say(yield, string(b))
						}
						return nil
					}
					return say(yield, answer)
				}
				w.want(Selection{}, words+"and the end.", "a/one", "b/two")
				last := w.reqs[1].Messages
				if n := len(last); n != 3 || last[1].Role != model.RoleAssistant || last[1].Blocks[0].Text != words || last[2].Blocks[0].Text != goOn {
					t.Errorf("the fallback was given %d messages", n)
				}
			})
		})
	}
}

// It goes on with the same model and with another one; then what there is
// stays, with the failure.
func TestFault_F_PROV_20_GoesOnTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model = func(r, _ string, n int, _ model.Request, yield func(model.Event) bool) error {
			_ = say(yield, fmt.Sprintf("%s %d, ", r, n))
			return fault(model.ClassInterrupted, 0)
		}
		got, err := w.ask(Selection{})
		if got != "a/one 0, a/one 1, b/two 0, " || model.ClassOf(err) != model.ClassInterrupted {
			t.Errorf("%q, %v", got, err)
		}
		w.called("a/one", "a/one", "b/two")
	})
}

// Tool calls of a stream that breaks off are not handed over: the tools would
// run twice.
func TestFault_F_PROV_20_ToolCallsOfABrokenStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model = func(r, _ string, _ int, _ model.Request, yield func(model.Event) bool) error {
			yield(model.Event{Kind: model.EventToolCall, Call: &model.ToolCall{ID: r, Name: "work"}})
			if r == "a/one" {
				return fault(model.ClassOverloaded, 529)
			}
			return nil
		}
		target, err := w.engine.Begin(t.Context(), Selection{}, &w.session)
		if err != nil {
			t.Fatal(err)
		}
		var calls []string
		for ev, err := range target.Provider.Stream(t.Context(), model.Request{}) {
			if err != nil {
				t.Fatal(err)
			}
			if ev.Kind == model.EventToolCall {
				calls = append(calls, ev.Call.ID)
			}
		}
		if len(calls) != 1 || calls[0] != "b/two" {
			t.Errorf("calls %v", calls)
		}
	})
}

// Behind a tool call the same turn goes on with the same messages, and stays
// with the model that answered.
func TestFallbackGoesOnWithTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.failing(fault(model.ClassRateLimit, 429), "a/one")
		target, err := w.engine.Begin(t.Context(), Selection{}, &w.session)
		if err != nil {
			t.Fatal(err)
		}
		req := model.Request{Messages: []model.Message{{Role: model.RoleUser, Blocks: []model.Block{{Text: "hello"}}}}}
		for range 2 {
			if got, err := w.stream(target, req); err != nil || got != "I am b/two" {
				t.Errorf("%q, %v", got, err)
			}
			req.Messages = append(req.Messages,
				model.Message{Role: model.RoleTool, Blocks: []model.Block{{ToolResult: &model.ToolResult{CallID: "1", Name: "work", Text: "done"}}}})
		}
		w.called("a/one", "b/two", "b/two")
		if len(w.session.landings) != 1 {
			t.Errorf("%+v", w.session.landings)
		}
	})
}

// A local model that loads is waited for up to a minute, then the next answers.
func TestFault_F_PROV_23_LoadingModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.local = true
		w.failing(&model.Error{Class: model.ClassOverloaded, Status: 503, Detail: "Loading model"}, "a/one")
		start := time.Now()
		got, err := w.ask(Selection{})
		if took := time.Since(start); err != nil || got != "I am b/two" || took < time.Minute || took > 65*time.Second {
			t.Errorf("%q, %v after %v", got, err, took)
		}
	})
}

// Usage of failed attempts is not lost.
func TestUsageOfFailedAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model = func(r, _ string, _ int, _ model.Request, yield func(model.Event) bool) error {
			yield(model.Event{Kind: model.EventUsage, Usage: model.Usage{Input: 100, Output: 7}})
			if r == "a/one" {
				return fault(model.ClassOverloaded, 529)
			}
			return say(yield, "fine")
		}
		target, err := w.engine.Begin(t.Context(), Selection{}, &w.session)
		if err != nil {
			t.Fatal(err)
		}
		var sum model.Usage
		for ev, err := range target.Provider.Stream(t.Context(), model.Request{}) {
			if err != nil {
				t.Fatal(err)
			}
			if ev.Kind == model.EventUsage {
				sum = ev.Usage
			}
		}
		var noted model.Usage
		for _, a := range w.session.attempts {
			noted = noted.Add(a.Usage)
		}
		if want := (model.Usage{Input: 200, Output: 14}); sum != want || noted != want {
			t.Errorf("%+v, noted %+v", sum, noted)
		}
	})
}

// A model that knows no tools is told of them in words; one with less room gets
// the newest turns.
func TestRequestsFitTheirModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.windows = map[string]int{"a/one": 100_000, "b/two": 2_000}
		w.noTools["b/two"] = true
		w.failing(fault(model.ClassRateLimit, 429), "a/one")
		target, err := w.engine.Begin(t.Context(), Selection{}, &w.session)
		if err != nil {
			t.Fatal(err)
		}
		long := model.Message{Role: model.RoleUser, Blocks: []model.Block{{Text: strings.Repeat("x", 9000)}}}
		req := model.Request{Tools: []model.ToolSpec{{Name: "work"}}, Messages: []model.Message{
			long, {Role: model.RoleAssistant, Blocks: []model.Block{{Text: "yes"}}},
			{Role: model.RoleUser, Blocks: []model.Block{{Text: "now work"}}},
			{Role: model.RoleAssistant, Blocks: []model.Block{{ToolCall: &model.ToolCall{ID: "1", Name: "work", Arguments: []byte("{}")}}}},
			{Role: model.RoleTool, Blocks: []model.Block{{ToolResult: &model.ToolResult{CallID: "1", Name: "work", Text: "done"}}}},
		}}
		if _, err := w.stream(target, req); err != nil {
			t.Fatal(err)
		}
		first, second := w.reqs[0], w.reqs[1]
		if len(first.Messages) != 5 || len(first.Tools) != 1 {
			t.Errorf("the first was changed: %d messages", len(first.Messages))
		}
		if len(second.Tools) != 0 || len(second.Messages) != 4 || second.Messages[0].Blocks[0].Text != leftOut ||
			second.Messages[1].Blocks[0].Text != "now work" {
			t.Errorf("%+v", second)
		}
		for _, m := range second.Messages {
			if usesTools(m) {
				t.Errorf("tools: %+v", m)
			}
		}
	})
}

// A model that takes no pictures is told where one was; the request of the
// others is not touched.
func TestPicturesForModelsThatCannotSee(t *testing.T) {
	picture := &model.Image{MIME: "image/png", Data: []byte("x")}
	msgs := []model.Message{
		{Role: model.RoleUser, Blocks: []model.Block{{Text: "what is this?"}, {Image: picture}}},
		{Role: model.RoleTool, Blocks: []model.Block{
			{ToolResult: &model.ToolResult{CallID: "1", Text: "a shot", Images: []model.Image{*picture}}}}},
	}
	got := withoutImages(msgs)
	if got[0].Blocks[1].Text != unseen || got[1].Blocks[0].ToolResult.Text != "a shot\n"+unseen || slices.ContainsFunc(got, shows) {
		t.Errorf("%+v", got)
	}
	if msgs[0].Blocks[1].Image == nil || len(msgs[1].Blocks[0].ToolResult.Images) != 1 {
		t.Error("the conversation itself was changed")
	}
}

// A decision over 20 candidates with 10 accounts each.
func BenchmarkDecision(b *testing.B) {
	now := time.Unix(1_800_000_000, 0)
	var chain []model.Ref
	accounts := map[string][]AccountState{}
	for i := range 20 {
		r := model.Ref{Provider: fmt.Sprint("p", i), Model: "m"}
		chain = append(chain, r)
		for j := range 10 {
			accounts[r.Provider] = append(accounts[r.Provider], AccountState{ID: fmt.Sprintf("%s:%d", r.Provider, j),
				Until: now.Add(time.Hour + time.Duration(j)), Reason: ReasonRateLimit})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		for i, r := range Chain(Selection{Ref: chain[0], Source: SourceDefault}, chain[0], chain[1:]) {
			if v := decide(situation{accounts: accounts[r.Provider], now: now, primary: i == 0}); v.ask {
				b.Fatal("asked")
			}
		}
	}
}
