package schedule_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/schedule"
)

func at(s string) int64 {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t.UnixMilli()
}

func compile(t *testing.T, s protocol.CronSchedule, o schedule.Options) *schedule.Schedule {
	t.Helper()
	p, err := schedule.Compile(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNext(t *testing.T) {
	vienna, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		t.Fatal(err)
	}
	anchor, exact := at("2027-01-01T00:10:00Z"), int64(0)
	type S = protocol.CronSchedule
	tenMinutes := S{Kind: "every", EveryMs: 600_000, AnchorMs: &anchor}
	nine := at("2027-03-26T08:00:00Z") // at nine in Vienna, two days before its summer begins
	other := S{Kind: "every", EveryMs: 2 * 86_400_000, AnchorMs: &nine, TZ: "Europe/Vienna"}
	cron := func(expr, zone string) S { return S{Kind: "cron", Expr: expr, TZ: zone} }
	for name, c := range map[string]struct {
		s           S
		after, want string // "" = never
	}{
		"a moment":                {S{Kind: "at", At: "2027-01-01T09:00:00Z"}, "2027-01-01T08:59:59Z", "2027-01-01T09:00:00Z"},
		"a moment, at that":       {S{Kind: "at", At: "2027-01-01T09:00:00Z"}, "2027-01-01T09:00:00Z", ""},
		"an interval":             {tenMinutes, "2027-01-01T09:05:00Z", "2027-01-01T09:10:00Z"},
		"an interval, on the dot": {tenMinutes, "2027-01-01T09:10:00Z", "2027-01-01T09:20:00Z"},
		"before its anchor":       {tenMinutes, "1970-01-01T00:00:00Z", "2027-01-01T00:20:00Z"},
		"other days, the first":   {other, "2027-01-01T00:00:00Z", "2027-03-26T08:00:00Z"},
		"other days, in summer":   {other, "2027-03-26T08:00:00Z", "2027-03-28T07:00:00Z"},
		"other days, the next":    {other, "2027-03-28T07:00:00Z", "2027-03-30T07:00:00Z"},
		"other days, a new month": {other, "2027-03-30T07:00:00Z", "2027-04-01T07:00:00Z"},
		"other days, a new year":  {other, "2027-12-31T09:00:00Z", "2028-01-02T08:00:00Z"},
		"the person's zone":       {cron("0 9 * * *", ""), "2027-01-01T09:00:00Z", "2027-01-02T08:00:00Z"},
		"a zone of its own":       {cron("0 9 * * *", "Asia/Kolkata"), "2027-01-01T09:00:00Z", "2027-01-02T03:30:00Z"},
		"every hour, exactly":     {S{Kind: "cron", Expr: "0 * * * *", StaggerMs: &exact}, "2027-01-01T09:00:00Z", "2027-01-01T10:00:00Z"},
		"a clock from 1970":       {cron("0 9 * * *", "UTC"), "1970-01-01T00:00:00Z", "1970-01-01T09:00:00Z"},
		"a clock from 2100":       {cron("0 0 29 2 *", "UTC"), "2100-01-01T00:00:00Z", "2104-02-29T00:00:00Z"},
		"a day that never is":     {cron("0 0 30 2 *", ""), "2027-01-01T00:00:00Z", ""},
	} {
		got, ok := compile(t, c.s, schedule.Options{ID: "x", Zone: vienna}).Next(at(c.after))
		if ok != (c.want != "") || ok && got != at(c.want) {
			t.Errorf("%s: %s %v, want %q", name, time.UnixMilli(got).UTC(), ok, c.want)
		}
	}
}

// The stagger of a job is always the same, within its window, and another for
// another job.
func TestStagger(t *testing.T) {
	s := protocol.CronSchedule{Kind: "cron", Expr: "0 * * * *", TZ: "UTC"}
	hour, seen := at("2027-01-01T10:00:00Z"), map[int64]bool{}
	for _, id := range []string{"a", "b", "c", "d"} {
		first, _ := compile(t, s, schedule.Options{ID: id}).Next(hour - 1)
		again, _ := compile(t, s, schedule.Options{ID: id}).Next(hour - 1)
		if first != again || first < hour || first >= hour+5*60_000 {
			t.Errorf("%s: %s, then %s", id, time.UnixMilli(first).UTC(), time.UnixMilli(again).UTC())
		}
		seen[first] = true
	}
	if len(seen) < 3 {
		t.Errorf("four jobs begin at %d different times", len(seen))
	}
}

func TestCatchUp(t *testing.T) {
	for _, c := range []struct {
		s      protocol.CronSchedule
		mode   string
		within time.Duration
	}{
		{protocol.CronSchedule{Kind: "at", At: "2027-01-01T09:00:00Z"}, "once", 0},
		{protocol.CronSchedule{Kind: "every", EveryMs: 60_000}, "skip", 0},
		{protocol.CronSchedule{Kind: "every", EveryMs: 2 * 3_600_000}, "once", time.Hour},
		{protocol.CronSchedule{Kind: "cron", Expr: "0 9 * * 1", TZ: "UTC"}, "once", 12 * time.Hour},
	} {
		mode, within := compile(t, c.s, schedule.Options{}).CatchUp(at("2027-01-01T00:00:00Z"))
		if mode != c.mode || within != c.within {
			t.Errorf("%+v: %s within %s", c.s, mode, within)
		}
	}
}

// What nobody can plan is refused in words, at once.
func TestHostileSchedules(t *testing.T) {
	for want, s := range map[string]protocol.CronSchedule{
		"at least 1000":          {Kind: "every", EveryMs: 1},
		"write it like":          {Kind: "at", At: strings.Repeat("9", 10_000)},
		"cannot be read":         {Kind: "cron", Expr: strings.Repeat("*/1,", 100_000) + "* * * * *"},
		"no time zone":           {Kind: "cron", Expr: "* * * * *", TZ: "../../etc/passwd"},
		"no kind of schedule":    {Kind: "moon"},
		"is no moment; write it": {Kind: "at", At: "275761-01-01T00:00:00Z"},
	} {
		if _, err := schedule.Compile(s, schedule.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	for _, kind := range []string{protocol.CronOnExit, protocol.CronStream} {
		if _, err := schedule.Compile(protocol.CronSchedule{Kind: kind}, schedule.Options{}); !errors.Is(err, schedule.ErrNoTime) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// Every other day keeps its time of the day, and says it.
func TestOtherDaysInWords(t *testing.T) {
	nine := at("2027-03-26T08:00:00Z")
	s := protocol.CronSchedule{Kind: "every", EveryMs: 2 * 86_400_000, AnchorMs: &nine, TZ: "Europe/Vienna"}
	for zone, want := range map[string]string{
		"Europe/Vienna": "every 2 days at 09:00", "Asia/Tokyo": "every 2 days at 09:00 (Europe/Vienna)",
	} {
		if got := schedule.Words(s, schedule.Style{Zone: time.UTC, ZoneName: zone}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	p := compile(t, s, schedule.Options{})
	if n, last := p.Count(nine, nine+10*86_400_000, 3); n != 3 || last != nine+10*86_400_000-3_600_000 {
		t.Errorf("%d slots until %s", n, time.UnixMilli(last).UTC())
	}
}

// The letters of a zone's name may be small or capital ones.
func TestZone(t *testing.T) {
	for said, want := range map[string]string{
		"Europe/Vienna": "Europe/Vienna", "europe/vienna": "Europe/Vienna", "EUROPE/VIENNA": "Europe/Vienna", "utc": "UTC",
		"america/port-au-prince": "America/Port-au-Prince", "AFRICA/DAR_ES_SALAAM": "Africa/Dar_es_Salaam", "Mars": "", "local": "", "": "",
		"../../etc/passwd": "",
	} {
		z, err := schedule.Zone(said)
		if (err == nil) != (want != "") || err == nil && !strings.EqualFold(z.String(), want) {
			t.Errorf("%q is %v, %v", said, z, err)
		}
	}
}

// An expression that names several seconds of a minute is read, and is nothing to plan.
func TestCalm(t *testing.T) {
	for expr, calm := range map[string]bool{
		"* * * * * *": false, "*/30 * * * * *": false, "0,30 0 9 * * *": false, "5-6 0 9 1 1 *": false,
		"* * * * *": true, "0 * * * * *": true, "17 0 9 * * MON": true, "*/59 * * * *": true,
	} {
		if err := compile(t, protocol.CronSchedule{Kind: "cron", Expr: expr}, schedule.Options{}).Calm(); (err == nil) != calm {
			t.Errorf("%s: %v", expr, err)
		}
	}
	if err := compile(t, protocol.CronSchedule{Kind: "every", EveryMs: 60_000}, schedule.Options{}).Calm(); err != nil {
		t.Error(err)
	}
}

// Slots follow one another, and counting them finds the last.
func TestSlotsAndCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom([]protocol.CronSchedule{
			{Kind: "every", EveryMs: 61_000}, {Kind: "cron", Expr: "*/7 * * * *", TZ: "Europe/Berlin"},
			{Kind: "cron", Expr: "30 2 * * *", TZ: "America/Santiago"}, {Kind: "cron", Expr: "0 * * * *", TZ: "Australia/Lord_Howe"},
		}).Draw(t, "schedule")
		p, err := schedule.Compile(s, schedule.Options{ID: "x"})
		if err != nil {
			t.Fatal(err)
		}
		from := rapid.Int64Range(0, at("2100-01-01T00:00:00Z")).Draw(t, "from")
		slots := p.Slots(from, rapid.IntRange(1, 40).Draw(t, "n"))
		last := from
		for _, slot := range slots {
			if slot <= last {
				t.Fatalf("%d follows %d", slot, last)
			}
			last = slot
		}
		if n, end := p.Count(from, last, 100); n != len(slots) || end != last {
			t.Errorf("%d slots until %d; counted %d until %d", len(slots), last, n, end)
		}
	})
}
