package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
)

const (
	hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	tools = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
)

// What is no message is answered, in the order in which it came, and ends nothing.
func TestLinesThatAreNoMessages(t *testing.T) {
	long := strings.Repeat("x", maxLine+1)
	for _, c := range []struct {
		name, line string
		code       int // 0 = it is not answered
	}{
		{"words", "hello", codeParse},
		{"half an object", `{"jsonrpc":"2.0",`, codeParse},
		{"two objects", `{} {}`, codeParse},
		{"no message", `{}`, codeInvalid},
		{"a number", `5`, codeInvalid},
		{"several of nothing", `[]`, codeInvalid},
		{"several in a version without that", `[` + tools + `]`, codeInvalid},
		{"several with one that is none", `[` + tools + `,5]`, codeInvalid},
		{"nothing", "", 0},
		{"spaces", " \t\r", 0},
		{"too long", long, codeInvalid},
		{"too long to be JSON", `{"jsonrpc":"2.0","id":3,"method":"` + long + `"}`, codeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, write := io.Pipe()
			read, out := io.Pipe()
			ended := make(chan error, 1)
			go func() { ended <- Run(t.Context(), &fake{}, "test", in, out) }()
			go func() { _, _ = io.WriteString(write, hello+"\n"+c.line+"\n"+tools+"\r\n") }()
			want := []string{"1", "2"}
			if c.code != 0 {
				want = append(want, "null")
			}
			var ids []string
			var codes []int
			for lines := json.NewDecoder(read); len(ids) < len(want); {
				var m struct {
					ID    json.RawMessage `json:"id"`
					Error struct {
						Code int `json:"code"`
					} `json:"error"`
				}
				if err := lines.Decode(&m); err != nil {
					t.Fatal(err)
				}
				if ids = append(ids, string(m.ID)); m.Error.Code != 0 {
					codes = append(codes, m.Error.Code)
				}
			}
			_ = write.Close()
			if err := <-ended; err != nil {
				t.Errorf("it ended with %v", err)
			}
			if slices.Sort(ids); !slices.Equal(ids, want) || c.code != 0 && !slices.Equal(codes, []int{c.code}) {
				t.Errorf("answers to %v with errors %v", ids, codes)
			}
		})
	}
}

// Older versions of the protocol allow several messages in one line.
func TestSeveralMessagesInALine(t *testing.T) {
	const several = `[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]` + "\n"
	in := strings.NewReader(several + "[ " + several[1:])
	all, err := io.ReadAll(&messages{in: bufio.NewReader(in), out: io.Discard})
	if err != nil || string(all) != several+"[ "+several[1:] {
		t.Errorf("handed on: %q %v", all, err)
	}
}

// Whatever comes, what is handed on is whole messages as they came, one a line.
func FuzzLines(f *testing.F) {
	f.Add([]byte(hello + "\n" + tools))
	f.Add([]byte("hello\n{}\n[" + tools + "]\n\x00\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var refused bytes.Buffer
		came := map[string]bool{}
		for line := range bytes.Lines(in) {
			came[string(bytes.TrimSuffix(line, []byte("\n")))] = true
		}
		all, err := io.ReadAll(&messages{in: bufio.NewReader(bytes.NewReader(in)), out: &refused})
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(all) {
			if !isMessage(line) || !came[string(bytes.TrimSuffix(line, []byte("\n")))] {
				t.Errorf("%q was handed on", line)
			}
		}
	})
}
