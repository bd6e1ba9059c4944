// Package cronexpr reads cron expressions and says when they are next due.
//
// Five fields (minute hour day month weekday) or six (seconds first); *, lists,
// ranges, steps, names (jan, mon), 7 for Sunday, L and LW and 15W in the day,
// 5L and 1#2 in the weekday, and @hourly, @daily, @weekly, @monthly, @yearly.
// When day and weekday are both restricted, either is enough; a weekday that
// begins with + must hold as well (0 9 15 * +1: the 15th if it is a Monday).
//
// Clocks that are put forward or back. A schedule whose hour field is * or */n
// goes by real time: it runs whenever the wall shows a matching time, in an
// hour that happens twice therefore twice, and never in an hour that does not
// happen. Any other schedule names times of a day, and each of them is due once
// a day: at the first of two, and when the wall never shows it, at the first
// instant after the gap (several such times are one).
package cronexpr

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Schedule is a parsed expression. The zero value is never due.
type Schedule struct {
	sec, min, hour uint64
	dom, month     uint64
	dow            uint64
	nth            [7]uint8 // weekday → bit n: only the n-th of the month; bit 6: the last
	lastDay        bool     // L
	nearest        []int    // 15W; -1 = LW
	domStar        bool
	dowStar        bool
	and            bool // weekday with +
	running        bool // goes by real time
}

// errNever is of expressions such as the 31st of February.
var errNever = errors.New("no date ever matches it")

// MaxLength bounds an expression, in bytes.
const MaxLength = 512

// Parse reads an expression.
func Parse(expr string) (*Schedule, error) {
	if len(expr) > MaxLength {
		return nil, fmt.Errorf("the expression has %d bytes, at most %d are read", len(expr), MaxLength)
	}
	if a, ok := alias[strings.ToLower(strings.TrimSpace(expr))]; ok {
		expr = a
	}
	f := strings.Fields(expr)
	if len(f) == 5 {
		f = append([]string{"0"}, f...)
	}
	if len(f) != 6 {
		return nil, fmt.Errorf("it has %d of five fields (minute hour day month weekday), or of six with seconds first", len(f))
	}
	s := &Schedule{running: strings.HasPrefix(f[2], "*")}
	for _, r := range []struct {
		to     *uint64
		name   string
		v      string
		lo, hi int
		names  string
	}{
		{&s.sec, "seconds", f[0], 0, 59, ""}, {&s.min, "minute", f[1], 0, 59, ""},
		{&s.hour, "hour", f[2], 0, 23, ""}, {&s.month, "month", f[4], 1, 12, months},
	} {
		m, err := field(r.v, r.lo, r.hi, r.names)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		*r.to = m
	}
	if err := s.days(f[3]); err != nil {
		return nil, fmt.Errorf("day: %w", err)
	}
	if err := s.weekdays(f[5]); err != nil {
		return nil, fmt.Errorf("weekday: %w", err)
	}
	return s, nil
}

// days reads the day of the month.
func (s *Schedule) days(v string) (err error) {
	s.domStar = v == "*" || v == "?"
	var plain []string
	for p := range strings.SplitSeq(v, ",") {
		u := strings.ToUpper(p)
		switch {
		case u == "L":
			s.lastDay = true
		case u == "LW" || u == "WL":
			s.nearest = append(s.nearest, -1)
		case strings.HasSuffix(u, "W"):
			n, err := strconv.Atoi(strings.TrimSuffix(u, "W"))
			if err != nil || n < 1 || n > 31 {
				return fmt.Errorf("%q is no day", p)
			}
			s.nearest = append(s.nearest, n)
		default:
			plain = append(plain, strings.ReplaceAll(p, "?", "*"))
		}
	}
	if len(plain) > 0 {
		s.dom, err = field(strings.Join(plain, ","), 1, 31, "")
	}
	return err
}

// weekdays reads the day of the week.
func (s *Schedule) weekdays(v string) error {
	if strings.HasPrefix(v, "+") {
		s.and, v = true, v[1:]
	}
	s.dowStar = v == "*" || v == "?"
	for p := range strings.SplitSeq(strings.ReplaceAll(v, "?", "*"), ",") {
		base, n, hash := strings.Cut(p, "#")
		last := !hash && len(p) > 1 && strings.HasSuffix(strings.ToUpper(p), "L")
		if last {
			base = p[:len(p)-1]
		}
		m, err := field(base, 0, 7, weekdays)
		if err != nil {
			return err
		}
		m = m&^(1<<7) | m>>7&1
		if !hash && !last {
			s.dow |= m
			continue
		}
		bit := uint8(1) << 6
		if k, err := strconv.Atoi(n); hash {
			if err != nil || k < 1 || k > 5 {
				return fmt.Errorf("%q is no weekday", p)
			}
			bit = 1 << k
		}
		for d := range 7 {
			if m>>d&1 == 1 {
				s.nth[d] |= bit
			}
		}
	}
	return nil
}

// Next is the first time after t, in t's location, at which s is due.
func (s *Schedule) Next(t time.Time) (time.Time, error) {
	loc := t.Location()
	y, mo, d := t.Date()
	for range 366 * 29 { // a 29 February on a given weekday comes within 28 years, 40 over a century
		if s.month>>uint(mo)&1 == 0 {
			y, mo, d = time.Date(y, mo+1, 1, 12, 0, 0, 0, time.UTC).Date()
			continue
		}
		if s.day(y, mo, d) {
			if n, ok := s.onDay(y, mo, d, t, loc); ok {
				return n, nil
			}
		}
		y, mo, d = time.Date(y, mo, d+1, 12, 0, 0, 0, time.UTC).Date()
	}
	return time.Time{}, errNever
}

// onDay finds the first due instant after t of a local date.
func (s *Schedule) onDay(y int, mo time.Month, d int, t time.Time, loc *time.Location) (best time.Time, ok bool) {
	plain, bestHour := plain(y, mo, d, loc), 0
	take := func(c time.Time, h int) {
		if c.After(t) && (!ok || c.Before(best)) {
			best, bestHour, ok = c, h, true
		}
	}
	for h := range each(s.hour) {
		if ok && h > bestHour+3 { // no clock moves by more than three hours
			break
		}
		if time.Date(y, mo, d, h+4, 0, 0, 0, loc).Before(t) {
			continue
		}
		for m := range each(s.min) {
			for sec := range each(s.sec) {
				a, b, shown := instants(y, mo, d, h, m, sec, loc)
				if shown || !s.running {
					take(a, h)
				}
				if shown && s.running && !b.IsZero() {
					take(b, h)
				}
				if ok && plain {
					return best, true
				}
			}
		}
	}
	return best, ok
}

// plain reports that no clock changes on a date, so that candidates come in order.
func plain(y int, mo time.Month, d int, loc *time.Location) bool {
	_, o1 := time.Date(y, mo, d, 0, 0, 0, 0, loc).Add(-3 * time.Hour).Zone()
	_, o2 := time.Date(y, mo, d+1, 0, 0, 0, 0, loc).Add(3 * time.Hour).Zone()
	return o1 == o2
}

// instants says when the wall shows a time: at a, and perhaps again at b. When
// it never does, shown is false and a is the first instant after the gap.
func instants(y int, mo time.Month, d, h, m, sec int, loc *time.Location) (a, b time.Time, shown bool) {
	wall := time.Date(y, mo, d, h, m, sec, 0, time.UTC)
	_, before := wall.Add(-26 * time.Hour).In(loc).Zone()
	_, after := wall.Add(26 * time.Hour).In(loc).Zone()
	shows := func(off int) (time.Time, bool) {
		c := wall.Add(-time.Duration(off) * time.Second).In(loc)
		_, got := c.Zone()
		return c, got == off
	}
	x, okx := shows(before)
	z, okz := shows(after)
	switch {
	case okx && okz && !x.Equal(z):
		if z.Before(x) {
			x, z = z, x
		}
		return x, z, true
	case okx:
		return x, time.Time{}, true
	case okz:
		return z, time.Time{}, true
	}
	start, _ := x.ZoneBounds() // x fell behind the gap: its zone began at the gap's end
	return start.In(loc), time.Time{}, false
}

func (s *Schedule) day(y int, mo time.Month, d int) bool {
	if s.month>>uint(mo)&1 == 0 {
		return false
	}
	last := time.Date(y, mo+1, 0, 0, 0, 0, 0, time.UTC).Day()
	wd := int(time.Date(y, mo, d, 0, 0, 0, 0, time.UTC).Weekday())
	dom := s.dom>>uint(d)&1 == 1 || s.lastDay && d == last
	for _, n := range s.nearest {
		dom = dom || d == nearest(y, mo, n, last)
	}
	dow := s.dow>>uint(wd)&1 == 1
	if k := s.nth[wd]; k != 0 {
		dow = dow || k>>uint((d+6)/7)&1 == 1 || k>>6&1 == 1 && d+7 > last
	}
	switch {
	case s.domStar:
		return dow
	case s.dowStar:
		return dom
	case s.and:
		return dom && dow
	}
	return dom || dow
}

// nearest is the weekday next to the n-th, within the month; n = -1 is the last day.
func nearest(y int, mo time.Month, n, last int) int {
	if n == -1 {
		n = last
	}
	if n > last {
		return 0
	}
	switch time.Date(y, mo, n, 0, 0, 0, 0, time.UTC).Weekday() {
	case time.Saturday:
		if n == 1 {
			return 3
		}
		return n - 1
	case time.Sunday:
		if n == last {
			return n - 2
		}
		return n + 1
	}
	return n
}

func field(v string, lo, hi int, names string) (m uint64, err error) {
	for _, p := range strings.Split(v, ",") {
		span, step, stepped := strings.Cut(p, "/")
		from, to := lo, hi
		if span != "*" {
			a, b, isRange := strings.Cut(span, "-")
			if from, err = value(a, names, lo); err != nil {
				return 0, err
			}
			switch {
			case isRange:
				if to, err = value(b, names, lo); err != nil {
					return 0, err
				}
			case !stepped:
				to = from
			}
		}
		n := 1
		if stepped {
			if n, err = strconv.Atoi(step); err != nil || n < 1 || n > hi {
				return 0, fmt.Errorf("step %q", p)
			}
		}
		if from < lo || to > hi || from > to {
			return 0, fmt.Errorf("%q is not within %d-%d", p, lo, hi)
		}
		for i := from; i <= to; i += n {
			m |= 1 << i
		}
	}
	return m, nil
}

func value(v, names string, lo int) (int, error) {
	if i := strings.Index(names, strings.ToLower(v)); names != "" && len(v) == 3 && i >= 0 && i%3 == 0 {
		return i/3 + lo, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is no number", v)
	}
	return n, nil
}

func each(m uint64) func(func(int) bool) {
	return func(yield func(int) bool) {
		for ; m != 0; m &= m - 1 {
			if !yield(bits.TrailingZeros64(m)) {
				return
			}
		}
	}
}

const (
	months   = "janfebmaraprmayjunjulaugsepoctnovdec"
	weekdays = "sunmontuewedthufrisat"
)

var alias = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *",
	"@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

// FullHours reports whether it is due at full hours of a day that it does not
// name: the times that everybody chooses.
func (s *Schedule) FullHours() bool { return s.running && s.min == 1 && s.sec == 1 }

// Crowded reports whether it is due several times within a minute.
func (s *Schedule) Crowded() bool { return bits.OnesCount64(s.sec) > 1 }

// Often reports whether it goes by real time: its hours are * or */n.
func (s *Schedule) Often() bool { return s.running }
