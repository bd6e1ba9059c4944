package failover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// The candidate chain, by why a model is selected.
func TestChainBySource(t *testing.T) {
	primary, fallbacks := ref("a/one"), refs("b/two", "a/mini", "b/two")
	for name, c := range map[string]struct {
		sel  Selection
		want []model.Ref
	}{
		"the configured default uses the configured fallbacks": {Selection{Ref: primary, Source: SourceDefault},
			refs("a/one", "b/two", "a/mini")},
		"an agent's own model is strict": {Selection{Ref: ref("x/agent"), Source: SourceAgent}, refs("x/agent")},
		"unless it has fallbacks of its own": {Selection{Ref: ref("x/agent"), Source: SourceAgent, Fallbacks: refs("y/own")},
			refs("x/agent", "y/own")},
		"an empty list makes that explicit": {Selection{Ref: ref("x/agent"), Source: SourceAgent, Fallbacks: []model.Ref{}},
			refs("x/agent")},
		"an automatic one walks the whole chain": {Selection{Ref: ref("b/two"), Source: SourceAuto, Origin: primary},
			refs("b/two", "a/mini", "a/one")},
		"also within one family": {Selection{Ref: ref("a/mini"), Source: SourceAuto, Origin: primary},
			refs("a/mini", "b/two", "a/one")},
		"a person's choice is strict":                  {Selection{Ref: ref("x/mine"), Source: SourceUser}, refs("x/mine")},
		"also one of the fallbacks":                    {Selection{Ref: ref("b/two"), Source: SourceUser}, refs("b/two")},
		"an old choice without a reason is a person's": {Selection{Ref: ref("b/two"), Source: SourceLegacy}, refs("b/two")},
		"a job's primary uses the configured fallbacks": {Selection{Ref: ref("x/job"), Source: SourceCron},
			refs("x/job", "b/two", "a/mini", "a/one")},
		"unless the job says others": {Selection{Ref: ref("x/job"), Source: SourceCron, Fallbacks: refs("y/own")},
			refs("x/job", "y/own")},
		"or none": {Selection{Ref: ref("x/job"), Source: SourceCron, Fallbacks: []model.Ref{}},
			refs("x/job")},
		"a list of its own appends no hidden primary": {Selection{Ref: ref("x/job"), Source: SourceDefault, Fallbacks: refs("y/own")},
			refs("x/job", "y/own")},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Chain(c.sel, primary, fallbacks)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever is configured: the requested model comes first, nobody twice, strict
// selections are alone, and the primary is reachable unless a list was given.
func TestChainProperties(t *testing.T) {
	some := rapid.Custom(func(rt *rapid.T) model.Ref {
		return model.Ref{Provider: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "p"),
			Model: rapid.SampledFrom([]string{"1", "2", "3"}).Draw(rt, "m")}
	})
	rapid.Check(t, func(rt *rapid.T) {
		sel := Selection{Ref: some.Draw(rt, "ref"), Source: rapid.SampledFrom([]Source{SourceDefault, SourceAgent, SourceAuto, SourceUser,
			SourceLegacy, SourceCron}).Draw(rt, "source")}
		if rapid.Bool().Draw(rt, "own") {
			sel.Fallbacks = rapid.SliceOfN(some, 0, 4).Draw(rt, "own list")
		}
		primary, fallbacks := some.Draw(rt, "primary"), rapid.SliceOfN(some, 0, 8).Draw(rt, "fallbacks")
		chain := Chain(sel, primary, fallbacks)
		seen := map[model.Ref]bool{}
		for _, r := range chain {
			if seen[r] {
				rt.Fatalf("%v twice in %v", r, chain)
			}
			seen[r] = true
		}
		switch {
		case chain[0] != sel.Ref:
			rt.Fatalf("%v does not begin with %v", chain, sel.Ref)
		case sel.strict() && len(chain) != 1:
			rt.Fatalf("strict, but %v", chain)
		case !sel.strict() && sel.Fallbacks == nil && !seen[primary]:
			rt.Fatalf("%v never settles on %v", chain, primary)
		}
		want := fallbacks
		if sel.Fallbacks != nil {
			want = sel.Fallbacks
		}
		for _, r := range want {
			if !sel.strict() && !seen[r] {
				rt.Fatalf("%v lacks %v", chain, r)
			}
		}
	})
}

// Which errors go on to the next model, and what they are called.
func TestWhichErrorsAdvance(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		reason Reason
		on     bool
	}{
		"auth":          {fault(model.ClassAuth, 401), ReasonAuth, true},
		"rate limit":    {fault(model.ClassRateLimit, 429), ReasonRateLimit, true},
		"overloaded":    {fault(model.ClassOverloaded, 529), ReasonOverloaded, true},
		"timeout":       {fault(model.ClassTimeout, 0), ReasonTimeout, true},
		"server":        {fault(model.ClassServer, 500), ReasonTimeout, true},
		"cut":           {fault(model.ClassInterrupted, 0), ReasonTimeout, true},
		"no connection": {fault(model.ClassConnect, 0), ReasonTimeout, true},
		"billing":       {fault(model.ClassBilling, 402), ReasonBilling, true},
		"no such model": {fault(model.ClassNoModel, 404), ReasonModelNotFound, true},
		"nothing said":  {fault(model.ClassEmpty, 0), ReasonEmpty, true},
		"no details": {&model.Error{Class: model.ClassServer, Detail: "Unknown error (no error details in response)"}, ReasonNoDetails,
			true},
		"nobody knows":      {fault(model.ClassUnknown, 0), ReasonUnclassified, true},
		"unreadable":        {fault(model.ClassMalformed, 200), ReasonUnclassified, true},
		"a firewall":        {fault(model.ClassInvalid, 403), ReasonUnclassified, true},
		"another error":     {errors.New("odd"), ReasonUnclassified, true},
		"cannot be asked":   {unready{model.ClassAuth}, ReasonAuth, true},
		"a wrong request":   {fault(model.ClassInvalid, 400), ReasonFormat, false},
		"too long":          {fault(model.ClassContext, 400), ReasonContext, false},
		"a refusal":         {fault(model.ClassRefusal, 200), ReasonRefusal, false},
		"a stop by hand":    {context.Canceled, ReasonAborted, false},
		"a deadline passed": {context.DeadlineExceeded, ReasonTimeout, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ReasonOf(c.err); got != c.reason || got.Advances() != c.on {
				t.Errorf("%s, advances %v; want %s, %v", got, got.Advances(), c.reason, c.on)
			}
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.failing(c.err, "a/one")
				got, err := w.ask(Selection{})
				if c.on != (err == nil && got == "I am b/two") {
					t.Errorf("%q, %v", got, err)
				}
			})
		})
	}
}

// A final unknown error with no candidate left is the run's error.
func TestUnknownErrorAtTheEndOfTheChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		odd := errors.New("odd")
		w.failing(odd, "a/one", "b/two", "c/three")
		_, err := w.ask(Selection{})
		s := summaryOf(t, err)
		if len(s.Attempts) != 3 || !errors.Is(err, odd) || s.Shared() != ReasonUnclassified {
			t.Errorf("%+v", s)
		}
	})
}

// A strict selection fails with its own error instead of another's answer.
func TestStrictSelectionsReportTheirFailure(t *testing.T) {
	for _, source := range []Source{SourceUser, SourceLegacy, SourceAgent} {
		t.Run(string(source), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.failing(fault(model.ClassAuth, 401), "x/mine")
				_, err := w.ask(Selection{Ref: ref("x/mine"), Source: source})
				var me *model.Error
				if !errors.As(err, &me) || me.Class != model.ClassAuth {
					t.Error(err)
				}
				w.called("x/mine")
				if w.session.override != nil {
					t.Errorf("override %+v", w.session.override)
				}
			})
		})
	}
}

// The override is written before the fallback is asked, and a fallback that
// fails takes only its own back.
func TestOverrideIsPersistedFirstAndRolledBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.failing(fault(model.ClassRateLimit, 429), "a/one", "b/two")
		w.want(Selection{}, "I am c/three", "a/one", "b/two", "c/three")
		want := []string{"ask a/one", "persist b/two", "ask b/two", "rollback b/two", "persist c/three", "ask c/three", "landed c/three"}
		if diff := cmp.Diff(want, w.session.events); diff != "" {
			t.Error(diff)
		}
		if o := w.session.override; o == nil || o.Ref != ref("c/three") || o.Origin != ref("a/one") || o.Reason != ReasonRateLimit {
			t.Errorf("%+v", o)
		}
	})
}

// A session on a fallback stays there, tries what was selected every five
// minutes, and returns when it answers.
func TestPrimaryIsProbedEveryFiveMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		down := fault(model.ClassRateLimit, 429)
		w.failing(down, "a/one")
		w.want(Selection{Session: "s"}, "I am b/two", "a/one", "b/two")
		auto := Selection{Ref: ref("b/two"), Source: SourceAuto, Origin: ref("a/one"), Reason: ReasonRateLimit, Session: "s"}
		w.want(auto, "I am b/two", "b/two")
		<-time.After(4 * time.Minute) // of the fake clock
		w.want(auto, "I am b/two", "b/two")
		<-time.After(time.Minute) // of the fake clock
		w.want(auto, "I am b/two", "a/one", "b/two")
		w.want(auto, "I am b/two", "b/two")
		other := auto
		other.Session = "another"
		w.want(other, "I am b/two", "a/one", "b/two")
		<-time.After(5 * time.Minute) // of the fake clock
		w.failing(down)
		w.session.landings = nil
		w.want(auto, "I am a/one", "a/one")
		if l := w.session.landings; len(l) != 1 || l[0].Active != l[0].Selected || l[0].Reason != "" {
			t.Errorf("%+v", l)
		}
	})
}

// An automatic override in the place of what is the default no more gives way.
func TestOverrideOfAnOldDefaultIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.failing(nil)
		w.want(Selection{Ref: ref("b/two"), Source: SourceAuto, Origin: ref("old/one"), Reason: ReasonBilling, Session: "s"}, "I am a/one",
			"a/one")
		if l := w.session.landings; len(l) != 1 || l[0].Selected != ref("a/one") || l[0].Reason != "" {
			t.Errorf("%+v", l)
		}
	})
}

// The reason that a sticky fallback shows is the one for which it was chosen.
func TestStickyFallbackKeepsItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.engine.probes.tried("s", ref("a/one"), time.Now())
		w.failing(nil)
		w.want(Selection{Ref: ref("b/two"), Source: SourceAuto, Origin: ref("a/one"), Reason: ReasonBilling, Session: "s"}, "I am b/two", "b/two")
		if l := w.session.landings; len(l) != 1 || l[0].Selected != ref("a/one") || l[0].Reason != ReasonBilling {
			t.Errorf("%+v", l)
		}
		if len(w.session.events) != 2 {
			t.Errorf("nothing is to be written: %v", w.session.events)
		}
	})
}

// A person's /model during a run is followed at the next attempt, directly.
func TestLiveSwitchJumpsToTheSelectedModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model = func(r, _ string, _ int, _ model.Request, yield func(model.Event) bool) error {
			if r == "a/one" {
				w.session.pending = &Selection{Ref: ref("c/three"), Source: SourceUser}
				return fault(model.ClassRateLimit, 429)
			}
			return say(yield, "I am "+r)
		}
		w.want(Selection{}, "I am c/three", "a/one", "c/three")
		if w.session.override != nil {
			t.Errorf("a live switch writes no override: %+v", w.session.override)
		}
		// between two requests of one turn
		w.failing(nil)
		target, err := w.engine.Begin(t.Context(), Selection{}, &w.session)
		if err != nil {
			t.Fatal(err)
		}
		w.session.pending = &Selection{Ref: ref("x/other"), Source: SourceUser}
		if got, err := w.stream(target, model.Request{}); err != nil || got != "I am x/other" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// A model that the person chose meanwhile and that fails is reported.
func TestLiveSwitchIsStrict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model = func(r, _ string, _ int, _ model.Request, yield func(model.Event) bool) error {
			if r == "a/one" {
				w.session.pending = &Selection{Ref: ref("x/mine"), Source: SourceUser}
			}
			return fault(model.ClassRateLimit, 429)
		}
		_, err := w.ask(Selection{})
		if err == nil {
			t.Error("answered")
		}
		w.called("a/one", "x/mine")
	})
}

// The decision log names every step in flat fields.
func TestDecisionLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.failing(fault(model.ClassBilling, 402), "a/one")
		w.want(Selection{Session: "s"}, "I am b/two", "a/one", "b/two")
		var got []string
		for line := range strings.Lines(w.log.String()) {
			var m map[string]any
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(m["msg"], " ", m["decision"], " ", m["fallbackStepFromModel"], " ", m["fallbackStepToModel"], " ",
				m["fallbackStepFromFailureReason"], " ", m["fallbackStepFromFailureDetail"], " ", m["fallbackStepFinalOutcome"]))
		}
		want := []string{
			"model_fallback_decision candidate_failed a/one b/two billing said billing next_fallback",
			"model_fallback_decision candidate_succeeded a/one b/two billing said billing succeeded",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// The summary tells each attempt, and the moment at which the first account of
// this chain is free for its model: blocks of other models do not count.
func TestSummaryIsModelAware(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.Fallbacks = refs("b/two")
		now := time.Now()
		w.accounts.list = map[string][]AccountState{"a": {{ID: "a:1", Until: now.Add(30 * time.Minute), Reason: ReasonRateLimit}},
			"b": {{ID: "b:1"}}}
		w.accounts.models = map[string]time.Time{
			"b:1 other": now.Add(time.Minute), "b:1 two": now.Add(10 * time.Minute),
		}
		_, err := w.ask(Selection{})
		s := summaryOf(t, err)
		if want := now.Add(10 * time.Minute); !s.Soonest.Equal(want) {
			t.Errorf("soonest %v, want %v", s.Soonest, want)
		}
		if len(s.Attempts) != 2 || !s.Attempts[0].Skipped || s.Shared() != ReasonRateLimit {
			t.Errorf("%+v", s.Attempts)
		}
		w.called()
		// of two blocks of one account the later counts
		w.accounts.models["b:1 two"] = now.Add(40 * time.Minute)
		_, err = w.ask(Selection{})
		if s := summaryOf(t, err); !s.Soonest.Equal(now.Add(30 * time.Minute)) {
			t.Errorf("soonest %v", s.Soonest)
		}
	})
}
