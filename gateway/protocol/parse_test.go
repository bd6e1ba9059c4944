package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseFrame(t *testing.T) {
	tests := []struct {
		name, in string
		want     Request
		err      *FrameError
	}{
		{"plain", `{"type":"req","id":"1","method":"health"}`, Request{Type: "req", ID: "1", Method: "health"}, nil},
		{"params", ` {"type":"req","id":"1","method":"a","params":{"b":[1,2]}} `, Request{Type: "req", ID: "1", Method: "a",
			Params: json.RawMessage(`{"b":[1,2]}`)}, nil},
		{"unknown fields", `{"type":"req","id":"1","method":"a","traceparent":"x","n":1}`, Request{Type: "req", ID: "1", Method: "a"}, nil},
		{"null params", `{"type":"req","id":"1","method":"a","params":null}`, Request{Type: "req", ID: "1", Method: "a",
			Params: json.RawMessage("null")}, nil},
		{"escapes", `{"type":"req","id":"\ud83d\ude00","method":"a"}`, Request{Type: "req", ID: "😀", Method: "a"}, nil},
		{"empty", ``, Request{}, &FrameError{NotJSON: true, Reason: "not a JSON value"}},
		{"garbage", `garbage`, Request{}, &FrameError{NotJSON: true, Reason: "not a JSON value"}},
		{"cut", `{"type":"req"`, Request{}, &FrameError{NotJSON: true, Reason: "an object is not closed"}},
		{"tail", `{} {}`, Request{}, &FrameError{NotJSON: true, Reason: "text after the JSON value"}},
		{"array", `[]`, Request{}, &FrameError{Reason: "must be an object"}},
		{"no id", `{"type":"req","method":"health"}`, Request{}, &FrameError{Reason: "id must be a string of 1 to 256 characters"}},
		{"empty id", `{"type":"req","id":"","method":"health"}`, Request{}, &FrameError{Reason: "id must be a string of 1 to 256 characters"}},
		{"number id", `{"type":"req","id":7,"method":"health"}`, Request{}, &FrameError{Reason: "id must be a string of 1 to 256 characters"}},
		{"long id", `{"type":"req","id":"` + strings.Repeat("x", 257) + `","method":"health"}`, Request{},
			&FrameError{Reason: "id must be a string of 1 to 256 characters"}},
		{"wrong type", `{"type":"event","id":"1","event":"x"}`, Request{}, &FrameError{ID: "1", Reason: `type must be "req"`}},
		{"no method", `{"type":"req","id":"1"}`, Request{}, &FrameError{ID: "1", Reason: "method must be a string of 1 to 128 characters"}},
		{"params list", `{"type":"req","id":"1","method":"a","params":[]}`, Request{}, &FrameError{ID: "1", Reason: "params must be an object"}},
		{"params text", `{"type":"req","id":"1","method":"a","params":"x"}`, Request{}, &FrameError{ID: "1", Reason: "params must be an object"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseFrame([]byte(tt.in))
			var fe *FrameError
			errors.As(err, &fe)
			if diff := cmp.Diff(tt.err, fe); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, got); tt.err == nil && diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

// wide is an object with n different members.
func wide(n int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"k%d":0`, i)
	}
	b.WriteByte('}')
	return b.String()
}

func frameWith(params string) []byte {
	return []byte(`{"type":"req","id":"1","method":"health","params":` + params + `}`)
}

func TestSec_A_DOS_06_HostileJSON(t *testing.T) {
	tests := []struct {
		name   string
		in     []byte
		reason string
	}{
		{"deep arrays", bytes.Repeat([]byte("["), 1_000_000), "nested more than 64 levels deep"},
		{"deep objects", bytes.Repeat([]byte(`{"a":`), 200_000), "nested more than 64 levels deep"},
		{"wide", frameWith(wide(1_000_000)), "more than 10000 object members"},
		{"elements", frameWith(`{"a":[` + strings.Repeat("0,", 1_000_000) + `0]}`), "more than 100000 array elements"},
		{"long number", frameWith(`{"a":` + strings.Repeat("9", 1_000_000) + `}`), "a number longer than 64 digits"},
		{"long fraction", frameWith(`{"a":0.` + strings.Repeat("9", 1_000_000) + `}`), "a number longer than 64 digits"},
		{"same member twice", frameWith(`{"a":1,"b":2,"a":3}`), "an object has the same member twice"},
		{"same member twice by escape", frameWith(`{"a":1,"\u0061":3}`), "an object has the same member twice"},
		{"same member twice, wide", frameWith(wide(500)[:len(wide(500))-1] + `,"k7":1}`), "an object has the same member twice"},
		{"method twice", []byte(`{"type":"req","id":"1","method":"health","method":"config.set"}`), "an object has the same member twice"},
		{"high surrogate", frameWith(`{"a":"\ud800"}`), "half of a surrogate pair in a string"},
		{"high surrogate, then text", frameWith(`{"a":"\ud800x"}`), "half of a surrogate pair in a string"},
		{"high surrogate twice", frameWith(`{"a":"\ud800\ud800"}`), "half of a surrogate pair in a string"},
		{"low surrogate", frameWith(`{"a":"\udc00"}`), "half of a surrogate pair in a string"},
		{"invalid UTF-8", frameWith("{\"a\":\"\xff\xfe\"}"), "text is not valid UTF-8"},
		{"overlong UTF-8", frameWith("{\"a\":\"\xc0\xaf\"}"), "text is not valid UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseFrame(tt.in)
			var fe *FrameError
			if !errors.As(err, &fe) || fe.NotJSON || fe.Reason != tt.reason {
				t.Fatalf("got %v, want %q", err, tt.reason)
			}
		})
	}
}

// The limits are limits, not off by one.
func TestScanLimitsAreInclusive(t *testing.T) {
	for name, in := range map[string]string{
		"64 levels":    strings.Repeat("[", 64) + strings.Repeat("]", 64),
		"10000 keys":   wide(10_000),
		"64 digits":    strings.Repeat("1", 64),
		"exotic":       `{"a":[-0.5e+10,1E5,0,-0,true,false,null,"\"\\\/\b\f\n\r\t\u00e9"],"":{}}`,
		"paired halfs": `"\ud83d\ude00"`,
	} {
		if err := ScanJSON([]byte(in)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDecodeParams(t *testing.T) {
	type params struct {
		Key   string   `json:"key"`
		Limit int      `json:"limit"`
		Deep  *bool    `json:"deep"`
		Tags  []string `json:"tags"`
	}
	tests := []struct{ in, err string }{
		{``, ""},
		{`null`, ""},
		{`{"key":"a","limit":3,"unknown":{"x":1}}`, ""},
		{`{"key":7}`, "invalid m params: key must be a string"},
		{`{"limit":"x"}`, "invalid m params: limit must be a whole number"},
		{`{"limit":1.5}`, "invalid m params: limit must be a whole number"},
		{`{"deep":"x"}`, "invalid m params: deep must be true or false"},
		{`{"tags":{}}`, "invalid m params: tags must be a list"},
		{`{"tags":[1]}`, "invalid m params: tags must be a string"},
		{`[]`, "invalid m params: must be an object"},
		{`{`, "invalid m params: must be a JSON object"},
	}
	for _, tt := range tests {
		got, err := DecodeParams[params]("m", json.RawMessage(tt.in))
		if msg := errText(err); msg != tt.err {
			t.Errorf("%s: error %q, want %q", tt.in, msg, tt.err)
		}
		if err != nil && (got.Key != "" || got.Limit != 0) {
			t.Errorf("%s: half-decoded parameters came back", tt.in)
		}
	}
	if e := MissingParam("cron.add", "name"); e.Message != "invalid cron.add params: must have required property 'name'" {
		t.Error(e.Message)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func BenchmarkScanWorst(b *testing.B) {
	for name, in := range map[string][]byte{
		"deep": bytes.Repeat([]byte("["), 1_000_000), "wide": frameWith(wide(1_000_000)),
		"elements": frameWith(`{"a":[` + strings.Repeat("0,", 1_000_000) + `0]}`),
		"digits":   frameWith(`{"a":` + strings.Repeat("9", 1_000_000) + `}`),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _ = ParseFrame(in)
			}
		})
	}
}

// FuzzParseFrame checks that our scan never accepts what encoding/json refuses
// and that a frame that came through survives its own encoding.
func FuzzParseFrame(f *testing.F) {
	for _, s := range []string{`{"type":"req","id":"1","method":"health","params":{}}`, `[[[[`, `{"a":"\ud800"}`, `"\u12`, `1e`, `-`,
		`{"type":"req","id":1}`, "{\"\xff\":1}", `{"a":1,"a":2}`, `tru`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		scan := scanJSON(data)
		if scan == nil && !json.Valid(data) {
			t.Fatalf("the scan took what is no JSON: %q", data)
		}
		if scan != nil && scan.syntax && json.Valid(data) {
			t.Fatalf("the scan called JSON a syntax error: %q: %v", data, scan)
		}
		r, err := ParseFrame(data)
		if err != nil {
			return
		}
		if r.ID == "" || r.Method == "" || len(r.ID) > MaxRequestID || len(r.Method) > MaxMethodName {
			t.Fatalf("limits not kept: %+v", r)
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseFrame(again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
	})
}
