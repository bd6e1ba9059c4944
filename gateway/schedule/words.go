package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Style is how a person reads times.
type Style struct {
	Zone     *time.Location
	Twelve   bool   // 3:04 PM instead of 15:04
	ZoneName string // as it is said
}

func (st Style) clock(h, m int) string {
	t := time.Date(2000, 1, 1, h, m, 0, 0, time.UTC)
	if st.Twelve {
		return t.Format("3:04 PM")
	}
	return t.Format("15:04")
}

// Moment says when an instant is: "Friday 27 November 2026 at 09:00".
func (st Style) Moment(ms int64) string {
	t := time.UnixMilli(ms).In(st.Zone)
	return t.Format("Monday 2 January 2006 at ") + st.clock(t.Hour(), t.Minute())
}

// Words says a schedule as a person would.
func Words(s protocol.CronSchedule, st Style) string {
	switch s.Kind {
	case protocol.CronAt:
		t, err := Instant(s.At)
		if err != nil {
			return s.At
		}
		return "once, on " + st.Moment(t.UnixMilli())
	case protocol.CronEvery:
		w := "every " + Span(time.Duration(s.EveryMs)*time.Millisecond)
		if !byDays(s) {
			return w
		}
		if z, err := Zone(s.TZ); err == nil {
			at := time.UnixMilli(*s.AnchorMs).In(z)
			w += " at " + st.clock(at.Hour(), at.Minute())
		}
		if s.TZ != st.ZoneName {
			w += " (" + s.TZ + ")"
		}
		return w
	case protocol.CronExpr:
		w := expression(s.Expr, st)
		if s.TZ != "" && s.TZ != st.ZoneName {
			w += " (" + s.TZ + ")"
		}
		return w
	case protocol.CronOnExit:
		return "when a command ends"
	case protocol.CronStream:
		return "when a program says something"
	case protocol.CronWatch:
		return watched(s.Watch)
	}
	return s.Kind
}

// watched says what is watched.
func watched(w *protocol.CronWatched) string {
	if w == nil {
		return "when something changes"
	}
	what := cmp.Or(w.Path, w.URL)
	switch w.Source {
	case protocol.WatchFile:
		if w.Match != "" {
			what += " (" + w.Match + ")"
		}
	case protocol.WatchFeed:
		what = "the feed " + what
	case protocol.WatchCalendar:
		what = "the calendar " + what
	case protocol.WatchMail:
		return "when mail comes for " + w.User
	case protocol.WatchOutput:
		what = "what `" + strings.Join(w.Argv, " ") + "` prints"
	}
	return "when " + what + " changes"
}

// Span says a duration: "20 minutes", "1 hour 30 minutes".
func Span(d time.Duration) string {
	var parts []string
	for _, u := range []struct {
		d    time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		n := d / u.d
		if d -= n * u.d; n == 0 {
			continue
		}
		if n == 1 {
			parts = append(parts, "1 "+u.name)
		} else {
			parts = append(parts, fmt.Sprintf("%d %ss", n, u.name))
		}
	}
	if len(parts) == 0 {
		return "moment"
	}
	if len(parts) == 1 {
		return strings.TrimPrefix(parts[0], "1 ") // every minute
	}
	return strings.Join(parts, " ")
}

var weekdayNames = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}

// expression says the cron expressions that people write; others stay as they are.
func expression(expr string, st Style) string {
	raw := "by " + expr
	f := strings.Fields(expr)
	if len(f) == 6 && f[0] == "0" {
		f = f[1:]
	}
	if len(f) != 5 || f[3] != "*" {
		return raw
	}
	if f[1] == "*" && f[2] == "*" && f[4] == "*" {
		if n, ok := strings.CutPrefix(f[0], "*/"); ok {
			if k, err := strconv.Atoi(n); err == nil && k > 0 && 60%k == 0 {
				return "every " + Span(time.Duration(k)*time.Minute)
			}
		}
		switch m, err := strconv.Atoi(f[0]); {
		case f[0] == "*":
			return "every minute"
		case err == nil && m == 0:
			return "every hour"
		case err == nil:
			return fmt.Sprintf("every hour at minute %d", m)
		}
		return raw
	}
	m, err := strconv.Atoi(f[0])
	if err != nil {
		return raw
	}
	var times []string
	for h := range strings.SplitSeq(f[1], ",") {
		n, err := strconv.Atoi(h)
		if err != nil || n > 23 {
			return raw
		}
		times = append(times, st.clock(n, m))
	}
	at := " at " + and(times)
	switch day, err := strconv.Atoi(f[2]); {
	case f[2] == "*" && f[4] == "*":
		return "every day" + at
	case f[2] == "*":
		if days := weekdaysOf(f[4]); days != "" {
			return days + at
		}
	case f[2] == "L" && f[4] == "*":
		return "on the last day of each month" + at
	case err == nil && f[4] == "*":
		return "on the " + ordinal(day) + " of each month" + at
	}
	return raw
}

// weekdaysOf says which days of the week, "" for what is not plain.
func weekdaysOf(v string) string {
	var days []int
	for p := range strings.SplitSeq(strings.ToLower(v), ",") {
		a, b, span := strings.Cut(p, "-")
		from, ok := weekday(a)
		to, ok2 := from, true
		if span {
			to, ok2 = weekday(b)
		}
		if !ok || !ok2 || from > to {
			return ""
		}
		for d := from; d <= to; d++ {
			days = append(days, d%7)
		}
	}
	slices.Sort(days)
	days = slices.Compact(days)
	switch {
	case slices.Equal(days, []int{1, 2, 3, 4, 5}):
		return "every weekday"
	case slices.Equal(days, []int{0, 6}):
		return "every Saturday and Sunday"
	case len(days) == 7:
		return "every day"
	}
	if days[0] == 0 { // a week begins on Monday
		days = append(days[1:], 0)
	}
	var names []string
	for _, d := range days {
		names = append(names, weekdayNames[d])
	}
	return "every " + and(names)
}

// weekday reads 0 to 7 or a name.
func weekday(v string) (int, bool) {
	if n, err := strconv.Atoi(v); err == nil {
		return n, n >= 0 && n <= 7
	}
	if len(v) < 3 {
		return 0, false
	}
	for i, name := range weekdayNames {
		if name = strings.ToLower(name); v == name || v == name[:3] || v == name+"s" {
			return i, true
		}
	}
	return 0, false
}

func and(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

func ordinal(n int) string {
	switch {
	case n%10 == 1 && n != 11:
		return fmt.Sprintf("%dst", n)
	case n%10 == 2 && n != 12:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3 && n != 13:
		return fmt.Sprintf("%drd", n)
	}
	return fmt.Sprintf("%dth", n)
}

// Warning says that a time of a day is one that the clock shows twice, or not at
// all, when it is changed within the year after a moment; "" for all others.
func (s *Schedule) Warning(after int64) string {
	if s.expr == nil || s.expr.Often() {
		return ""
	}
	at := time.UnixMilli(after).In(s.zone)
	for end := at.AddDate(1, 0, 0); ; {
		_, next := at.ZoneBounds()
		if next.IsZero() || next.After(end) {
			return ""
		}
		_, was := next.Add(-time.Second).Zone()
		_, is := next.Zone()
		if was != is && s.within(next, time.Duration(was-is)*time.Second) {
			return fmt.Sprintf("On %s the clock is changed at this time: it runs once then, at the first of two, or right after the gap.",
				next.Format("2 January 2006"))
		}
		at = next
	}
}

// within reports whether a slot falls into what a change of the clock repeats
// (back > 0) or leaves out.
func (s *Schedule) within(change time.Time, back time.Duration) bool {
	from, to := change.Add(-back), change
	if back < 0 {
		from, to = change.Add(-time.Second), change
	}
	slot, err := s.expr.Next(from.Add(-time.Millisecond))
	if err != nil || slot.After(to) {
		return false
	}
	if back > 0 {
		return slot.Before(to)
	}
	if !slot.Equal(change) {
		return false
	}
	next, err := s.expr.Next(change.AddDate(0, 0, 1)) // is it the end of the gap by itself?
	return err != nil || next.Hour() != change.Hour() || next.Minute() != change.Minute()
}
