// Package when reads when something is to happen in the words of a person:
// "on Friday at nine", "in 20 minutes", "every weekday at 8", and the same in
// German and Chinese. It knows common phrases and gives up on others; those are
// for a model. It does not run anything and knows no clock but the one it is
// given.
//
// What a person leaves out is filled in like this. A day without a time is at
// nine, a morning at nine, noon at twelve, an afternoon at three, an evening at
// six, a night at eight. An hour up to twelve without am or pm is the next one of
// the two when no day was named, and with a day the afternoon for one to six,
// unless it was written with minutes or with “Uhr”. What recurs is taken as
// written. Times of the person that a change of clocks leaves out are the first
// instant after it, and of two that are called the same the first.
package when

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Plan is when something happens: At once, every Every from Anchor on, or by a
// cron expression in the person's zone. Exactly one of At, Every and Expr is set.
type Plan struct {
	At     time.Time
	Every  time.Duration
	Anchor time.Time // zero = from now on
	Expr   string
}

// IsZero is true for no plan at all.
func (p Plan) IsZero() bool { return p == Plan{} }

// Recurs is true for what happens more than once.
func (p Plan) Recurs() bool { return p.At.IsZero() }

// Error says in words why a phrase was understood and still is no plan.
type Error string

func (e Error) Error() string { return string(e) }

// TooOften is said of what is to happen again and again, and more often than anything is planned.
const TooOften = Error("No job repeats more often than once a minute.")

// maxText bounds what is looked at, maxPhrase how long a time at the end of a
// message may be: people say when in few words.
const maxText, maxPhrase = 4096, 160

// Read reads text that is nothing but a time. ok is false when it is not
// understood; err is an Error for a time that cannot be. The zone is now's.
func Read(text string, now time.Time) (p Plan, ok bool, err error) {
	if len(text) > maxText {
		return p, false, nil
	}
	var d draft
	end, some := scan(text, 0, &d)
	if !some || end < len(text) {
		return p, false, nil
	}
	return d.plan(now)
}

// Find looks for a time at the beginning or the end of text, or a day there and
// a time here, and returns the rest: what is to happen.
func Find(text string, now time.Time) (p Plan, rest string, ok bool, err error) {
	text = strings.TrimSpace(text)
	if len(text) > maxText {
		return p, text, false, nil
	}
	text = strings.TrimSpace(text[skipAsking(text):])
	var d draft
	at, some := scan(text, 0, &d)
	if !some {
		at, d = 0, draft{}
	}
	rest = text[at:]
	for i := range rest {
		if len(rest)-i > maxPhrase || !begins(rest, i) {
			continue
		}
		more := d
		if end, found := scan(rest, i, &more); found && end == len(rest) {
			d, rest, some = more, rest[:i], true
			break
		}
	}
	if !some {
		return p, text, false, nil
	}
	p, ok, err = d.plan(now)
	return p, tidy(rest), ok, err
}

// begins reports whether a phrase may begin at i: not in the middle of a word.
func begins(text string, i int) bool {
	r, _ := utf8.DecodeRuneInString(text[i:])
	if unicode.IsSpace(r) || unicode.IsPunct(r) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	return i == 0 || unicode.Is(unicode.Han, r) || unicode.Is(unicode.Han, before) || !wordRune(before)
}

func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '/' || r == '-' || r == '.'
}

// tidy is the message without what joined it to the time.
func tidy(rest string) string {
	joint := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;:–—-，；：、。", r) }
	rest = strings.TrimFunc(rest, joint)
	for _, word := range []string{"to ", "that ", "dass ", "daran, ", "daran ", "提醒我", "提醒"} {
		if len(rest) > len(word) && strings.EqualFold(rest[:len(word)], word) {
			return strings.TrimFunc(rest[len(word):], joint)
		}
	}
	return rest
}

// scan reads phrases from byte i on, the longest first, and returns where they
// end, with the blanks behind them.
func scan(text string, i int, d *draft) (end int, some bool) {
	for {
		i = skip(text, i)
		best, then := 0, *d
		for _, r := range rules() {
			m := r.re.FindStringSubmatch(text[i:])
			if m == nil || len(m[0]) <= best || !ends(text[i:], len(m[0])) {
				continue
			}
			next := *d
			if r.take(&next, m) {
				best, then = len(m[0]), next
			}
		}
		if best == 0 {
			return i, some
		}
		*d = then
		i, some = i+best, true
	}
}

func skip(text string, i int) int {
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsSpace(r) && !strings.ContainsRune(",，、", r) {
			break
		}
		i += n
	}
	return i
}

// ends reports whether a word ends at byte n: numbers and Latin words must not
// go on behind a phrase.
func ends(text string, n int) bool {
	last, _ := utf8.DecodeLastRuneInString(text[:n])
	next, size := utf8.DecodeRuneInString(text[n:])
	if size == 0 || unicode.Is(unicode.Han, last) || unicode.Is(unicode.Han, next) {
		return true
	}
	return !unicode.IsLetter(next) && !unicode.IsDigit(next) && next != '/' && next != '_' &&
		!(next == '.' && len(text) > n+1 && text[n+1] >= '0' && text[n+1] <= '9')
}

// plan puts together what was said.
func (d *draft) plan(now time.Time) (p Plan, ok bool, err error) {
	switch {
	case !d.exact.IsZero():
		if !d.exact.After(now) {
			return p, true, Error(fmt.Sprintf("%s is over.", d.exact.In(now.Location()).Format("15:04 on 2 January 2006")))
		}
		return Plan{At: d.exact}, true, nil
	case d.recurs():
		return d.recurring(now)
	case d.in != span{}:
		return d.later(now)
	case !d.hasDay() && !d.hasTime && d.part == 0:
		return p, false, nil
	}
	at, err := d.moment(now)
	return Plan{At: at}, true, err
}

// longest is as far ahead as a plan may be.
const longest = 100 * 365 * 24 * time.Hour

// later is "in three days at nine".
func (d *draft) later(now time.Time) (p Plan, ok bool, err error) {
	if d.hasDay() {
		return p, false, nil
	}
	at := now.Add(d.in.exact)
	if d.in.days != 0 || d.in.months != 0 {
		h, m := at.Hour(), at.Minute()
		if d.hasTime || d.part != 0 {
			h, m = d.clock()
		}
		y, month, day := at.AddDate(0, d.in.months, d.in.days).Date()
		at = local(y, month, day, h, m, now.Location())
	} else if d.hasTime || d.part != 0 {
		return p, false, nil
	}
	if at.Sub(now) > longest || !at.After(now) {
		return p, true, Error("That is too far ahead.")
	}
	return Plan{At: at}, true, nil
}

// moment is one point in time: a day, a time, or both.
func (d *draft) moment(now time.Time) (time.Time, error) {
	h, m := d.clock()
	y, month, day := now.Date()
	on := func(days int) time.Time { return local(y, month, day+days, h, m, now.Location()) }
	if !d.hasDay() {
		at := on(0)
		if d.vague() {
			other := local(y, month, day, (h+12)%24, m, now.Location())
			if !at.After(now) || other.After(now) && other.Before(at) {
				at = other
			}
		}
		if !at.After(now) {
			at = on(1)
			if d.vague() && h >= 12 {
				at = local(y, month, day+1, h-12, m, now.Location())
			}
		}
		return at, nil
	}
	if d.vague() && (h >= 1 && h <= 6 && d.bare) {
		h += 12
	}
	switch {
	case d.weekday != nil:
		days := (int(*d.weekday) - int(now.Weekday()) + 7) % 7
		if d.weekAfter {
			days = 7 - (int(now.Weekday())+6)%7 + (int(*d.weekday)+6)%7
		}
		at := on(days)
		if !at.After(now) || d.next && days == 0 {
			at = on(days + 7)
		}
		return at, nil
	case d.month != 0 || d.date != 0:
		return d.dated(now, h, m)
	}
	at := on(*d.days)
	if !at.After(now) && d.vague() && h < 12 {
		h += 12
		at = on(*d.days)
	}
	if !at.After(now) {
		return at, Error(fmt.Sprintf("%s is over for today.", at.Format("15:04")))
	}
	return at, nil
}

// dated is a date, with its year or the next one of that name.
func (d *draft) dated(now time.Time, h, m int) (time.Time, error) {
	for i := range 50 {
		y, month := now.Year(), d.month
		switch {
		case d.year != 0:
			y = d.year
		case month == 0:
			month = now.Month() + time.Month(i)
		default:
			y += i
		}
		at := local(y, month, d.date, h, m, now.Location())
		if at.Day() != d.date {
			if d.year != 0 {
				return at, Error("There is no such day.")
			}
			continue
		}
		if at.After(now) {
			return at, nil
		}
		if d.year != 0 {
			return at, Error(fmt.Sprintf("%s is over.", at.Format("2 January 2006")))
		}
	}
	return time.Time{}, Error("There is no such day.")
}

// recurring is everything with "every".
func (d *draft) recurring(now time.Time) (p Plan, ok bool, err error) {
	if d.month != 0 || d.in != (span{}) || d.days != nil && *d.days != 0 {
		return p, false, nil
	}
	timed := d.hasTime || d.part != 0
	h, m := d.clock()
	at := strconv.Itoa(m) + " " + strconv.Itoa(h)
	weekdays := d.weekdays
	if d.weekday != nil {
		weekdays |= 1 << *d.weekday
	}
	e := d.every
	switch {
	case e.exact > 0:
		if timed || weekdays != 0 || d.date != 0 {
			return p, false, nil
		}
		if e.exact < time.Minute {
			return p, true, TooOften
		}
		return Plan{Every: e.exact}, true, nil
	case e.months > 1 || e.months == 1 && weekdays != 0:
		return p, false, nil
	case e.months == 1 || d.date != 0:
		return Plan{Expr: fmt.Sprintf("%s %d * *", at, max(d.date, 1))}, true, nil
	case d.weekdays != 0 && e.days > 7:
		return p, false, nil
	case weekdays != 0 && e.days <= 7:
		return Plan{Expr: at + " * * " + dayList(weekdays)}, true, nil
	case e.days == 1:
		return Plan{Expr: at + " * * *"}, true, nil
	case e.days == 7:
		return Plan{Expr: fmt.Sprintf("%s * * %d", at, now.Weekday())}, true, nil
	case e.days > 1:
		first, err := (&draft{hasTime: true, hour: h, minute: m, said: true, weekday: d.weekday}).moment(now)
		return Plan{Every: time.Duration(e.days) * 24 * time.Hour, Anchor: first}, true, err
	}
	return p, false, nil
}

// dayList writes days of the week as an expression does.
func dayList(set uint8) string {
	switch set {
	case workdays:
		return "1-5"
	case weekend:
		return "0,6"
	}
	var days []string
	for i := range 7 {
		if set&(1<<i) != 0 {
			days = append(days, strconv.Itoa(i))
		}
	}
	return strings.Join(slices.Clip(days), ",")
}

// local is a time of the person's day. Where the clocks leave it out it is the
// first instant after that, and where they repeat it the first of both.
func local(y int, month time.Month, day, h, m int, zone *time.Location) time.Time {
	t := time.Date(y, month, day, h, m, 0, 0, zone)
	if t.Hour() != h || t.Minute() != m {
		if _, end := t.Add(-4 * time.Hour).ZoneBounds(); !end.IsZero() && end.Sub(t).Abs() < 4*time.Hour {
			return end
		}
		return t
	}
	if start, _ := t.ZoneBounds(); !start.IsZero() {
		_, before := start.Add(-time.Second).Zone()
		_, after := t.Zone()
		if earlier := t.Add(time.Duration(after-before) * time.Second); earlier.Before(start) && earlier.Before(t) {
			return earlier
		}
	}
	return t
}
