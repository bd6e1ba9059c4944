// Package schedule says when something is due: at a moment, again and again, or
// by a cron expression (package cronexpr). A due moment is a slot; its planned
// instant in milliseconds is its name, so that a slot never happens twice. The
// package asks no clock and keeps nothing.
package schedule

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/cronexpr"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const (
	// Shortest is how often something may be due at most.
	Shortest = time.Second
	// hourly is within how much of a full hour jobs of every hour begin, so that
	// not all of a gateway's do at once.
	hourly = 5 * time.Minute
	// latest is the last moment that is planned: clients read dates up to there.
	latest = 8_640_000_000_000_000
)

// Schedule is a schedule that was understood.
type Schedule struct {
	kind   string
	at     int64
	every  int64
	anchor int64
	expr   *cronexpr.Schedule
	zone   *time.Location
	offset int64 // stagger
	days   int   // every so many days of a zone, at the time of day of the anchor, which expr has
}

// Options of Compile.
type Options struct {
	ID      string         // of the job: it decides where in its stagger it stands
	Zone    *time.Location // the person's, for expressions that name none
	Created int64          // from when intervals are counted that name nothing else
}

// ErrNoTime: schedules of this kind are due by what happens, not by the clock.
var ErrNoTime = errors.New("it is due by what happens, not by the clock")

// Compile understands a schedule. Its errors are for people.
func Compile(s protocol.CronSchedule, o Options) (*Schedule, error) {
	out := &Schedule{kind: s.Kind}
	switch s.Kind {
	case protocol.CronAt:
		t, err := Instant(s.At)
		if err != nil {
			return nil, err
		}
		out.at = t.UnixMilli()
	case protocol.CronEvery:
		if s.EveryMs < Shortest.Milliseconds() || s.EveryMs > latest {
			return nil, fmt.Errorf("everyMs is %d: it has to be at least %d, one second", s.EveryMs, Shortest.Milliseconds())
		}
		out.every, out.anchor = s.EveryMs, o.Created
		if s.AnchorMs != nil {
			out.anchor = *s.AnchorMs
		}
		if byDays(s) {
			return out, out.calendar(s)
		}
	case protocol.CronExpr:
		if err := out.expression(s, o); err != nil {
			return nil, err
		}
	case protocol.CronOnExit, protocol.CronStream, protocol.CronWatch:
		return nil, ErrNoTime
	default:
		return nil, fmt.Errorf("there is no kind of schedule called %q; kinds are at, every, cron, on-exit, stream and watch", s.Kind)
	}
	return out, nil
}

// byDays reports whether an interval is one of whole days of a zone: they are counted by
// the calendar, so that the time of the day stays what it is when clocks are changed.
func byDays(s protocol.CronSchedule) bool {
	return s.Kind == protocol.CronEvery && s.TZ != "" && s.AnchorMs != nil && s.EveryMs%(24*time.Hour).Milliseconds() == 0
}

// calendar understands an interval of whole days of a zone.
func (out *Schedule) calendar(s protocol.CronSchedule) (err error) {
	if out.zone, err = Zone(s.TZ); err != nil {
		return err
	}
	at := time.UnixMilli(out.anchor).In(out.zone)
	out.days, out.every = int(s.EveryMs/(24*time.Hour).Milliseconds()), 0
	out.expr, err = cronexpr.Parse(fmt.Sprintf("%d %d %d * * *", at.Second(), at.Minute(), at.Hour()))
	return err
}

// onDays is the first slot after a moment of an interval of whole days.
func (s *Schedule) onDays(after int64) (slot int64, ok bool) {
	y, m, d := time.UnixMilli(s.anchor).In(s.zone).Date()
	first := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	at := time.UnixMilli(max(after, s.anchor-1)).In(s.zone)
	for range 3 { // a day that is left out by the count is followed by one that is not
		next, err := s.expr.Next(at)
		if err != nil {
			return 0, false
		}
		y, m, d = next.Date()
		over := int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Sub(first).Hours()/24) % s.days
		if over == 0 {
			return next.UnixMilli(), true
		}
		at = time.Date(y, m, d+s.days-over, 0, 0, 0, 0, s.zone).Add(-time.Millisecond)
	}
	return 0, false
}

func (out *Schedule) expression(s protocol.CronSchedule, o Options) (err error) {
	if out.expr, err = cronexpr.Parse(s.Expr); err != nil {
		return fmt.Errorf("the expression %q cannot be read: %w", s.Expr, err)
	}
	if out.zone = o.Zone; out.zone == nil {
		out.zone = time.UTC
	}
	if tz := strings.TrimSpace(s.TZ); tz != "" {
		if out.zone, err = Zone(tz); err != nil {
			return err
		}
	}
	window := int64(0)
	switch {
	case s.StaggerMs != nil && *s.StaggerMs >= 0:
		window = *s.StaggerMs
	case out.expr.FullHours():
		window = hourly.Milliseconds()
	}
	if window > 0 {
		h := fnv.New64a()
		h.Write([]byte(o.ID))
		out.offset = int64(h.Sum64() % uint64(window))
	}
	return nil
}

// Zone is a time zone by its name, whose letters may be small or capital ones. Its error
// is for people.
func Zone(name string) (*time.Location, error) {
	said := strings.TrimSpace(name)
	for _, n := range []string{said, zoneCase(said), strings.ToUpper(said)} {
		if z, err := time.LoadLocation(n); err == nil && n != "Local" && n != "" {
			return z, nil
		}
	}
	return nil, fmt.Errorf("there is no time zone called %q; zones are called like Europe/Berlin", clip(name))
}

// zoneCase writes the name of a zone as zones are written: Africa/Dar_es_Salaam.
func zoneCase(name string) string {
	var out strings.Builder
	word := ""
	add := func() {
		if small := word == "of" || word == "es" || word == "au" || word == "in"; word != "" && !small {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		out.WriteString(word)
		word = ""
	}
	for _, r := range strings.ToLower(name) {
		if strings.ContainsRune("/_-", r) {
			add()
			out.WriteRune(r)
			continue
		}
		word += string(r)
	}
	add()
	return out.String()
}

// Calm refuses an expression that comes more often than once a minute, as nothing that
// people plan does. Its error is for people.
func (s *Schedule) Calm() error {
	if s.expr == nil || !s.expr.Crowded() {
		return nil
	}
	return errors.New("no job repeats more often than once a minute, and this expression names several seconds of a minute; " +
		"name one of them, or leave the seconds out: five fields are minute, hour, day, month and weekday")
}

// Next is the first slot after a moment, both in milliseconds since 1970; ok is
// false when there is none.
func (s *Schedule) Next(after int64) (slot int64, ok bool) {
	switch {
	case s.kind == protocol.CronAt:
		return s.at, s.at > after
	case s.days > 0:
		if slot, ok = s.onDays(after); !ok {
			return 0, false
		}
	case s.every > 0:
		slot = s.anchor + s.every
		if n := (after - s.anchor) / s.every; after >= s.anchor {
			slot = s.anchor + (n+1)*s.every
		}
	default:
		at, err := s.expr.Next(time.UnixMilli(after - s.offset).In(s.zone))
		if err != nil {
			return 0, false
		}
		slot = at.UnixMilli() + s.offset
	}
	return slot, slot > after && slot < latest
}

// Slots are the next n slots after a moment.
func (s *Schedule) Slots(after int64, n int) []int64 {
	out := []int64{}
	for len(out) < n {
		slot, ok := s.Next(after)
		if !ok {
			break
		}
		out = append(out, slot)
		after = slot
	}
	return out
}

// Count is how many slots lie after one moment up to and with another, at most
// limit, and the last of them, also where there are more.
func (s *Schedule) Count(after, until int64, limit int) (n int, last int64) {
	if s.every > 0 && until > after {
		first, ok := s.Next(after)
		if !ok || first > until {
			return 0, 0
		}
		k := (until - first) / s.every
		return int(min(k+1, int64(limit))), first + k*s.every
	}
	for n < limit {
		slot, ok := s.Next(after)
		if !ok || slot > until {
			break
		}
		n, last, after = n+1, slot, slot
	}
	if n == limit && n > 0 {
		last = s.newest(last, until)
	}
	return n, last
}

// newest is the last slot up to and with a moment, known that slot is one that is
// not later.
func (s *Schedule) newest(slot, until int64) int64 {
	for back := int64(time.Minute / time.Millisecond); until-back > slot; back *= 4 {
		if next, ok := s.Next(until - back); ok && next <= until {
			slot = next
			break
		}
	}
	for {
		next, ok := s.Next(slot)
		if !ok || next > until {
			return slot
		}
		slot = next
	}
}

// Period is the time between the two slots that follow a moment; 0 when there are
// not two.
func (s *Schedule) Period(at int64) time.Duration {
	if two := s.Slots(at, 2); len(two) == 2 {
		return time.Duration(two[1]-two[0]) * time.Millisecond
	}
	return 0
}

// Once reports whether there is only one slot.
func (s *Schedule) Once() bool { return s.kind == protocol.CronAt }

// Zone is whose times an expression names, nil for other kinds.
func (s *Schedule) Zone() *time.Location { return s.zone }

// CatchUp is what becomes of missed slots where nobody said it: a moment is always
// made up for; what is due daily or rarer once, within half of its period and
// twelve hours; what is due more often than hourly never.
func (s *Schedule) CatchUp(at int64) (mode string, within time.Duration) {
	if s.Once() {
		return "once", 0
	}
	p := s.Period(at)
	if p < time.Hour {
		return "skip", 0
	}
	return "once", min(p/2, 12*time.Hour)
}

// Instant reads a moment: RFC 3339, or a date and time without a zone, which is
// UTC.
func Instant(v string) (time.Time, error) {
	v = strings.TrimSpace(v)
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04",
		time.DateOnly,
	} {
		if t, err := time.Parse(layout, v); err == nil && t.Year() >= 1970 && t.UnixMilli() < latest {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no moment; write it like 2027-02-01T16:00:00Z", clip(v))
}

func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return s
}
