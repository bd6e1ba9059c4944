package failover

import (
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

const (
	// fastBudget keeps the first word of a fallback within two seconds of the
	// failure.
	fastBudget = 1200 * time.Millisecond
	// slowBudget bounds the repeats where nothing else could answer.
	slowBudget = 30 * time.Second
	// loadingBudget is how long a model on this computer may load.
	loadingBudget = time.Minute
	loadingPause  = 2 * time.Second
	maxRepeats    = 3
)

// trouble is what the pause before a repeat depends on.
type trouble struct {
	class   model.Class
	asked   time.Duration // by the service
	done    int           // repeats of this candidate and account so far
	since   time.Duration // since the first of them began
	others  bool          // another account or model could answer
	loading bool          // a model on this computer comes up
	maxWait time.Duration
	jitter  float64 // from 0 to 1
}

// pause says how long to wait before the same is asked again; ok is false when
// it is not.
func (t trouble) pause() (d time.Duration, ok bool) {
	switch t.class {
	case model.ClassRateLimit:
		return t.obey()
	case model.ClassOverloaded:
		switch {
		case t.asked > 0:
			return t.obey()
		case t.loading:
			return t.jittered(loadingPause), t.since < loadingBudget
		case t.others:
			return 0, false
		}
		return t.backoff(300*time.Millisecond, slowBudget)
	case model.ClassServer:
		if t.asked > 0 {
			return t.obey()
		}
		if t.others {
			return t.backoff(150*time.Millisecond, fastBudget)
		}
		return t.backoff(300*time.Millisecond, slowBudget)
	case model.ClassConnect, model.ClassInterrupted, model.ClassEmpty:
		return t.jittered(300 * time.Millisecond), t.done == 0
	}
	return 0, false
}

// obey waits once for as long as the service asks, when that is short.
func (t trouble) obey() (time.Duration, bool) {
	return t.asked, t.asked > 0 && t.asked <= t.maxWait && t.done == 0
}

// backoff grows threefold, at most three times, within a budget.
func (t trouble) backoff(first, budget time.Duration) (time.Duration, bool) {
	d := first
	for range t.done {
		d *= 3
	}
	d = t.jittered(d)
	return d, t.done < maxRepeats && t.since+d <= budget
}

// jittered is from half of d to all of it.
func (t trouble) jittered(d time.Duration) time.Duration {
	return d/2 + time.Duration(t.jitter*float64(d/2))
}

// rotations is how many further accounts of a service are tried after a
// failure of this kind; -1 means all of them.
func (s Settings) rotations(c model.Class) int {
	switch c {
	case model.ClassAuth, model.ClassBilling:
		return -1
	case model.ClassRateLimit:
		return s.RateLimitedRotations
	case model.ClassOverloaded, model.ClassServer, model.ClassTimeout:
		return s.OverloadedRotations
	}
	return 0 // another account would meet the same
}
