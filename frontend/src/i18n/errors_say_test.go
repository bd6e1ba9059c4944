package i18n

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func openErrors(t testing.TB, language string) *Texts {
	t.Helper()
	e, err := OpenErrors(os.DirFS("."), language)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEnglishIsSaidAsItIs(t *testing.T) {
	if got := openErrors(t, "xx").Say("There is no agent \"x\"."); got != "There is no agent \"x\"." {
		t.Errorf("English says %q", got)
	}
}

// TestTextsAreSaid reads the table that the page's own test reads as well, so that both
// say the same.
func TestTextsAreSaid(t *testing.T) {
	b, err := os.ReadFile("texts.cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var tables []struct {
		Language, About    string
		English, Own, Said map[string]string
	}
	if err := json.Unmarshal(b, &tables); err != nil {
		t.Fatal(err)
	}
	if len(tables) == 0 {
		t.Fatal("no tables")
	}
	for _, table := range tables {
		t.Run(table.Language+": "+table.About, func(t *testing.T) {
			e := openErrors(t, table.Language)
			e.words.english, e.words.own = table.English, table.Own
			for text, want := range table.Said {
				if got := e.Say(text); got != want {
					t.Errorf("%q: %+q, want %+q", text, got, want)
				}
			}
		})
	}
}

// FuzzErrors: whatever an error says, its translation is made in a moment and is not
// empty.
func FuzzErrors(f *testing.F) {
	f.Add("There is no agent \"x\". `hearth agents list` shows those that are there.")
	f.Add(strings.Repeat("a: ; ", 400) + "{1}")
	for _, text := range openErrors(f, "de").words.english {
		f.Add(text)
	}
	e := openErrors(f, "de")
	f.Fuzz(func(t *testing.T, text string) {
		if got := e.Say(text); got == "" && text != "" {
			t.Errorf("%q becomes nothing", text)
		}
	})
}
