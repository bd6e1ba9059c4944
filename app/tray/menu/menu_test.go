package menu

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/frontend/src/i18n"
)

var update = flag.Bool("update", false, "write the golden files anew")

var english = i18n.Open()

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

var states = map[string]State{
	"starting": {Version: "1.2.3", Own: true},
	"lost":     {Link: Lost, Why: "the port 18789 is taken\nby another program", Version: "1.2.3"},
	"ready": {
		Link:    Ready,
		Model:   "ollama/qwen3",
		Local:   true,
		Version: "1.2.3",
		Own:     true,
		Next:    Job{"Summarize\nmy mail", noon.Add(20 * time.Hour)},
		Address: "192.168.1.5:18789",
		Used:    true,
		Spent:   []Spent{{"anthropic/claude", 0.3}, {"openai/gpt", 0.12}},
		Devices: []Device{{Name: "Anna’s iPhone\u202e", On: true}, {Name: "iPad", Seen: noon.Add(-3 * time.Hour)}, {Name: "c"}, {Name: "d"},
			{Name: "e"}, {Name: "f"}},
	},
	"busy": {
		Link:     Ready,
		Model:    "anthropic/claude",
		Working:  []string{"Garden plan"},
		Activity: "reading 3 files",
		Version:  "1.2.3",
		Today:    0.42,
		Limit:    2,
		Currency: "EUR",
		Undeliv:  2,
		Tasks:    Tasks{N: 1, Title: "qwen3:8b\u202e", Percent: 42},
		Recent: []Session{{Key: "a", Title: "Garden plan", At: noon.Add(-time.Minute), Running: true},
			{Key: "b", Title: "Tax_return & more\u202e", At: noon.Add(-50 * time.Hour)}},
	},
	"needs you": {
		Link: Ready, Waiting: 5, Approvals: [3]Approval{{ID: "1", Title: "git push", Lines: []string{"in ~/site", "from the chat “Site”"},
			Here: true}, {}, {ID: "3", Title: strings.Repeat("long ", 40)}},
	},
	"door": {
		Link: Ready, Pending: 4, Doors: [3]Door{{ID: "1", Name: "laptop\u202e", Code: "230 104", From: "192.168.1.7", May: "talk"}, {},
			{ID: "3", Name: "phone", May: "have these rights: admin"}},
	},
	"paused": {
		Link: Ready, Tasks: Tasks{N: 3, Percent: -1},
		Paused: "everything", PausedTill: noon.Add(time.Hour), Problems: []string{"disk full"},
	},
}

func draw(rows []Item, indent string) string {
	var b strings.Builder
	for _, r := range rows {
		switch {
		case r.Hidden:
			continue
		case r.Line:
			b.WriteString(indent + "────\n")
			continue
		}
		b.WriteString(indent + r.Label)
		if r.Off {
			b.WriteString("  (off)")
		}
		if r.Do.Verb != "" {
			b.WriteString("  → " + string(r.Do.Verb) + " " + r.Do.Arg)
		}
		b.WriteString("\n" + draw(r.Sub, indent+"    "))
	}
	return b.String()
}

func TestItems(t *testing.T) {
	for name, s := range states {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".golden")
			got := "icon: " + string(IconOf(s)) + "\n" + draw(Items(s, english, noon), "")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A-EXEC-13: what a row cannot show to its end, or not as it is, is allowed
// only where all of it is seen.
func TestSec_A_EXEC_13_OnlyWhatIsSeenIsAllowedFromTheMenu(t *testing.T) {
	for title, want := range map[string]bool{"git push": true, strings.Repeat("x", 60): true, strings.Repeat("x", 61): false, "a\nb": false,
		"a\u202eb": false, "rm_x && y": true} {
		s := State{Link: Ready, Waiting: 1, Approvals: [3]Approval{{ID: "1", Title: title, Here: true}}}
		drawn := draw(Items(s, english, noon), "")
		if got := strings.Contains(drawn, string(AllowOnce)) || strings.Contains(drawn, string(AllowHere)); got != want {
			t.Errorf("%q: can be allowed %v, want %v", title, got, want)
		}
		if !strings.Contains(drawn, string(Deny)) {
			t.Errorf("%q cannot be refused", title)
		}
	}
}

// The same holds for the folder that would be read.
func TestSec_A_EXEC_13_AFolderIsAllowedWhenItIsSeen(t *testing.T) {
	for folder, want := range map[string]bool{"~/Documents": true, "": false, "~/" + strings.Repeat("x", 60): false, "~/a\u202eb": false} {
		s := State{Link: Ready, Waiting: 1, Approvals: [3]Approval{{ID: "1", Title: "Read a", Folder: folder}}}
		if got := strings.Contains(draw(Items(s, english, noon), ""), string(AllowFolder)); got != want {
			t.Errorf("%q: can be allowed %v, want %v", folder, got, want)
		}
	}
}

// A tray that can only hide rows needs the same ones in every state.
func TestTheSameRowsAreAlwaysThere(t *testing.T) {
	want := ids(Items(State{}, english, noon))
	for name, s := range states {
		if diff := cmp.Diff(want, ids(Items(s, english, noon))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestTheBadgeOfWorkStaysTwoSeconds(t *testing.T) {
	var b Badge
	busy, idle := State{Link: Ready, Working: []string{"x"}}, State{Link: Ready}
	now := noon
	step := func(s State, after time.Duration, want Icon, ask time.Duration) {
		t.Helper()
		now = now.Add(after)
		if icon, next := b.Next(s, now); icon != want || next != ask {
			t.Errorf("got %s, %v; want %s, %v", icon, next, want, ask)
		}
	}
	step(idle, 0, IconReady, 0)
	step(busy, 0, IconWorking, 0)
	step(idle, time.Second, IconWorking, Grace)
	step(busy, time.Second, IconWorking, 0)
	step(idle, time.Second, IconWorking, Grace)
	step(idle, time.Second, IconWorking, Grace-time.Second)
	step(State{Link: Ready, Waiting: 1}, 0, IconNeedsYou, 0)
	step(busy, 0, IconWorking, 0)
	step(idle, 0, IconWorking, Grace)
	step(idle, Grace, IconReady, 0)
}

func TestARequestKeepsItsRow(t *testing.T) {
	var s Slots[Approval]
	a := func(ids string) (out []Approval) {
		for _, id := range ids {
			out = append(out, Approval{ID: string(id)})
		}
		return out
	}
	shows := func(waiting string, at time.Duration, want string) {
		t.Helper()
		rows, _ := s.Fill(a(waiting), noon.Add(at))
		got := ""
		for _, r := range rows {
			got += orDash(r.ID)
		}
		if got != want {
			t.Errorf("%q at %v: rows %s, want %s", waiting, at, got, want)
		}
	}
	shows("ab", 0, "ab-")
	shows("bcd", time.Second, "-bc") // a's row rests
	shows("bcd", 2*time.Second, "-bc")
	shows("bcd", 5*time.Second, "dbc")
	if _, next := s.Fill(a("cde"), noon.Add(6*time.Second)); next != rest {
		t.Errorf("the next free row is in %v", next)
	}
}

func TestSec_A_UI_09_TheTooltipSaysNothingOfAnybody(t *testing.T) {
	const secret = "CANARY"
	for name, s := range states {
		s.Why, s.Activity, s.Working, s.Problems = secret, secret, slices.Repeat([]string{secret}, len(s.Working)),
			slices.Repeat([]string{secret}, len(s.Problems))
		if got := Tooltip(s, english); strings.Contains(got, secret) || !strings.HasPrefix(got, "Hearth ") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func FuzzShort(f *testing.F) {
	f.Add("a_b & <i>x</i>\u202e\n")
	f.Fuzz(func(t *testing.T, s string) {
		got := short(s, 20)
		if n := len([]rune(got)); n > 20 {
			t.Errorf("%d characters", n)
		}
		if strings.ContainsAny(got, "\n\u202e\x1b") {
			t.Errorf("%q", got)
		}
		if _, err := json.Marshal(got); err != nil {
			t.Error(err)
		}
	})
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// In every language the menu has the rows that it has in English, says nothing that
// was meant to be filled in, and has nothing left of English where it has words.
func TestItemsInEveryLanguage(t *testing.T) {
	for _, l := range []string{"ar", "de", "es", "fr", "he", "hi", "it", "ja", "ko", "pl", "pt", "ru", "tr", "zh-CN"} {
		w := i18n.Open(l)
		if w.Language() != l {
			t.Fatalf("%s is not spoken", l)
		}
		for name, s := range states {
			rows, own := Items(s, english, noon), Items(s, w, noon)
			if diff := cmp.Diff(ids(rows), ids(own)); diff != "" {
				t.Errorf("%s, %s:\n%s", l, name, diff)
			}
			drawn := draw(own, "") + Status(s, w) + Tooltip(s, w)
			if i := strings.IndexAny(drawn, "{}"); i >= 0 {
				t.Errorf("%s, %s has a hole: %s", l, name, drawn)
			}
			for _, said := range []string{"Settings", "Open chat", "Help", "Today", "asking", "request", "until", "this computer", "Next  "} {
				if strings.Contains(drawn, said) {
					t.Errorf("%s, %s says %q", l, name, said)
				}
			}
		}
	}
}

func ids(rows []Item) (out []string) {
	for _, r := range rows {
		out = append(append(out, r.ID), ids(r.Sub)...)
	}
	return out
}
