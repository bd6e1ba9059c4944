package menu

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/skill"
)

func TestOf(t *testing.T) {
	got, left := Wanted{Own: []command.Command{
		{Spec: command.Spec{Name: "remind", Args: "<when> <what>", Description: "Remind you: on Friday. With ! in front it asks again"}},
		{Spec: command.Spec{Name: "of-a-skill", Description: "Something"}},
	}}.Of()
	if len(got) != 2 || len(left) != 0 || got[0].Description != "Remind you: on Friday" || got[0].Local["de"] == "" ||
		got[0].Local["zh"] == "" || got[0].Args != "<when> <what>" || got[1].Local != nil {
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

// A person's own commands never take the place of others; what there is no room for is
// told, and skills are the first that have none.
func TestAddedCommands(t *testing.T) {
	w := Wanted{
		Own: []command.Command{
			{Spec: command.Spec{Name: "status", Aliases: []string{"st"}, Description: "Shows"}},
			{Spec: command.Spec{Name: "dock-telegram", Aliases: []string{"dock_telegram"}, Description: "Moves"}},
		},
		Skills: []skill.Command{{Name: "weather", Skill: skill.Status{Skill: skill.Skill{Spec: skill.Spec{Name: "weather"}}}},
			{Name: "notes", Skill: skill.Status{Skill: skill.Skill{Spec: skill.Spec{Name: "notes", Description: "Takes notes. All of them."}}}}},
		Most: 4, Dashless: true,
	}
	for _, name := range []string{"backup", "st", "status", "weather", "dock_telegram", "backup", "report"} {
		w.Added = append(w.Added, channel.Command{Name: name, Description: "Mine"})
	}
	got, left := w.Of()
	var names []string
	for _, c := range got {
		names = append(names, c.Name)
	}
	if fmt.Sprint(names) != "[status backup report weather]" || got[3].Description != "weather" {
		t.Errorf("it shows %+v", got)
	}
	want := "/st of customCommands is a command already; /status of customCommands is a command already; /weather of customCommands is a " +
		"command already; /dock_telegram of customCommands is a command already; /backup of customCommands is a command already; the " +
		"network shows 4 commands, so these can only be typed: /notes"
	if strings.Join(left, "; ") != want {
		t.Errorf("it says %q", left)
	}
	w = Wanted{Added: []channel.Command{{Name: "status", Description: "How it is"}}}
	if got, left := w.Of(); len(got) != 1 || len(left) != 0 {
		t.Errorf("without Hearth's in the menu, one's own choice of them: %+v, %q", got, left)
	}
	many := Wanted{Most: 1}
	for i := range 15 {
		many.Added = append(many.Added, channel.Command{Name: fmt.Sprintf("c%d", i), Description: "Mine"})
	}
	if _, left := many.Of(); len(left) != 1 || !strings.HasSuffix(left[0], "/c10 and 4 more") {
		t.Errorf("%q", left)
	}
}
