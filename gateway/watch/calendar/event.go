package calendar

import (
	"cmp"
	"strings"
	"time"

	"github.com/emersion/go-ical"

	"github.com/hearth-assistant/hearth/gateway/watch"
)

// maxRepeats is of how many events that repeat the next time is looked for.
const maxRepeats = 2000

// events are those of a calendar.
func (s *Calendar) events(c *ical.Calendar, f *watch.Found) {
	now, repeats := s.Now(), 0
	for _, e := range c.Events() {
		prop := func(name string) string { v, _ := e.Props.Text(name); return strings.TrimSpace(v) }
		raw := func(name string) string {
			if p := e.Props.Get(name); p != nil {
				return p.Value
			}
			return ""
		}
		uid := prop(ical.PropUID)
		if uid == "" {
			uid = watch.Sum(prop(ical.PropSummary), raw(ical.PropDateTimeStart))
		}
		if at := raw(ical.PropRecurrenceID); at != "" {
			uid += "@" + at
		}
		title := cmp.Or(prop(ical.PropSummary), "an event without a name")
		when := s.when(&e)
		text := strings.Join(said(when, prop(ical.PropLocation), prop(ical.PropDescription), prop(ical.PropStatus)), "\n")
		f.Items = append(f.Items, watch.Item{
			ID: uid, Title: title + behind(", ", when), Text: text, Link: prop(ical.PropURL),
			Version: watch.Sum(title, text, raw(ical.PropSequence), raw(ical.PropDateTimeEnd), raw(ical.PropRecurrenceRule),
				raw(ical.PropExceptionDates)),
		})
		if s.Ahead == 0 || strings.EqualFold(prop(ical.PropStatus), "CANCELLED") {
			continue
		}
		if raw(ical.PropRecurrenceRule) != "" {
			if repeats++; repeats > maxRepeats {
				continue
			}
		}
		s.soon(&e, uid, title, text, now, f)
	}
}

// when says when an event begins, "" for nobody knows.
func (s *Calendar) when(e *ical.Event) string {
	at, err := e.DateTimeStart(s.Zone())
	if err != nil || at.IsZero() {
		return ""
	}
	if p := e.Props.Get(ical.PropDateTimeStart); len(p.Value) == len("20060102") {
		return at.Format("Monday 2 January 2006")
	}
	return at.In(s.Zone()).Format("Monday 2 January 2006 at 15:04")
}

// soon adds an event that begins soon as an item of its own, which is new then and
// silently gone when it has begun.
func (s *Calendar) soon(e *ical.Event, uid, title, text string, now time.Time, f *watch.Found) {
	at, ok := s.next(e, now)
	if !ok {
		return
	}
	if left := at.Sub(now); left > s.Ahead {
		if wait := left - s.Ahead; f.Again == 0 || wait < f.Again {
			f.Again = wait
		}
		return
	}
	words := at.In(s.Zone()).Format("15:04 on Monday 2 January")
	f.Items = append(f.Items, watch.Item{
		ID: "soon " + uid + " " + at.UTC().Format(time.RFC3339), Version: "1", Title: title + " begins at " + words, Text: text, Quiet: true,
	})
}

// next is when an event begins next; a repeating one is looked at as far as it is
// told ahead, and a day beyond.
func (s *Calendar) next(e *ical.Event, now time.Time) (time.Time, bool) {
	start, err := e.DateTimeStart(s.Zone())
	if err != nil || start.IsZero() {
		return time.Time{}, false
	}
	rule := e.Props.Get(ical.PropRecurrenceRule)
	if rule == nil {
		return start, start.After(now)
	}
	for _, often := range []string{"SECONDLY", "MINUTELY", "HOURLY", "BYSECOND", "BYMINUTE", "BYHOUR", "BYSETPOS"} {
		if strings.Contains(strings.ToUpper(rule.Value), often) { // nobody's appointment, and costly to count
			return start, start.After(now)
		}
	}
	if start.Year() < 1970 || start.After(now.AddDate(1, 0, 0)) {
		return start, start.After(now)
	}
	set, err := e.RecurrenceSet(s.Zone())
	if err != nil || set == nil {
		return time.Time{}, false
	}
	for _, at := range set.Between(now, now.Add(s.Ahead+24*time.Hour), false) {
		return at, true
	}
	return time.Time{}, false
}

func said(parts ...string) (out []string) {
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			if len(p) > maxDetail {
				p = strings.ToValidUTF8(p[:maxDetail], "")
			}
			out = append(out, p)
		}
	}
	return out
}

func behind(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}
