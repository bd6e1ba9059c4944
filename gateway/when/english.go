package when

import (
	"strings"
	"time"
)

func english() []rule {
	const small = `one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve`
	lists := map[string]string{
		"n":    `(\d{1,4}|an?|` + small + `|fifteen|twenty|thirty|forty|fifty|ninety)`,
		"hour": `(\d{1,2}|` + small + `)`,
		"unit": `(seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|[smhdw])`,
		"day":  `(monday|tuesday|wednesday|thursday|friday|saturday|sunday)`,
		"d3":   `(monday|tuesday|wednesday|thursday|friday|saturday|sunday|mon|tues?|wed|thu(?:rs)?|fri|sat|sun)`,
		"month": `(january|february|march|april|may|june|july|august|september|october|november|december|` +
			`jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)`,
		"half": `(a\.?m\.?|p\.?m\.?)`,
	}
	p := func(pattern string, take func(d *draft, m []string) bool) rule { return phrase(lists, pattern, take) }
	return append([]rule{
		p(`in {n} ?{unit}(?: from now)?|{n} {unit} from now`, func(d *draft, m []string) bool {
			return d.setIn(spanOf(float64(englishNumber(m[1]+m[3])), englishUnit(m[2]+m[4])))
		}),
		p(`in half an hour`, func(d *draft, _ []string) bool { return d.setIn(span{exact: 30 * time.Minute}) }),
		p(`in a quarter of an hour`, func(d *draft, _ []string) bool { return d.setIn(span{exact: 15 * time.Minute}) }),
		p(`in {n} and a half hours|in (an) hour and a half`, func(d *draft, m []string) bool {
			return d.setIn(spanOf(float64(englishNumber(m[1]+m[2]))+0.5, "h"))
		}),
		p(`in {n} ?{unit}(?: and|,)? {n} ?{unit}`, func(d *draft, m []string) bool {
			a, b := spanOf(float64(englishNumber(m[1])), englishUnit(m[2])), spanOf(float64(englishNumber(m[3])), englishUnit(m[4]))
			return a.exact > 0 && b.exact > 0 && d.setIn(span{exact: a.exact + b.exact})
		}),
		p(`next week`, func(d *draft, _ []string) bool { return d.setIn(span{days: 7}) }),
		p(`next month`, func(d *draft, _ []string) bool { return d.setIn(span{months: 1}) }),
		p(`today`, func(d *draft, _ []string) bool { return d.setDays(0) }),
		p(`tonight`, func(d *draft, _ []string) bool { return d.setDays(0) && d.setPart(20) }),
		p(`tomorrow`, func(d *draft, _ []string) bool { return d.setDays(1) }),
		p(`(?:the )?day after tomorrow`, func(d *draft, _ []string) bool { return d.setDays(2) }),
		p(`this (morning|afternoon|evening)`, func(d *draft, m []string) bool { return d.setDays(0) && d.setPart(englishPart(m[1])) }),
		p(`(?:on )?(?:(next) |this |coming )?{day}|(?:on|(next)|this|at) {d3}`, func(d *draft, m []string) bool {
			d.next = m[1]+m[3] != ""
			return d.setWeekday(englishDay(m[2] + m[4]))
		}),
		p(`(?:on )?(?:the )?(\d{1,2})(?:st|nd|rd|th)?(?: of)? {month}(?:,? (\d{4}))?`, func(d *draft, m []string) bool {
			return d.setDate(orZero(m[3]), englishMonth(m[2]), number(m[1]))
		}),
		p(`(?:on )?{month} (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?`, func(d *draft, m []string) bool {
			return d.setDate(orZero(m[3]), englishMonth(m[1]), number(m[2]))
		}),
		p(`on the (?:(\d{1,2})(?:st|nd|rd|th)|(first))`, func(d *draft, m []string) bool {
			return d.setDate(0, 0, max(orZero(m[1]), len(m[2])/len("first")))
		}),
		p(`on the (?:(\d{1,2})(?:st|nd|rd|th)|(first)) (?:of )?(?:every|each) month`, func(d *draft, m []string) bool {
			return d.setDate(0, 0, max(orZero(m[1]), len(m[2])/len("first"))) && d.setEvery(span{months: 1})
		}),
	}, append(englishTimes(p), englishEvery(p)...)...)
}

type maker func(pattern string, take func(d *draft, m []string) bool) rule

func englishTimes(p maker) []rule {
	return []rule{
		p(`(?:at |@ ?){hour}(?:[:.](\d\d))?(?: ?{half}| o['’]?clock)?`, func(d *draft, m []string) bool {
			d.bare = m[2] == ""
			return setTwelve(d, englishNumber(m[1]), orZero(m[2]), m[3], len(m[1]) == 2 && m[1][0] == '0')
		}),
		p(`(\d{1,2})(?:[:.](\d\d))? ?{half}`, func(d *draft, m []string) bool {
			return setTwelve(d, number(m[1]), orZero(m[2]), m[3], false)
		}),
		p(`(?:at |@ ?)(\d{1,2}):(\d\d)`, func(d *draft, m []string) bool {
			return d.setTime(number(m[1]), number(m[2]), len(m[1]) == 2)
		}),
		p(`(?:at )?half past {hour}(?: ?{half})?`, func(d *draft, m []string) bool {
			d.bare = true
			return setTwelve(d, englishNumber(m[1]), 30, m[2], false)
		}),
		p(`(?:at )?(?:a )?quarter (past|to) {hour}(?: ?{half})?`, func(d *draft, m []string) bool {
			h, minute := englishNumber(m[2]), 15
			if strings.EqualFold(m[1], "to") {
				h, minute = h-1, 45
				if h == 0 {
					h = 12
				}
			}
			d.bare = true
			return setTwelve(d, h, minute, m[3], false)
		}),
		p(`(?:at )?(?:noon|midday)`, func(d *draft, _ []string) bool { return d.setTime(12, 0, true) }),
		p(`(?:at )?midnight`, func(d *draft, _ []string) bool { return d.setTime(0, 0, true) }),
		p(`(?:in the )?(morning|afternoon|evening)|(?:at )?(night)`, func(d *draft, m []string) bool {
			return d.setPart(englishPart(m[1] + m[2]))
		}),
	}
}

func englishEvery(p maker) []rule {
	return []rule{
		p(`(?:every|each) (?:{n} ?)?{unit}`, func(d *draft, m []string) bool {
			n := 1
			if m[1] != "" {
				n = englishNumber(m[1])
			} else if len(m[2]) == 1 {
				return false
			}
			return d.setEvery(spanOf(float64(n), englishUnit(m[2])))
		}),
		p(`(?:every |each )half(?: an)? hour`, func(d *draft, _ []string) bool { return d.setEvery(span{exact: 30 * time.Minute}) }),
		p(`every (?:other|second) (day|week)`, func(d *draft, m []string) bool {
			return d.setEvery(spanOf(2, englishUnit(m[1])))
		}),
		p(`(?:every|each) (morning|afternoon|evening|night)`, func(d *draft, m []string) bool {
			return d.setEvery(span{days: 1}) && d.setPart(englishPart(m[1]))
		}),
		p(`(?:every|each) (?:weekday|workday|working day)|(?:on )?(?:weekdays|workdays)`, func(d *draft, _ []string) bool {
			return d.setWeekdays(workdays)
		}),
		p(`(?:every|each) weekend|(?:on )?weekends`, func(d *draft, _ []string) bool { return d.setWeekdays(weekend) }),
		p(`(?:every|each) {d3}((?:(?:,| and|, and|,? &) {d3})*)|(?:on )?{day}s((?:(?:,| and|, and) {day}s)*)`, func(d *draft, m []string) bool {
			return d.setWeekdays(englishDays(m[0]))
		}),
		p(`hourly`, func(d *draft, _ []string) bool { return d.setEvery(span{exact: time.Hour}) }),
		p(`daily`, func(d *draft, _ []string) bool { return d.setEvery(span{days: 1}) }),
		p(`weekly`, func(d *draft, _ []string) bool { return d.setEvery(span{days: 7}) }),
		p(`monthly`, func(d *draft, _ []string) bool { return d.setEvery(span{months: 1}) }),
	}
}

// setTwelve takes an hour with or without am and pm.
func setTwelve(d *draft, h, m int, half string, said bool) bool {
	if half != "" {
		if h < 1 || h > 12 {
			return false
		}
		h %= 12
		if half[0] == 'p' || half[0] == 'P' {
			h += 12
		}
		return d.setTime(h, m, true)
	}
	return d.setTime(h, m, said)
}

func englishNumber(s string) int {
	words := map[string]int{
		"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
		"eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "ninety": 90,
	}
	if n, ok := words[strings.ToLower(s)]; ok {
		return n
	}
	return number(s)
}

func englishUnit(s string) string {
	s = strings.ToLower(s)
	if strings.HasPrefix(s, "mo") {
		return "M"
	}
	return s[:1]
}

func englishPart(s string) int {
	return map[string]int{"morning": 9, "afternoon": 15, "evening": 18, "night": 20}[strings.ToLower(s)]
}

func englishDay(s string) time.Weekday {
	s = strings.ToLower(s)
	for i := range 7 {
		if strings.HasPrefix(strings.ToLower(time.Weekday(i).String()), s) {
			return time.Weekday(i)
		}
	}
	return 0
}

func englishMonth(s string) int {
	for i := range 12 {
		if strings.EqualFold(time.Month(i + 1).String()[:3], s[:3]) {
			return i + 1
		}
	}
	return 0
}

// englishDays are all the days that a list names.
func englishDays(list string) (set uint8) {
	for word := range strings.FieldsFuncSeq(strings.ToLower(list), func(r rune) bool { return r < 'a' || r > 'z' }) {
		for i := range 7 {
			if len(word) >= 3 && strings.HasPrefix(word, strings.ToLower(time.Weekday(i).String()[:3])) {
				set |= 1 << i
			}
		}
	}
	return set
}

// skipAsking is how many bytes at the beginning only ask to be reminded.
func skipAsking(text string) int {
	lower := strings.ToLower(text)
	for _, ask := range []string{
		"please remind me", "remind me", "remind us", "bitte erinnere mich daran", "bitte erinnere mich", "erinnere mich daran", "erinnere mich",
		"erinner mich", "请提醒我", "提醒我", "到时候提醒我",
	} {
		if strings.HasPrefix(lower, ask) {
			return len(ask)
		}
	}
	return 0
}
