package when

import (
	"strings"
	"time"
	"unicode/utf8"
)

func chinese() []rule {
	lists := map[string]string{
		"n":    `([零〇一二两三四五六七八九十百]{1,5}|\d{1,4})`,
		"unit": `(秒钟?|分钟?|小时|钟头|天|日|周|星期|礼拜|月)`,
		"week": `(?:周|星期|礼拜)`,
		"d":    `([一二三四五六日天])`,
		"part": `(凌晨|早上|早晨|清晨|上午|中午|下午|傍晚|晚上|夜里|早|晚)`,
	}
	p := func(pattern string, take func(d *draft, m []string) bool) rule { return phrase(lists, pattern, take) }
	const later = `(?:以后|之后|后)`
	return append([]rule{
		p(`(?:过|再过)?{n} ?个?(半)?{unit}`+later, func(d *draft, m []string) bool {
			n := float64(chineseNumber(m[1]))
			if m[2] != "" {
				n += 0.5
			}
			return d.setIn(spanOf(n, chineseUnit(m[3])))
		}),
		p(`(?:过|再过)?半个?(?:小时|钟头)`+later, func(d *draft, _ []string) bool { return d.setIn(span{exact: 30 * time.Minute}) }),
		p(`(?:过|再过)?一刻钟`+later, func(d *draft, _ []string) bool { return d.setIn(span{exact: 15 * time.Minute}) }),
		p(`今天|今日`, func(d *draft, _ []string) bool { return d.setDays(0) }),
		p(`今(早|晚)`, func(d *draft, m []string) bool { return d.setDays(0) && d.setPart(chinesePart(m[1])) }),
		p(`明天|明日`, func(d *draft, _ []string) bool { return d.setDays(1) }),
		p(`明(早|晚)`, func(d *draft, m []string) bool { return d.setDays(1) && d.setPart(chinesePart(m[1])) }),
		p(`后天`, func(d *draft, _ []string) bool { return d.setDays(2) }),
		p(`大后天`, func(d *draft, _ []string) bool { return d.setDays(3) }),
		p(`下个?月`, func(d *draft, _ []string) bool { return d.setIn(span{months: 1}) }),
		p(`(?:在)?(?:这个?|本)?{week}{d}`, func(d *draft, m []string) bool { return d.setWeekday(chineseDay(m[1])) }),
		p(`(?:在)?下个?{week}{d}`, func(d *draft, m []string) bool {
			d.weekAfter = true
			return d.setWeekday(chineseDay(m[1]))
		}),
		p(`(?:(\d{4})年)?{n}月{n}[日号]?`, func(d *draft, m []string) bool {
			return d.setDate(orZero(m[1]), chineseNumber(m[2]), chineseNumber(m[3]))
		}),
		p(`{n}[日号]`, func(d *draft, m []string) bool { return d.setDate(0, 0, chineseNumber(m[1])) }),
	}, append(chineseTimes(p), chineseEvery(p)...)...)
}

func chineseTimes(p maker) []rule {
	return []rule{
		p(`{n}(?:点钟|点整|点|时)(半|一刻|三刻|(?:零|过)?{n}分?)?`, func(d *draft, m []string) bool {
			minute := 0
			switch {
			case m[2] == "半":
				minute = 30
			case m[2] == "一刻":
				minute = 15
			case m[2] == "三刻":
				minute = 45
			case m[3] != "":
				minute = chineseNumber(m[3])
			}
			d.bare = true
			return d.setTime(chineseNumber(m[1]), minute, false)
		}),
		p(`{part}`, func(d *draft, m []string) bool { return d.setPart(chinesePart(m[1])) }),
		p(`午夜|半夜`, func(d *draft, _ []string) bool { return d.setTime(0, 0, true) }),
		p(`正午`, func(d *draft, _ []string) bool { return d.setTime(12, 0, true) }),
	}
}

func chineseEvery(p maker) []rule {
	return []rule{
		p(`每隔?(?:{n}个?)?{unit}(?:钟)?`, func(d *draft, m []string) bool {
			n := 1
			if m[1] != "" {
				n = chineseNumber(m[1])
			}
			return d.setEvery(spanOf(float64(n), chineseUnit(m[2])))
		}),
		p(`每隔?个(小时|钟头|月|星期|礼拜)`, func(d *draft, m []string) bool { return d.setEvery(spanOf(1, chineseUnit(m[1]))) }),
		p(`每隔?半个?(?:小时|钟头)`, func(d *draft, _ []string) bool { return d.setEvery(span{exact: 30 * time.Minute}) }),
		p(`每隔一天`, func(d *draft, _ []string) bool { return d.setEvery(span{days: 2}) }),
		p(`(每天|每日|每)(早上|上午|中午|下午|傍晚|晚上|早|晚)`, func(d *draft, m []string) bool {
			return d.setEvery(span{days: 1}) && d.setPart(chinesePart(m[2]))
		}),
		p(`每个?工作日|工作日`, func(d *draft, _ []string) bool { return d.setWeekdays(workdays) }),
		p(`每个?周末`, func(d *draft, _ []string) bool { return d.setWeekdays(weekend) }),
		p(`每个?{week}{d}((?:[、，,和及](?:{week})?{d})*)`, func(d *draft, m []string) bool { return d.setWeekdays(chineseDays(m[0])) }),
		p(`每个?{week}一(?:至|到){week}?五`, func(d *draft, _ []string) bool { return d.setWeekdays(workdays) }),
		p(`每个?月{n}[日号]`, func(d *draft, m []string) bool {
			return d.setDate(0, 0, chineseNumber(m[1])) && d.setEvery(span{months: 1})
		}),
	}
}

// chineseNumber reads numbers up to 999 in characters, and digits.
func chineseNumber(s string) int {
	if s != "" && s[0] < utf8.RuneSelf {
		return number(s)
	}
	sum, digit, seen := 0, 0, false
	for _, r := range s {
		switch i := strings.IndexRune("零一二三四五六七八九", r); {
		case r == '十':
			if !seen {
				digit = 1
			}
			sum, digit, seen = sum+10*digit, 0, false
		case r == '百':
			sum, digit, seen = sum+100*max(digit, 1), 0, false
		case r == '两':
			digit, seen = 2, true
		case r == '〇':
			digit, seen = 0, true
		case i >= 0:
			digit, seen = i/len("零"), true
		}
	}
	return sum + digit
}

func chineseUnit(s string) string {
	switch {
	case strings.HasPrefix(s, "秒"):
		return "s"
	case strings.HasPrefix(s, "分"):
		return "m"
	case s == "小时", s == "钟头":
		return "h"
	case s == "月":
		return "M"
	case s == "天", s == "日":
		return "d"
	}
	return "w"
}

func chinesePart(s string) int {
	switch s {
	case "凌晨":
		return 3
	case "中午":
		return 12
	case "下午":
		return 15
	case "傍晚":
		return 18
	case "晚上", "夜里", "晚":
		return 20
	}
	return 9
}

func chineseDay(s string) time.Weekday {
	if i := strings.Index("一二三四五六", s); i >= 0 {
		return time.Weekday(i/len("一") + 1)
	}
	return time.Sunday
}

// chineseDays are the days that a list names behind the first word for week.
func chineseDays(list string) (set uint8) {
	for _, name := range []string{"星期", "礼拜", "周", "每", "个"} {
		list = strings.ReplaceAll(list, name, "")
	}
	for _, r := range list {
		if strings.ContainsRune("一二三四五六日天", r) {
			set |= 1 << chineseDay(string(r))
		}
	}
	return set
}
