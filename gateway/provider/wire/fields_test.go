package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What stands in the text of a conversation is no field, and a field that is there
// twice, or written in another way, is not overlooked.
func TestCodeMode_NoToolIsOverlooked(t *testing.T) {
	for body, want := range map[string][]string{
		`{"messages":["\",\"tools\":[{\"name\":\"x\"}]"],"tools":[{"name":"a"}]}`:         {"a"},
		`{"messages":["\\"],"tools":[{"name":"a"}] , "tools":[{"name":"b"}]}`:             {"a", "b"},
		`{"messages":[{"tools":[{"name":"x"}]}],"\u0074ools" : [{"name":"a"}]}` + "\n":    {"a"},
		`{"a":"}","b":[1,{"c":"]"}],"TOOLS":[{"name":"a"}],"d":null,"e":-1.5e3,"f":true}`: {"a"},
	} {
		got, err := ToolNames([]byte(body))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", body, err, diff)
		}
	}
}

// FuzzFields: of every object that encoding/json reads, the same fields with the
// same values are told; and no bytes bring it down.
func FuzzFields(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, ` { "a\"" : [ {"b":"\\"} ] , "c" : "," } `, `{"a":{"b":[]},"":null}`, `{"a":1,`, `{"a":"`,
		`{"a":]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := map[string]string{}
		err := eachField([]byte(s), func(name string, value json.RawMessage) error {
			got[name] = string(value)
			return nil
		})
		var whole map[string]json.RawMessage
		if json.Unmarshal([]byte(s), &whole) != nil || whole == nil {
			return
		}
		want := map[string]string{}
		for name, v := range whole {
			want[name] = string(v)
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", s, err, diff)
		}
	})
}

func BenchmarkToolNames(b *testing.B) {
	message := `{"role":"user","content":"` + strings.Repeat("what people write when they are brief ", 3) + `"},`
	body := []byte(`{"model":"m","messages":[` + strings.Repeat(message, 2000) + `{}],"tools":[{"name":"exec"},{"name":"wait"}]}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if names, err := ToolNames(body); err != nil || len(names) != 2 {
			b.Fatal(names, err)
		}
	}
}
