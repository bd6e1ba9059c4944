package session

import "testing"

func TestFirstWords(t *testing.T) {
	for text, want := range map[string]string{
		"hi":                        "hi",
		"  what\nis\tthat  thing? ": "what is that thing?",
		"what is in this picture?":  "what is in this picture?",
		"remind me on Friday at nine of the plants":         "remind me on Friday at…",
		"https://example.org/a/very/long/path/to/some/page": "https://example.org/a/very/long/path/to…",
	} {
		if got := firstWords(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
