package provider

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
)

// exhausted puts a chain of models that all failed into words.
func exhausted(s *failover.SummaryError, ref model.Ref) (message, kind string) {
	models := modelsOf(s)
	if len(models) == 1 { // whose accounts all failed, or rest
		err := s.Last
		if err == nil {
			err = &model.Error{Class: classes()[s.Attempts[0].Reason], Ref: s.Attempts[0].Ref}
		}
		message, kind = Explain(err, ref)
		if s.Soonest.IsZero() {
			return message, kind
		}
		// One text, in which other languages find the message, of however many sentences.
		return fmt.Sprintf("%s It is asked again from %s on.", message, moment(s.Soonest)), kind
	}
	what, kind := "No model could answer", KindUnknown
	switch s.Shared() {
	case failover.ReasonRateLimit:
		what, kind = "All models are temporarily rate-limited", KindRateLimit
	case failover.ReasonOverloaded:
		what = "All models are overloaded right now"
	case failover.ReasonBilling:
		what = "No model service has credit left"
	case failover.ReasonAuth:
		what = "No model service accepted its key"
	case failover.ReasonTimeout:
		what, kind = "No model service could be reached, or all were silent", KindTimeout
	}
	said := append([]string{what + "."}, models...)
	if s.Soonest.IsZero() {
		said = append(said, exhaustedAdvice(s))
	} else {
		said = append(said, fmt.Sprintf("The soonest is back at %s. Send the message again then, or pick another model.", moment(s.Soonest)))
	}
	return strings.Join(said, " "), kind
}

// classes are the failures for which an account rests.
func classes() map[failover.Reason]model.Class {
	return map[failover.Reason]model.Class{
		failover.ReasonAuth: model.ClassAuth, failover.ReasonBilling: model.ClassBilling, failover.ReasonRateLimit: model.ClassRateLimit,
		failover.ReasonOverloaded: model.ClassOverloaded, failover.ReasonTimeout: model.ClassTimeout,
	}
}

func exhaustedAdvice(s *failover.SummaryError) string {
	far := func(a failover.Attempt) bool { known, ok := lookup(a.Ref.Provider); return !ok || !known.local }
	switch s.Shared() {
	case failover.ReasonAuth:
		return "Check the keys in Settings, or pick another model."
	case failover.ReasonBilling:
		return "Add credit in one of your accounts, or pick another model."
	case failover.ReasonTimeout:
		if nearby(s.Last) || !slices.ContainsFunc(s.Attempts, far) {
			break
		}
		return "Check the internet connection and send the message again."
	}
	return "Send the message again in a minute, or pick another model."
}

// modelsOf is a sentence for each model that was tried, with why it failed last.
func modelsOf(s *failover.SummaryError) (out []string) {
	var order []model.Ref
	last := map[model.Ref]failover.Attempt{}
	for _, a := range s.Attempts {
		if !slices.Contains(order, a.Ref) {
			order = append(order, a.Ref)
		}
		last[a.Ref] = a
	}
	for i, ref := range order {
		if i == manyNames {
			return append(out, fmt.Sprintf("There are %d more that could not answer.", len(order)-i))
		}
		// Each begins with a word of its own: by that it is found in other languages.
		if why := last[ref].Reason.Words(); last[ref].Skipped {
			out = append(out, fmt.Sprintf("Not asked was %s (%s).", ref, why))
		} else {
			out = append(out, fmt.Sprintf("Asked was %s (%s).", ref, why))
		}
	}
	return out
}

// moment is a time with its day.
func moment(at time.Time) string { return at.Local().Format("15:04 on 2 Jan") }
