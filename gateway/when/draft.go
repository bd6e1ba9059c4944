package when

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Sets of days of the week, a bit each, Sunday first.
const (
	workdays uint8 = 0b0111110
	weekend  uint8 = 0b1000001
)

// span is a length of time: days and months have no fixed one.
type span struct {
	exact        time.Duration
	days, months int
}

// draft is what was understood so far; each part is said at most once.
type draft struct {
	in, every span
	exact     time.Time

	days             *int // from today
	weekday          *time.Weekday
	next, weekAfter  bool
	weekdays         uint8
	year, date       int
	month            time.Month
	hour, minute     int
	hasTime          bool
	said             bool // it is known which half of the day is meant
	bare             bool // an hour and nothing else
	part             int  // the hour that stands for a part of the day
	partPM, partNoon bool
}

func (d *draft) hasDay() bool { return d.days != nil || d.weekday != nil || d.date != 0 }
func (d *draft) recurs() bool { return d.every != span{} || d.weekdays != 0 }

// vague is true for "at nine": morning or evening.
func (d *draft) vague() bool {
	return d.hasTime && !d.said && d.part == 0 && d.hour <= 12 && d.hour > 0
}

// clock is the time of the day.
func (d *draft) clock() (h, m int) {
	if !d.hasTime {
		if d.part != 0 {
			return d.part, 0
		}
		return 9, 0
	}
	h = d.hour
	if !d.said && d.part != 0 && h <= 12 {
		switch {
		case d.partNoon && h <= 3, d.partPM && h < 12:
			h += 12
			h -= map[bool]int{true: 12}[h == 24]
		case !d.partPM && !d.partNoon && h == 12, d.part == 20 && h == 12:
			h = 0
		}
	}
	return h, d.minute
}

// rule is one phrase: what it looks like, and what it says. take is false when
// that cannot be, or was said already.
type rule struct {
	re   *regexp.Regexp
	take func(d *draft, m []string) bool
}

// rules are the phrases of all languages.
var rules = sync.OnceValue(func() []rule {
	return append(append(append(anyLanguage(), english()...), german()...), chinese()...)
})

// phrase makes a rule. {…} are the lists of words of that language.
func phrase(lists map[string]string, pattern string, take func(d *draft, m []string) bool) rule {
	for name, list := range lists {
		pattern = strings.ReplaceAll(pattern, "{"+name+"}", list)
	}
	return rule{regexp.MustCompile(`(?i)^(?:` + pattern + `)`), take}
}

func (d *draft) setIn(s span) bool {
	if d.in != (span{}) || s == (span{}) || d.recurs() {
		return false
	}
	d.in = s
	return true
}

func (d *draft) setEvery(s span) bool {
	if d.every != (span{}) || s == (span{}) || d.in != (span{}) {
		return false
	}
	d.every = s
	return true
}

func (d *draft) setDays(n int) bool {
	if d.hasDay() {
		return false
	}
	d.days = &n
	return true
}

func (d *draft) setWeekday(w time.Weekday) bool {
	if d.hasDay() || d.weekdays != 0 {
		return false
	}
	d.weekday = &w
	return true
}

func (d *draft) setWeekdays(set uint8) bool {
	if d.weekdays != 0 || set == 0 || d.hasDay() {
		return false
	}
	d.weekdays = set
	return true
}

func (d *draft) setDate(year, month, date int) bool {
	if d.hasDay() || month > 12 || date < 1 || date > 31 {
		return false
	}
	d.year, d.month, d.date = year, time.Month(month), date
	return true
}

// setTime takes a time; said: it is known which half of the day is meant.
func (d *draft) setTime(h, m int, said bool) bool {
	if d.hasTime || h < 0 || h > 24 || m < 0 || m > 59 || h == 24 && m != 0 {
		return false
	}
	d.hour, d.minute, d.hasTime, d.said = h%24, m, true, said || h > 12 || h == 0
	return true
}

// setPart takes a part of the day by the hour that stands for it.
func (d *draft) setPart(hour int) bool {
	if d.part != 0 {
		return false
	}
	d.part, d.partPM, d.partNoon = hour, hour > 12, hour == 12
	return true
}

// spanOf is so many of a unit, s m h d w M; "" is no unit.
func spanOf(n float64, unit string) span {
	if n <= 0 || n > 1e6 {
		return span{}
	}
	fixed := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}
	whole := int(n)
	switch unit {
	case "s", "m", "h":
		if n*float64(fixed[unit]) > float64(longest) {
			return span{}
		}
		return span{exact: time.Duration(n * float64(fixed[unit]))}
	case "d", "w", "M":
		if n != float64(whole) || whole > 36500 {
			return span{}
		}
		return map[string]span{"d": {days: whole}, "w": {days: 7 * whole}, "M": {months: whole}}[unit]
	}
	return span{}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// orZero is the number of what may be missing.
func orZero(s string) int {
	if s == "" {
		return 0
	}
	return number(s)
}

// anyLanguage are forms that are written the same everywhere.
func anyLanguage() []rule {
	return []rule{
		phrase(nil, `(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::\d\d)?)?`, func(d *draft, m []string) bool {
			if m[4] != "" && !d.setTime(number(m[4]), number(m[5]), true) {
				return false
			}
			return d.setDate(number(m[1]), number(m[2]), number(m[3]))
		}),
		phrase(nil, `\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)`, func(d *draft, m []string) bool {
			for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00"} {
				if t, err := time.Parse(layout, strings.ToUpper(m[0])); err == nil && *d == (draft{}) {
					d.exact = t
					return true
				}
			}
			return false
		}),
		phrase(nil, `(?:in )?((?:\d+(?:min|std|[wdhms]))+)`, func(d *draft, m []string) bool {
			s, ok := compact(m[1])
			return ok && d.setIn(s)
		}),
		phrase(nil, `(?:every|each|alle|每隔?) ?((?:\d+(?:min|std|[wdhms]))+)`, func(d *draft, m []string) bool {
			s, ok := compact(m[1])
			return ok && d.setEvery(s)
		}),
		phrase(nil, `(\d{1,2})[:：](\d\d)`, func(d *draft, m []string) bool {
			return d.setTime(number(m[1]), number(m[2]), len(m[1]) == 2)
		}),
	}
}

var compactPart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(\d+)(min|std|[wdhms])`) })

// compact reads 2h30m.
func compact(s string) (sum span, ok bool) {
	for _, m := range compactPart().FindAllStringSubmatch(s, 20) {
		unit := map[string]string{"min": "m", "std": "h"}[strings.ToLower(m[2])]
		if unit == "" {
			unit = strings.ToLower(m[2])
		}
		p := spanOf(float64(number(m[1])), unit)
		if p == (span{}) {
			return sum, false
		}
		sum.exact, sum.days = sum.exact+p.exact, sum.days+p.days
	}
	return sum, sum.exact <= longest && sum.days <= 36500
}
