package pretty

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":[1,2,{"b":"[{,:"}],"c":"\""}`: "{\n  \"a\": [\n    1,\n    2,\n    {\n      \"b\": \"[{,:\"\n    }\n  ],\n  \"c\": \"\\\"\"\n}",
		`[]`:                                `[]`,
		`1`:                                 `1`,
		`no`:                                `no`,
		`{"a":]`:                            `{"a":]`,
	} {
		if got := string(JSON([]byte(raw), "  ", 1000)); got != want {
			t.Errorf("%s became %s", raw, got)
		}
	}
	if raw := []byte(`{"a":1}`); !bytes.Equal(JSON(raw, "  ", 8), raw) {
		t.Error("it became longer than allowed")
	}
}

// TestSec_A_DOS_NestedJSONStaysSmall: 19 KB of brackets were 186 MB of spaces.
func TestSec_A_DOS_NestedJSONStaysSmall(t *testing.T) {
	raw := []byte(strings.Repeat("[", 9900) + strings.Repeat("1,", 50_000) + "1" + strings.Repeat("]", 9900))
	allocs := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if out := JSON(raw, "  ", 2*len(raw)); !bytes.Equal(out, raw) {
				b.Fatal("it was laid out")
			}
		}
	})
	if allocs.AllocedBytesPerOp() > 1<<10 {
		t.Errorf("%d bytes were allocated", allocs.AllocedBytesPerOp())
	}
}

func TestDepth(t *testing.T) {
	for raw, want := range map[string]int{``: 0, `1`: 0, `"[["`: 0, `{"a":[{"b":1}],"c":[]}`: 3, `[[[`: 3, `]]`: 0, `"\"[`: 0} {
		if got := Depth([]byte(raw)); got != want {
			t.Errorf("%q is %d deep, not %d", raw, got, want)
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,"x\"",{}],"b":{"c":[]}}`), 100)
	f.Add([]byte(`[[[[`), 10)
	f.Fuzz(func(t *testing.T, raw []byte, limit int) {
		out := JSON(raw, "  ", limit)
		if json.Valid(raw) != json.Valid(out) {
			t.Fatalf("%q became %q", raw, out)
		}
		if len(out) > len(raw) && len(out) > limit {
			t.Fatalf("%q became %d bytes", raw, len(out))
		}
	})
}
