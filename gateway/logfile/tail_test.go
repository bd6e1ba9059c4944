package logfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func tail(t *testing.T, path string, p protocol.LogsTailParams) protocol.LogsTail {
	t.Helper()
	out, err := Tail(path, p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func at(n int64) *int64 { return &n }

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gateway.log")
	if got := tail(t, path, protocol.LogsTailParams{}); len(got.Lines) != 0 || got.Lines == nil || got.Cursor != 0 || got.File != path {
		t.Errorf("no file: %+v", got)
	}
	if err := os.WriteFile(path, []byte("one\ntwo\nthree\nfour, not yet fin"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		p    protocol.LogsTailParams
		want protocol.LogsTail
	}{
		{"all", protocol.LogsTailParams{}, protocol.LogsTail{Cursor: 14, Lines: []string{"one", "two", "three"}}},
		{"newest", protocol.LogsTailParams{Limit: 2}, protocol.LogsTail{Cursor: 14, Lines: []string{"two", "three"}}},
		{"newest bytes", protocol.LogsTailParams{MaxBytes: 25}, protocol.LogsTail{Cursor: 14, Lines: []string{"three"}, Truncated: true}},
		{"from the start", protocol.LogsTailParams{Cursor: at(0), Limit: 2}, protocol.LogsTail{Cursor: 8, Lines: []string{"one", "two"}}},
		{"from the start, bytes", protocol.LogsTailParams{Cursor: at(0), MaxBytes: 7}, protocol.LogsTail{Cursor: 4, Lines: []string{"one"}}},
		{"on", protocol.LogsTailParams{Cursor: at(8)}, protocol.LogsTail{Cursor: 14, Lines: []string{"three"}}},
		{"at the end", protocol.LogsTailParams{Cursor: at(14)}, protocol.LogsTail{Cursor: 14, Lines: []string{}}},
		{"inside a line", protocol.LogsTailParams{Cursor: at(5)}, protocol.LogsTail{Cursor: 14, Lines: []string{"three"}}},
		{"long line", protocol.LogsTailParams{Cursor: at(8), MaxBytes: 2}, protocol.LogsTail{Cursor: 14, Lines: []string{"three"}}},
		{"negative", protocol.LogsTailParams{Cursor: at(-5), Limit: 1}, protocol.LogsTail{Cursor: 4, Lines: []string{"one"}}},
		{"replaced", protocol.LogsTailParams{Cursor: at(1000)}, protocol.LogsTail{Lines: []string{}, Reset: true}},
	} {
		c.want.File, c.want.Size = path, 31
		if diff := cmp.Diff(c.want, tail(t, path, c.p)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestTailFollowsRotation: a reader that keeps asking sees every line once and
// in order, while the file rotates under it.
func TestTailFollowsRotation(t *testing.T) {
	_, log, path := openTest(t, Options{MaxBytes: 4000, PerSecond: 1 << 30})
	cursor, next := int64(0), 0
	drain := func() {
		for {
			got := tail(t, path, protocol.LogsTailParams{Cursor: &cursor, Limit: 7})
			for _, l := range got.Lines {
				if !strings.Contains(l, fmt.Sprintf(`"i":%d}`, next)) {
					t.Fatalf("want line %d, got %s", next, l)
				}
				next++
			}
			if len(got.Lines) == 0 && !got.Reset && got.Cursor == cursor {
				return
			}
			cursor = got.Cursor
		}
	}
	for i := range 500 {
		log.Info("line", "i", i)
		if i%13 == 0 {
			drain()
		}
	}
	drain()
	if next != 500 {
		t.Errorf("saw %d of 500 lines", next)
	}
}

func FuzzTail(f *testing.F) {
	f.Add([]byte("one\ntwo\nthr"), int64(3), 2, 5)
	f.Add([]byte("\n\n\xff\xf0\x9f\n"), int64(-1), 0, 0)
	f.Add([]byte(strings.Repeat("ä", 100)+"\n"), int64(7), 1, 9)
	f.Fuzz(func(t *testing.T, data []byte, cursor int64, limit, maxBytes int) {
		path := filepath.Join(t.TempDir(), "l")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, p := range []*int64{nil, &cursor} {
			got := tail(t, path, protocol.LogsTailParams{Cursor: p, Limit: limit, MaxBytes: maxBytes})
			if got.Lines == nil || got.Cursor < 0 || got.Cursor > int64(len(data)) {
				t.Fatalf("%+v", got)
			}
			if p != nil && !got.Reset && got.Cursor < max(cursor, 0) {
				t.Fatalf("the cursor went back: %+v", got)
			}
			for _, l := range got.Lines {
				if !utf8.ValidString(l) || strings.Contains(l, "\n") {
					t.Fatalf("line %q", l)
				}
			}
		}
	})
}
