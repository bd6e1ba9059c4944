package acp

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
)

// What is no message is answered with an error that belongs to no request, and ends nothing.
func TestLinesThatAreNoMessages(t *testing.T) {
	const first = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`
	const last = `{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":1}}`
	for _, c := range []struct {
		name, line string
		code       int // 0: it is not answered
	}{
		{"words", "hello", -32700},
		{"half an object", `{"jsonrpc":"2.0",`, -32700},
		{"no message", `{}`, -32600},
		{"no version", `{"id":7,"method":"initialize"}`, -32600},
		{"no method", `{"jsonrpc":"2.0","id":7}`, -32600},
		{"a method that is none", `{"jsonrpc":"2.0","id":7,"method":5}`, -32600},
		{"an id that is none", `{"jsonrpc":"2.0","id":{},"method":"initialize"}`, -32600},
		{"several", `[` + first + `]`, -32600},
		{"a text", `"hello"`, -32600},
		{"too long", strings.Repeat("x", maxLine+1), -32600},
		{"nothing", " \t", 0},
		{"an answer that belongs to nothing", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, out := pipes(t, New("test"), &fake{})
			go func() { _, _ = io.WriteString(in, first+"\n"+c.line+"\n"+last+"\r\n") }()
			want := []string{"1", "2"}
			if c.code != 0 {
				want = append(want, "null")
			}
			var ids []string
			for lines := json.NewDecoder(out); len(ids) < len(want); {
				var m struct {
					ID    json.RawMessage `json:"id"`
					Error struct {
						Code    int    `json:"code"`
						Message string `json:"message"`
					} `json:"error"`
				}
				if err := lines.Decode(&m); err != nil {
					t.Fatal(err)
				}
				if ids = append(ids, string(m.ID)); string(m.ID) == "null" && (m.Error.Code != c.code || m.Error.Message == "") {
					t.Errorf("%+v", m.Error)
				}
			}
			if slices.Sort(ids); !slices.Equal(ids, want) {
				t.Errorf("answers to %v, want %v", ids, want)
			}
		})
	}
}
