package cli

import (
	"testing"
	"time"
)

// Times near now are said as people say them, others with their date.
func TestMomentsInWords(t *testing.T) {
	now := time.Date(2026, 11, 23, 14, 10, 0, 0, time.UTC)
	for at, want := range map[time.Time]string{
		time.Date(2026, 11, 23, 15, 0, 0, 0, time.UTC):  "today 15:00",
		time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC):   "tomorrow 00:00",
		time.Date(2026, 11, 22, 23, 59, 0, 0, time.UTC): "yesterday 23:59",
		time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC):   "Friday 09:00",
		time.Date(2026, 12, 24, 18, 0, 0, 0, time.UTC):  "Thu 24 Dec 18:00",
		time.Date(2027, 1, 1, 8, 5, 0, 0, time.UTC):     "1 Jan 2027 08:05",
		time.UnixMilli(0): "-",
	} {
		if got := moment(at.UnixMilli(), now); got != want {
			t.Errorf("%v: %q, want %q", at, got, want)
		}
	}
}

// A schedule without a flag is a length, an expression or words.
func TestPositionalSchedule(t *testing.T) {
	for said, want := range map[string]jobFlags{
		"every 10m": {every: "10m"}, "Every 2h": {every: "2h"}, "0 9 * * 1-5": {expr: "0 9 * * 1-5"}, "0 0 9 * * MON": {expr: "0 0 9 * * MON"},
		"20m": {at: "20m"}, "every weekday at 8": {at: "every weekday at 8"}, "next Friday at nine please": {at: "next Friday at nine please"},
	} {
		var f jobFlags
		if f.positional(said); f.at != want.at || f.every != want.every || f.expr != want.expr {
			t.Errorf("%q: at %q, every %q, cron %q", said, f.at, f.every, f.expr)
		}
	}
}
