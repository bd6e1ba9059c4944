package cron

import (
	"strings"
	"testing"
	"time"
)

// What an assistant promises is noticed by a rule; what is no promise, or no time,
// is not.
func TestPromised(t *testing.T) {
	now := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC) // a Monday
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, time.UTC) }
	for answer, want := range map[string]struct {
		at     time.Time
		text   string
		remind bool
	}{
		"The build is red. I will look again tomorrow at nine.":       {at(24, 9, 0), "look again tomorrow at nine", false},
		"Okay, I'll check the mail in 2 hours!":                       {at(23, 12, 0), "check the mail in 2 hours", false},
		"I’ll remind you tomorrow at 18:30 to call mum.":              {at(24, 18, 30), "call mum", true},
		"Sure! I will remind you on Friday at nine to water the fern": {at(27, 9, 0), "water the fern", true},
		"Gut, ich werde morgen um 9 noch einmal nachsehen.":           {at(24, 9, 0), "morgen um 9 noch einmal nachsehen", false},
		"Ich schaue morgen um 9 nach dem Server":                      {time.Time{}, "", false}, // the time is in the middle
		"我会明天9点再看一次。":                                                 {at(24, 9, 0), "明天9点再看一次", false},

		"Shall I look again tomorrow at nine?":                      {},
		"I will explain it in three steps.":                         {},
		"I'll be right back in a second.":                           {},
		"You said: I will come tomorrow at nine.":                   {},
		"She will call you tomorrow at nine.":                       {},
		"I looked yesterday at nine.":                               {},
		"I will do that.":                                           {},
		"I will be there on 1 January 2031 at nine.":                {},
		strings.Repeat("x", 20<<10) + ". I will look in two hours.": {},
	} {
		p, ok := promised(answer, now)
		if ok == want.at.IsZero() || ok && (!p.plan.At.Equal(want.at) || p.text != want.text || p.remind != want.remind) {
			t.Errorf("%.80q: %v, %v %q, remind %v; want %v %q, remind %v", answer, ok, p.plan.At, p.text, p.remind, want.at, want.text, want.remind)
		}
	}
}

func FuzzPromised(f *testing.F) {
	now := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	f.Add("I will look again tomorrow at nine. 我会明天9点再看一次。Ich werde dich morgen um 9 erinnern.")
	f.Fuzz(func(t *testing.T, answer string) {
		if p, ok := promised(answer, now); ok && (p.text == "" || !p.plan.Recurs() && p.plan.At.Before(now)) {
			t.Errorf("%q promises %q at %v", answer, p.text, p.plan.At)
		}
	})
}
