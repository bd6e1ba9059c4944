package i18n

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
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

// What a model's service failed by is found in every language, also where when it is
// asked again stands behind it.
func TestAServiceThatRestsIsSaid(t *testing.T) {
	files, err := filepath.Glob("*/errors.json")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d languages, %v", len(files), err)
	}
	ref := model.Ref{Provider: "anthropic", Model: "claude"}
	english := []string{"It is asked", "limits how", "did not accept", "there is no credit", "overloaded right", "ry again", "or pick"}
	for _, class := range []model.Class{model.ClassAuth, model.ClassBilling, model.ClassRateLimit, model.ClassOverloaded} {
		last := &model.Error{Class: class, Ref: ref, Status: 429}
		text, _ := provider.Explain(&failover.SummaryError{
			Attempts: []failover.Attempt{{Ref: ref}}, Last: last, Soonest: time.Date(2026, 3, 4, 14, 5, 0, 0, time.Local),
		}, ref)
		for _, file := range files {
			l := filepath.Base(filepath.Dir(file))
			if l == English {
				continue
			}
			said := openErrors(t, l).Say(text)
			for _, words := range english {
				if strings.Contains(said, words) {
					t.Errorf("%s, %s: %q in %s", class, l, words, said)
				}
			}
		}
	}
}
