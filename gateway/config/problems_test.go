package config

import "testing"

// What a banner shows is a sentence with one end.
func TestProblemsAreSentences(t *testing.T) {
	s := Snapshot{Path: "/x/hearth.json", Valid: true, Warnings: []Issue{
		{Line: 2, Column: 3, Path: "modle", Message: "this key is not known and has no effect; did you mean model?"},
		{Message: "others can read it"},
	}}
	want := []string{
		"hearth.json: line 2, column 3 (modle): this key is not known and has no effect; did you mean model?",
		"hearth.json: others can read it.",
	}
	for i, p := range s.Problems() {
		if p.Message != want[i] {
			t.Errorf("%q, want %q", p.Message, want[i])
		}
	}
}
