package profile

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/model"
)

const one = "anthropic:one"

// until is how long the account is blocked for a model.
func (w *world) until(model string) time.Duration {
	w.Helper()
	c := w.Candidates("anthropic", model, Pin{}, w.clock())
	if len(c) != 1 {
		w.Fatalf("candidates are %v", c)
	}
	if !c[0].Blocked() {
		return 0
	}
	return c[0].Until.Sub(w.clock())
}

func TestCooldown_grows(t *testing.T) {
	for _, class := range []model.Class{model.ClassRateLimit, model.ClassAuth, model.ClassOverloaded, model.ClassTimeout, model.ClassServer} {
		w := newWorld(t, Options{})
		w.add(one, APIKey)
		for _, want := range []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute, time.Hour, time.Hour} {
			w.Fail(t.Context(), one, "m", Failure{Class: class})
			if got := w.until("m"); got != want {
				t.Errorf("%s: blocked for %v, want %v", class, got, want)
			}
			w.pass(want + time.Second)
		}
	}
}

func TestCooldown_notTheAccountsFault(t *testing.T) {
	for _, class := range []model.Class{model.ClassInvalid, model.ClassContext, model.ClassNoModel, model.ClassRefusal, model.ClassConnect,
		model.ClassInterrupted, model.ClassMalformed, model.ClassEmpty} {
		w := newWorld(t, Options{})
		w.add(one, APIKey)
		w.Fail(t.Context(), one, "m", Failure{Class: class})
		if got := w.until("m"); got != 0 {
			t.Errorf("%s blocks for %v", class, got)
		}
	}
}

func TestCooldown_manyAtOnceAreOneStep(t *testing.T) {
	w := newWorld(t, Options{})
	w.add(one, APIKey)
	for range 50 {
		w.Fail(t.Context(), one, "m", limited)
	}
	if got := w.until("m"); got != time.Minute {
		t.Errorf("blocked for %v, want a minute", got)
	}
}

func TestCooldown_rateLimitIsOfOneModel(t *testing.T) {
	w := newWorld(t, Options{})
	w.add(one, APIKey)
	w.Fail(t.Context(), one, "big", limited)
	w.pass(10 * time.Second)
	w.Fail(t.Context(), one, "small", limited)
	if w.until("big") != 50*time.Second || w.until("small") != time.Minute || w.until("other") != 0 {
		t.Errorf("blocked: big %v, small %v, other %v", w.until("big"), w.until("small"), w.until("other"))
	}
	if c := w.Candidates("anthropic", "big", Pin{}, w.clock())[0]; c.Scope != ScopeModel || c.Reason != model.ClassRateLimit || c.Disabled {
		t.Errorf("the block is %+v", c)
	}
	w.Succeed(t.Context(), one, "small")
	if w.until("big") == 0 || w.until("small") != 0 {
		t.Error("an answer of one model says nothing about the other's limit")
	}
	w.Fail(t.Context(), one, "", limited)
	if w.until("other") != time.Minute {
		t.Error("a limit of an unknown model is the account's")
	}
}

func TestCooldown_othersAreOfTheAccount(t *testing.T) {
	w := newWorld(t, Options{})
	w.add(one, APIKey)
	w.Fail(t.Context(), one, "big", Failure{Class: model.ClassOverloaded})
	if c := w.Candidates("anthropic", "other", Pin{}, w.clock())[0]; c.Scope != ScopeProfile || !c.Blocked() {
		t.Errorf("the block is %+v", c)
	}
}

func TestCooldown_exactResetTime(t *testing.T) {
	w := newWorld(t, Options{})
	w.add(one, APIKey)
	for _, d := range []time.Duration{20 * time.Second, 70 * time.Hour} {
		w.Fail(t.Context(), one, "m", Failure{Class: model.ClassRateLimit, ResetAt: w.clock().Add(d)})
		if got := w.until("m"); got != d {
			t.Errorf("blocked for %v, want exactly %v", got, d)
		}
		w.pass(d + time.Second)
	}
	w.Fail(t.Context(), one, "m", Failure{Class: model.ClassRateLimit, ResetAt: w.clock().AddDate(9, 0, 0)})
	if got := w.until("m"); got != maxReset {
		t.Errorf("an absurd time blocks for %v", got)
	}
}

func TestFault_F_PROV_05_RetryAfterLengthensTheCooldown(t *testing.T) {
	for _, tt := range []struct{ said, want time.Duration }{
		{0, time.Minute}, {-time.Second, time.Minute}, {30 * time.Second, time.Minute}, {time.Hour, time.Hour}, {24 * time.Hour, 24 * time.Hour},
	} {
		w := newWorld(t, Options{})
		w.add(one, APIKey)
		w.Fail(t.Context(), one, "m", Failure{Class: model.ClassRateLimit, RetryAfter: tt.said})
		if got := w.until("m"); got != tt.want {
			t.Errorf("retry-after %v blocks for %v, want %v", tt.said, got, tt.want)
		}
	}
}

func TestBilling_disablesAllModels(t *testing.T) {
	w := newWorld(t, Options{})
	w.add(one, APIKey)
	for _, want := range []time.Duration{5 * time.Hour, 10 * time.Hour, 20 * time.Hour, 24 * time.Hour, 24 * time.Hour} {
		w.Fail(t.Context(), one, "m", Failure{Class: model.ClassBilling})
		c := w.Candidates("anthropic", "other", Pin{}, w.clock())[0]
		if got := c.Until.Sub(w.clock()); got != want || !c.Disabled || c.Scope != ScopeProfile || c.Reason != model.ClassBilling {
			t.Errorf("disabled for %v (%+v), want %v", got, c, want)
		}
		w.pass(want)
	}
}

func TestBilling_settings(t *testing.T) {
	rules := Cooldowns{BillingBackoff: 2 * time.Hour, BillingBackoffBy: map[string]time.Duration{"anthropic": time.Hour},
		BillingMax: 3 * time.Hour}
	w := newWorld(t, Options{Settings: Settings{Cooldowns: rules}})
	w.add(one, APIKey)
	for _, want := range []time.Duration{time.Hour, 2 * time.Hour, 3 * time.Hour} {
		w.Fail(t.Context(), one, "m", Failure{Class: model.ClassBilling})
		if got := w.until("m"); got != want {
			t.Errorf("disabled for %v, want %v", got, want)
		}
		w.pass(want)
	}
	if got := rules.billing("openai", 1); got != 2*time.Hour {
		t.Errorf("others are disabled for %v", got)
	}
}

func TestPermanentFailureDisables(t *testing.T) {
	w := newWorld(t, Options{})
	w.add(one, APIKey)
	w.Fail(t.Context(), one, "m", Failure{Class: model.ClassAuth, Permanent: true})
	if c := w.Candidates("anthropic", "m", Pin{}, w.clock())[0]; !c.Disabled || c.Reason != model.ClassAuth ||
		c.Until.Sub(w.clock()) != 5*time.Hour {
		t.Errorf("the block is %+v", c)
	}
}

func TestFailureWindow(t *testing.T) {
	for _, window := range []time.Duration{0, 2 * time.Hour} {
		w := newWorld(t, Options{Settings: Settings{Cooldowns: Cooldowns{FailureWindow: window}}})
		w.add(one, APIKey)
		w.Fail(t.Context(), one, "m", limited)
		w.pass(time.Hour)
		w.Fail(t.Context(), one, "m", limited)
		if got := w.until("m"); got != 5*time.Minute {
			t.Errorf("the second failure blocks for %v", got)
		}
		w.pass(5*time.Minute + Cooldowns{FailureWindow: window}.window())
		w.Fail(t.Context(), one, "m", limited)
		if got := w.until("m"); got != time.Minute {
			t.Errorf("after the window %v a failure blocks for %v, want it counted anew", window, got)
		}
	}
}

func TestSucceedEndsBlocks(t *testing.T) {
	w := newWorld(t, Options{})
	w.add(one, APIKey)
	w.Fail(t.Context(), one, "m", Failure{Class: model.ClassBilling})
	w.Fail(t.Context(), one, "m", Failure{Class: model.ClassAuth})
	w.Fail(t.Context(), one, "m", limited)
	w.Succeed(t.Context(), one, "m")
	if got := w.until("m"); got != 0 {
		t.Errorf("still blocked for %v", got)
	}
	saves := w.mem.saves
	w.Succeed(t.Context(), one, "m")
	if w.mem.saves != saves {
		t.Error("a success that changes nothing is written down")
	}
}

func TestStatsSurviveARestart(t *testing.T) {
	w := newWorld(t, Options{})
	w.add(one, APIKey)
	w.Use(t.Context(), one)
	w.Fail(t.Context(), one, "m", limited)
	w.Fail(t.Context(), one, "m", Failure{Class: model.ClassBilling})
	raw, err := json.Marshal(w.mem.rows[one])
	if err != nil {
		t.Fatal(err)
	}
	var again Record
	if err := json.Unmarshal(raw, &again); err != nil {
		t.Fatal(err)
	}
	w.mem.rows[one] = again
	before := w.Candidates("anthropic", "m", Pin{}, w.clock())
	b, err := Open(t.Context(), Options{State: w.mem, Vault: w.mem, Now: w.clock, Settings: Settings{Hosts: hosts}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, b.Candidates("anthropic", "m", Pin{}, w.clock())); diff != "" {
		t.Error(diff)
	}
	if _, err := b.Credential(t.Context(), one, "api.anthropic.com"); err != nil {
		t.Error(err)
	}
}

func TestUsageStats(t *testing.T) {
	w := newWorld(t, Options{})
	w.add(one, APIKey)
	w.Use(t.Context(), one)
	w.Fail(t.Context(), one, "big", limited)
	w.pass(61 * time.Second)
	w.Fail(t.Context(), one, "big", limited)
	w.Fail(t.Context(), one, "m", Failure{Class: model.ClassBilling})
	got, err := w.Accounts()[0].Stats.UsageStats(w.clock())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"lastUsed":1772442000000,"cooldownUntil":1772442361000,"cooldownModel":"big","cooldownReason":"rate_limit","errorCount":2,"disabledUntil":1772460061000,"disabledReason":"billing"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSoonest(t *testing.T) {
	w := newWorld(t, Options{})
	w.add("anthropic:a", APIKey)
	w.add("anthropic:b", APIKey)
	w.Fail(t.Context(), "anthropic:a", "m", Failure{Class: model.ClassBilling})
	if _, ok := w.Soonest("anthropic", "m", w.clock()); ok {
		t.Error("one is free")
	}
	w.Fail(t.Context(), "anthropic:b", "m", limited)
	if at, ok := w.Soonest("anthropic", "m", w.clock()); !ok || at.Sub(w.clock()) != time.Minute {
		t.Errorf("soonest is %v, %v", at, ok)
	}
	if _, ok := w.Soonest("anthropic", "other", w.clock()); ok {
		t.Error("another model's limit does not count")
	}
}
