package openai

import (
	"encoding/json"
	"testing"
)

// FuzzContent: the words of an answer are what encoding/json reads, however they are
// written.
func FuzzContent(f *testing.F) {
	for _, s := range []string{`"w1 "`, `"é\n\u00e9"`, `""`, `"\\"`, "\"\xff\"", `null`, `[{"text":"a"},{"thinking":"b"}]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var c content
		var want string
		if json.Unmarshal([]byte(s), &want) != nil {
			return
		}
		if err := json.Unmarshal([]byte(s), &c); err != nil || c.text != want {
			t.Errorf("%q: %q, %v; want %q", s, c.text, err, want)
		}
	})
}
