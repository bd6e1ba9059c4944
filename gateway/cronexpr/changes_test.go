package cronexpr_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"slices"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/hearth-assistant/hearth/gateway/cronexpr"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// changesOfClocks is what croner 11.0.1 says around the changes of clocks 2026–2030
// (testdata/changes.mjs wrote it). Zones whose clocks go alike stand together.
type changesOfClocks struct {
	Expressions []string
	Groups      []struct {
		Zones   []string
		Changes []struct {
			At            int64 // minutes since 1970
			Before, After int   // minutes east of Greenwich
			Runs          [][]float64
		}
	}
}

// ourRule are the expressions, with their times of a day in minutes, for which
// croner leaves out a day, or says a time twice, where clocks change: several times
// of a day, and those that fall into a gap right before midnight (Nuuk). Ours goes
// by the written rule.
func ourRule() map[string][]int {
	return map[string][]int{"0,30 2 * * *": {120, 150}, "20 1-3 * * *": {80, 140, 200}, "30 23 * * *": {23*60 + 30}}
}

// ruled are the runs after a moment by the written rule, worked out minute by
// minute: each time of each day is due once, at the first instant that shows it,
// or at the first one after the gap that it falls into.
func ruled(times []int, from time.Time, n int) (out []time.Time) {
	y, m, d := from.Date()
	for day := d - 1; len(out) < n+3; day++ {
		for _, minute := range times {
			want := time.Date(y, m, day, 0, 0, 0, 0, time.UTC).Add(time.Duration(minute) * time.Minute)
			at := time.Date(y, m, day-2, 0, 0, 0, 0, time.UTC)
			for ; ; at = at.Add(time.Minute) {
				_, offset := at.In(from.Location()).Zone()
				if !at.Add(time.Duration(offset) * time.Second).Before(want) {
					break
				}
			}
			if at.After(from) && !slices.ContainsFunc(out, at.Equal) {
				out = append(out, at)
			}
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	return out[:n]
}

// crons is what croner says: as it stands here, or as it said a moment ago, in the
// file that HEARTH_CRONER names. Then all zones are looked at.
func crons(t *testing.T) (all changesOfClocks, whole bool) {
	t.Helper()
	path := "testdata/changes.json.gz"
	said := os.Getenv("HEARTH_CRONER")
	if said != "" {
		path = said
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if said == "" {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.NewDecoder(r).Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all, said != "" || seed.Rounds(1, 2) > 1
}

// Every zone of the tz database, twenty expressions, every change of clocks until
// 2030: as croner says it, and by the written rule where croner has another. A slice
// of the zones in each run, all of them with HEARTH_LONG=1 and when croner is asked.
func TestEveryChangeOfClocks(t *testing.T) {
	all, whole := crons(t)
	chance, rules := seed.New(t), ourRule()
	zones, compared, differ, other := 0, 0, 0, 0
	for _, g := range all.Groups {
		chance.Shuffle(len(g.Zones), func(a, b int) { g.Zones[a], g.Zones[b] = g.Zones[b], g.Zones[a] })
		if !whole {
			g.Zones = g.Zones[:min(len(g.Zones), 2)]
		}
		for _, name := range g.Zones {
			zone, err := time.LoadLocation(name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			zones++
			for _, c := range g.Changes {
				change := time.Unix(c.At*60, 0)
				_, before := change.Add(-time.Minute).In(zone).Zone()
				_, after := change.In(zone).Zone()
				if before != c.Before*60 || after != c.After*60 { // the rules of that zone are others here
					other++
					continue
				}
				for i, expr := range all.Expressions {
					row := c.Runs[i]
					from := change.Add(-time.Duration(row[0]) * time.Minute).In(zone)
					want := make([]time.Time, len(row)-1)
					for k, m := range row[1:] {
						want[k] = change.Add(time.Duration(m * float64(time.Minute)))
					}
					compared++
					got := runsOf(t, expr, from, len(want))
					if slices.EqualFunc(got, want, time.Time.Equal) {
						continue
					}
					if times, ok := rules[expr]; ok && slices.EqualFunc(got, ruled(times, from, len(want)), time.Time.Equal) {
						differ++
						continue
					}
					t.Errorf("%q %s from %s: %s, want %s", expr, name, from.UTC().Format(time.RFC3339), got, want)
				}
			}
		}
	}
	if len(all.Groups) < 50 || zones < len(all.Groups) || compared < 20*zones {
		t.Errorf("%d rows of %d zones are too few", compared, zones)
	}
	if other*20 > compared {
		t.Errorf("%d changes of clocks are others here than in the table", other)
	}
	t.Logf("%d zones, %d rows, %d by the written rule only, %d changes with other rules here", zones, compared, differ, other)
}

func runsOf(t *testing.T, expr string, from time.Time, n int) (out []time.Time) {
	t.Helper()
	s, err := cronexpr.Parse(expr)
	if err != nil {
		t.Fatal(err)
	}
	for at := from; len(out) < n; out = append(out, at) {
		if at, err = s.Next(at); err != nil {
			t.Fatalf("%q: %v", expr, err)
		}
	}
	return out
}

// The written rule itself, worked out minute by minute, agrees with what a person
// would say of a day that has an hour too few or too many.
func TestTheRuleByHand(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	got := ruled([]int{120, 150}, time.Date(2027, 3, 27, 12, 0, 0, 0, zone), 3)
	for i, want := range []string{"2027-03-28T01:00:00Z", "2027-03-29T00:00:00Z", "2027-03-29T00:30:00Z"} {
		if s := got[i].UTC().Format(time.RFC3339); s != want {
			t.Errorf("run %d at %s, want %s", i, s, want)
		}
	}
}
