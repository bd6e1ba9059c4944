package failover

import (
	"context"
	"log/slog"
)

// The decision log: one structured line for each decision, with flat
// fallbackStep* fields, so that the way of a failed turn can be read back.

const decisionMessage = "model_fallback_decision"

func (r *Run) log(ctx context.Context, level slog.Level, decision string, more ...any) {
	args := []any{
		"decision", decision, "session", r.sel.Session, "source", string(r.sel.Source),
		"requestedProvider", r.chain[0].Provider, "requestedModel", r.chain[0].Model,
	}
	if r.at < len(r.chain) {
		args = append(args, "candidateProvider", r.ref().Provider, "candidateModel", r.ref().Model, "attempt", r.at+1)
	}
	args = append(args, "total", len(r.chain))
	r.e.o.Logger.Log(ctx, level, decisionMessage, append(args, more...)...)
}

// step are the fields of one transition.
func (r *Run) step(a Attempt, to, outcome string) []any {
	return []any{
		"fallbackStepType", "fallback_step", "fallbackStepFromModel", a.Ref.String(), "fallbackStepToModel", to,
		"fallbackStepFromFailureReason", string(a.Reason), "fallbackStepFromFailureDetail", a.Detail,
		"fallbackStepChainPosition", r.at + 1, "fallbackStepFinalOutcome", outcome,
	}
}

// next is where a failed candidate leads.
func (r *Run) nextModel() (to, outcome string) {
	if r.at+1 < len(r.chain) {
		return r.chain[r.at+1].String(), "next_fallback"
	}
	return "", "chain_exhausted"
}

func (r *Run) logFailure(ctx context.Context, a Attempt) {
	to, outcome := r.nextModel()
	if len(r.accounts) > 1 {
		to, outcome = a.Ref.String(), "next_account"
	}
	args := []any{"profile", a.Account, "reason", string(a.Reason), "status", a.Status, "error", a.Detail, "tookMs", a.Took.Milliseconds()}
	r.log(ctx, slog.LevelWarn, "candidate_failed", append(args, r.step(a, to, outcome)...)...)
}

func (r *Run) logSkip(ctx context.Context, a Attempt) {
	to, outcome := r.nextModel()
	args := []any{"reason", string(a.Reason), "until", a.Until}
	r.log(ctx, slog.LevelInfo, "skip_candidate", append(args, r.step(a, to, outcome)...)...)
}

func (r *Run) logProbe(ctx context.Context, v verdict) {
	r.log(ctx, slog.LevelInfo, "probe_cooldown_candidate", "profile", r.account(), "reason", string(v.reason), "until", v.until)
}

// logLanded is silent where nothing failed: that is every ordinary turn.
func (r *Run) logLanded(ctx context.Context, l Landing) {
	if len(r.attempts) == 0 {
		return
	}
	last := r.attempts[len(r.attempts)-1]
	args := append([]any{"profile", l.Account, "selected", l.Selected.String()}, r.step(last, l.Active.String(), "succeeded")...)
	r.log(ctx, slog.LevelInfo, "candidate_succeeded", args...)
}

func (r *Run) logExhausted(ctx context.Context, s *SummaryError) {
	var last Attempt
	if n := len(s.Attempts); n > 0 {
		last = s.Attempts[n-1]
	}
	args := append([]any{"attempts", len(s.Attempts), "soonest", s.Soonest}, r.step(last, "", "chain_exhausted")...)
	r.log(ctx, slog.LevelWarn, "chain_exhausted", args...)
}

func (r *Run) logSwitch(ctx context.Context, from interface{ String() string }) {
	r.log(ctx, slog.LevelInfo, "live_switch", "from", from.String(), "reason", string(ReasonLiveSwitch))
}
