package failover

import (
	"fmt"
	"strings"
	"time"
)

// SummaryError says that every candidate failed (FallbackSummaryError of the
// page).
type SummaryError struct {
	Attempts []Attempt
	// Soonest is when the first of the accounts of this chain is no longer
	// blocked for its model; zero when nobody knows.
	Soonest time.Time
	Last    error // of the last candidate that was asked; may be nil
}

func (e *SummaryError) Error() string {
	parts := make([]string, 0, len(e.Attempts))
	for _, a := range e.Attempts {
		s := fmt.Sprintf("%s: %s", a.Ref, a.Reason)
		if a.Account != "" {
			s = fmt.Sprintf("%s (%s): %s", a.Ref, a.Account, a.Reason)
		}
		if a.Skipped {
			s += ", skipped"
		}
		if a.Detail != "" && !a.Skipped {
			s += ", " + a.Detail
		}
		parts = append(parts, s)
	}
	s := fmt.Sprintf("all models failed (%d attempts): %s", len(e.Attempts), strings.Join(parts, " | "))
	if !e.Soonest.IsZero() {
		s += "; the soonest is back at " + e.Soonest.UTC().Format(time.RFC3339)
	}
	return s
}

func (e *SummaryError) Unwrap() error { return e.Last }

// Shared is the reason that all attempts have in common, empty when there are
// several.
func (e *SummaryError) Shared() Reason {
	var r Reason
	for _, a := range e.Attempts {
		if r != "" && a.Reason != r {
			return ""
		}
		r = a.Reason
	}
	return r
}

// soonest is the first moment at which an account of the chain is free for its
// own model: blocks of other models do not count, and of several blocks on one
// account the last does (Candidates tells it so).
func (r *Run) soonest() time.Time {
	var best time.Time
	now := r.e.o.Now()
	for _, ref := range r.chain {
		for _, a := range r.candidates(ref) {
			if a.Until.After(now) && (best.IsZero() || a.Until.Before(best)) {
				best = a.Until
			}
		}
	}
	return best
}
