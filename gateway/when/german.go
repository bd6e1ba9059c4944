package when

import (
	"strings"
	"time"
)

func german() []rule {
	const small = `zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf`
	lists := map[string]string{
		"n":     `(\d{1,4}|eine[rmns]?|ein|` + small + `|fünfzehn|zwanzig|dreißig|dreissig|vierzig|fünfzig)`,
		"hour":  `(\d{1,2}|eins?|` + small + `)`,
		"unit":  `(sekunden?|sek|minuten?|min|stunden?|std|tage?n?|wochen?|monate?n?|[smhdw])`,
		"day":   `(montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag)`,
		"month": `(jänner|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)`,
		"part":  `(früh|morgens?|vormittags?|mittags?|nachmittags?|abends?|nachts?)`,
	}
	p := func(pattern string, take func(d *draft, m []string) bool) rule { return phrase(lists, pattern, take) }
	return append([]rule{
		p(`in {n} ?{unit}`, func(d *draft, m []string) bool {
			return d.setIn(spanOf(float64(germanNumber(m[1])), germanUnit(m[2])))
		}),
		p(`in {n} ?{unit} und {n} ?{unit}`, func(d *draft, m []string) bool {
			a, b := spanOf(float64(germanNumber(m[1])), germanUnit(m[2])), spanOf(float64(germanNumber(m[3])), germanUnit(m[4]))
			return a.exact > 0 && b.exact > 0 && d.setIn(span{exact: a.exact + b.exact})
		}),
		p(`in einer halben stunde`, func(d *draft, _ []string) bool { return d.setIn(span{exact: 30 * time.Minute}) }),
		p(`in einer viertelstunde`, func(d *draft, _ []string) bool { return d.setIn(span{exact: 15 * time.Minute}) }),
		p(`in einer dreiviertelstunde`, func(d *draft, _ []string) bool { return d.setIn(span{exact: 45 * time.Minute}) }),
		p(`in (?:anderthalb|eineinhalb) stunden`, func(d *draft, _ []string) bool { return d.setIn(span{exact: 90 * time.Minute}) }),
		p(`(?:in )?(?:der )?nächsten? woche`, func(d *draft, _ []string) bool { return d.setIn(span{days: 7}) }),
		p(`(?:im )?nächsten monat`, func(d *draft, _ []string) bool { return d.setIn(span{months: 1}) }),
		p(`heute`, func(d *draft, _ []string) bool { return d.setDays(0) }),
		p(`morgen`, func(d *draft, _ []string) bool { return d.setDays(1) }),
		p(`übermorgen`, func(d *draft, _ []string) bool { return d.setDays(2) }),
		p(`(?:am )?(?:diesen |kommenden |(nächsten) )?{day}`, func(d *draft, m []string) bool {
			d.next = m[1] != ""
			return d.setWeekday(germanDay(m[2]))
		}),
		p(`{day}(morgen|vormittag|mittag|nachmittag|abend|nacht)`, func(d *draft, m []string) bool {
			return d.setWeekday(germanDay(m[1])) && d.setPart(germanPart(m[2]))
		}),
		p(`(?:am )?(?:dem )?(\d{1,2})\. ?{month}(?: (\d{4}))?`, func(d *draft, m []string) bool {
			return d.setDate(orZero(m[3]), germanMonth(m[2]), number(m[1]))
		}),
		p(`(?:am )?(?:dem )?(\d{1,2})\.(\d{1,2})\.(\d{4})?`, func(d *draft, m []string) bool {
			return d.setDate(orZero(m[3]), number(m[2]), number(m[1]))
		}),
		p(`am (?:(\d{1,2})\.|(ersten))`, func(d *draft, m []string) bool {
			return d.setDate(0, 0, max(orZero(m[1]), len(m[2])/len("ersten")))
		}),
		p(`am (?:(\d{1,2})\.|(ersten)) (?:jedes|jeden) monats?`, func(d *draft, m []string) bool {
			return d.setDate(0, 0, max(orZero(m[1]), len(m[2])/len("ersten"))) && d.setEvery(span{months: 1})
		}),
	}, append(germanTimes(p), germanEvery(p)...)...)
}

func germanTimes(p maker) []rule {
	return []rule{
		p(`(?:um |gegen ){hour}(?:[:.](\d\d))?`, func(d *draft, m []string) bool {
			d.bare = m[2] == ""
			return d.setTime(germanNumber(m[1]), orZero(m[2]), m[2] != "")
		}),
		p(`(?:um |gegen )?{hour}(?:[:.](\d\d))? ?uhr(?: (\d{1,2}))?`, func(d *draft, m []string) bool {
			return d.setTime(germanNumber(m[1]), orZero(m[2]+m[3]), m[1][0] >= '0' && m[1][0] <= '9')
		}),
		p(`(?:um )?halb {hour}`, func(d *draft, m []string) bool {
			d.bare = true
			return d.setTime(hourBefore(germanNumber(m[1])), 30, false)
		}),
		p(`(?:um )?viertel (nach|vor) {hour}`, func(d *draft, m []string) bool {
			d.bare = true
			if strings.EqualFold(m[1], "vor") {
				return d.setTime(hourBefore(germanNumber(m[2])), 45, false)
			}
			return d.setTime(germanNumber(m[2]), 15, false)
		}),
		p(`(?:um )?mitternacht`, func(d *draft, _ []string) bool { return d.setTime(0, 0, true) }),
		p(`(?:am )?{part}`, func(d *draft, m []string) bool {
			// “morgen” alone is tomorrow.
			if strings.EqualFold(m[1], "morgen") && !strings.HasPrefix(strings.ToLower(m[0]), "am ") && !d.hasDay() {
				return false
			}
			return d.setPart(germanPart(m[1]))
		}),
	}
}

func germanEvery(p maker) []rule {
	return []rule{
		p(`alle {n} ?{unit}`, func(d *draft, m []string) bool {
			return d.setEvery(spanOf(float64(germanNumber(m[1])), germanUnit(m[2])))
		}),
		p(`jeden? (tag|woche|monat|stunde|minute)`, func(d *draft, m []string) bool {
			return d.setEvery(spanOf(1, germanUnit(m[1])))
		}),
		p(`jede halbe stunde`, func(d *draft, _ []string) bool { return d.setEvery(span{exact: 30 * time.Minute}) }),
		p(`jeden? zweiten? (tag|woche)`, func(d *draft, m []string) bool { return d.setEvery(spanOf(2, germanUnit(m[1]))) }),
		p(`jeden? (morgen|vormittag|mittag|nachmittag|abend|nacht)`, func(d *draft, m []string) bool {
			return d.setEvery(span{days: 1}) && d.setPart(germanPart(m[1]))
		}),
		p(`(?:an )?jede[nm] (?:werktag|arbeitstag|wochentag)|werktags|wochentags|unter der woche`, func(d *draft, _ []string) bool {
			return d.setWeekdays(workdays)
		}),
		p(`(?:an )?jede[sm] wochenende|(?:an den|am) wochenenden?`, func(d *draft, _ []string) bool { return d.setWeekdays(weekend) }),
		p(`(?:an )?jede[nm] {day}((?:(?:,| und|, und) (?:jede[nm] )?{day})*)|{day}s((?:(?:,| und|, und) {day}s)*)`,
			func(d *draft, m []string) bool { return d.setWeekdays(germanDays(m[0])) }),
		p(`stündlich`, func(d *draft, _ []string) bool { return d.setEvery(span{exact: time.Hour}) }),
		p(`täglich`, func(d *draft, _ []string) bool { return d.setEvery(span{days: 1}) }),
		p(`wöchentlich`, func(d *draft, _ []string) bool { return d.setEvery(span{days: 7}) }),
		p(`monatlich`, func(d *draft, _ []string) bool { return d.setEvery(span{months: 1}) }),
	}
}

// hourBefore is the hour that “halb” and “Viertel vor” are in.
func hourBefore(h int) int {
	if h <= 1 {
		return 12
	}
	return h - 1
}

func germanNumber(s string) int {
	s = strings.ToLower(s)
	if strings.HasPrefix(s, "ein") {
		return 1
	}
	words := map[string]int{
		"zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "elf": 11, "zwölf": 12,
		"fünfzehn": 15, "zwanzig": 20, "dreißig": 30, "dreissig": 30, "vierzig": 40, "fünfzig": 50,
	}
	if n, ok := words[s]; ok {
		return n
	}
	return number(s)
}

func germanUnit(s string) string {
	s = strings.ToLower(s)
	switch {
	case strings.HasPrefix(s, "mo"):
		return "M"
	case strings.HasPrefix(s, "st"):
		return "h"
	case s[0] == 't':
		return "d"
	}
	return s[:1]
}

func germanPart(s string) int {
	switch strings.TrimSuffix(strings.ToLower(s), "s") {
	case "mittag":
		return 12
	case "nachmittag":
		return 15
	case "abend":
		return 18
	case "nacht":
		return 20
	}
	return 9
}

// germanWeek are the beginnings of the days' names, Sunday first.
func germanWeek() []string {
	return []string{"sonntag", "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag"}
}

func germanDay(s string) time.Weekday {
	s = strings.ToLower(s)
	for i, name := range germanWeek() {
		if name == s {
			return time.Weekday(i)
		}
	}
	return time.Saturday // Sonnabend
}

func germanDays(list string) (set uint8) {
	for word := range strings.FieldsFuncSeq(strings.ToLower(list), func(r rune) bool { return r == ' ' || r == ',' }) {
		word = strings.TrimSuffix(word, "s")
		if strings.HasSuffix(word, "tag") || word == "mittwoch" || word == "sonnabend" {
			set |= 1 << germanDay(word)
		}
	}
	return set
}

func germanMonth(s string) int {
	s = strings.ToLower(s)
	if s == "jänner" {
		return 1
	}
	names := []string{
		"januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober", "november", "dezember",
	}
	for i, name := range names {
		if name == s {
			return i + 1
		}
	}
	return 0
}
