package provider

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
)

// A chain that is exhausted says what happened, why and when to come back.
func TestExhaustedWords(t *testing.T) {
	at := time.Date(2026, 3, 4, 14, 5, 0, 0, time.Local)
	one, two := model.Ref{Provider: "anthropic", Model: "claude"}, model.Ref{Provider: "openai", Model: "gpt"}
	attempt := func(r model.Ref, why failover.Reason) failover.Attempt { return failover.Attempt{Ref: r, Reason: why} }
	for name, c := range map[string]struct {
		err  *failover.SummaryError
		kind string
		want string
	}{
		"limited": {&failover.SummaryError{Attempts: []failover.Attempt{attempt(one, "rate_limit"), attempt(two, "rate_limit")}, Soonest: at},
			KindRateLimit,
			"All models are temporarily rate-limited. Asked was anthropic/claude (rate limit). Asked was openai/gpt (rate limit). The soonest is " +
				"back at 14:05 on 4 Mar. Send the message again then, or pick another model."},
		"mixed": {&failover.SummaryError{Attempts: []failover.Attempt{attempt(one, "billing"), attempt(two, "auth")}}, KindUnknown,
			"No model could answer. Asked was anthropic/claude (no credit left). Asked was openai/gpt (key not accepted). Send the message again " +
				"in a minute, or pick another model."},
		"keys": {&failover.SummaryError{Attempts: []failover.Attempt{attempt(one, "auth"), attempt(two, "auth")}}, KindUnknown,
			"No model service accepted its key. Asked was anthropic/claude (key not accepted). Asked was openai/gpt (key not accepted). Check the " +
				"keys in Settings, or pick another model."},
		"one that rests": {
			&failover.SummaryError{Attempts: []failover.Attempt{{Ref: one, Reason: "billing", Skipped: true}, attempt(two, "timeout")}},
			KindUnknown, "No model could answer. Not asked was anthropic/claude (no credit left). Asked was openai/gpt (no answer). Send the " +
				"message"},
		"one model, two accounts": {&failover.SummaryError{Attempts: []failover.Attempt{attempt(one, "rate_limit"), attempt(one, "rate_limit")},
			Soonest: at,
			Last:    &model.Error{Class: model.ClassRateLimit, Ref: one}}, KindRateLimit, "Anthropic limits how much you may ask"},
		"one model that rests": {&failover.SummaryError{Attempts: []failover.Attempt{{Ref: one, Reason: "billing", Skipped: true}}, Soonest: at},
			KindUnknown,
			"Anthropic says that there is no credit left for this request. Add credit in your account there, or pick another model. It is asked " +
				"again from 14:05 on 4 Mar on."},
	} {
		t.Run(name, func(t *testing.T) {
			got, kind := Explain(fmt.Errorf("run: %w", c.err), one)
			if !strings.HasPrefix(got, c.want) || kind != c.kind {
				t.Errorf("%s: %q", kind, got)
			}
		})
	}
	if !errors.Is(fmt.Errorf("%w", &failover.SummaryError{Last: errors.ErrUnsupported}), errors.ErrUnsupported) {
		t.Error("the last failure is lost")
	}
}
