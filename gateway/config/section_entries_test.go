package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hearth-assistant/hearth/gateway/config"
)

// The cats of a house, and what another package says of each.
type (
	cats struct{ List []cat }
	cat  struct{ ID string }
	food struct {
		Bowls int
	}
	doors struct {
		Open, Usual int
		By          map[string]int
	}
)

var (
	catList = &config.Settings[cats]{
		Path: "cats",
		Fields: func(c *cats) []config.Field {
			return []config.Field{config.List[cat]{Key: "list", To: &c.List, Help: "who lives here", One: func(c *cat) config.Field {
				return config.Object{Fields: []config.Field{config.Text{Key: "id", To: &c.ID, Help: "its name"}}}
			}}}
		},
	}
	catFood = &config.Entries[food]{
		Path: "cats.list[].food", Default: food{Bowls: 1},
		Fields: func(f *food) []config.Field {
			return []config.Field{config.Number{Key: "bowls", To: &f.Bowls, Min: 1, Max: 9, Help: "how many"}}
		},
	}
	catDoors = &config.Settings[doors]{
		Path: "", Name: "doors",
		Fields: func(d *doors) []config.Field {
			return []config.Field{config.Object{Key: "food", Help: "doors", Fields: []config.Field{
				config.Map[int]{
					Key: "by", To: &d.By, Last: true, New: func(string) int { return d.Usual }, Help: "each",
					One: func(_ string, n *int) config.Field {
						return config.Object{Fields: []config.Field{config.Number{Key: "open", To: n, Max: 9, Help: "how far"}}}
					},
				},
				config.Number{Key: "usual", To: &d.Usual, Max: 9, Help: "how far all are"},
			}}}
		},
		Whole: func(d *doors, all config.Config, wrong func(config.Path, string, ...any)) {
			if len(catList.Of(all).List) > d.Usual {
				wrong(config.Path{config.Key("food"), config.Key("usual")}, "too narrow for %d", len(catList.Of(all).List))
			}
		},
	}
)

func ofCats(text string) *config.Snapshot {
	return config.Read(text, config.Options{Sections: config.Sections{catList, catFood, catDoors}})
}

// TestEntries: an owner has values of each entry of another's list, by its id, and
// who asks for the settings sees them in the entry.
func TestEntries(t *testing.T) {
	s := ofCats(`{ cats: { list: [{ id: "mia", food: { bowls: 2 } }, { id: "tom" }] }, food: { usual: 3, by: { a: { open: 1 }, b: {} } } }`)
	if !s.Valid || len(s.Warnings) > 0 {
		t.Fatal(s.Issues, s.Warnings)
	}
	for id, want := range map[string]int{"mia": 2, "tom": 1, "nobody": 1} {
		if got, set := catFood.Of(s.Config, id); got.Bowls != want || set != (id == "mia") {
			t.Errorf("%s: %+v, %v", id, got, set)
		}
	}
	if got, ok, err := s.InUse("cats.list"); err != nil || !ok || string(got) != `[{"food":{"bowls":2},"id":"mia"},{"id":"tom"}]` {
		t.Errorf("%s, %v, %v", got, ok, err)
	}
	if d := cmp.Diff(map[string]int{"a": 1, "b": 3}, catDoors.Of(s.Config).By); d != "" {
		t.Error("what stands before the keys that it begins with: ", d)
	}
	changed := catFood.With(s.Config, "tom", food{Bowls: 4})
	if got, _ := catFood.Of(changed, "tom"); got.Bowls != 4 || changed.Sections.Equal(s.Config.Sections) {
		t.Errorf("%+v", got)
	}
	all := config.Sections{catList, catFood, catDoors}
	if f, ok := all.Lookup("cats.list[].food.bowls"); !ok || f.Help != "how many" {
		t.Errorf("%+v, %v", f, ok)
	}
	if faults := append(config.Sections{catFood}, all...).Faults(); len(faults) == 0 || !strings.Contains(faults[0], "two sections") {
		t.Error(faults)
	}
}

// TestSectionsTogether: a section is judged among the others, at the place that is
// nearest to what it says.
func TestSectionsTogether(t *testing.T) {
	s := ofCats(`{ cats: { list: [{ id: "mia" }] } }`)
	if s.Valid || len(s.Issues) != 1 || s.Issues[0].Message != "too narrow for 1" {
		t.Errorf("%v", s.Issues)
	}
	s = ofCats(`{ cats: { list: [{ id: "mia", food: { bowls: 0 } }] }, food: { usual: 2 } }`)
	if s.Valid || len(s.Issues) != 1 || s.Issues[0].Path != "cats.list[0].food.bowls" {
		t.Errorf("%v", s.Issues)
	}
}
