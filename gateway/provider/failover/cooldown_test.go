package failover

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// What happens to a candidate all of whose accounts rest.
func TestCooldownSkipOrProbe(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	resting := func(why Reason, d time.Duration) []AccountState {
		return []AccountState{{ID: "a:1", Until: now.Add(d), Reason: why}}
	}
	for name, c := range map[string]struct {
		s          situation
		ask, probe bool
	}{
		"a free account":                   {situation{accounts: []AccountState{{ID: "a:1"}}}, true, false},
		"no account is needed":             {situation{}, true, false},
		"auth skips the service at once":   {situation{accounts: resting(ReasonAuth, time.Minute), primary: true}, false, false},
		"billing skips a fallback":         {situation{accounts: resting(ReasonBilling, time.Hour), sibling: true}, false, false},
		"billing of the primary is probed": {situation{accounts: resting(ReasonBilling, time.Hour), primary: true}, true, true},
		"on a throttle": {situation{accounts: resting(ReasonBilling, time.Hour), primary: true, throttled: true}, false,
			false},
		"a primary far from its end is skipped": {situation{accounts: resting(ReasonRateLimit, 10*time.Minute), primary: true}, false, false},
		"near its end it is probed":             {situation{accounts: resting(ReasonRateLimit, 90*time.Second), primary: true}, true, true},
		"on a throttle too": {situation{accounts: resting(ReasonRateLimit, 90*time.Second), primary: true, throttled: true},
			false, false},
		"a sibling after a rate limit":      {situation{accounts: resting(ReasonRateLimit, 10*time.Minute), sibling: true}, true, true},
		"a sibling after overload":          {situation{accounts: resting(ReasonOverloaded, 10*time.Minute), sibling: true}, true, true},
		"a sibling after something unknown": {situation{accounts: resting(ReasonUnknown, 10*time.Minute), sibling: true}, true, true},
		"a sibling after auth":              {situation{accounts: resting(ReasonAuth, 10*time.Minute), sibling: true}, false, false},
		"one probe a service a run": {situation{accounts: resting(ReasonRateLimit, time.Minute), sibling: true, probed: true}, false,
			false},
		"another service is skipped": {situation{accounts: resting(ReasonRateLimit, time.Minute)}, false, false},
		"the only model is asked all the same": {situation{accounts: resting(ReasonRateLimit, time.Hour), primary: true, sole: true}, true,
			true},
		"also after auth": {situation{accounts: resting(ReasonAuth, time.Hour), primary: true, sole: true}, true, true},
		"also without credit": {situation{accounts: resting(ReasonBilling, time.Hour), primary: true, sole: true,
			throttled: true}, true, true},
		"a block that has just ended is none": {situation{accounts: resting(ReasonRateLimit, 0), primary: true}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			c.s.now = now
			if v := decide(c.s); v.ask != c.ask || v.probe != c.probe {
				t.Errorf("%+v", v)
			}
		})
	}
}

// Whatever rests: a free account is always asked and never behind a resting
// one, and what is asked is one of the candidate's own.
func TestCooldownProperties(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	rapid.Check(t, func(rt *rapid.T) {
		s := situation{now: now, primary: rapid.Bool().Draw(rt, "primary"), sole: rapid.Bool().Draw(rt, "sole"),
			sibling: rapid.Bool().Draw(rt, "sibling"), throttled: rapid.Bool().Draw(rt, "throttled"), probed: rapid.Bool().Draw(rt, "probed")}
		free := rapid.IntRange(0, 3).Draw(rt, "free")
		for i := range free {
			s.accounts = append(s.accounts, AccountState{ID: fmt.Sprint("free", i)})
		}
		for i := range rapid.IntRange(0, 4).Draw(rt, "resting") {
			s.accounts = append(s.accounts, AccountState{ID: fmt.Sprint("rests", i), Until: now.Add(time.Duration(i+1) * time.Minute),
				Reason: rapid.SampledFrom([]Reason{ReasonAuth, ReasonBilling, ReasonRateLimit, ReasonOverloaded, ReasonUnknown}).Draw(rt, "why")})
		}
		v := decide(s)
		switch {
		case free > 0 && (!v.ask || v.probe || len(v.accounts) != free):
			rt.Fatalf("%d free, but %+v", free, v)
		case v.probe && (len(v.accounts) != 1 || !s.sole && (s.probed || v.accounts[0].Reason == ReasonAuth)):
			rt.Fatalf("a wrong probe: %+v of %+v", v, s)
		case !v.ask && len(s.accounts) == 0:
			rt.Fatal("a service without accounts is always asked")
		}
	})
}

// A candidate whose accounts rest is skipped without a call, and its reason is
// why the fallback answers.
func TestRestingPrimaryIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.failing(nil)
		w.accounts.list = map[string][]AccountState{"a": {{ID: "a:1"}}}
		w.accounts.rest("a", ReasonRateLimit, time.Hour)
		w.want(Selection{}, "I am b/two", "b/two")
		if l := w.session.landings; len(l) != 1 || l[0].Reason != ReasonRateLimit || l[0].Selected != ref("a/one") {
			t.Errorf("%+v", l)
		}
	})
}

// A service that is probed once is not probed again within half a minute.
func TestPrimaryProbeNearExpiryIsThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.failing(fault(model.ClassRateLimit, 429), "a/one")
		w.accounts.list = map[string][]AccountState{"a": {{ID: "a:1"}}}
		w.accounts.rest("a", ReasonRateLimit, 100*time.Second)
		w.want(Selection{}, "I am b/two", "a/one@a:1", "b/two")
		w.want(Selection{}, "I am b/two", "b/two")
		<-time.After(31 * time.Second) // of the fake clock
		w.failing(nil)
		w.want(Selection{}, "I am a/one", "a/one@a:1")
	})
}

// A sibling of a model that is limited may answer although the account rests,
// but only one of them is tried.
func TestSiblingsAndOneTransientProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.Fallbacks = refs("a/mini", "a/nano", "b/two")
		w.failing(fault(model.ClassRateLimit, 429), "a/mini", "a/nano")
		w.accounts.list = map[string][]AccountState{"a": {{ID: "a:1"}}}
		w.accounts.rest("a", ReasonRateLimit, time.Hour)
		w.want(Selection{}, "I am b/two", "a/mini@a:1", "b/two")
	})
}

// A limit of one model leaves its siblings free.
func TestModelScopedCooldown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.Fallbacks = refs("a/mini")
		w.failing(nil)
		w.accounts.list = map[string][]AccountState{"a": {{ID: "a:1"}}}
		w.accounts.models = map[string]time.Time{"a:1 one": time.Now().Add(time.Hour)}
		w.want(Selection{}, "I am a/mini", "a/mini@a:1")
	})
}

// How many accounts of a service are tried, by what went wrong.
func TestAccountRotation(t *testing.T) {
	for name, c := range map[string]struct {
		err      error
		settings Settings
		want     []string
	}{
		"a wrong key: all of them": {fault(model.ClassAuth, 401), Settings{}, []string{"a/one@a:1", "a/one@a:2", "a/one@a:3", "b/two"}},
		"no credit: all of them":   {fault(model.ClassBilling, 402), Settings{}, []string{"a/one@a:1", "a/one@a:2", "a/one@a:3", "b/two"}},
		"a rate limit: one more": {fault(model.ClassRateLimit, 429), Settings{RateLimitedRotations: 1},
			[]string{"a/one@a:1", "a/one@a:2", "b/two"}},
		"as configured": {fault(model.ClassRateLimit, 429), Settings{RateLimitedRotations: 2},
			[]string{"a/one@a:1", "a/one@a:2", "a/one@a:3", "b/two"}},
		"overloaded: one more": {fault(model.ClassOverloaded, 529), Settings{OverloadedRotations: 1},
			[]string{"a/one@a:1", "a/one@a:2", "b/two"}},
		"overloaded: none": {fault(model.ClassOverloaded, 529), Settings{RateLimitedRotations: 1}, []string{"a/one@a:1", "b/two"}},
		"silence: as overloaded": {fault(model.ClassTimeout, 0), Settings{OverloadedRotations: 1},
			[]string{"a/one@a:1", "a/one@a:2", "b/two"}},
		"a model that is not there: no": {fault(model.ClassNoModel, 404), Settings{OverloadedRotations: 1}, []string{"a/one@a:1", "b/two"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.settings.RateLimitedRotations, w.settings.OverloadedRotations = c.settings.RateLimitedRotations, c.settings.OverloadedRotations
				w.failing(c.err, "a/one")
				w.accounts.list = map[string][]AccountState{"a": {{ID: "a:1"}, {ID: "a:2"}, {ID: "a:3"}}}
				start := time.Now()
				w.want(Selection{}, "I am b/two", c.want...)
				if took := time.Since(start); took != 0 {
					t.Errorf("it waited %v", took)
				}
			})
		})
	}
}

// overloadedBackoffMs is the pause before another account.
func TestOverloadedBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.OverloadedBackoff = 700 * time.Millisecond
		w.failing(fault(model.ClassOverloaded, 529), "a/one")
		w.accounts.list = map[string][]AccountState{"a": {{ID: "a:1"}, {ID: "a:2"}}}
		start := time.Now()
		w.want(Selection{}, "I am b/two", "a/one@a:1", "a/one@a:2", "b/two")
		if took := time.Since(start); took != 700*time.Millisecond {
			t.Errorf("it waited %v", took)
		}
	})
}

// The person's account is the only one; if it fails, the next model answers.
func TestPinnedAccounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.failing(fault(model.ClassRateLimit, 429), "a/one")
		w.accounts.list = map[string][]AccountState{"a": {{ID: "a:1"}, {ID: "a:2"}}}
		w.want(Selection{Pin: Pinned{ID: "a:2", User: true}}, "I am b/two", "a/one@a:2", "b/two")
		// one that is gone is asked for, so that the failure tells of it
		w.want(Selection{Pin: Pinned{ID: "a:9", User: true}}, "I am b/two", "a/one@a:9", "b/two")
		// an automatic one is a preference
		w.want(Selection{Pin: Pinned{ID: "a:2"}}, "I am b/two", "a/one@a:2", "a/one@a:1", "b/two")
		// with a model of the person's own, nothing else answers
		if _, err := w.ask(Selection{Ref: ref("a/one"), Source: SourceUser, Pin: Pinned{ID: "a:2", User: true}}); err == nil {
			t.Error("answered")
		}
	})
}

// What is held against an account, and what not.
func TestWhatIsHeldAgainstAnAccount(t *testing.T) {
	for _, c := range []struct {
		class model.Class
		want  bool
	}{
		{model.ClassAuth, true}, {model.ClassBilling, true}, {model.ClassRateLimit, true}, {model.ClassOverloaded, true},
		{model.ClassServer, true},
		{model.ClassTimeout, true}, {model.ClassConnect, false}, {model.ClassInterrupted, false}, {model.ClassEmpty, false},
		{model.ClassNoModel, false},
		{model.ClassInvalid, false}, {model.ClassContext, false}, {model.ClassRefusal, false},
	} {
		t.Run(string(c.class), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.failing(fault(c.class, 400), "a/one")
				w.accounts.list = map[string][]AccountState{"a": {{ID: "a:1"}}}
				_, _ = w.ask(Selection{})
				var want []string
				if c.want {
					want = []string{"a:1 one " + string(c.class)}
				}
				if diff := cmp.Diff(want, w.accounts.fails); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// An answer clears its account.
func TestAnAnswerClearsTheAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.failing(nil)
		w.accounts.list = map[string][]AccountState{"a": {{ID: "a:1"}}}
		w.want(Selection{}, "I am a/one", "a/one@a:1")
		if diff := cmp.Diff([]string{"a:1 one"}, w.accounts.good); diff != "" {
			t.Error(diff)
		}
	})
}
