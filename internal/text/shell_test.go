package text

import "testing"

func TestShellWord(t *testing.T) {
	for s, want := range map[string]string{
		"42": "42", "@bob:example.org": "@bob:example.org", "a/b-c_d.e+1": "a/b-c_d.e+1", "bob!~bob@127.0.0.1": "'bob!~bob@127.0.0.1'",
		"it's": `'it'\''s'`, "": "''", "a b": "'a b'", "$x": "'$x'", "!": "'!'",
	} {
		if got := ShellWord(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}
