package failover

import (
	"time"
)

const (
	// probeMargin before a block ends its primary may be probed.
	probeMargin = 2 * time.Minute
	// probeEvery is how often one service may be probed while it is blocked.
	probeEvery = 30 * time.Second
)

// verdict is what happens to one candidate.
type verdict struct {
	ask      bool
	probe    bool           // although all its accounts are blocked
	accounts []AccountState // to try, in order; none: the service needs none
	reason   Reason         // of the block
	until    time.Time      // the soonest end of it
}

// situation is what the verdict depends on.
type situation struct {
	accounts  []AccountState
	now       time.Time
	primary   bool // it is the requested model
	sole      bool // nothing else could answer
	sibling   bool // of the requested model, in the same service
	throttled bool // the service was probed a moment ago
	probed    bool // this run has probed the service already
}

// decide says whether a candidate is asked, probed or skipped.
func decide(s situation) verdict {
	if len(s.accounts) == 0 {
		return verdict{ask: true}
	}
	free := 0
	for free < len(s.accounts) && !s.accounts[free].Until.After(s.now) {
		free++
	}
	if free > 0 { // blocked ones stand last
		return verdict{ask: true, accounts: s.accounts[:free:free]}
	}
	block := worst(s.accounts)
	v := verdict{reason: block.Reason, until: soonest(s.accounts).Until}
	if v.ask = mayProbe(s, v); v.ask {
		v.probe, v.accounts = true, []AccountState{block}
	}
	return v
}

// mayProbe: every account is blocked.
func mayProbe(s situation, v verdict) bool {
	switch {
	case s.sole:
		return true // the person may have mended it, and waits for an answer
	case v.reason == ReasonAuth:
		return false
	case v.reason == ReasonBilling:
		return s.primary && !s.throttled && !s.probed
	case s.probed:
		return false // one a service a run, so that it does not stall the others
	case s.primary:
		return !s.throttled && !s.now.Before(v.until.Add(-probeMargin))
	}
	return s.sibling
}

// worst is the block that decides: a transient one may be probed, and of these
// the one that ends first.
func worst(list []AccountState) AccountState {
	best := list[0]
	for _, a := range list[1:] {
		switch {
		case rank(a) > rank(best), rank(a) == rank(best) && a.Until.Before(best.Until):
			best = a
		}
	}
	return best
}

func rank(a AccountState) int {
	switch a.Reason {
	case ReasonAuth:
		return 0
	case ReasonBilling:
		return 1
	}
	return 2
}

func soonest(list []AccountState) AccountState {
	best := list[0]
	for _, a := range list[1:] {
		if a.Until.Before(best.Until) {
			best = a
		}
	}
	return best
}
