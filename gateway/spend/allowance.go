package spend

import (
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// Allowance is what may be spent; 0 means without a limit.
type Allowance struct {
	Daily, Monthly Nano
	Currency       string
}

// Any reports whether there is a limit.
func (a Allowance) Any() bool { return a.Daily > 0 || a.Monthly > 0 }

// Level is how things stand.
type Level int

const (
	Free    Level = iota // no limit, or far from it
	Sparing              // the cheap model answers
	Used                 // nothing that costs is asked
)

// sparingAt is when the cheap model takes over, in percent.
const sparingAt = 80

// Standing is how things stand, with the limit that is nearest.
type Standing struct {
	Level    Level
	Period   string // "today" or "this month"
	Spent    Nano
	Limit    Nano
	Day      Nano // spent today
	Month    Nano
	Currency string
	Ends     time.Time // of the period
}

// Standing adds up what was spent today and this month.
func (l *Ledger) Standing(tx *store.Tx) (Standing, error) {
	now := l.o.Now().In(l.o.Zone())
	today := now.Format(time.DateOnly)
	a := l.o.Allowance()
	s := Standing{Currency: a.Currency}
	for row, err := range l.days.Scan(tx, store.Range{Prefix: []byte(today[:len("2026-03-")])}) {
		if err != nil {
			return s, fmt.Errorf("read the ledger: %w", err)
		}
		s.Month += row.Value.Cost()
		if string(row.Key) == today {
			s.Day = row.Value.Cost()
		}
	}
	y, m, d := now.Date()
	s.nearest("today", s.Day, a.Daily, time.Date(y, m, d+1, 0, 0, 0, 0, now.Location()))
	s.nearest("this month", s.Month, a.Monthly, time.Date(y, m+1, 1, 0, 0, 0, 0, now.Location()))
	return s, nil
}

// nearest keeps the limit of which most is used.
func (s *Standing) nearest(period string, spent, limit Nano, ends time.Time) {
	if limit <= 0 {
		return
	}
	level := Free
	switch {
	case spent >= limit:
		level = Used
	case spent >= limit/100*sparingAt:
		level = Sparing
	}
	if s.Limit > 0 && (level < s.Level || level == s.Level && float64(spent)/float64(limit) <= float64(s.Spent)/float64(s.Limit)) {
		return
	}
	s.Level, s.Period, s.Spent, s.Limit, s.Ends = level, period, spent, limit, ends
}

// Tell reports whether a session is still to be told today of how things
// stand: once a day and level.
func (l *Ledger) Tell(session string, level Level) bool {
	mark := fmt.Sprint(l.dayOf(l.o.Now()), level)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told[session] == mark {
		return false
	}
	l.told[session] = mark
	return true
}

// maxPasses bounds what repeated clicks may add up to.
const maxPasses = 3

// Pass lets one more run go beyond the allowance.
func (l *Ledger) Pass() {
	l.mu.Lock()
	l.passes = min(l.passes+1, maxPasses)
	l.mu.Unlock()
	l.Wake()
}

// TakePass gives a run a pass; ok is false when there is none. The run keeps it
// for all its calls.
func (l *Ledger) TakePass(run string) (ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.passed[run] {
		return true
	}
	if l.passes == 0 {
		return false
	}
	l.passes--
	l.passed[run] = true
	return true
}

// HasPass reports whether a run was given a pass.
func (l *Ledger) HasPass(run string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.passed[run]
}

// Changed is closed when what may be spent may have changed: whoever waits for
// it looks again.
func (l *Ledger) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.change
}

// Wake lets everybody who waits look again. It does not block.
func (l *Ledger) Wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.change)
	l.change = make(chan struct{})
}

// Money writes an amount for people.
func Money(n Nano, currency string) string {
	if n != 0 && n < nanos/100 && n > -nanos/100 {
		return fmt.Sprintf("%.4f %s", n.Units(), currency)
	}
	return fmt.Sprintf("%.2f %s", n.Units(), currency)
}
