package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestEntriesAddUp(t *testing.T) {
	sum := 0
	for n := range scaleSessions {
		sum += entriesOf(n)
	}
	if sum != scaleEntries {
		t.Errorf("the sessions have %d entries together, want %d", sum, scaleEntries)
	}
}

func TestQuantileIsNeverKind(t *testing.T) {
	var d []time.Duration
	for i := 100; i >= 1; i-- {
		d = append(d, time.Duration(i)*time.Millisecond)
	}
	for q, want := range map[float64]float64{0: 1, 0.5: 51, 0.95: 96, 0.99: 100, 1: 100} {
		if got := quantile(d, q); got != want {
			t.Errorf("quantile %v of 1…100 ms is %v, want %v", q, got, want)
		}
	}
	if quantile(nil, 0.5) != 0 {
		t.Error("nothing has a quantile")
	}
}

func TestOldestWord(t *testing.T) {
	text := fmt.Sprintf("t%016d t%016d ", 1_795_000_000_000_000, 1_795_000_000_020_000)
	if len(text) != 2*clockWidth {
		t.Fatalf("a word has %d bytes, want %d", len(text)/2, clockWidth)
	}
	for offset, want := range map[int64]int64{0: 1_795_000_000_000_000, 3: 1_795_000_000_020_000, 18: 1_795_000_000_020_000} {
		got, ok := oldestWord(text[offset:], offset)
		if !ok || got.UnixMicro() != want {
			t.Errorf("from offset %d: %d %v, want %d", offset, got.UnixMicro(), ok, want)
		}
	}
	if _, ok := oldestWord(text[20:], 20); ok {
		t.Error("half a word was read")
	}
}

func TestLightFields(t *testing.T) {
	msg := []byte(`{"type":"event","event":"chat","payload":{"state":"delta","deltaText":"t1 ","offset":36,"end":39},"seq":7}`)
	if text, ok := field(msg, `"deltaText":"`); !ok || text != "t1 " {
		t.Errorf("deltaText is %q", text)
	}
	if number(msg, `"offset":`) != 36 || number(msg, `"end":`) != 39 || number(msg, `"absent":`) != 0 {
		t.Error("offset and end are not read")
	}
}

func TestReportMarksWhatIsMissed(t *testing.T) {
	one := func(busy float64, f ...figure) []result { return []result{{row: "turn", figures: f, busy: busy}} }
	if err := report(one(1, figure{name: "good", measured: 1, budget: 2}, figure{name: "told", measured: 9}), true); err != nil {
		t.Errorf("all within budget, but: %v", err)
	}
	for _, bad := range []figure{{name: "over", measured: 3, budget: 2}, {name: "some", measured: 1, none: true},
		{name: "broken", err: fmt.Errorf("x")}} {
		if err := report(one(1, bad), true); err == nil || !strings.Contains(err.Error(), "1 figure") {
			t.Errorf("%s: %v", bad.name, err)
		}
	}
}

// A busy machine excuses times, processor time less than others, and nothing that
// is no time.
func TestWhatABusyMachineExcuses(t *testing.T) {
	for _, tc := range []struct {
		figure
		busy float64
		ok   bool
	}{
		{figure{measured: 7, budget: 2, unit: "ms"}, 1, false},
		{figure{measured: 7, budget: 2, unit: "ms"}, 4, true},
		{figure{measured: 9, budget: 2, unit: "ms"}, 4, false},
		{figure{measured: 17, budget: 2, unit: "ms"}, 100, false},
		{figure{measured: 5, budget: 3, unit: "ms", work: true}, 4, true},
		{figure{measured: 7, budget: 3, unit: "ms", work: true}, 100, false},
		{figure{measured: 13, budget: 12, unit: "MB"}, 100, false},
		{figure{measured: 1, none: true, unit: "ms"}, 100, false},
	} {
		if tc.ok != tc.figure.ok(tc.busy) {
			t.Errorf("%+v at %v: want %v", tc.figure, tc.busy, tc.ok)
		}
	}
	var b bench
	if first := b.busy(); first < 1 || b.fastest.Load() <= 0 {
		t.Errorf("a machine is %v times as slow as itself", first)
	}
}

// What was measured stands in the page, what was not stays, and nothing else of it
// changes.
func TestPageIsBroughtUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench.md")
	at := time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC)
	write := func(all ...result) string {
		t.Helper()
		if err := writePage(path, all); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if err := os.WriteFile(path, []byte("# before\n\n"+tablesBegin+"\n"+tablesEnd+"\n\nbehind\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	size := result{row: "size", figures: []figure{{name: "binary", measured: 39, budget: 40, unit: "MB", note: "a | b"}}, busy: 3, at: at}
	write(size)
	turn := result{row: "turn", figures: []figure{{name: "own", measured: 1, budget: 2, unit: "ms"}}, busy: 1, at: at}
	got := write(turn)
	turn.figures[0].measured = 1.5
	if again := write(turn); again != strings.Replace(got, "1.00 ms", "1.50 ms", 1) {
		t.Errorf("a second time:\n%s", again)
	}
	for _, want := range []string{"# before\n", "\nbehind\n", "### turn\n\nOn 23 November 2026, 09:30,", "3.0 times as long",
		"| binary | 39.0 MB  | 40.0 MB | yes   | a \\| b |"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if strings.Index(got, "### turn") > strings.Index(got, "### size") {
		t.Error("not in the order of the rows")
	}
	if err := os.WriteFile(path, []byte("no place"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writePage(path, nil); err == nil {
		t.Error("a page without a place was written")
	}
}

func TestReadBenchmarks(t *testing.T) {
	got := readBenchmarks("goos: linux\nBenchmarkTrue/bare-2         \t     100\t   1588923 ns/op\n" +
		"BenchmarkDecide-2 2000 1002 ns/op 96 B/op 4 allocs/op\nBenchmarkX --- FAIL\nok x 1s\n")
	if len(got) != 2 || got["BenchmarkTrue/bare"] != 1588923 || got["BenchmarkDecide"] != 1002 {
		t.Error(got)
	}
}
