package source_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/imports/source"
)

func TestElementsAreReadOneByOne(t *testing.T) {
	long := strings.Repeat("x", 5000)
	in := "\xef\xbb\xbf [ {\"a\":[1,{\"b\":\"]}\\\"\"}]}, 12 ,\"s,]\", null,[], {\"long\":\"" + long + "\"}, true]"
	var got []string
	for e, err := range source.Elements(strings.NewReader(in), 4000) {
		if err != nil {
			t.Fatal(err)
		}
		if e.TooLong {
			e.Data = []byte("too long")
		}
		got = append(got, string(e.Data))
	}
	want := `{"a":[1,{"b":"]}\""}]}|12|"s,]"|null|[]|too long|true`
	if s := strings.Join(got, "|"); strings.ReplaceAll(s, "12 ", "12") != want {
		t.Errorf("%s, want %s", s, want)
	}
	for _, bad := range []string{"", "{}", "[1", "[" + strings.Repeat("[", 501), `["`} {
		var failed error
		for _, err := range source.Elements(strings.NewReader(bad), 4000) {
			failed = err
		}
		if !errors.Is(failed, source.ErrNotJSON) {
			t.Errorf("%.20q: %v", bad, failed)
		}
	}
}

// What is JSON comes out as its parser would read it, whatever it is.
func FuzzElements(f *testing.F) {
	for _, s := range []string{`[]`, `[{"a":1},"x",[2]]`, `[1e5, -2 ,true]`, `[{"a":"\\\""}`, `]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var got []json.RawMessage
		ok := true
		for e, err := range source.Elements(bytes.NewReader(in), 1<<16) {
			if err != nil || e.TooLong {
				ok = false
				break
			}
			got = append(got, bytes.Clone(e.Data))
		}
		var want []json.RawMessage
		if json.Unmarshal(in, &want) != nil || len(in) > 1<<16 {
			return
		}
		if !ok || len(got) != len(want) {
			t.Fatalf("%q: %d elements, %v, want %d", in, len(got), ok, len(want))
		}
		for i := range want {
			if string(bytes.TrimSpace(got[i])) != string(bytes.TrimSpace(want[i])) {
				t.Errorf("%q: element %d is %q, want %q", in, i, got[i], want[i])
			}
		}
	})
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\n\nb"), 10)
	f.Fuzz(func(t *testing.T, in []byte, most int) {
		if most < 1 {
			return
		}
		for e, err := range source.Lines(bytes.NewReader(in), most) {
			if err != nil || len(e.Data) > most || bytes.ContainsRune(e.Data, '\n') {
				t.Fatalf("%q, %v", e.Data, err)
			}
		}
	})
}
