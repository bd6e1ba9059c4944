package menu

import (
	"testing"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/command"
)

func TestOf(t *testing.T) {
	got := Of([]command.Command{
		{Spec: command.Spec{Name: "remind", Args: "<when> <what>", Description: "Remind you: on Friday. With ! in front it asks again"}},
		{Spec: command.Spec{Name: "of-a-skill", Description: "Something"}},
	})
	if len(got) != 2 || got[0].Description != "Remind you: on Friday" || got[0].Local["de"] == "" || got[0].Local["zh"] == "" ||
		got[0].Args != "<when> <what>" || got[1].Local != nil {
		t.Errorf("%+v", got)
	}
	if !Same(got, got) || Same(got, got[:1]) {
		t.Error("menus are compared wrongly")
	}
}

// What is said of a command fits the narrowest menu, in every language.
func TestWordsFit(t *testing.T) {
	for name, words := range local() {
		for _, w := range words {
			if n := utf8.RuneCountInString(w); n < 2 || n > 99 {
				t.Errorf("%s: %q has %d characters", name, w, n)
			}
		}
	}
}
