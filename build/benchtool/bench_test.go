package main

import (
	"fmt"
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
	if err := report([]figure{{name: "good", measured: 1, budget: 2}, {name: "told", measured: 9}}, true); err != nil {
		t.Errorf("all within budget, but: %v", err)
	}
	for _, bad := range []figure{{name: "over", measured: 3, budget: 2}, {name: "some", measured: 1, none: true},
		{name: "broken", err: fmt.Errorf("x")}} {
		if err := report([]figure{bad}, true); err == nil || !strings.Contains(err.Error(), "1 figure") {
			t.Errorf("%s: %v", bad.name, err)
		}
	}
}

func TestReadBenchmarks(t *testing.T) {
	got := readBenchmarks("goos: linux\nBenchmarkTrue/bare-2         \t     100\t   1588923 ns/op\n" +
		"BenchmarkDecide-2 2000 1002 ns/op 96 B/op 4 allocs/op\nBenchmarkX --- FAIL\nok x 1s\n")
	if len(got) != 2 || got["BenchmarkTrue/bare"] != 1588923 || got["BenchmarkDecide"] != 1002 {
		t.Error(got)
	}
}
