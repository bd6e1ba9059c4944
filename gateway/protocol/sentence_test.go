package protocol

import "testing"

// The words of an error become a sentence with one full stop; a host or a path at
// their beginning keeps its letters.
func TestSentence(t *testing.T) {
	for words, want := range map[string]string{
		"the file is gone":                  "The file is gone.",
		"the file is gone.":                 "The file is gone.",
		"mail.example.org: not reached":     "mail.example.org: not reached.",
		"a/b cannot be read":                "a/b cannot be read.",
		"\"x\" may not be fetched: it is y": "\"x\" may not be fetched: it is y.",
		"":                                  ".",
	} {
		if got := Sentence(words); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}
