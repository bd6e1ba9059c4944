package when_test

import (
	"errors"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/hearth-assistant/hearth/gateway/when"
)

func vienna(t testing.TB) *time.Location {
	z, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// written is a plan on one line.
func written(p when.Plan, err error) string {
	switch {
	case err != nil:
		return "error: " + err.Error()
	case p.Expr != "":
		return p.Expr
	case p.Every > 0 && !p.Anchor.IsZero():
		return "every " + p.Every.String() + " from " + p.Anchor.Format("Mon 2006-01-02 15:04")
	case p.Every > 0:
		return "every " + p.Every.String()
	}
	return p.At.Format("Mon 2006-01-02 15:04")
}

// Monday 23 November 2026, 14:10 in Vienna.
func now(t testing.TB) time.Time { return time.Date(2026, 11, 23, 14, 10, 0, 0, vienna(t)) }

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		// English
		"20m": "Mon 2026-11-23 14:30", "in 20 minutes": "Mon 2026-11-23 14:30", "in an hour": "Mon 2026-11-23 15:10",
		"2h30m": "Mon 2026-11-23 16:40", "in half an hour": "Mon 2026-11-23 14:40", "in two and a half hours": "Mon 2026-11-23 16:40",
		"in 1 hour and 20 minutes": "Mon 2026-11-23 15:30", "in 3 days": "Thu 2026-11-26 14:10",
		"in 3 days at 9am": "Thu 2026-11-26 09:00",
		"in two weeks":     "Mon 2026-12-07 14:10", "next week": "Mon 2026-11-30 14:10", "10 minutes from now": "Mon 2026-11-23 14:20",
		"on Friday at nine": "Fri 2026-11-27 09:00", "Friday 9:30": "Fri 2026-11-27 09:30", "friday at 3": "Fri 2026-11-27 15:00",
		"Friday at 3:00": "Fri 2026-11-27 03:00", "at five": "Mon 2026-11-23 17:00", "at 9": "Mon 2026-11-23 21:00",
		"at 2":     "Tue 2026-11-24 02:00",
		"at 14:05": "Tue 2026-11-24 14:05", "at 2:30 pm": "Mon 2026-11-23 14:30", "noon": "Tue 2026-11-24 12:00",
		"at midnight":    "Tue 2026-11-24 00:00",
		"half past nine": "Mon 2026-11-23 21:30", "at a quarter to five": "Mon 2026-11-23 16:45", "tonight": "Mon 2026-11-23 20:00",
		"tonight at nine": "Mon 2026-11-23 21:00", "tomorrow": "Tue 2026-11-24 09:00", "tomorrow morning": "Tue 2026-11-24 09:00",
		"tomorrow morning at 7": "Tue 2026-11-24 07:00", "tomorrow at seven in the evening": "Tue 2026-11-24 19:00",
		"this evening": "Mon 2026-11-23 18:00", "next Monday": "Mon 2026-11-30 09:00", "Monday at 8": "Mon 2026-11-30 08:00",
		"Monday at 16:00": "Mon 2026-11-23 16:00", "on 3 March": "Wed 2027-03-03 09:00",
		"March 3rd, 2028 at 10am": "Fri 2028-03-03 10:00",
		"on the 1st":              "Tue 2026-12-01 09:00", "2026-12-24 18:00": "Thu 2026-12-24 18:00", "2026-12-24T18:00": "Thu 2026-12-24 18:00",
		"2026-12-24T17:00:00Z": "Thu 2026-12-24 17:00", "the day after tomorrow at noon": "Wed 2026-11-25 12:00",
		"29 February":        "Tue 2028-02-29 09:00",
		"every weekday at 8": "0 8 * * 1-5", "every day at 18:30": "30 18 * * *", "daily at 7am": "0 7 * * *",
		"every morning":                  "0 9 * * *",
		"every Monday and Thursday at 9": "0 9 * * 1,4", "every mon, wed and fri at 9pm": "0 21 * * 1,3,5",
		"Fridays at 4pm": "0 16 * * 5",
		"weekends at 10": "0 10 * * 0,6", "every weekend at 10am": "0 10 * * 0,6", "every 10m": "every 10m0s",
		"every 2 hours": "every 2h0m0s",
		"every hour":    "every 1h0m0s", "hourly": "every 1h0m0s", "every half hour": "every 30m0s",
		"every other day at 9am": "every 48h0m0s from Tue 2026-11-24 09:00",
		"every 2 days at 09:30":  "every 48h0m0s from Tue 2026-11-24 09:30",
		"every 3 days":           "every 72h0m0s from Tue 2026-11-24 09:00", "every week on Tuesday at 9": "0 9 * * 2", "weekly": "0 9 * * 1",
		"every month on the 15th at noon": "0 12 15 * *", "on the first of every month": "0 9 1 * *", "monthly": "0 9 1 * *",
		"every 2 weeks": "every 336h0m0s from Tue 2026-11-24 09:00",
		// German
		"in 20 Minuten": "Mon 2026-11-23 14:30", "in einer Stunde": "Mon 2026-11-23 15:10",
		"in einer halben Stunde": "Mon 2026-11-23 14:40",
		"in anderthalb Stunden":  "Mon 2026-11-23 15:40", "in 3 Tagen um 9": "Thu 2026-11-26 09:00",
		"in einer Stunde und 5 Minuten": "Mon 2026-11-23 15:15",
		"am Freitag um neun":            "Fri 2026-11-27 09:00", "Freitag 9 Uhr": "Fri 2026-11-27 09:00",
		"morgen um 15 Uhr 30": "Tue 2026-11-24 15:30",
		"morgen früh":         "Tue 2026-11-24 09:00", "morgen früh um 7": "Tue 2026-11-24 07:00",
		"morgen Abend um acht": "Tue 2026-11-24 20:00",
		"heute Abend":          "Mon 2026-11-23 18:00", "übermorgen Mittag": "Wed 2026-11-25 12:00", "um halb zehn": "Mon 2026-11-23 21:30",
		"um halb eins": "Tue 2026-11-24 00:30", "morgen um Viertel vor neun": "Tue 2026-11-24 08:45",
		"am 3. März":          "Wed 2027-03-03 09:00",
		"am 24.12. um 18 Uhr": "Thu 2026-12-24 18:00", "24.12.2027": "Fri 2027-12-24 09:00",
		"nächsten Freitag": "Fri 2026-11-27 09:00",
		"Freitagabend":     "Fri 2026-11-27 18:00", "um Mitternacht": "Tue 2026-11-24 00:00", "nächste Woche": "Mon 2026-11-30 14:10",
		"jeden Werktag um 8": "0 8 * * 1-5", "werktags um 8 Uhr": "0 8 * * 1-5", "täglich um 18:30": "30 18 * * *",
		"jeden Morgen":                     "0 9 * * *",
		"jeden Montag und Donnerstag um 9": "0 9 * * 1,4", "montags um 9 Uhr": "0 9 * * 1", "alle 2 Stunden": "every 2h0m0s",
		"alle 10 Minuten": "every 10m0s", "stündlich": "every 1h0m0s",
		"jeden zweiten Tag":      "every 48h0m0s from Tue 2026-11-24 09:00",
		"am ersten jedes Monats": "0 9 1 * *", "jeden Monat am 15.": "0 9 15 * *", "jede halbe Stunde": "every 30m0s",
		// Chinese
		"20分钟后": "Mon 2026-11-23 14:30", "半小时后": "Mon 2026-11-23 14:40", "两个小时后": "Mon 2026-11-23 16:10",
		"一个半小时后": "Mon 2026-11-23 15:40",
		"三天后":    "Thu 2026-11-26 14:10", "明天上午九点": "Tue 2026-11-24 09:00",
		"明天下午3点半": "Tue 2026-11-24 15:30", "明早八点": "Tue 2026-11-24 08:00",
		"今晚": "Mon 2026-11-23 20:00", "今晚九点": "Mon 2026-11-23 21:00", "周五九点": "Fri 2026-11-27 09:00",
		"星期五上午9点15分": "Fri 2026-11-27 09:15",
		"下周五":        "Fri 2026-12-04 09:00", "下周一早上8点": "Mon 2026-11-30 08:00",
		"12月24日晚上6点": "Thu 2026-12-24 18:00", "中午12点": "Tue 2026-11-24 12:00",
		"后天中午": "Wed 2026-11-25 12:00", "晚上十二点": "Tue 2026-11-24 00:00", "明天 15:30": "Tue 2026-11-24 15:30",
		"每天早上8点": "0 8 * * *", "每个工作日8点": "0 8 * * 1-5",
		"每周一、三、五下午五点": "0 17 * * 1,3,5", "每两小时": "every 2h0m0s", "每小时": "every 1h0m0s",
		"每10分钟": "every 10m0s", "每月1号上午十点": "0 10 1 * *", "每周一到周五早上七点": "0 7 * * 1-5",
		"每天": "0 9 * * *", "每晚十点": "0 22 * * *",
		// Nothing of the kind
		"": "error", "nine": "error", "soon": "error", "in a jiffy": "error", "call mum": "error", "25:00": "error",
		"every 10 seconds": "error: No job repeats more often than once a minute.",
		"today at 14:00":   "error: 14:00 is over for today.", "2025-01-01": "error: 1 January 2025 is over.",
		"30 February":     "error: There is no such day.",
		"Friday Saturday": "error", "every every day": "error", "in 99999999 hours": "error",
		"in 9999 months": "error: That is too far ahead.",
		"20minions":      "error", "mayhem": "error", "0m": "error", "32 January": "error",
	} {
		p, ok, err := when.Read(text, now(t))
		got := "error"
		if ok {
			got = written(p, err)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		var said when.Error
		if err != nil && !errors.As(err, &said) {
			t.Errorf("%q: an error that is not for people: %v", text, err)
		}
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct{ text, plan, rest string }{
		{"on Friday at nine call mum", "Fri 2026-11-27 09:00", "call mum"},
		{"remind me on Friday at nine to call mum", "Fri 2026-11-27 09:00", "call mum"},
		{"call mum on Friday at nine", "Fri 2026-11-27 09:00", "call mum"},
		{"tomorrow call mum at 9:30", "Tue 2026-11-24 09:30", "call mum"},
		{"20m tea", "Mon 2026-11-23 14:30", "tea"},
		{"in 5 minutes: check the oven, please", "Mon 2026-11-23 14:15", "check the oven, please"},
		{"every weekday at 8 summarize my mail", "0 8 * * 1-5", "summarize my mail"},
		{"every 10m look whether the build is done", "every 10m0s", "look whether the build is done"},
		{"am Freitag um neun Mama anrufen", "Fri 2026-11-27 09:00", "Mama anrufen"},
		{"Erinnere mich morgen um 10 Uhr daran, den Müll rauszubringen", "Tue 2026-11-24 10:00", "den Müll rauszubringen"},
		{"Mama anrufen in 20 Minuten", "Mon 2026-11-23 14:30", "Mama anrufen"},
		{"明天上午九点提醒我给妈妈打电话", "Tue 2026-11-24 09:00", "给妈妈打电话"},
		{"提醒我20分钟后关火", "Mon 2026-11-23 14:30", "关火"},
		{"给妈妈打电话 明天九点", "Tue 2026-11-24 09:00", "给妈妈打电话"},
		{"buy 5 apples", "none", "buy 5 apples"},
		{"mayonnaise in the fridge", "none", "mayonnaise in the fridge"},
		{"read /etc/5m", "none", "read /etc/5m"},
	} {
		p, rest, ok, err := when.Find(c.text, now(t))
		plan := "none"
		if ok {
			plan = written(p, err)
		}
		if plan != c.plan || rest != c.rest {
			t.Errorf("%q: %s and %q, want %s and %q", c.text, plan, rest, c.plan, c.rest)
		}
	}
}

// A time that the clocks leave out is the first instant after it, one that they
// repeat is the first of both.
func TestClocksThatChange(t *testing.T) {
	zone := vienna(t)
	for text, want := range map[string]string{
		"2027-03-28 02:30": "2027-03-28T03:00:00+02:00", "2027-10-31 02:30": "2027-10-31T02:30:00+02:00",
		"2027-03-28 03:30": "2027-03-28T03:30:00+02:00", "2027-10-31 03:30": "2027-10-31T03:30:00+01:00",
	} {
		p, ok, err := when.Read(text, now(t))
		if got := p.At.In(zone).Format(time.RFC3339); !ok || err != nil || got != want {
			t.Errorf("%s: %s %v %v, want %s", text, got, ok, err, want)
		}
	}
	for name, want := range map[string]string{
		"America/Santiago": "2027-09-05T01:00:00-03:00", "Australia/Lord_Howe": "2027-09-05T00:00:00+10:30",
	} {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		p, ok, err := when.Read("2027-09-05 at midnight", now(t).In(z))
		if got := p.At.In(z).Format(time.RFC3339); !ok || err != nil || got != want {
			t.Errorf("%s: %s %v %v, want %s", name, got, ok, err, want)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, s := range []string{
		"on Friday at nine call mum", "jeden Werktag um 8", "每周一、三、五下午五点", "in 20m", "2026-12-24T17:00:00Z", "\xff 5m", "am 24.12.",
	} {
		f.Add(s, int64(1_800_000_000))
	}
	zone := vienna(f)
	f.Fuzz(func(t *testing.T, text string, at int64) {
		now := time.Unix(at%4_000_000_000, 0).In(zone)
		p, _, ok, err := when.Find(text, now)
		if !ok || err != nil {
			return
		}
		set := 0
		for _, is := range []bool{!p.At.IsZero(), p.Every > 0, p.Expr != ""} {
			if is {
				set++
			}
		}
		if set != 1 {
			t.Fatalf("%q: %+v is not one plan", text, p)
		}
		if !p.At.IsZero() && !p.At.After(now) {
			t.Fatalf("%q: %v is not after %v", text, p.At, now)
		}
	})
}
