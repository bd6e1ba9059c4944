package session

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// chainBench is a manager whose models are a/one, b/two and c/three.
type chainBench struct {
	primary string
	*bench
	answer   func(ref string, req model.Request, yield func(model.Event) bool) error
	accounts *fixedAccounts
	calls    []string
	requests []string
	told     []string
}

func newChain(t *testing.T, tool func(context.Context)) *chainBench {
	c := &chainBench{bench: newBench(t, nil, tool, policy(Followup)), accounts: &fixedAccounts{}, primary: "a/one"}
	ref := func(s string) model.Ref { r, _ := model.ParseRef(s); return r }
	engine := failover.New(failover.Options{
		Resolve: func(_ context.Context, r model.Ref, account string) (failover.Target, error) {
			if r == (model.Ref{}) {
				r = ref(c.primary)
			}
			return failover.Target{Ref: r, Provider: puppet{c, r.String(), account}, Tools: true}, nil
		},
		Accounts: c.accounts, Now: time.Now,
		Settings: func(string) failover.Settings {
			return failover.Settings{Primary: ref(c.primary), Fallbacks: []model.Ref{ref("b/two"), ref("c/three")}, RateLimitedRotations: 1,
				MaxWait: 10 * time.Second}
		},
	})
	c.Models = asked{begin: engine.Begin}
	c.Tell = func(_ *store.Tx, run Run, _, text string) error {
		c.told = append(c.told, run.Route+" "+text)
		return nil
	}
	return c
}

type puppet struct {
	c            *chainBench
	ref, account string
}

func (p puppet) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		name := p.ref
		if p.account != "" {
			name += "@" + p.account
		}
		p.c.calls = append(p.c.calls, name)
		p.c.requests = append(p.c.requests, render(req.Messages))
		err := p.c.answer(p.ref, req, func(e model.Event) bool { return yield(e, nil) })
		switch {
		case ctx.Err() != nil:
			yield(model.Event{}, ctx.Err())
		case err != nil:
			yield(model.Event{}, err)
		}
	}
}

type fixedAccounts struct {
	list map[string][]failover.AccountState
}

func (f *fixedAccounts) Candidates(service, _ string, pin failover.Pinned) []failover.AccountState {
	list := slices.Clone(f.list[service])
	slices.SortStableFunc(list, func(x, y failover.AccountState) int {
		switch pin.ID {
		case x.ID:
			return -1
		case y.ID:
			return 1
		}
		return 0
	})
	return list
}
func (*fixedAccounts) Used(context.Context, string)                                {}
func (*fixedAccounts) Failed(context.Context, string, string, failover.FailedCall) {}
func (*fixedAccounts) Succeeded(context.Context, string, string)                   {}

func limited() error { return &model.Error{Class: model.ClassRateLimit, Status: 429} }

// down lets some models fail with a rate limit.
func (c *chainBench) down(names ...string) {
	c.answer = func(ref string, _ model.Request, yield func(model.Event) bool) error {
		if slices.Contains(names, ref) {
			return limited()
		}
		say(yield, "I am "+ref)
		return nil
	}
}

func (c *chainBench) called(want ...string) {
	c.t.Helper()
	if !slices.Equal(c.calls, want) {
		c.t.Errorf("asked %v, want %v", c.calls, want)
	}
	c.calls = nil
}

func (c *chainBench) row() Row {
	c.t.Helper()
	row, err := c.rowOf(benchKey)
	if err != nil {
		c.t.Fatal(err)
	}
	return row
}

func (c *chainBench) choose(name string) {
	c.t.Helper()
	if _, err := c.Patch(c.t.Context(), benchKey, protocol.SessionsPatchParams{Model: protocol.PatchTo(name)}); err != nil {
		c.t.Fatal(err)
	}
}

const (
	movedTo = "↪️ Model Fallback: b/two (selected a/one; rate limit)"
	cleared = "↪️ Model Fallback cleared: a/one (was b/two)"
)

// The whole way: the fallback is on the row before it is asked, it is shown
// once, stays, and is taken back when the primary answers again.
func TestFallbackIsRememberedShownAndCleared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, nil)
		defer c.close()
		var seen Override
		c.answer = func(ref string, _ model.Request, yield func(model.Event) bool) error {
			if ref == "a/one" {
				return limited()
			}
			seen = c.row().Override
			say(yield, "I am "+ref)
			return nil
		}
		if _, err := c.Submit(t.Context(), Turn{RunID: "a", SessionKey: benchKey, Text: "first", Route: "tg:1"}); err != nil {
			t.Fatal(err)
		}
		if o := c.wait("a"); o.Run.AnsweredBy != "b/two" || o.Message.Text() != "I am b/two" || o.Message.Model != "two" {
			t.Errorf("%+v, %+v", o.Run, o.Message)
		}
		want := Override{Provider: "b", Model: "two", Source: byAuto, Origin: "a/one", Reason: "rate_limit"}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("before it was asked: %s", diff)
		}
		if pr, _, _ := c.Get(benchKey); pr.ModelProvider != "b" || pr.OverrideSource != byAuto || pr.ModelOverride || pr.Fallback == nil ||
			pr.Fallback.Selected != "a/one" {
			t.Errorf("%+v", pr)
		}
		c.must("b", "second")
		c.wait("b")
		c.called("a/one", "b/two", "b/two")
		if got := c.requests[2]; strings.Contains(got, "↪️") {
			t.Errorf("a model reads the notice: %s", got)
		}
		c.down()
		<-time.After(5 * time.Minute)
		c.must("c", "third")
		c.wait("c")
		c.called("a/one")
		if row := c.row(); row.Override != (Override{}) || row.Fallback != nil {
			t.Errorf("%+v", row)
		}
		wantText := "user:first | system:" + movedTo + " | assistant:I am b/two | user:second | assistant:I am b/two | user:third | system:" +
			cleared + " | assistant:I am a/one"
		if got := c.transcript(); got != wantText {
			t.Errorf("transcript\n%s\nwant\n%s", got, wantText)
		}
		if diff := cmp.Diff([]string{"tg:1 " + movedTo}, c.told); diff != "" {
			t.Error(diff)
		}
		c.oneEndEach("a", "b", "c")
	})
}

// Who makes the model that helped out the one to use has nothing to be told of.
func TestFallbackThatIsChosenIsNotSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, nil)
		defer c.close()
		c.down("a/one")
		c.must("a", "first")
		c.wait("a")
		c.primary = "b/two"
		c.must("b", "second")
		c.wait("b")
		if got := c.transcript(); strings.Contains(got, "cleared") {
			t.Error(got)
		}
		if row := c.row(); row.Fallback != nil || row.Override != (Override{}) {
			t.Errorf("%+v", row)
		}
	})
}

// A session that has moved on to a third model shows that too.
func TestAnotherFallbackIsShownToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, nil)
		defer c.close()
		c.down("a/one")
		c.must("a", "first")
		c.wait("a")
		c.down("a/one", "b/two")
		c.must("b", "second")
		c.wait("b")
		if got := c.transcript(); !strings.Contains(got, "system:↪️ Model Fallback: c/three (selected a/one; rate limit)") {
			t.Error(got)
		}
		if o := c.row().Override; o.ref().String() != "c/three" || o.Origin != "a/one" {
			t.Errorf("%+v", o)
		}
	})
}

// When everything fails, the fallbacks' fields are taken back and one failure
// is shown.
func TestFault_F_PROV_06_EverythingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, nil)
		defer c.close()
		c.down("a/one", "b/two", "c/three")
		c.must("a", "first")
		o := c.wait("a")
		if o.Run.State != RunFailed || !strings.Contains(o.Run.ErrorText, "all models failed (3 attempts)") {
			t.Errorf("%+v", o.Run)
		}
		if row := c.row(); row.Override != (Override{}) || row.Fallback != nil {
			t.Errorf("%+v", row)
		}
		c.called("a/one", "b/two", "c/three")
		c.oneEndEach("a")
	})
}

// A choice of the person that comes while a fallback is asked is neither
// overwritten nor rolled back, and is followed at once.
func TestRollbackKeepsNewerChoices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, nil)
		defer c.close()
		c.answer = func(ref string, _ model.Request, yield func(model.Event) bool) error {
			switch ref {
			case "b/two":
				c.choose("x/mine")
				return limited()
			case "x/mine":
				say(yield, "yours")
				return nil
			}
			return limited()
		}
		c.must("a", "first")
		if o := c.wait("a"); o.Run.State != RunAnswered || o.Message.Text() != "yours" || o.Run.AnsweredBy != "x/mine" {
			t.Errorf("%+v", o.Run)
		}
		c.called("a/one", "b/two", "x/mine")
		want := Override{Provider: "x", Model: "mine", Source: byUser}
		if diff := cmp.Diff(want, c.row().Override); diff != "" {
			t.Error(diff)
		}
	})
}

// What somebody else wrote while a fallback was asked is not rolled back, and a
// fallback that answers after the person chose is not shown.
func TestRollbackAndNoticeMatchTheRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, nil)
		defer c.close()
		others := Override{Provider: "x", Model: "other", Source: byAuto}
		c.answer = func(ref string, _ model.Request, _ func(model.Event) bool) error {
			if ref == "b/two" {
				_, err := c.edit(t.Context(), benchKey, "test", false, func(r *Row) error { r.Override = others; return nil })
				if err != nil {
					t.Error(err)
				}
			}
			return limited()
		}
		c.must("a", "first")
		c.wait("a")
		if diff := cmp.Diff(others, c.row().Override); diff != "" {
			t.Error(diff)
		}
		c.choose("a/one")
		if _, err := c.edit(t.Context(), benchKey, "test", false, func(r *Row) error { r.Override = Override{}; return nil }); err != nil {
			t.Fatal(err)
		}
		c.answer = func(ref string, _ model.Request, yield func(model.Event) bool) error {
			if ref != "b/two" {
				return limited()
			}
			c.choose("x/mine")
			say(yield, "I am b/two")
			return nil
		}
		c.must("b", "second")
		c.wait("b")
		if row := c.row(); row.Fallback != nil || row.Override.ref().String() != "x/mine" {
			t.Errorf("%+v, %+v", row.Fallback, row.Override)
		}
	})
}

// Only the person's choices make a running answer switch.
func TestOnlyPeopleSwitchARunningAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		working, done := make(chan struct{}), make(chan struct{})
		c := newChain(t, func(context.Context) {
			working <- struct{}{}
			<-done
		})
		defer c.close()
		c.answer = func(ref string, req model.Request, yield func(model.Event) bool) error {
			if req.Messages[len(req.Messages)-1].Role == model.RoleUser {
				callWork(yield, 1)
			} else {
				say(yield, "I am "+ref)
			}
			return nil
		}
		c.must("a", "first")
		<-working
		if _, err := c.edit(t.Context(), benchKey, "test", false, func(r *Row) error {
			r.Override = Override{Provider: "b", Model: "two", Source: byAuto} // as a failover elsewhere would
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		done <- struct{}{}
		c.wait("a")
		c.called("a/one", "a/one")
		c.choose("a/one")
		c.must("b", "second")
		<-working
		c.choose("c/three")
		done <- struct{}{}
		if o := c.wait("b"); o.Run.AnsweredBy != "c/three" {
			t.Errorf("%+v", o.Run)
		}
		c.called("a/one", "c/three")
	})
}

// A fallback behind tool calls goes on with the same turn.
func TestFallbackBehindToolCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, func(context.Context) {})
		defer c.close()
		c.answer = func(ref string, req model.Request, yield func(model.Event) bool) error {
			if req.Messages[len(req.Messages)-1].Role == model.RoleUser {
				callWork(yield, 1)
				return nil
			}
			if ref == "a/one" {
				return limited()
			}
			say(yield, "I am "+ref)
			return nil
		}
		c.must("a", "first")
		if o := c.wait("a"); o.Run.State != RunAnswered || o.Run.AnsweredBy != "b/two" {
			t.Errorf("%+v", o.Run)
		}
		want := "user:first | assistant:call k0 | toolResult:worked | system:" + movedTo + " | assistant:I am b/two"
		if got := c.transcript(); got != want {
			t.Errorf("transcript\n%s\nwant\n%s", got, want)
		}
		if c.requests[1] != c.requests[2] {
			t.Errorf("the fallback was given\n%s\nnot\n%s", c.requests[2], c.requests[1])
		}
	})
}

// What a failed attempt had said stands in the answer once.
func TestFault_F_PROV_20_OneAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, nil)
		defer c.close()
		c.answer = func(ref string, _ model.Request, yield func(model.Event) bool) error {
			if ref == "a/one" {
				yield(model.Event{Kind: model.EventText, Text: "one two "})
				return &model.Error{Class: model.ClassOverloaded, Status: 529}
			}
			say(yield, "one two three")
			return nil
		}
		c.must("a", "count")
		if o := c.wait("a"); o.Message.Text() != "one two three" {
			t.Errorf("%q", o.Message.Text())
		}
		if got := c.transcript(); strings.Count(got, "one two") != 1 {
			t.Error(got)
		}
	})
}

// A session that begins anew begins with what was selected.
func TestResetClearsAutomaticOverrides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, nil)
		defer c.close()
		c.down("a/one")
		c.must("a", "first")
		c.wait("a")
		if _, err := c.Reset(t.Context(), benchKey); err != nil {
			t.Fatal(err)
		}
		if row := c.row(); row.Override != (Override{}) || row.Fallback != nil {
			t.Errorf("%+v", row)
		}
		c.choose("c/three@work")
		if o := c.row().Override; o.Profile != "c:work" || o.ProfileSource != byUser {
			t.Errorf("%+v", o)
		}
		if _, err := c.Reset(t.Context(), benchKey); err != nil {
			t.Fatal(err)
		}
		want := Override{Provider: "c", Model: "three", Source: byUser}
		if diff := cmp.Diff(want, c.row().Override); diff != "" {
			t.Errorf("the person's model stays, the account goes: %s", diff)
		}
	})
}

// A choice that an older version kept without saying whose it was is the
// person's.
func TestLegacyChoicesAreThePersons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, nil)
		defer c.close()
		c.down("a/one", "c/three")
		for _, old := range []func(*Row){
			func(r *Row) { r.Model = "c/three" },
			func(r *Row) { r.Model, r.Override = "", Override{Provider: "c", Model: "three"} },
		} {
			if _, err := c.edit(t.Context(), benchKey, "test", true, func(r *Row) error { old(r); return nil }); err != nil {
				t.Fatal(err)
			}
			id := c.NewID()
			c.must(id, "hello")
			if o := c.wait(id); o.Run.State != RunFailed {
				t.Errorf("%+v", o.Run)
			}
			c.called("c/three")
			if pr, _, _ := c.Get(benchKey); !pr.ModelOverride || pr.Model != "three" {
				t.Errorf("%+v", pr)
			}
		}
	})
}

// The account of a session is kept until a compaction or a reset; the person's
// is theirs.
func TestAccountsArePinned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, nil)
		defer c.close()
		c.down()
		c.accounts.list = map[string][]failover.AccountState{"a": {{ID: "a:1"}, {ID: "a:2"}}}
		c.must("a", "first")
		c.wait("a")
		if o := c.row().Override; o.Profile != "a:1" || o.ProfileSource != byAuto || o.Model != "" {
			t.Errorf("%+v", o)
		}
		slices.Reverse(c.accounts.list["a"]) // the other one would be next
		c.must("b", "second")
		c.wait("b")
		c.called("a/one@a:1", "a/one@a:1")
		if _, err := c.edit(t.Context(), benchKey, "test", false, func(r *Row) error { r.Compactions++; return nil }); err != nil {
			t.Fatal(err)
		}
		c.must("c", "third")
		c.wait("c")
		c.called("a/one@a:2")
		c.choose("a/one@a:1")
		for _, id := range []string{"d", "e"} {
			c.must(id, "more")
			c.wait(id)
			if _, err := c.edit(t.Context(), benchKey, "test", false, func(r *Row) error { r.Compactions++; return nil }); err != nil {
				t.Fatal(err)
			}
		}
		c.called("a/one@a:1", "a/one@a:1")
	})
}
