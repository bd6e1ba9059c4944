package protocol

import (
	"slices"
	"testing"
)

// The same as the page does (features/prompts/fill.test.ts).
func TestPromptsAreFilledIn(t *testing.T) {
	text := "To {{city}} in {{ month }}, {{city}} again, {city}, {{}}, {{other}} {{two\nlines}} {{{city}}}"
	if got := PromptFields(text); !slices.Equal(got, []string{"city", "month", "other"}) {
		t.Errorf("%q", got)
	}
	p := PromptTemplate{Text: text}
	want := "To Bern in {{city}} $& $1, Bern again, {city}, {{}}, {{other}} {{two\nlines}} {Bern}"
	if got := p.Fill(map[string]string{"city": "Bern", "month": "{{city}} $& $1"}); got != want {
		t.Errorf("%q, not %q", got, want)
	}
	if got := p.Fill(nil); got != text {
		t.Errorf("%q", got)
	}
}
