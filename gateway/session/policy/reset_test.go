package policy

import (
	"testing"
	"time"
	_ "time/tzdata"
)

func hour(h int) *int { return &h }

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestWhichResetRuleHolds(t *testing.T) {
	page := Resets{
		Base: &Reset{Mode: ModeDaily, AtHour: hour(4), IdleMinutes: 120},
		ByType: map[Type]Reset{
			TypeThread: {Mode: ModeDaily, AtHour: hour(4)},
			TypeDM:     {Mode: ModeIdle, IdleMinutes: 240},
			TypeGroup:  {Mode: ModeIdle, IdleMinutes: 120},
		},
		ByChannel: map[string]Reset{"discord": {Mode: ModeIdle, IdleMinutes: 10080}},
	}
	min := time.Minute
	tests := []struct {
		name    string
		r       Resets
		typ     Type
		channel string
		want    Rule
	}{
		{"default is daily at 4", Resets{}, TypeDM, "telegram", Rule{4, 0}},
		{"reset with both", page, "", "", Rule{4, 120 * min}},
		{"resetByType dm", page, TypeDM, "telegram", Rule{-1, 240 * min}},
		{"resetByType group", page, TypeGroup, "telegram", Rule{-1, 120 * min}},
		{"resetByType thread", page, TypeThread, "telegram", Rule{4, 120 * min}},
		{"resetByChannel goes before all types", page, TypeThread, "discord", Rule{-1, 10080 * min}},
		{"resetByChannel dm", page, TypeDM, "discord", Rule{-1, 10080 * min}},
		{"legacy idleMinutes only", Resets{IdleMinutes: 30}, TypeDM, "x", Rule{-1, 30 * min}},
		{"legacy idleMinutes with reset adds to daily", Resets{IdleMinutes: 30, Base: &Reset{Mode: ModeDaily}}, TypeDM, "x", Rule{4, 30 * min}},
		{"legacy idleMinutes with resetByType adds to daily", Resets{IdleMinutes: 30, ByType: map[Type]Reset{TypeDM: {}}}, TypeGroup, "x",
			Rule{4, 30 * min}},
		{"idle without minutes", Resets{Base: &Reset{Mode: ModeIdle}}, TypeDM, "x", Rule{-1, 60 * min}},
		{"another hour", Resets{Base: &Reset{AtHour: hour(0)}}, TypeDM, "x", Rule{0, 0}},
		{"a type takes what it does not say from reset", Resets{Base: &Reset{AtHour: hour(6)}, ByType: map[Type]Reset{TypeDM: {IdleMinutes: 5}}},
			TypeDM, "x", Rule{6, 5 * min}},
		{"no type for jobs", page, (Keys{}).Parse("agent:main:cron:x").Type(), "", Rule{4, 120 * min}},
	}
	for _, tc := range tests {
		if got := tc.r.For(tc.typ, tc.channel); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

// A message of a network follows the rules; the person's own chats follow
// them only where somebody wrote one.
func TestWhoseChatsBeginAnew(t *testing.T) {
	keys := Keys{}
	written := Resets{Base: &Reset{Mode: ModeIdle, IdleMinutes: 5}}
	for _, tc := range []struct {
		name, key, channel string
		r                  Resets
		ok                 bool
		want               Rule
	}{
		{"a network's chat, by default", "agent:main:telegram:group:-1", "telegram", Resets{}, true, Rule{4, 0}},
		{"a network's chat, written to in the page", "agent:main:telegram:group:-1", "",
			Resets{ByChannel: map[string]Reset{"telegram": {AtHour: hour(2)}}}, true, Rule{2, 0}},
		{"a network's message in the home chat", "agent:main:main", "telegram", Resets{}, true, Rule{4, 0}},
		{"the home chat, nothing written", "agent:main:main", "", Resets{}, false, Rule{}},
		{"the home chat, a rule for groups", "agent:main:main", "", Resets{ByType: map[Type]Reset{TypeGroup: {}}}, false, Rule{}},
		{"the home chat, session.reset", "agent:main:main", "", written, true, Rule{-1, 5 * time.Minute}},
		{"the home chat, session.idleMinutes", "agent:main:main", "", Resets{IdleMinutes: 7}, true, Rule{-1, 7 * time.Minute}},
		{"the home chat, resetByType.dm", "agent:main:main", "", Resets{ByType: map[Type]Reset{TypeDM: {AtHour: hour(1)}}}, true, Rule{1, 0}},
		{"the home chat, resetByChannel.webchat", "agent:main:main", "", Resets{ByChannel: map[string]Reset{"webchat": {AtHour: hour(1)}}}, true,
			Rule{1, 0}},
		{"a chat that somebody made, session.reset", "agent:main:chat:3f0c", "", written, false, Rule{}},
	} {
		rule, ok := tc.r.Holding(keys.Parse(tc.key), tc.channel, "webchat")
		if ok != tc.ok || ok && rule != tc.want {
			t.Errorf("%s: %+v %v, want %+v %v", tc.name, rule, ok, tc.want, tc.ok)
		}
	}
}

func TestStale(t *testing.T) {
	vienna, ny, howe, samoa, beirut, utc := zone(t, "Europe/Vienna"), zone(t, "America/New_York"), zone(t, "Australia/Lord_Howe"),
		zone(t, "Pacific/Apia"), zone(t, "Asia/Beirut"), time.UTC
	daily := func(h int) Rule { return Rule{Hour: h} }
	idle := Rule{Hour: -1, Idle: 2 * time.Hour}
	both := Rule{Hour: 4, Idle: 2 * time.Hour}
	tests := []struct {
		name      string
		rule      Rule
		zone      *time.Location
		last, now string
		want      ResetMode
	}{
		{"daily: same day after the reset", daily(4), vienna, "2026-01-10T04:00:00+01:00", "2026-01-10T23:00:00+01:00", ""},
		{"daily: before and after 4:00", daily(4), vienna, "2026-01-10T03:59:59+01:00", "2026-01-10T04:00:00+01:00", ModeDaily},
		{"daily: one second before 4:00", daily(4), vienna, "2026-01-09T23:00:00+01:00", "2026-01-10T03:59:59+01:00", ""},
		{"daily: over midnight is one day", daily(4), vienna, "2026-01-09T05:00:00+01:00", "2026-01-10T01:00:00+01:00", ""},
		{"daily: days later", daily(4), vienna, "2026-01-01T05:00:00+01:00", "2026-01-10T01:00:00+01:00", ModeDaily},
		{"daily: midnight", daily(0), vienna, "2026-01-09T23:59:59+01:00", "2026-01-10T00:00:00+01:00", ModeDaily},

		{"spring forward: 4:00 is there", daily(4), vienna, "2026-03-29T03:59:00+02:00", "2026-03-29T04:00:00+02:00", ModeDaily},
		{"spring forward: 2:00 is jumped over, not yet", daily(2), vienna, "2026-03-29T01:00:00+01:00", "2026-03-29T01:59:59+01:00", ""},
		{"spring forward: 2:00 is jumped over, the jump counts", daily(2), vienna, "2026-03-29T01:59:00+01:00", "2026-03-29T03:00:00+02:00",
			ModeDaily},
		{"spring forward: only once", daily(2), vienna, "2026-03-29T03:00:00+02:00", "2026-03-29T23:00:00+02:00", ""},
		{"spring forward: New York", daily(2), ny, "2026-03-08T01:59:00-05:00", "2026-03-08T03:00:00-04:00", ModeDaily},
		{"spring forward: midnight is jumped over", daily(0), beirut, "2024-03-30T23:59:59+02:00", "2024-03-31T01:00:00+03:00", ModeDaily},
		{"spring forward: midnight, not before", daily(0), beirut, "2024-03-30T05:00:00+02:00", "2024-03-30T23:59:59+02:00", ""},
		{"spring forward: by half an hour", daily(2), howe, "2026-10-04T01:59:59+10:30", "2026-10-04T02:30:00+11:00", ModeDaily},
		{"fall back: 2:00 comes twice, the first counts", daily(2), vienna, "2026-10-25T01:59:00+02:00", "2026-10-25T02:00:00+02:00", ModeDaily},
		{"fall back: not again at the second", daily(2), vienna, "2026-10-25T02:00:00+02:00", "2026-10-25T02:30:00+01:00", ""},
		{"fall back: New York", daily(1), ny, "2026-11-01T01:00:00-04:00", "2026-11-01T01:30:00-05:00", ""},
		{"fall back: New York, the first", daily(1), ny, "2026-11-01T00:59:00-04:00", "2026-11-01T01:00:00-04:00", ModeDaily},
		{"fall back: 4:00 waits 25 hours", daily(4), vienna, "2026-10-24T04:00:00+02:00", "2026-10-25T03:59:59+01:00", ""},
		{"fall back: 4:00 comes", daily(4), vienna, "2026-10-24T04:00:00+02:00", "2026-10-25T04:00:00+01:00", ModeDaily},
		{"a day that never was", daily(4), samoa, "2011-12-29T23:00:00-10:00", "2011-12-31T00:00:00+14:00", ModeDaily},

		{"zone change: later in the east", daily(4), vienna, "2026-01-10T02:00:00Z", "2026-01-10T03:30:00Z", ModeDaily},
		{"zone change: not yet in UTC", daily(4), utc, "2026-01-10T02:00:00Z", "2026-01-10T03:30:00Z", ""},

		{"clock set back by a year", both, vienna, "2027-01-10T12:00:00+01:00", "2026-01-10T12:00:00+01:00", ""},
		{"clock set back by a second", both, vienna, "2026-01-10T12:00:01+01:00", "2026-01-10T12:00:00+01:00", ""},
		{"clock set forward by a year", daily(4), vienna, "2026-01-10T12:00:00+01:00", "2027-01-10T12:00:00+01:00", ModeDaily},
		{"no last update", both, vienna, "0001-01-01T00:00:00Z", "2027-01-10T12:00:00+01:00", ModeIdle},

		{"idle: within", idle, vienna, "2026-01-10T12:00:00+01:00", "2026-01-10T14:00:00+01:00", ""},
		{"idle: over", idle, vienna, "2026-01-10T12:00:00+01:00", "2026-01-10T14:00:01+01:00", ModeIdle},
		{"idle: no daily reset beside it", idle, vienna, "2026-01-10T03:30:00+01:00", "2026-01-10T04:30:00+01:00", ""},
		{"both: idle is first", both, vienna, "2026-01-10T12:00:00+01:00", "2026-01-11T12:00:00+01:00", ModeIdle},
		{"both: daily is first", both, vienna, "2026-01-10T03:00:00+01:00", "2026-01-11T12:00:00+01:00", ModeDaily},
		{"both: neither", both, vienna, "2026-01-10T05:00:00+01:00", "2026-01-10T06:00:00+01:00", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			v := tc.rule.Stale(at(t, tc.last), at(t, tc.now), tc.zone)
			if v.Rule != tc.want || v.Stale != (tc.want != "") {
				t.Errorf("%+v, want %q", v, tc.want)
			}
			if v.Stale && (v.At.After(at(t, tc.now)) || v.At.Before(at(t, tc.last))) {
				t.Errorf("old since %v, which is not between the two", v.At)
			}
		})
	}
}

func at(t *testing.T, s string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Over ten years there is exactly one daily reset a day, in every zone with
// odd rules, for every hour.
func TestFault_F_CLK_02_OneResetADay(t *testing.T) {
	for _, name := range []string{"Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Casablanca",
		"Asia/Beirut", "UTC",
		"Africa/Cairo", "America/Havana", "America/Santiago", "America/St_Johns", "America/Caracas", "America/Asuncion", "Antarctica/Troll",
		"Asia/Amman",
		"Asia/Gaza", "Asia/Kathmandu", "Asia/Pyongyang", "Asia/Tehran", "Atlantic/Azores", "Australia/Eucla", "Europe/Dublin", "Europe/Istanbul",
		"Europe/London", "Europe/Moscow", "Pacific/Apia", "Pacific/Chatham", "Pacific/Easter", "Pacific/Kiritimati", "Pacific/Norfolk",
		"Pacific/Tongatapu"} {
		z := zone(t, name)
		for h := range 24 {
			days := map[string]bool{}
			last := time.Date(2015, 1, 1, 12, 0, 0, 0, z)
			for n := range 3650 {
				next := nextBoundary(last, z, h)
				if !next.After(last) || next.Sub(last) > 26*time.Hour || n > 0 && next.Sub(last) < 22*time.Hour {
					t.Fatalf("%s, %d o'clock: after %v comes %v", name, h, last, next)
				}
				day := next.In(z).Format(time.DateOnly)
				if days[day] {
					t.Fatalf("%s, %d o'clock: twice on %s", name, h, day)
				}
				days[day], last = true, next
			}
		}
	}
}
