package config_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hearth-assistant/hearth/gateway/config"
)

type lamp struct {
	Word, Mode, Color string
	Level             int
	Share             float64
	On                bool
	Ever              *bool
	Token             config.Secret
	Names             []string
	Rooms             map[string]room
	Steps             []room
}

type room struct{ Name string }

func (r *room) field(key string) config.Field {
	return config.Object{Key: key, Fields: []config.Field{config.Text{Key: "name", To: &r.Name, Max: 10}}, Check: func() error {
		if r.Name == "" {
			return errors.New("a room needs a name")
		}
		return nil
	}}
}

var lamps = &config.Settings[lamp]{
	Path:    "house.lamps",
	Default: lamp{Word: "light", Mode: "dim", Level: 3},
	Fields: func(l *lamp) []config.Field {
		return []config.Field{
			config.Text{Key: "word", To: &l.Word, Max: 8, Help: "what it is called"},
			config.Alias("name", config.Text{Key: "word", To: &l.Word, Max: 8}),
			config.Choice{Key: "mode", To: &l.Mode, Among: []string{"dim", "full"}, Help: "how bright", Hint: config.Hint{Pane: "general"}},
			config.Number{Key: "level", To: &l.Level, Min: 1, Max: 9, Help: "from 1 to 9"},
			config.Amount{Key: "share", To: &l.Share, Max: 1, Help: "of the power"},
			config.Switch{Key: "on", To: &l.On, Help: "whether it is lit"},
			config.Maybe{Key: "ever", To: &l.Ever, Help: "not said: as the room"},
			config.Hidden{Key: "token", To: &l.Token, Help: "its token"},
			config.Texts{Key: "names", To: &l.Names, Help: "other names", Unset: true},
			config.Map[room]{Key: "rooms", To: &l.Rooms, Name: "<room>", Help: "by room", One: func(_ string, r *room) config.Field {
				return r.field("")
			}},
			config.List[room]{Key: "steps", To: &l.Steps, Help: "one after the other", One: func(r *room) config.Field { return r.field("") }},
			config.Later("fade"),
		}
	},
	Check: func(l *lamp) error {
		if l.Mode == "full" && l.Level < 5 {
			return errors.New("full needs a level of 5 at least")
		}
		return nil
	},
}

var switched = &config.Settings[map[string]bool]{
	Fields: func(m *map[string]bool) []config.Field {
		one := func(_ string, on *bool) config.Field { return config.Switch{To: on} }
		return []config.Field{config.Map[bool]{Key: "features", To: m, One: one}}
	},
	Switches: func(m map[string]bool) map[string]bool { return m },
}

type paint struct{ Color string }

var paints = &config.Settings[paint]{
	Path: "house.lamps",
	Name: "paint",
	Fields: func(p *paint) []config.Field {
		return []config.Field{config.Text{Key: "color", To: &p.Color, Help: "another owner's key at the same place"}}
	},
}

func house(text string) *config.Snapshot {
	return config.Read(text, config.Options{Sections: append(config.OfFeature("lamps", lamps), paints)})
}

// TestSections: every kind of field is read, shown as the file has it, and known
// by its owner only.
func TestSections(t *testing.T) {
	s := house(`{ house: { lamps: { name: "torch", mode: "full", level: 9, share: 0.5, on: true, ever: false, token: "abc", names: ["a"],
		rooms: { bath: { name: "Bath" } }, steps: [{ name: "one" }], color: "red" } } }`)
	if len(s.Issues)+len(s.Warnings) > 0 {
		t.Fatal(s.Issues, s.Warnings)
	}
	l := lamps.Of(s.Config)
	if l.Word != "torch" || l.Level != 9 || l.Share != 0.5 || !l.On || *l.Ever || l.Rooms["bath"].Name != "Bath" || l.Steps[0].Name != "one" ||
		paints.Of(s.Config).Color != "red" {
		t.Errorf("%+v", l)
	}
	got, ok, err := s.InUse("house.lamps")
	want := `{"color":"red","ever":false,"level":9,"mode":"full","names":["a"],"on":true,"rooms":{"bath":{"name":"Bath"}},"share":0.5,` +
		`"steps":[{"name":"one"}],"token":"__HEARTH_REDACTED__","word":"torch"}`
	if err != nil || !ok || sorted(t, got) != want {
		t.Errorf("%s %v", got, err)
	}
	if f := s.Config.SecretFields(); f[len(f)-1].Path != "house.lamps.token" {
		t.Errorf("%+v", f)
	}
	if none := (config.Config{}); lamps.Of(none).Word != "light" || lamps.Of(house(`{}`).Config).Level != 3 {
		t.Error("a section that the file does not have is not at its defaults")
	}
	if next := lamps.With(s.Config, lamp{Word: "x"}); lamps.Of(next).Word != "x" || lamps.Of(s.Config).Word != "torch" ||
		next.Sections.Equal(s.Config.Sections) || !cmp.Equal(s.Config, house(s.Raw).Config) {
		t.Error("settings are not compared by what they hold")
	}
}

func sorted(t *testing.T, raw []byte) string {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSectionMistakes: what is wrong is told at its place, what is unknown is kept
// and named, and the rest of the file holds.
func TestSectionMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`{ house: { lamps: 5 } }`:                              "house.lamps): expected an object",
		`{ house: 5 }`:                                         "house): expected an object",
		`{ house: { lamps: { level: 10 } } }`:                  "from 1 to 9",
		`{ house: { lamps: { word: "much too long" } } }`:      "longer than 8",
		`{ house: { lamps: { mode: "full" } } }`:               "a level of 5",
		`{ house: { lamps: { rooms: { bath: {} } } } }`:        "house.lamps.rooms.bath): a room needs a name",
		`{ house: { lamps: { steps: [{ name: "a" }, {}] } } }`: "house.lamps.steps[1]): a room needs a name",
		`{ house: { lamps: { share: 2 } } }`:                   "1 at most",
		`{ house: { lamps: { token: { source: "moon" } } } }`:  "known choice",
		`{ house: { lamps: { ever: "never" } } }`:              "true or false",
	} {
		if s := house(text); len(s.Issues) != 1 || !strings.Contains(s.Issues[0].String(), want) {
			t.Errorf("%s: %v", text, s.Issues)
		}
	}
	for text, want := range map[string]string{
		`{ house: { lamps: { lvel: 1 } } }`: "did you mean level?",
		`{ house: { lamps: { fade: 1 } } }`: "does not use this key yet",
		`{ house: { cellar: 1 } }`:          "not known",
	} {
		if s := house(text); !s.Valid || len(s.Warnings) != 1 || !s.Warnings[0].Idle || !strings.Contains(s.Warnings[0].String(), want) {
			t.Errorf("%s: %v %v", text, s.Issues, s.Warnings)
		}
	}
}

// TestSectionOfAFeatureThatIsOff: its settings stay in the file, and a person is
// told that they have no effect.
func TestSectionOfAFeatureThatIsOff(t *testing.T) {
	only := config.Options{Sections: append(config.OfFeature("lamps", lamps), switched)}
	text := `{ features: { lamps: false }, house: { lamps: { level: 4 } } }`
	s := config.Read(text, only)
	if !s.Valid || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].String(), "the feature lamps is switched off") || s.Raw != text {
		t.Errorf("%v %v", s.Issues, s.Warnings)
	}
	if s := config.Read(`{ features: { lamps: true }, house: { lamps: { level: 4 } } }`, only); len(s.Warnings) > 0 {
		t.Errorf("%v", s.Warnings)
	}
}

// TestSectionsDescribeThemselves: the schema, the reference and the check of both.
func TestSectionsDescribeThemselves(t *testing.T) {
	all := config.Sections{lamps, paints}
	if f := all.Faults(); len(f) > 0 {
		t.Error(f)
	}
	if f := (config.Sections{lamps, lamps}).Faults(); len(f) == 0 {
		t.Error("keys with two owners are no fault")
	}
	schema := all.Schema()
	level := schema.At(config.Path{config.Key("house"), config.Key("lamps"), config.Key("level")})
	if level == nil || level.Type != "integer" || *level.Maximum != 9 || string(level.Default) != "3" || level.Title != "Level" {
		t.Errorf("%+v", level)
	}
	name := schema.At(config.Path{config.Key("house"), config.Key("lamps"), config.Key("rooms"), config.Key("any"), config.Key("name")})
	step := schema.At(config.Path{config.Key("house"), config.Key("lamps"), config.Key("steps"), config.Index(0), config.Key("name")})
	if name == nil || step == nil || name.Type != "string" || step.MaxLength != 10 {
		t.Errorf("%+v %+v", name, step)
	}
	if len(all.Reference("house.lamps/paint")) != 1 {
		t.Error("another owner's key is not shown by its section's name")
	}
	if rows := all.Reference("house.lamps"); len(rows) != 10 || rows[1].Key != "`house.lamps.mode`" || rows[1].Default != "`\"dim\"`" {
		t.Errorf("%+v", rows)
	}
}
