package cronexpr_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/cronexpr"
)

// testdata/next.json.gz: made with croner 11.0.1; rows in which croner means
// something else on purpose (see the package comment) are left out by gen.mjs.
func TestAgainstCroner(t *testing.T) {
	f, err := os.Open("testdata/next.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Expr, Zone, From string
		Next             []string
	}
	if err := json.NewDecoder(z).Decode(&rows); err != nil {
		t.Fatal(err)
	}
	bad := 0
	for _, r := range rows {
		loc, err := time.LoadLocation(r.Zone)
		if err != nil {
			t.Fatal(err)
		}
		s, err := cronexpr.Parse(r.Expr)
		if err != nil {
			t.Fatalf("%q: %v", r.Expr, err)
		}
		at, _ := time.Parse(time.RFC3339, r.From)
		at = at.In(loc)
		for i, want := range r.Next {
			if at, err = s.Next(at); err != nil {
				t.Errorf("%q %s: %v", r.Expr, r.Zone, err)
				break
			}
			if got := at.UTC().Format(time.RFC3339); got != want {
				t.Errorf("%q %s from %s: run %d at %s, want %s", r.Expr, r.Zone, r.From, i, got, want)
				bad++
				break
			}
		}
		if bad > 12 {
			t.Fatal("and more")
		}
	}
	t.Logf("%d rows", len(rows))
}

func TestClockChanges(t *testing.T) {
	for _, r := range []struct{ expr, zone, from, want string }{
		{"30 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z", "2027-03-28T01:00:00Z"},       // never shown: end of the gap
		{"0,30 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z", "2027-03-28T01:00:00Z"},     // two of them are one
		{"0,30 2 * * *", "Europe/Berlin", "2027-03-28T01:00:00Z", "2027-03-29T00:00:00Z"},     //
		{"30 2 * * *", "Europe/Berlin", "2027-10-30T12:00:00Z", "2027-10-31T00:30:00Z"},       // shown twice: the first
		{"30 2 * * *", "Europe/Berlin", "2027-10-31T00:30:00Z", "2027-11-01T01:30:00Z"},       //
		{"*/30 * * * *", "Europe/Berlin", "2027-10-31T00:30:00Z", "2027-10-31T01:00:00Z"},     // by real time
		{"0 0 * * *", "America/Santiago", "2027-09-04T12:00:00Z", "2027-09-05T04:00:00Z"},     // no midnight
		{"0 0 * * *", "Africa/Cairo", "2027-04-29T12:00:00Z", "2027-04-29T22:00:00Z"},         //
		{"15 2 * * *", "Australia/Lord_Howe", "2027-10-02T01:30:00Z", "2027-10-02T15:30:00Z"}, // half an hour
		{"45 1 * * *", "Australia/Lord_Howe", "2027-04-03T01:00:00Z", "2027-04-03T14:45:00Z"}, //
		{"45 1 * * *", "Australia/Lord_Howe", "2027-04-03T14:45:00Z", "2027-04-04T15:15:00Z"}, //
		{"0 12 30 12 *", "Pacific/Apia", "2011-12-29T00:00:00Z", "2011-12-30T10:00:00Z"},      // a day that never was
		{"0 9 29 2 1", "UTC", "2027-01-01T00:00:00Z", "2027-02-01T09:00:00Z"},
		{"0 9 29 2 +1", "UTC", "2027-01-01T00:00:00Z", "2044-02-29T09:00:00Z"},
	} {
		loc, err := time.LoadLocation(r.zone)
		if err != nil {
			t.Fatal(err)
		}
		s, err := cronexpr.Parse(r.expr)
		if err != nil {
			t.Fatal(err)
		}
		from, _ := time.Parse(time.RFC3339, r.from)
		got, err := s.Next(from.In(loc))
		if err != nil || got.UTC().Format(time.RFC3339) != r.want {
			t.Errorf("%q %s from %s: %v %v, want %s", r.expr, r.zone, r.from, got.UTC().Format(time.RFC3339), err, r.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"* * * * *", "0 9 L * 5L", "15W", "@daily", "0 0 9 LW * +1#2"} {
		f.Add(s)
	}
	at := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, expr string) {
		s, err := cronexpr.Parse(expr)
		if err != nil {
			return
		}
		n, err := s.Next(at)
		if err == nil && !n.After(at) {
			t.Fatalf("%q: %v is not after", expr, n)
		}
	})
}

func BenchmarkNext(b *testing.B) {
	s, err := cronexpr.Parse("30 9 * * 1-5")
	if err != nil {
		b.Fatal(err)
	}
	loc, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		b.Fatal(err)
	}
	at := time.Date(2027, 1, 1, 0, 0, 0, 0, loc)
	for b.Loop() {
		if _, err := s.Next(at); err != nil {
			b.Fatal(err)
		}
	}
}
